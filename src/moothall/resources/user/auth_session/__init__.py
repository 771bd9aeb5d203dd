"""People's logins: listed, ended, and ended by themselves when they are not used.

A login is a row of `tokens`, which lets it in, and one beside it that says where it came from and when it was used.
"""
