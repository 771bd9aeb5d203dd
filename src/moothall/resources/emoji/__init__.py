"""Emojis of guilds and of applications.

`lookup` finds the emojis that a caller may use; `rules` holds the permissions of all expressions (emojis, stickers,
sounds). Reactions, sounds, welcome screens and others refer to emojis by id.
"""
