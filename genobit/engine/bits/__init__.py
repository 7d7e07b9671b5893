"""The bits folder."""
