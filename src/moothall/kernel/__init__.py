"""What all endpoints share: routing, decoding, authentication, permissions, transactions, events and jobs.

`pipeline.py` has the stages of a request. Of the resources, the kernel knows those that permissions depend on (users,
guilds, roles, channels, members), and the other state of a guild that `GuildState` caches: emojis, stickers, sounds
and auto moderation rules.
"""
