"""Bans of users from a guild (api.md, Bans).

No user is a member and banned at once: joining and banning both lock the guild's member counter.
"""
