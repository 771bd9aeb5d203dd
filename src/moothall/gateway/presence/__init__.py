"""Presences: of this node's users, and of those of other processes."""
