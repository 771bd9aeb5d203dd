"""Guild templates: codes by which users create guilds from the snapshot of another guild.

Related rooms: `guild` (whose `new_guild` builds the rows of a guild) and `web` (the page of a template).
"""
