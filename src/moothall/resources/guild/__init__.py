"""Guilds: creating, reading, changing, deleting and leaving them (api.md, Guilds).

This folder itself holds the guild's row. What else changes that row (widget, welcome screen, incident actions, vanity
URL, operators) calls `operations.change_guild`, which writes the audit entry and emits GUILD_UPDATE.
"""
