"""The SQL of the audit log."""

from collections.abc import Iterable
from functools import cache
from typing import Any, Final

from msgspec import UNSET, Struct

from moothall.objects.audit_log import AuditLogChange, AuditLogEntry, AuditLogOptions
from moothall.objects.channel_types import THREADS, type_numbers
from moothall.objects.ids import (
    ApplicationId,
    AuditEntryId,
    ChannelId,
    GuildId,
    IntegrationId,
    Snowflake,
    UserId,
    WebhookId,
)
from moothall.objects.integration import IntegrationAccount, PartialIntegration
from moothall.objects.json_object import JsonObject
from moothall.objects.user import User
from moothall.objects.webhook import Webhook
from moothall.objects.wire import convert
from moothall.storage.database import Query, Reader, in_list
from moothall.storage.query import compiled_beforehand, subsets
from moothall.storage.rows import ChannelRow
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import audit_entries, channels, integrations, webhooks


class EntryRow(Struct):
    """A row of `audit_entries`."""

    guild_id: GuildId
    id: AuditEntryId
    user_id: UserId | None
    target_id: Snowflake | None
    action_type: int
    changes: list[JsonObject]
    options: JsonObject | None
    reason: str | None


class WebhookRow(Struct):
    """The columns of a webhook that the audit log shows, without its token."""

    id: WebhookId
    type: int
    guild_id: GuildId | None
    channel_id: ChannelId | None
    name: str | None
    avatar: str | None
    user_id: UserId | None
    application_id: ApplicationId | None


class IntegrationRow(Struct):
    """The columns of an integration that the audit log shows."""

    id: IntegrationId
    name: str
    type: str
    application_id: ApplicationId | None
    account: JsonObject | None


def _select_by_ids(table: Any, struct: type[Struct]) -> Any:
    return select(*(table.c[name] for name in struct.__struct_fields__)).where(
        table.c.guild_id == bindparam("guild_id"), in_list(table.c.id, "ids")
    )


_select_webhooks = Query(lambda: _select_by_ids(webhooks, WebhookRow), into=WebhookRow)
_select_integrations = Query(lambda: _select_by_ids(integrations, IntegrationRow), into=IntegrationRow)
_select_threads = Query(
    lambda: select(channels).where(
        channels.c.guild_id == bindparam("guild_id"),
        in_list(channels.c.id, "ids"),
        channels.c.type.in_(type_numbers(THREADS)),
    ),
    into=ChannelRow,
)


@cache
def _select_entries(filters: frozenset[str], *, ascending: bool) -> Query[EntryRow]:
    """The query for a set of filters: `before`, `after` and names of columns. Each set is compiled once."""
    statement = select(audit_entries).where(audit_entries.c.guild_id == bindparam("guild_id"))
    for name in sorted(filters):
        if name == "before":
            statement = statement.where(audit_entries.c.id < bindparam("before"))
        elif name == "after":
            statement = statement.where(audit_entries.c.id > bindparam("after"))
        else:
            statement = statement.where(audit_entries.c[name] == bindparam(name))
    order = audit_entries.c.id if ascending else audit_entries.c.id.desc()
    return Query(statement.order_by(order).limit(bindparam("maximum")), into=EntryRow)


_BOUNDS: Final = ("before", "after")
_FILTERS: Final = ("user_id", "target_id", "action_type")
compiled_beforehand(
    lambda: (
        _select_entries(frozenset({*bounds, *columns}), ascending=bounds == ("after",))
        for bounds in subsets(_BOUNDS)
        for columns in subsets(_FILTERS)
    )
)


async def select_entries(
    reader: Reader,
    guild_id: GuildId,
    *,
    maximum: int,
    before: Snowflake | None = None,
    after: Snowflake | None = None,
    user_id: UserId | None = None,
    target_id: Snowflake | None = None,
    action_type: int | None = None,
) -> list[EntryRow]:
    """Entries that match every filter: newest first, but oldest first with `after` and without `before`."""
    conditions = {
        "before": before,
        "after": after,
        "user_id": user_id,
        "target_id": target_id,
        "action_type": action_type,
    }
    filters = {name: value for name, value in conditions.items() if value is not None}
    query = _select_entries(frozenset(filters), ascending="after" in filters and "before" not in filters)
    # No index has the filters: what few entries match is looked for among all of the guild.
    read = reader.all_long if filters.keys() & set(_FILTERS) else reader.all
    return await read(query, guild_id=guild_id, maximum=maximum, **filters)


async def select_webhooks(reader: Reader, guild_id: GuildId, ids: Iterable[int]) -> list[WebhookRow]:
    """The webhooks with these ids that still exist."""
    unique_ids = sorted(set(ids))
    return await reader.all(_select_webhooks, guild_id=guild_id, ids=unique_ids) if unique_ids else []


async def select_integrations(reader: Reader, guild_id: GuildId, ids: Iterable[int]) -> list[IntegrationRow]:
    """The integrations with these ids that still exist."""
    unique_ids = sorted(set(ids))
    return await reader.all(_select_integrations, guild_id=guild_id, ids=unique_ids) if unique_ids else []


async def select_threads(reader: Reader, guild_id: GuildId, ids: Iterable[int]) -> list[ChannelRow]:
    """The threads with these ids that still exist."""
    unique_ids = sorted(set(ids))
    return await reader.all(_select_threads, guild_id=guild_id, ids=unique_ids) if unique_ids else []


def entry_object(row: EntryRow) -> AuditLogEntry:
    """The audit log entry object of a row."""
    return AuditLogEntry(
        id=row.id,
        target_id=None if row.target_id is None else row.target_id.wire(),
        user_id=row.user_id,
        action_type=row.action_type,
        changes=convert(row.changes, list[AuditLogChange]) if row.changes else UNSET,
        options=UNSET if row.options is None else convert(row.options, AuditLogOptions),
        reason=UNSET if row.reason is None else row.reason,
    )


def webhook_object(row: WebhookRow, user: User | None) -> Webhook:
    """The webhook object of a row, without a token."""
    return Webhook(
        id=row.id,
        type=row.type,
        guild_id=row.guild_id,
        channel_id=row.channel_id,
        user=UNSET if user is None else user,
        name=row.name,
        avatar=row.avatar,
        application_id=row.application_id,
    )


def integration_object(row: IntegrationRow) -> PartialIntegration:
    """The partial integration object of a row."""
    account = row.account or {"id": row.id.wire(), "name": row.name}
    return PartialIntegration(
        id=row.id,
        name=row.name,
        type=row.type,
        account=convert(account, IntegrationAccount),
        application_id=UNSET if row.application_id is None else row.application_id,
    )
