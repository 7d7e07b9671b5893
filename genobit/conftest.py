"""Import the package whole before pytest imports its modules, one by one, for their doctests.

Stays out of the wheel.
"""
