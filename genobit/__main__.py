"""`python -m genobit` is the command `genobit`."""

import sys

from genobit.cli import main

if __name__ == "__main__":
    sys.exit(main())
