"""The list of discoverable guilds, which anyone may read and people may join, where the setting allows it."""
