"""The SQL of entitlements."""

from collections.abc import Sequence
from functools import cache
from typing import Final

from msgspec import Struct, structs

from moothall.objects.ids import ApplicationId, EntitlementId, GuildId, SkuId, Snowflake, SubscriptionId, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.message.queries.purge import delete_some
from moothall.storage.database import Query, Reader, Transaction, in_list, update_columns
from moothall.storage.query import compiled_beforehand, subsets
from moothall.storage.sql import ColumnElement, and_, bindparam, insert, or_, select, true
from moothall.storage.tables import entitlements


class EntitlementRow(Struct):
    """A row of `entitlements`."""

    application_id: ApplicationId
    id: EntitlementId
    sku_id: SkuId
    owner_id: Snowflake
    guild_id: GuildId | None
    user_id: UserId
    subscription_id: SubscriptionId | None
    created_at: Timestamp
    starts_at: Timestamp | None
    ends_at: Timestamp | None
    consumed: bool
    deleted: bool


_e = entitlements.c
_CONDITIONS: Final[dict[str, ColumnElement[bool]]] = {
    "application_id": _e.application_id == bindparam("application_id"),
    "owner_ids": in_list(_e.owner_id, "owner_ids"),
    "guild_id": _e.guild_id == bindparam("guild_id"),
    "owner_id": _e.owner_id == bindparam("owner_id"),
    "sku_ids": in_list(_e.sku_id, "sku_ids"),
    "before": _e.id < bindparam("before"),
    "after": _e.id > bindparam("after"),
    "not_ended_at": or_(_e.ends_at.is_(None), _e.ends_at > bindparam("not_ended_at", type_=_e.ends_at.type)),
    "deleted": _e.deleted == bindparam("deleted"),
    "consumed": _e.consumed == bindparam("consumed"),
    "sku_id": _e.sku_id == bindparam("sku_id"),
    "subscription_id": _e.subscription_id == bindparam("subscription_id"),
    "subscriber_id": and_(_e.user_id == bindparam("subscriber_id"), _e.subscription_id.is_not(None)),
    "before_subscription": _e.subscription_id < bindparam("before_subscription"),
    "after_subscription": _e.subscription_id > bindparam("after_subscription"),
}
"""The conditions of `select_entitlements`, by the parameter of each."""
_insert = Query(lambda: insert(entitlements))
_delete_some = delete_some(entitlements)


@cache
def _select(filters: frozenset[str], *, newest_first: bool) -> Query[EntitlementRow]:
    conditions = and_(true(), *(_CONDITIONS[name] for name in sorted(filters)))
    order = _e.id.desc() if newest_first else _e.id
    return Query(
        select(entitlements).where(conditions).order_by(order).limit(bindparam("maximum")), into=EntitlementRow
    )


_OF_USER: Final = ("application_id", "owner_id", "deleted", "not_ended_at")
_LISTED: Final = ("guild_id", "owner_id", "sku_ids", "before", "after", "not_ended_at")
_USED: Final = (
    (("application_id", "owner_ids", "not_ended_at", "deleted", "consumed"), ()),
    (_OF_USER, ("sku_id", "sku_ids", "consumed")),
    (("application_id", "before", "after"), ()),
    (("application_id", "deleted"), _LISTED),
    (("sku_id", "subscriber_id"), ("before_subscription", "after_subscription")),
    (("sku_id", "subscription_id"), ("subscriber_id",)),
)
"""The filters of the callers below and in endpoints: those that are always there, and others."""
compiled_beforehand(
    lambda: (
        _select(frozenset((*always, *others)), newest_first=newest_first)
        for always, optional in _USED
        for others in subsets(optional)
        for newest_first in (False, True)
    )
)


async def select_entitlements(
    reader: Reader, *, maximum: int, newest_first: bool = False, **filters: object
) -> list[EntitlementRow]:
    """The first `maximum` entitlements that meet the conditions named by `filters`, or the last, ascending by id."""
    rows = await reader.all(_select(frozenset(filters), newest_first=newest_first), maximum=maximum, **filters)
    return rows[::-1] if newest_first else rows


async def insert_entitlement(tx: Transaction, row: EntitlementRow) -> None:
    """Insert an entitlement."""
    await tx.execute(_insert, **structs.asdict(row))


async def update_entitlement(tx: Transaction, row: EntitlementRow, **columns: object) -> None:
    """Update columns of an entitlement."""
    query = update_columns(entitlements, key=("application_id", "id"), columns=frozenset(columns))
    await tx.execute(query, application_id=row.application_id, id=row.id, **columns)


async def delete_some_entitlements(tx: Transaction, application_id: ApplicationId) -> bool:
    """Delete some hundred entitlements of an application; False once there are none."""
    return await tx.execute(_delete_some, owner=application_id) > 0


async def select_active_entitlements(
    reader: Reader, application_id: ApplicationId, owner_ids: Sequence[Snowflake], now: Timestamp, maximum: int
) -> list[EntitlementRow]:
    """The entitlements of users and guilds that are neither deleted, consumed nor ended."""
    return await select_entitlements(
        reader,
        application_id=application_id,
        owner_ids=list(owner_ids),
        not_ended_at=now,
        deleted=False,
        consumed=False,
        maximum=maximum,
    )
