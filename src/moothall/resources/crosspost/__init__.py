"""Announcements: channels that others follow, and messages that are published to them.

Following makes a webhook in the channel that follows. What is published is copied into each such
channel under the name of its webhook, by a job, however many there are; the copies keep up with
edits and deletion (`message.copies`).
"""
