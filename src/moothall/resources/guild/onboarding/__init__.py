"""Onboarding: what a guild asks newcomers, and the channels that it opts them into (api.md, Guild onboarding objects).

Roles and channels that are gone meanwhile are left out of what is told of it; the guild's row and state
know nothing of onboarding.
"""
