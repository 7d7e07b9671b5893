"""Shared parts of reports: sections, timings and the cohort. May import: `visual` and below."""
