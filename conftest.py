"""Import the package whole before pytest imports its modules, one by one, for their doctests."""

import genobit  # noqa: F401
