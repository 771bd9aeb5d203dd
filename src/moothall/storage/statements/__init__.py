"""Statements that a build has compiled, and their compilation."""
