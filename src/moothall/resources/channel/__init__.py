"""Channels: those of guilds and direct messages, their settings, places and permission overwrites, and typing.

Nothing here knows guilds, invites or webhooks: what goes when a channel goes is `channel_removal`'s.
Threads are rows of the same table, but a noun of their own.
"""
