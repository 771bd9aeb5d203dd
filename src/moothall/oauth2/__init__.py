"""OAuth2: what people let applications do. So far that is adding their bots to guilds."""
