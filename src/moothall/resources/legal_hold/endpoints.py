"""Legal holds over HTTP, and what is kept under them."""

from typing import Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from moothall.api.context import Context
from moothall.api.endpoint import delete, get, post
from moothall.api.operators import may_act, may_read
from moothall.objects.ids import MAX_ID, ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.legal_hold import operations, queries
from moothall.resources.legal_hold.queries import HoldRow
from moothall.resources.operator_log.operations import record_act

_READS, _ACTS = may_read(OperatorPermission.RETENTION), may_act(OperatorPermission.RETENTION)


class LegalHold(Struct, frozen=True):
    """What is kept when it is edited or deleted: the messages of a user, a guild or a channel."""

    id: Snowflake
    scope: Literal["user", "guild", "channel"]
    target_id: Snowflake
    name: str
    """What it is for, like the number of a case."""
    created_at: Timestamp
    created_by: UserId | None
    """Null if a command has made it."""


class CreateLegalHold(Struct, frozen=True):
    """A hold on the messages of a user, a guild or a channel with its threads."""

    scope: Literal["user", "guild", "channel"]
    target_id: Snowflake
    name: Annotated[str, Meta(min_length=1, max_length=200)]


class RetainedFile(Struct, frozen=True):
    """A file of a held message, which stays in the store."""

    id: Snowflake
    filename: str
    content_type: str
    size: int


class RetainedMessage(Struct, frozen=True):
    """A message as it was before it was edited or deleted."""

    copy_id: Snowflake
    message_id: MessageId
    channel_id: ChannelId
    guild_id: GuildId | None
    author_id: UserId
    deleted: bool
    """Else it was edited."""
    retained_at: Timestamp
    content: str
    message: dict[str, Any]
    """The fields that its author has set."""
    files: list[RetainedFile]


@get("/admin/v1/holds", permission=_READS)
async def list_legal_holds(ctx: Context) -> list[LegalHold]:
    """List the holds, oldest first."""
    return [_hold(row) for row in await queries.select_holds(ctx.tx)]


@post("/admin/v1/holds", permission=_ACTS, audit_reason=True, status=201)
async def create_legal_hold(ctx: Context, body: CreateLegalHold) -> LegalHold:
    """Keep a copy of each message of a user, a guild or a channel that is edited or deleted from now on.

    Its author and all others see the message no longer; it is kept whatever deletes it: a person, the end of an
    account, of a channel or a guild, or a rule of retention.
    """
    return _hold(await operations.create_hold(ctx, body.scope, body.target_id, body.name))


@delete("/admin/v1/holds/{hold_id}", permission=_ACTS, audit_reason=True)
async def release_legal_hold(ctx: Context, hold_id: Snowflake) -> None:
    """End a hold, and delete the copies that are under no other one."""
    await operations.release_hold(ctx, hold_id)


@post("/admin/v1/holds/{hold_id}/messages", permission=_ACTS, audit_reason=True)
async def read_retained_messages(
    ctx: Context,
    hold_id: Snowflake,
    *,
    before: Snowflake | None = None,
    limit: Annotated[int, Meta(ge=1, le=100)] = 50,
) -> list[RetainedMessage]:
    """Read what is kept under a hold, newest first. The log of operators says who has read it."""
    row = await operations.find_hold(ctx, hold_id)
    rows = await queries.select_retained(ctx.tx, row, before=MAX_ID if before is None else before, maximum=limit)
    files: dict[int, list[RetainedFile]] = {}
    for file in await queries.select_retained_files(ctx.tx, rows):
        named = msgspec.json.decode(file.body.replace(b"\0", b""), type=dict[str, Any])
        retained = RetainedFile(file.id, str(named.get("filename", "")), file.content_type, file.size)
        files.setdefault(int(file.message_id), []).append(retained)
    await record_act(ctx, "hold.read", row.target_id, changes={"name": (row.name, row.name)})
    return [
        RetainedMessage(
            copy_id=Snowflake(each.id),
            message_id=each.message_id,
            channel_id=each.channel_id,
            guild_id=each.guild_id,
            author_id=each.author_id,
            deleted=each.deleted,
            retained_at=each.retained_at,
            content=str(message.get("content", "")),
            message=message,
            files=files.get(int(each.message_id), []),
        )
        for each in rows
        for message in [msgspec.json.decode(each.body, type=dict[str, Any])]
    ]


def _hold(row: HoldRow) -> LegalHold:
    return LegalHold(
        id=row.id,
        scope=row.scope,  # type: ignore[arg-type]  # only such are stored
        target_id=row.target_id,
        name=row.name,
        created_at=row.created_at,
        created_by=row.created_by,
    )
