"""Who may do what: guilds as decisions need them, and access to channels."""
