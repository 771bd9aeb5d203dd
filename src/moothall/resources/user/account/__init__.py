"""Accounts: registering, logging in and out, and changing the profile.

It stands above users and members, because a changed profile is announced in every guild of the user.
"""
