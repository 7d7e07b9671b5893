"""The grm folder."""
