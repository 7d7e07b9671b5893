"""The epistasis folder."""
