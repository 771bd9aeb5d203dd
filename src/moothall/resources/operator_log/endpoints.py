"""The operators' log over HTTP."""

from typing import Annotated

from msgspec import Meta

from moothall.api.context import Context
from moothall.api.endpoint import get
from moothall.api.operators import may_read
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.operator import OperatorPermission
from moothall.resources.operator_log.objects import LogEntry, log_entry
from moothall.resources.operator_log.queries import select_rows


@get("/admin/v1/log", permission=may_read(OperatorPermission.LOG))
async def list_operator_log(
    ctx: Context,
    *,
    before: Snowflake | None = None,
    act: Annotated[str, Meta(max_length=64)] | None = None,
    user_id: UserId | None = None,
    target_id: Snowflake | None = None,
    limit: Annotated[int, Meta(ge=1, le=100)] = 50,
) -> list[LogEntry]:
    """List what operators have done, newest first: an act like `user.suspend`, or a kind of acts like `user`.

    `before` is the number of an entry; of `user_id`, an operator, and `target_id` one counts, the latter.
    """
    number = None if before is None else int(before)
    rows = await select_rows(ctx.tx, before=number, act=act, user_id=user_id, target_id=target_id, maximum=limit)
    return [log_entry(row) for row in rows]
