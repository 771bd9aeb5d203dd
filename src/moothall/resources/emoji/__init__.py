"""The emojis of guilds and of applications.

`using` says which one somebody may use where. Roles take themselves out of emojis when they end (`operations`);
reactions, sounds, welcome screens and others name emojis by their ids.
"""
