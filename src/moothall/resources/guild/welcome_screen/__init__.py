"""Welcome screens: a description and up to five channels for new members (api.md, Welcome screen objects).

The screen is stored in the guild's row, enabled or not. It is enabled by the feature WELCOME_SCREEN_ENABLED; invite
objects contain an enabled screen.
"""
