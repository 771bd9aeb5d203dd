"""The SQL of messages that wait for previews of their links."""

from collections.abc import Sequence

from msgspec import Struct

from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction
from moothall.storage.sql import bindparam, delete, insert, select, update
from moothall.storage.tables import messages, preview_requests


class PreviewRequest(Struct):
    """A row of `preview_requests`, and the author of its message."""

    id: Snowflake
    channel_id: ChannelId
    message_id: MessageId
    links: list[str]
    attempts: int
    next_attempt_at: Timestamp
    claim_id: Snowflake | None
    author_id: UserId | None
    """None if the message is deleted."""


_r = preview_requests.c
_now = bindparam("now", type_=_r.next_attempt_at.type)
_insert = Query(lambda: insert(preview_requests))
_due = _r.next_attempt_at <= _now
_due_ids = select(_r.id).where(_due).order_by(_r.next_attempt_at, _r.id).limit(bindparam("number"))
_claim = Query(
    lambda: (
        update(preview_requests)
        .where(_r.id.in_(_due_ids), _due)
        .values(attempts=_r.attempts + 1, next_attempt_at=bindparam("until"), claim_id=bindparam("new_claim_id"))
    )
)
_select_claimed = Query(
    lambda: (
        select(preview_requests, messages.c.author_id)
        .select_from(
            preview_requests.outerjoin(
                messages, (messages.c.channel_id == _r.channel_id) & (messages.c.id == _r.message_id)
            )
        )
        .where(_r.claim_id == bindparam("claim_id"))
    ),
    into=PreviewRequest,
)
_delete = Query(lambda: delete(preview_requests).where(_r.id == bindparam("request_id")))
_select_any = Query(lambda: select(_r.id).where(_r.next_attempt_at <= _now).limit(1))


async def insert_preview_request(
    tx: Transaction,
    request_id: Snowflake,
    channel_id: ChannelId,
    message_id: MessageId,
    links: Sequence[str],
    now: Timestamp,
) -> None:
    """Store that a message waits for previews."""
    await tx.execute(
        _insert,
        id=request_id,
        channel_id=channel_id,
        message_id=message_id,
        links=list(links),
        attempts=0,
        next_attempt_at=now,
        claim_id=None,
    )


async def claim_preview_requests(
    tx: Transaction, claim_id: Snowflake, number: int, *, now: Timestamp, until: Timestamp
) -> list[PreviewRequest]:
    """Count an attempt of the `number` requests that are due longest, and keep other processes from them."""
    await tx.execute(_claim, number=number, now=now, until=until, new_claim_id=claim_id)
    return await tx.all(_select_claimed, claim_id=claim_id)


async def is_preview_request_due(reader: Reader, now: Timestamp) -> bool:
    """Whether there is a request that is due."""
    return await reader.scalar(_select_any, now=now) is not None


async def delete_preview_request(tx: Transaction, request_id: Snowflake) -> None:
    """Delete a request that is done."""
    await tx.execute(_delete, request_id=request_id)
