"""The methods folder."""
