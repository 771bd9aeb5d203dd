"""State that is read as a whole: READY, GUILD_CREATE, the threads of a member."""
