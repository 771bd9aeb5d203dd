"""Members: users in a guild, as other nouns read and announce them. What is done to them: `membership`."""
