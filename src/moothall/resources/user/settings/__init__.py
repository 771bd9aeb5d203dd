"""Settings of users: of their clients, and of notifications in each guild."""
