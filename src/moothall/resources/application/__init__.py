"""Applications: the owners of bots and integrations.

An application and its bot are created together and have the same id. Its secrets (the bot's token, the client secret,
the signing key) are returned at most once and stored hashed or encrypted. Related rooms: `user` (the bot's account) and
`integration` (the application in a guild).
"""
