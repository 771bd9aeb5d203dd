"""Application commands: global ones and those of a guild, and guilds' permissions for them.

A name is unique among an application's commands of one type in one scope; creating a command of an existing name
overwrites it. The application's bot, its token or its owner manages them (`application`); users use them by creating
interactions (`interaction`).
"""
