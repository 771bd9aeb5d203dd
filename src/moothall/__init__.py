"""Moothall: a self-hosted community platform, wire-compatible with the public v10 API."""

__version__ = "0.2.0"
"""The same as the distribution's, which would take fifty milliseconds to ask for."""
