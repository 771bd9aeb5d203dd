"""Interactions: somebody uses a command, a component or a modal, and its application answers.

Raised by a person's client, told to the application over the gateway or to its own endpoint, answered
once within three seconds and followed up for a quarter of an hour by the interaction's token.
"""
