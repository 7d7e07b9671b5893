"""The visual folder."""
