"""Run the command `genobit` for `python -m genobit`."""

import sys

from genobit.cli import main

if __name__ == "__main__":
    sys.exit(main())
