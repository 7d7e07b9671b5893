"""The launcher folder."""
