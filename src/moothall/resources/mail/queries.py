"""The SQL of mails."""

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

from msgspec import Struct, structs

from moothall.objects.ids import MAX_ID, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list
from moothall.storage.sql import ColumnElement, bindparam, delete, func, insert, select, update
from moothall.storage.tables import mails


class MailState(IntEnum):
    """The states of a mail."""

    WAITING = 0
    SENT = 1
    FAILED = 2


class MailRow(Struct):
    """A row of `mails`."""

    id: Snowflake
    kind: str
    user_id: UserId | None
    address: str
    address_key: str
    network: str | None
    language: str
    created_at: Timestamp
    expires_at: Timestamp | None
    state: int
    attempts: int
    next_attempt_at: Timestamp | None
    sent_at: Timestamp | None
    last_error: str | None
    sealed: bytes | None
    claim_id: Snowflake | None


_m = mails.c
_insert = Query(lambda: insert(mails))
_select_due_ids = Query(
    lambda: (
        select(_m.id)
        .where(_m.next_attempt_at <= bindparam("now", type_=_m.next_attempt_at.type))
        .order_by(_m.next_attempt_at, _m.id)
        .limit(bindparam("maximum"))
    )
)
_claim = Query(
    lambda: (
        update(mails)
        .where(in_list(_m.id, "mail_ids"), _m.next_attempt_at <= bindparam("now", type_=_m.next_attempt_at.type))
        .values(attempts=_m.attempts + 1, next_attempt_at=bindparam("until"), claim_id=bindparam("new_claim_id"))
    )
)
_select_claimed = Query(lambda: select(mails).where(_m.claim_id == bindparam("claim_id")), into=MailRow)
_postpone = Query(
    lambda: (
        update(mails)
        .where(_m.id == bindparam("mail_id"))
        .values(next_attempt_at=bindparam("at"), claim_id=None, last_error=bindparam("error"))
    )
)
_end = Query(
    lambda: (
        update(mails)
        .where(_m.id == bindparam("mail_id"))
        .values(
            state=bindparam("new_state"),
            next_attempt_at=None,
            claim_id=None,
            sealed=None,
            sent_at=bindparam("ended_at"),
            last_error=bindparam("error"),
        )
    )
)
_count_to_address = Query(
    lambda: select(func.count()).where(
        _m.address_key == bindparam("key"), _m.kind == bindparam("kind"), _m.created_at > bindparam("since")
    )
)
_count_of_user = Query(
    lambda: select(func.count()).where(
        _m.user_id == bindparam("user_id"), _m.kind == bindparam("kind"), _m.created_at > bindparam("since")
    )
)
_count_of_network = Query(
    lambda: select(func.count()).where(
        _m.network == bindparam("network"), _m.kind == bindparam("kind"), _m.created_at > bindparam("since")
    )
)
_select_old_ids = Query(
    lambda: (
        select(_m.id)
        .where(_m.created_at < bindparam("before"), _m.next_attempt_at.is_(None))
        .order_by(_m.created_at)
        .limit(bindparam("maximum"))
    )
)
_delete_ids = Query(lambda: delete(mails).where(in_list(_m.id, "mail_ids")))
_delete_of_user = Query(lambda: delete(mails).where(_m.user_id == bindparam("user_id")))


def _newest(*conditions: ColumnElement[bool]) -> Query[MailRow]:
    return Query(
        lambda: (
            select(mails)
            .where(_m.id < bindparam("before"), *conditions)
            .order_by(_m.id.desc())
            .limit(bindparam("maximum"))
        ),
        into=MailRow,
    )


_select_newest = _newest()
_select_newest_in_state = _newest(_m.state == bindparam("state"))


async def insert_mail(tx: Transaction, row: MailRow) -> None:
    """Store a mail."""
    await tx.execute(_insert, **structs.asdict(row))


async def select_due(reader: Reader, now: Timestamp, maximum: int) -> list[Snowflake]:
    """Select the ids of due mails, longest due first."""
    rows: list[Any] = await reader.all(_select_due_ids, now=now, maximum=maximum)
    return [Snowflake(row[0]) for row in rows]


async def claim_mails(
    tx: Transaction, mail_ids: Sequence[Snowflake], claim_id: Snowflake, *, now: Timestamp, until: Timestamp
) -> list[MailRow]:
    """Count an attempt of those mails that no other process has claimed meanwhile; return these."""
    await tx.execute(_claim, mail_ids=list(mail_ids), now=now, until=until, new_claim_id=claim_id)
    return await tx.all(_select_claimed, claim_id=claim_id)


async def postpone_mail(tx: Transaction, mail_id: Snowflake, at: Timestamp, error: str) -> None:
    """Store a failed attempt, and the time of the next one."""
    await tx.execute(_postpone, mail_id=mail_id, at=at, error=error)


async def end_mail(
    tx: Transaction, mail_id: Snowflake, state: MailState, *, sent_at: Timestamp | None = None, error: str | None = None
) -> None:
    """Store that a mail was sent or is given up, and delete what its text says."""
    await tx.execute(_end, mail_id=mail_id, new_state=int(state), ended_at=sent_at, error=error)


async def count_to_address(reader: Reader, kind: str, key: str, since: Timestamp) -> int:
    """Count the mails of a kind to an address after a time."""
    return int(await reader.scalar(_count_to_address, kind=kind, key=key, since=since))


async def count_of_user(reader: Reader, kind: str, user_id: UserId, since: Timestamp) -> int:
    """Count the mails of a kind about an account after a time."""
    return int(await reader.scalar(_count_of_user, kind=kind, user_id=user_id, since=since))


async def count_of_network(reader: Reader, kind: str, network: str, since: Timestamp) -> int:
    """Count the mails of a kind that requests from a network have caused after a time."""
    return int(await reader.scalar(_count_of_network, kind=kind, network=network, since=since))


async def delete_mails_of_user(tx: Transaction, user_id: UserId) -> None:
    """Delete the mails about an account, those that wait too."""
    await tx.execute(_delete_of_user, user_id=user_id)


async def select_old(reader: Reader, before: Timestamp, maximum: int) -> list[Snowflake]:
    """Select the ids of mails of before a time that do not wait."""
    rows: list[Any] = await reader.all(_select_old_ids, before=before, maximum=maximum)
    return [Snowflake(row[0]) for row in rows]


async def delete_mails(tx: Transaction, mail_ids: Sequence[Snowflake]) -> None:
    """Delete mails."""
    await tx.execute(_delete_ids, mail_ids=list(mail_ids))


async def list_mails(
    reader: Reader, *, state: MailState | None, before: Snowflake | None = None, maximum: int
) -> list[MailRow]:
    """Select the mails of a state or of any with smaller ids than `before`, newest first."""
    values = {"before": before or MAX_ID, "maximum": maximum}
    if state is None:
        return await reader.all(_select_newest, **values)
    return await reader.all(_select_newest_in_state, state=int(state), **values)
