"""Account operations: close an account, and delete one step by step."""

from moothall.resources.account_deletion.operations.closing import disable_account, schedule_deletion

__all__ = ["disable_account", "schedule_deletion"]
