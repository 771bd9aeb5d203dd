"""Incident actions: pausing a guild's invites and direct messages for some hours (api.md, Incidents data object).

The windows stand in the guild's row. They end by themselves: `invite` and `channel` ask whether the moment has
passed when somebody joins or opens a direct message.
"""
