"""Integrations: what ties an application's bot to a guild.

An integration and its bot's membership end together, whichever ends first.
"""
