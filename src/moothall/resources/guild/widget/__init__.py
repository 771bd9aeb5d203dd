"""The widget: the online members of a guild for web pages, as JSON and as an image (api.md, Guild widget object).

Its settings are stored in the guild's row. Widgets are public, so they contain no user ids, and only channels that
@everyone can view.
"""
