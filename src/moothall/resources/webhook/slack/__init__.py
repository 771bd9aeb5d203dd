"""Slack's incoming webhooks: their payload, translated into a message of ours.

Pure but for the row: `mrkdwn` translates texts, `attachments` and `blocks` what stands around them,
`translating` puts a message together. Neighbour: webhook, which posts it.
"""
