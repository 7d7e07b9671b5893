"""The schedule folder."""
