"""How an application's bot comes into a guild, with its integration and its role, and how all that ends.

What an integration is, and what of it other nouns read and announce, stands in `integration`. What
goes with a bot that leaves by another way (kicked, banned, pruned, by itself) stands in `membership`.
"""
