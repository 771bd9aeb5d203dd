"""Logging in with an identity provider: accounts of its people, what their groups give, and the end of their logins.

The room stands above accounts and guilds, which it makes and changes.
"""
