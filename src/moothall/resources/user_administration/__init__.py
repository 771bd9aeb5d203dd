"""Accounts as operators find and change them."""
