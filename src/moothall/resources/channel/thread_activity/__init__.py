"""The state of threads that messages change: archiving, members, message counts.

The room `message` imports it; the room `thread`, which imports `message`, has the endpoints. A thread is a channel
with the overwrites of its parent; a private thread is visible only to its members and to members with MANAGE_THREADS.
"""
