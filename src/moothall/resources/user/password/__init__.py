"""Passwords: strength of new ones, verification, and throttling of wrong ones.

It stands below accounts and their sessions, which both verify passwords.
"""
