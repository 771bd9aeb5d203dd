"""Pruning: removing many members who have not been seen for days, a few hundred at a time."""
