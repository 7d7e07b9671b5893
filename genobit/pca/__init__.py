"""The pca folder."""
