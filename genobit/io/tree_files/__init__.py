"""The tree_files folder."""
