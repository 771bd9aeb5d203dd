"""Searching the messages of a guild or a direct message.

The full-text index of the database answers. Triggers record changed messages, `indexing` updates the index in short
steps within about a second, and a job indexes the messages from before there was an index. Which words and facets a
message has is decided in `documents` and `terms`, the same for both engines.
"""
