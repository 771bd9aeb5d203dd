"""Guilds as operators find and change them."""
