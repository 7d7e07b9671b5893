"""The similarity folder."""
