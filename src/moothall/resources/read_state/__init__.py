"""Read states: how far users have read, and how often they were mentioned since.

Sending a message writes no row for those whom it mentions: mentions are counted when a client connects or acknowledges.
"""
