"""Polls: a question in a message with up to ten answers, and the votes of users.

Votes are counted as they are cast, so that showing a poll costs the same however many voted. A poll ends after its
duration, or when its author ends it: its message then shows the final counts, and a POLL_RESULT message is posted.
"""
