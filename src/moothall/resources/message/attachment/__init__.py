"""Attachments: the files of messages, from their upload to their removal with the last message that has them.

Messages import this room, not the other way round: it reads what requests say of files and returns attachment objects.
Files are served by `moothall.cdn`.
"""
