"""Rules of retention over HTTP."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from moothall.api.context import Context
from moothall.api.endpoint import get, put
from moothall.api.operators import may_act, may_read
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.retention import operations, queries

_Days = Annotated[int, Meta(ge=1, le=36_500)]
_INSTANCE = Snowflake(0)


class RetentionRule(Struct, frozen=True):
    """After how many days messages are deleted."""

    scope: Literal["instance", "guild", "channel"]
    target_id: Snowflake | None
    """The guild or channel; null for the instance."""
    message_days: int | None
    """After so many days every message is deleted; null for no such rule."""
    large_file_mb: int | None
    """Messages with a file of more megabytes are deleted after `large_file_days`."""
    large_file_days: int | None
    changed_at: Timestamp
    changed_by: UserId | None
    """Null if a command has set it."""


class SetRetentionRule(Struct, frozen=True):
    """The rule of the instance, a guild or a channel; without any days there is none."""

    scope: Literal["instance", "guild", "channel"]
    target_id: Snowflake | None = None
    message_days: _Days | None = None
    large_file_mb: Annotated[int, Meta(ge=1, le=1_000_000)] | None = None
    large_file_days: _Days | None = None


@get("/admin/v1/retention", permission=may_read(OperatorPermission.RETENTION))
async def list_retention_rules(ctx: Context) -> list[RetentionRule]:
    """List the rules after how many days messages are deleted."""
    return await _rules(ctx)


@put("/admin/v1/retention", permission=may_act(OperatorPermission.RETENTION), audit_reason=True)
async def set_retention_rule(ctx: Context, body: SetRetentionRule) -> list[RetentionRule]:
    """Set a rule, in place of the one before; the rule of a channel counts before its guild's, and the instance's.

    What is over its time is deleted soon after, for good, unless it is held.
    """
    await operations.set_rule(
        ctx,
        body.scope,
        _INSTANCE if body.scope == "instance" else body.target_id or _INSTANCE,
        message_days=body.message_days,
        large_file_mb=body.large_file_mb,
        large_file_days=body.large_file_days,
    )
    return await _rules(ctx)


async def _rules(ctx: Context) -> list[RetentionRule]:
    return [
        RetentionRule(
            scope=row.scope,  # type: ignore[arg-type]  # only such are stored
            target_id=row.target_id or None,
            message_days=row.message_days,
            large_file_mb=row.large_file_mb,
            large_file_days=row.large_file_days,
            changed_at=row.changed_at,
            changed_by=row.changed_by,
        )
        for row in await queries.select_rules(ctx.tx)
    ]
