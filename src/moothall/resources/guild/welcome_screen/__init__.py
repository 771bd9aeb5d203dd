"""What greets newcomers: some words and up to five channels (api.md, Welcome screen objects).

It stands in the guild's row, and is kept while it is off; whether it is on says the guild's feature
WELCOME_SCREEN_ENABLED. Invites show it while it is on.
"""
