"""Invites: codes that lead into a guild, who may make and delete them, and how they are used up.

A guild's vanity code resolves like an invite of nobody's that never ends, but is no row of the table.
An expired invite is gone at once; its row goes when the guild's next invite is made.
"""
