"""The alignment_files folder."""
