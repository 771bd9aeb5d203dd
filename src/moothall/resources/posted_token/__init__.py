"""Tokens of this server that are posted in messages of guilds: they are found, and reset."""
