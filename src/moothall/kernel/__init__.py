"""The machine that every row runs on. It knows guild, channel and member as places of authority, and no other noun.

Read `pipeline.py` first.
"""
