"""The demo community: a guild for trying things, created when the database is new.

`plan` holds its content; `seeding` creates it with the endpoints of the API (`requests`); `record` stores the ids,
tokens and passwords, encrypted; `output` prints them as text or JSON.
"""
