"""Import the whole package before pytest imports its modules one by one for their doctests.

This file stays out of the wheel.
"""
