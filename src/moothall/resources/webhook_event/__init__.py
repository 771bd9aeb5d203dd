"""Webhook events: events that an application receives by signed requests to its `event_webhooks_url`.

Operations store an event in the transaction that causes it; `WebhookEventSender` sends it after the commit, outside any
transaction, until it is acknowledged. Related rooms: `application` (the settings) and `entitlement`.
"""
