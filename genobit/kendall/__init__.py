"""The kendall folder."""
