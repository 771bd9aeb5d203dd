"""Roles: permissions, appearance and order (api.md, Roles).

Every guild has the role @everyone, whose id is the guild's and whose position is 0. The roles of a member are in the
member's row; `guild/membership` adds and removes them.
"""
