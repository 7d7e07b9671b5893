"""The explorer folder."""
