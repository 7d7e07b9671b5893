"""The engine folder."""
