"""Bans: who may not be in a guild, and why.

Nobody is a member and banned at once; joining and banning wait for each other at the guild's counter.
"""
