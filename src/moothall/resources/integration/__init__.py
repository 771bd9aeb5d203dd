"""Integrations: what ties an application to a guild: adding its bot with a role of its own, and how all that ends.

An integration and its bot's membership end together, whichever ends first.
"""
