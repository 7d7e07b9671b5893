"""The guards folder."""
