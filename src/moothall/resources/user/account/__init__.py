"""Accounts: registering, logging in and out, and changing what one is called and looks like.

It stands above users and members: what others see of a change is told in every guild.
"""
