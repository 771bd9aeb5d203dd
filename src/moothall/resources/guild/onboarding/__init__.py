"""Onboarding: the prompts that a guild shows new members, and the channels that it opts them into.

api.md, Guild onboarding objects. Reading it leaves out deleted roles and channels. The guild's row and its cached state
do not contain onboarding.
"""
