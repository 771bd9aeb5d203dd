"""Incident actions: pausing a guild's invites and direct messages for up to a day (api.md, Incidents data object).

The end of each pause is stored in the guild's row. No job ends it: `invite` and `channel` compare it with the present
time when a user joins or opens a direct message.
"""
