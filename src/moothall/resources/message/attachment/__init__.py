"""Attachments: the files of messages, from their upload to the day that the last message with them is gone.

Messages know this noun, it does not know them: they hand over what a request says, and get back the objects
that they show. Serving the files is the business of `moothall.cdn`.
"""
