"""Files that are uploaded before the request that uses them: to a signed URL, without a token, once.

A caller creates uploads in a channel, puts the bytes to their URLs, and names them in the `attachments` of a message or
an interaction in that channel. Only that caller can use or delete them. One that is never used is deleted after a day.
"""
