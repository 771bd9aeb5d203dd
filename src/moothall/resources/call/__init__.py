"""Calls in direct messages and groups: who is in them, who is rung, and the message that tells of each.

A user is in one call at most, and in none while they are in a guild's voice channel with the same session. A call
begins with the first who joins and ends with the last who leaves. Bots are in no calls and receive none of their
events. The sound is carried by `moothall.voice`, for which the channel's id stands in place of a guild's.
"""
