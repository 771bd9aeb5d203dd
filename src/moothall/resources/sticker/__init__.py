"""The stickers of guilds, and the platform's own pack.

`using` says which ones somebody may send where: messages ask it.
"""
