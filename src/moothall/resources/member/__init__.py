"""Members: users in a guild, their nicknames, roles and timeouts, how they come and go."""
