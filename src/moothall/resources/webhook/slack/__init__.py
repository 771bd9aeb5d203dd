"""Slack-compatible webhooks: conversion of Slack's payloads to messages.

`mrkdwn` converts texts, `attachments` and `blocks` their containers, and `messages` whole payloads.
"""
