"""Changing memberships: joining, modifying, kicking and leaving (api.md, Members).

`join_guild` is the only function that adds a member and `remove_member` and `remove_members` are the only ones that
remove members, so that counters, voice states, threads, bans and the roles of bots stay consistent. Reading members and
their events are in `resources/member`, which rooms below this one import.
"""
