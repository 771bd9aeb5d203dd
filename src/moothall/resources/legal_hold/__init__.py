"""Legal holds: messages of users, guilds and channels of which copies are kept when they are edited or deleted.

Triggers of the database write the copies (`storage/schema/retention.py`), so that nothing deletes without them.
"""
