"""Guilds: how they begin and end, their settings, and the lists of them.

The guild's row is here; its roles, channels, members, emojis and the rest are nouns of their own.
Others that change the row (widget, welcome screen, incident actions, vanity URL, operators) do it with
`operations.change_guild`, which records and announces it.
"""
