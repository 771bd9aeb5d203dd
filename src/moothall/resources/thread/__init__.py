"""Threads: starting, modifying, listing and deleting them, and their members.

A thread is a channel with the overwrites of its parent; a private thread is visible only to its members and to members
with MANAGE_THREADS. A forum has only threads, each with a first message. `channel/thread_activity` holds the state that
messages change.
"""
