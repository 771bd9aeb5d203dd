"""Connections: accounts on other services that users declare, which applications may read with the user's consent.

The platform queries no other service, so connections are never verified.
"""
