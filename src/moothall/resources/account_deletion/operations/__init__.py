"""Account operations: close an account, and delete one step by step."""

from moothall.resources.account_deletion.operations.closing import disable_account, schedule_deletion
from moothall.resources.account_deletion.operations.suspension import delete_account, end_suspension, suspend_account

__all__ = ["delete_account", "disable_account", "end_suspension", "schedule_deletion", "suspend_account"]
