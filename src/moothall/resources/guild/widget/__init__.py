"""The widget: who is in a guild now, for web pages, as JSON and as pictures (api.md, Guild widget object).

Whether it is on and where it invites to stands in the guild's row. Whoever may see a widget is anybody, so it
tells nothing that could not stand on a wall: no ids of people, and only channels that everyone may see.
"""
