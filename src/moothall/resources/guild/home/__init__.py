"""The new member welcome of a guild: a welcome message, actions to do and channels to read.

The public API description only has an endpoint to read it; the one to change it has the same path. While the welcome is
disabled, only members with MANAGE_GUILD can read it.
"""
