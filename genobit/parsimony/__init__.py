"""The parsimony folder."""
