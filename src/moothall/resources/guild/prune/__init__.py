"""Pruning: removing the members who have not been seen for a number of days (api.md, Prune)."""
