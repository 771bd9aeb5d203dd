"""Relationships: friends, friend requests, blocked and ignored users."""
