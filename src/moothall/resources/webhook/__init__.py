"""Webhooks: ways into a channel for whoever holds their token.

A webhook lives in one channel and goes with it, or with the application that made it. Its token is
told to those who manage webhooks there, and stands in no log and no event. ClusterMembers: message (what
it posts), channel_removal (what goes when a channel goes), member (what goes when a bot goes).
"""
