"""The kernels folder."""
