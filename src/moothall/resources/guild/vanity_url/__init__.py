"""Vanity URLs: a guild's custom invite code, stored in the guild's row. `invite` resolves and accepts it.

A code belongs to one guild or to one invite, never to two of them: vanity codes resolve in any case, so the code of an
invite is compared regardless of case.
"""
