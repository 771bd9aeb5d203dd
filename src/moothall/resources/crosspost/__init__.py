"""Following announcement channels, and publishing their messages.

Following creates a webhook in the channel that follows. A job copies a published message into each follower under the
name of its webhook. Edits and deletions of the message apply to the copies (`message/copies.py`).
"""
