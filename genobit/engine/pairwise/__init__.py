"""The pairwise folder."""
