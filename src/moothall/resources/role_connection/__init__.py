"""Role connections: metadata of applications, its values for users, and the roles of guilds that require them.

An application registers metadata fields and stores values for users who authorized it. A guild makes a role a linked
role by requirements on these values; members claim it, and lose it when the values stop matching. Related rooms:
`application`, `guild/role` and `guild/membership`.
"""
