"""The samples folder."""
