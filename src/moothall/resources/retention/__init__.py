"""After how many days messages are deleted, by rules for the instance, for guilds and for channels.

The rule of a channel counts before that of its guild, and that before the one of the instance. The threads of a channel
follow its rule. Direct messages have the rule of the instance alone.
"""
