"""The SQL of retention."""

from collections.abc import Sequence
from typing import Any, Final

from msgspec import Struct, structs

from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.sql import Select, bindparam, delete, func, or_, select
from moothall.storage.tables import attachments, channel_recipients, channels, messages, meta, retention_rules


class RuleRow(Struct, frozen=True):
    """A row of `retention_rules`."""

    scope: str
    target_id: Snowflake
    message_days: int | None
    large_file_mb: int | None
    large_file_days: int | None
    changed_at: Timestamp
    changed_by: UserId | None


class ChannelAge(Struct, frozen=True):
    """A channel with the id of its oldest message."""

    id: ChannelId
    guild_id: GuildId | None
    type: int
    parent_id: ChannelId | None
    first_message_id: MessageId | None


_this = (retention_rules.c.scope == bindparam("rule_scope")) & (retention_rules.c.target_id == bindparam("rule_target"))
_select_rules = Query(
    lambda: select(retention_rules).order_by(retention_rules.c.scope, retention_rules.c.target_id), into=RuleRow
)
_select_rule = Query(lambda: select(retention_rules).where(_this), into=RuleRow)
_upsert_rule = Query(
    lambda: upsert(
        retention_rules,
        key=("scope", "target_id"),
        update=("message_days", "large_file_mb", "large_file_days", "changed_at", "changed_by"),
    )
)
_delete_rule = Query(lambda: delete(retention_rules).where(_this))


def _ages() -> Select[Any]:
    first = (
        select(func.min(messages.c.id))
        .where(messages.c.channel_id == channels.c.id)
        .correlate(channels)
        .scalar_subquery()
    )
    return (
        select(
            channels.c.id, channels.c.guild_id, channels.c.type, channels.c.parent_id, first.label("first_message_id")
        )
        .where(channels.c.id > bindparam("after"))
        .order_by(channels.c.id)
        .limit(bindparam("maximum"))
    )


_select_ages: Final = {
    "instance": Query(_ages, into=ChannelAge),
    "guild": Query(lambda: _ages().where(channels.c.guild_id == bindparam("target_id")), into=ChannelAge),
    "channel": Query(
        lambda: _ages().where(
            or_(channels.c.id == bindparam("target_id"), channels.c.parent_id == bindparam("target_id"))
        ),
        into=ChannelAge,
    ),
}
_select_old = Query(
    lambda: (
        select(messages.c.id)
        .where(messages.c.channel_id == bindparam("channel_id"), messages.c.id < bindparam("before"))
        .order_by(messages.c.id)
        .limit(bindparam("maximum"))
    )
)
_select_with_large_files = Query(
    lambda: (
        select(attachments.c.channel_id, attachments.c.message_id)
        .where(
            in_list(attachments.c.channel_id, "channel_ids"),
            attachments.c.size > bindparam("bytes"),
            attachments.c.message_id < bindparam("before"),
        )
        .distinct()
        .order_by(attachments.c.channel_id, attachments.c.message_id)
        .limit(bindparam("maximum"))
    )
)
_select_recipients = Query(
    lambda: select(channel_recipients.c.user_id).where(channel_recipients.c.channel_id == bindparam("channel_id"))
)
_exists_channel = Query(lambda: select(channels.c.id).where(channels.c.id == bindparam("channel_id")))


async def select_rules(reader: Reader) -> list[RuleRow]:
    """Read all rules."""
    return await reader.all(_select_rules)


async def select_rule(reader: Reader, scope: str, target_id: Snowflake) -> RuleRow | None:
    """Read the rule of the instance, a guild or a channel; None if there is none."""
    return await reader.one(_select_rule, rule_scope=scope, rule_target=target_id)


async def upsert_rule(tx: Transaction, row: RuleRow) -> None:
    """Store a rule in place of the one before."""
    await tx.execute(_upsert_rule, **structs.asdict(row))


async def delete_rule(tx: Transaction, scope: str, target_id: Snowflake) -> None:
    """Delete a rule."""
    await tx.execute(_delete_rule, rule_scope=scope, rule_target=target_id)


async def select_channel_ages(
    reader: Reader, scope: str, target_id: Snowflake, *, after: int, maximum: int
) -> list[ChannelAge]:
    """Read the next channels of a rule's scope, threads included, in the order of their ids."""
    values: dict[str, object] = {"after": after, "maximum": maximum}
    if scope != "instance":
        values["target_id"] = target_id
    return await reader.all(_select_ages[scope], **values)


async def select_old_messages(
    reader: Reader, channel_id: ChannelId, before: Snowflake, maximum: int
) -> list[MessageId]:
    """Read the ids of a channel's oldest messages, those below `before`."""
    rows = await reader.all(_select_old, channel_id=channel_id, before=before, maximum=maximum)
    return [MessageId(Snowflake(row[0])) for row in rows]


async def select_messages_with_large_files(
    tx: Transaction, channel_ids: Sequence[ChannelId], *, size: int, before: Snowflake, maximum: int
) -> list[tuple[ChannelId, MessageId]]:
    """Read which messages below `before` have a file of more than `size` bytes, by channel."""
    rows = await tx.all_long(
        _select_with_large_files, channel_ids=list(channel_ids), bytes=size, before=before, maximum=maximum
    )
    return [(ChannelId(Snowflake(row[0])), MessageId(Snowflake(row[1]))) for row in rows]


async def select_recipients(reader: Reader, channel_id: ChannelId) -> list[UserId]:
    """Read who is in a direct message."""
    return [UserId(Snowflake(row[0])) for row in await reader.all(_select_recipients, channel_id=channel_id)]


async def is_channel(reader: Reader, channel_id: Snowflake) -> bool:
    """Whether there is a channel."""
    return await reader.one(_exists_channel, channel_id=channel_id) is not None


_ERASED_AT: Final = "erased at"
_select_erased_at = Query(lambda: select(meta.c.value).where(meta.c.key == _ERASED_AT))
_upsert_erased_at = Query(lambda: upsert(meta, key=("key",), update=("value",)))


async def select_erased_at(reader: Reader) -> int:
    """When what was deleted was last erased from the disk; 0 if it is to be done soon."""
    return int(await reader.scalar(_select_erased_at) or 0)


async def upsert_erased_at(tx: Transaction, moment: int) -> None:
    """Store when what was deleted was last erased; 0 requests it."""
    await tx.execute(_upsert_erased_at, key=_ERASED_AT, value=str(moment))
