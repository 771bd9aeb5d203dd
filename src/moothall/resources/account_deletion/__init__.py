"""Disabling and deleting accounts.

A disabled account cannot log in, and none of its tokens works; logging in with `undelete` restores it. A deleted one is
the same for `account_deletion_days`, after which a job deletes what it has. Its messages remain, by a deleted user.
The room stands above those whose objects an account has.
"""
