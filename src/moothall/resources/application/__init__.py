"""Applications: what bots and integrations belong to.

An application and its bot are made together and have one id. Its secrets (the bot's token, the
client secret, the key that signs for it) are shown at most once and stored hashed or encrypted.
ClusterMembers: user (the bot's account), integration (what ties it to a guild).
"""
