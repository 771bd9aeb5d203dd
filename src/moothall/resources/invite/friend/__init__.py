"""Invites that make those who accept them friends of the inviter."""
