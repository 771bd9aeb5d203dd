"""Invites to guilds and group direct messages: creating, resolving, accepting and deleting them (api.md, Invites).

A guild's vanity code resolves like an unlimited invite without an inviter, but has no row in the table. Expired invites
are never returned; their rows are deleted when the next invite to the guild is created.
"""
