"""Profiles of users: what they say about themselves, and what they share with the caller."""
