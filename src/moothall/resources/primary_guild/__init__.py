"""The guild whose tag a user wears.

It stands above guilds and accounts: a tag that changes, or a member who leaves, changes accounts, which are announced.
"""
