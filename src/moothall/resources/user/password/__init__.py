"""Passwords: how good a new one must be, and how often one may be guessed.

It stands below accounts and their sessions, which both ask for passwords.
"""
