"""What is done to members: how they come and go, and what changes about them (api.md, Members).

Every way into a guild is `operations.join_guild` and every way out `remove_member`, so that
counters, voice, threads, bans and bots' roles cannot disagree. What a member is, and what of it
other nouns read and announce, stands in `member`.
"""
