"""The plots folder."""
