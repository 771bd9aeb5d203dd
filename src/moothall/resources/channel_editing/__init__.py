"""Changing a channel whatever it is: one row for channels of guilds and groups, whose nouns know how."""
