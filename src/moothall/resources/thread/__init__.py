"""Threads: starting, changing, finding and deleting them, and who is in them.

A thread is a channel whose parent's overwrites decide who may see it; a private one is seen besides
only by its members and by those who manage threads. A forum has nothing but threads, each with the message
that began it. What happens to threads while people write in them is `thread_activity`'s, below messages.
"""
