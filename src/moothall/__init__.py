"""Moothall: a self-hosted community platform, wire-compatible with the public v10 API."""

from importlib.metadata import version

__version__ = version("moothall")
