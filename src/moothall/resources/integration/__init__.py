"""Integrations: an application in a guild, with its bot, the bot's managed role and its webhooks.

Deleting an integration removes its bot from the guild, and removing the bot deletes the integration.
"""
