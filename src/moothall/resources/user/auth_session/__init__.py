"""Auth sessions: the logins of users, which can be listed and ended, and which expire when they are not used.

A login is a row of `tokens`, and a row of `auth_sessions` with its client and last use.
"""
