"""Guild channels and direct messages: settings, positions, permission overwrites, typing.

This room imports neither guilds, invites, webhooks nor threads. They register with the hooks of `operations` to take
part when a channel changes or is deleted. Threads are rows of the same table; `thread_activity` and `resources/thread`
hold their code.
"""
