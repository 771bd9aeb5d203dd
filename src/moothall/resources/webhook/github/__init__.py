"""GitHub-compatible webhooks: messages with an embed for each event of a repository.

`payload` reads payloads in which any field may be missing. One module for each group of event kinds formats embeds;
`messages` selects the formatter of an event.
"""
