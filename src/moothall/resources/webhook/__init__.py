"""Webhooks: posting messages to a channel with a token.

A webhook belongs to a channel, and is deleted with it or with the bot of the application that owns it. Its token is
shown only to members with MANAGE_WEBHOOKS in the channel; it is in no log and no event.
"""
