"""A guild's own invite code. It stands in the guild's row; that it leads into the guild is the invites' affair.

A code belongs to one guild or to one invite, never to two of them.
"""
