"""Threads: which of them are active, and who is in them.

A thread is a channel whose parent's overwrites decide who may see it; a private one is seen besides
only by its members and by those who manage threads. The gateway lists the same ones at connect.
"""
