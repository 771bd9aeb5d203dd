"""Invitations to register an account, which the operator makes."""
