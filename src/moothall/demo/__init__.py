"""The demo community: a guild to try things on, made when the database is new.

`seeding` makes it, through the operations that requests use; `record` keeps what was made, encrypted, so that it can
be told again; `telling` says it in words and in JSON.
"""
