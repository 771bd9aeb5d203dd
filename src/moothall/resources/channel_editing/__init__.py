"""Changing a channel whatever it is: one row for channels of guilds, threads and groups, whose nouns know how."""
