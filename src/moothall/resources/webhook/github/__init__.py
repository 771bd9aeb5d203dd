"""GitHub's repository hooks: their events, told as embeds.

Pure but for the row: `reading` looks into payloads that may lack anything, one module for each group
of event kinds makes the embeds, `telling` finds the one for an event. Neighbour: webhook, which posts
them.
"""
