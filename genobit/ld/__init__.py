"""The ld folder."""
