"""The SQL of channels."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct, structs

from moothall.objects.channel import ConsentStatus, ThreadMember
from moothall.objects.channel_types import THREADS, type_numbers
from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.user_settings import MuteConfig
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore, update_columns, upsert
from moothall.storage.rows import ChannelRow
from moothall.storage.sql import bindparam, delete, insert, select, update
from moothall.storage.tables import (
    authorizations,
    channel_activity,
    channel_recipients,
    channels,
    dm_pairs,
    guilds,
    members,
    thread_members,
    users,
)

_THREAD_TYPES = type_numbers(THREADS)


class _OwnMembership(Struct):
    """A row of `thread_members`."""

    thread_id: ChannelId
    user_id: UserId
    join_timestamp: Timestamp
    flags: int
    muted: bool
    mute_config: MuteConfig | None


_select_children = Query(
    lambda: (
        select(channels)
        .where(channels.c.parent_id == bindparam("category_id"), channels.c.type.not_in(_THREAD_TYPES))
        .order_by(channels.c.id)
    ),
    into=ChannelRow,
)
_clear_parent = Query(
    lambda: (
        update(channels)
        .where(channels.c.parent_id == bindparam("category_id"), channels.c.type.not_in(_THREAD_TYPES))
        .values(parent_id=None)
    )
)


ACTIVITY_TABLE: Final = channel_activity.name


class ChannelActivity(Struct, frozen=True):
    """A row of `channel_activity`, which changes with every message of a channel."""

    channel_id: ChannelId
    last_message_id: MessageId | None
    last_pin_timestamp: Timestamp | None


class Account(Struct, frozen=True):
    """What decides who may write direct messages to a user."""

    bot: bool
    deleted: bool


class PositionUpdate(Struct, frozen=True):
    """New position, category and overwrites of a channel."""

    channel_id: ChannelId
    new_position: int
    new_parent_id: ChannelId | None
    new_overwrites: list[JsonObject]


_insert_channel = Query(lambda: insert(channels))
_lock_channel = Query(lambda: select(channels.c.id).where(channels.c.id == bindparam("channel_id")).with_for_update())
_delete_channel = Query(lambda: delete(channels).where(channels.c.id == bindparam("channel_id")))
_update_position = Query(
    lambda: (
        update(channels)
        .where(channels.c.id == bindparam("channel_id"))
        .values(
            position=bindparam("new_position"),
            parent_id=bindparam("new_parent_id"),
            permission_overwrites=bindparam("new_overwrites"),
        )
    )
)
_select_activity = Query(
    lambda: select(channel_activity).where(in_list(channel_activity.c.channel_id, "channel_ids")), into=ChannelActivity
)
_select_activity_of_one = Query(
    lambda: select(channel_activity).where(channel_activity.c.channel_id == bindparam("channel_id")),
    into=ChannelActivity,
    key=("channel_id",),
)
_select_own_memberships = Query(
    lambda: select(thread_members).where(
        in_list(thread_members.c.thread_id, "thread_ids"), thread_members.c.user_id == bindparam("user_id")
    ),
    into=_OwnMembership,
)
_select_member_ids = Query(
    lambda: select(members.c.user_id).where(
        members.c.guild_id == bindparam("guild_id"), in_list(members.c.user_id, "user_ids")
    )
)
# Messages may be stored in another order than that of their ids.
_upsert_last_message = Query(lambda: upsert(channel_activity, key=("channel_id",), rising=("last_message_id",)))


def new_channel_row(
    channel_id: ChannelId, kind: int, *, guild_id: GuildId | None = None, name: str | None = None
) -> ChannelRow:
    """Build the row of a new channel with default values; use `structs.replace` to set others."""
    return ChannelRow(
        id=channel_id,
        guild_id=guild_id,
        type=int(kind),
        parent_id=None,
        position=0,
        name=name,
        topic=None,
        nsfw=False,
        bitrate=None,
        user_limit=None,
        rate_limit_per_user=0,
        rtc_region=None,
        video_quality_mode=None,
        default_auto_archive_duration=None,
        default_thread_rate_limit_per_user=None,
        default_sort_order=None,
        default_forum_layout=None,
        default_reaction_emoji=None,
        available_tags=[],
        flags=0,
        permission_overwrites=[],
        icon=None,
        owner_id=None,
        application_id=None,
        thread_metadata=None,
        archived=False,
        applied_tags=[],
        member_count=None,
        message_count=None,
        total_message_sent=None,
    )


async def insert_channel(tx: Transaction, row: ChannelRow) -> None:
    """Insert a channel, thread or direct message."""
    await tx.execute(_insert_channel, **structs.asdict(row))


async def insert_channels(tx: Transaction, rows: Iterable[ChannelRow]) -> None:
    """Insert several channels."""
    await tx.execute_many(_insert_channel, [structs.asdict(row) for row in rows])


async def lock_channel(tx: Transaction, channel_id: ChannelId) -> bool:
    """Lock a channel's row until the transaction ends; False if the channel was deleted."""
    return await tx.one(_lock_channel, channel_id=channel_id) is not None


async def update_channel(tx: Transaction, channel_id: ChannelId, **columns: object) -> None:
    """Update columns of a channel."""
    await tx.execute(update_columns(channels, key=("id",), columns=frozenset(columns)), id=channel_id, **columns)


async def update_positions(tx: Transaction, updates: Iterable[PositionUpdate]) -> None:
    """Update the positions, categories and overwrites of several channels."""
    await tx.execute_many(_update_position, (structs.asdict(update) for update in updates))


async def delete_channel(tx: Transaction, channel_id: ChannelId) -> None:
    """Delete a channel's row."""
    await tx.execute(_delete_channel, channel_id=channel_id)


async def select_member_ids(reader: Reader, guild_id: GuildId, user_ids: Iterable[Snowflake]) -> set[int]:
    """Select those of the ids that are members of a guild."""
    ids = list(user_ids)
    if not ids:
        return set()
    return {row[0] for row in await reader.all(_select_member_ids, guild_id=guild_id, user_ids=ids)}


async def select_own_memberships(
    reader: Reader, user_id: UserId, thread_ids: Iterable[ChannelId]
) -> dict[ChannelId, ThreadMember]:
    """Select the user's thread members, by thread; threads that the user is not in are left out."""
    ids = list(thread_ids)
    if not ids:
        return {}
    rows = await reader.all(_select_own_memberships, user_id=user_id, thread_ids=ids)
    return {
        row.thread_id: ThreadMember(
            id=row.thread_id,
            user_id=user_id,
            join_timestamp=row.join_timestamp,
            flags=row.flags,
            muted=row.muted,
            mute_config=row.mute_config,
        )
        for row in rows
    }


async def select_activity_of(reader: Reader, channel_id: ChannelId) -> ChannelActivity | None:
    """Select the activity of one channel; None for a channel that never had a message."""
    return await reader.one(_select_activity_of_one, channel_id=channel_id)


async def select_activity(reader: Reader, channel_ids: Iterable[ChannelId]) -> dict[ChannelId, ChannelActivity]:
    """Select the activity of channels, by channel; channels that never had a message are left out."""
    ids = list(channel_ids)
    if not ids:
        return {}
    return {row.channel_id: row for row in await reader.all_many(_select_activity, channel_ids=ids)}


async def upsert_last_message(tx: Transaction, channel_id: ChannelId, message_id: MessageId) -> None:
    """Set the newest message of a channel; an older id than the stored one changes nothing."""
    await tx.execute(_upsert_last_message, channel_id=channel_id, last_message_id=message_id)


class Recipient(Struct, frozen=True):
    """A row of `channel_recipients`: a user in a direct message."""

    channel_id: ChannelId
    user_id: UserId
    closed: bool
    """Whether the direct message is hidden from the user's list until the next message."""
    nick: str | None = None
    """The user's nickname in a group direct message."""
    consent: int = ConsentStatus.ACCEPTED
    """Whether the user takes direct messages of the other recipient."""
    requested_at: Timestamp | None = None
    """The time of the first message of a message request."""


class _Incidents(Struct):
    id: GuildId
    incidents_data: JsonObject | None


_select_recipients = Query(
    lambda: select(channel_recipients).where(in_list(channel_recipients.c.channel_id, "channel_ids")), into=Recipient
)
_select_direct_channels = Query(
    lambda: (
        select(channels)
        .select_from(channels.join(channel_recipients, channel_recipients.c.channel_id == channels.c.id))
        .where(channel_recipients.c.user_id == bindparam("user_id"), ~channel_recipients.c.closed)
    ),
    into=ChannelRow,
)
_select_account = Query(
    lambda: select(users.c.bot, users.c.deleted).where(users.c.id == bindparam("user_id")), into=Account
)
_others = members.alias()
_select_shared_incidents = Query(
    lambda: (
        select(guilds.c.id, guilds.c.incidents_data)
        .select_from(
            members.join(_others, _others.c.guild_id == members.c.guild_id).join(
                guilds, guilds.c.id == members.c.guild_id
            )
        )
        .where(members.c.user_id == bindparam("one_id"), _others.c.user_id == bindparam("other_id"))
    ),
    into=_Incidents,
)
_select_direct_message_id = Query(
    lambda: select(dm_pairs.c.channel_id).where(
        dm_pairs.c.low_user_id == bindparam("low_user_id"), dm_pairs.c.high_user_id == bindparam("high_user_id")
    )
)
_insert_direct_message = Query(lambda: insert_ignore(dm_pairs, key=("low_user_id", "high_user_id")))
_insert_recipient = Query(lambda: insert(channel_recipients))
_update_closed = Query(
    lambda: (
        update(channel_recipients)
        .where(
            channel_recipients.c.channel_id == bindparam("channel_id"),
            in_list(channel_recipients.c.user_id, "user_ids"),
        )
        .values(closed=bindparam("now_closed"))
    )
)


_update_consent = Query(
    lambda: (
        update(channel_recipients)
        .where(
            channel_recipients.c.channel_id == bindparam("channel_id"),
            channel_recipients.c.user_id == bindparam("user_id"),
        )
        .values(consent=bindparam("new_consent"), requested_at=bindparam("new_requested_at"))
    )
)
_select_authorized = Query(
    lambda: (
        select(users.c.id)
        .select_from(users.join(authorizations, authorizations.c.application_id == users.c.application_id))
        .where(users.c.id == bindparam("bot_id"), authorizations.c.user_id == bindparam("user_id"))
        .limit(1)
    )
)


async def select_recipients(reader: Reader, channel_ids: Iterable[ChannelId]) -> list[Recipient]:
    """Select the recipients of several direct messages, in no order."""
    return await reader.all(_select_recipients, channel_ids=list(channel_ids))


async def select_account(reader: Reader, user_id: UserId) -> Account | None:
    """Select whether a user is a bot, and whether they are deleted; None for an unknown user."""
    return await reader.one(_select_account, user_id=user_id)


async def select_shared_incidents(
    reader: Reader, one: UserId, other: UserId
) -> list[tuple[GuildId, JsonObject | None]]:
    """Select every guild that both users are members of, with its `incidents_data`."""
    return [
        (row.id, row.incidents_data) for row in await reader.all(_select_shared_incidents, one_id=one, other_id=other)
    ]


async def select_direct_channels(reader: Reader, user_id: UserId) -> list[ChannelRow]:
    """Select the open direct messages of a user, in no order."""
    return await reader.all(_select_direct_channels, user_id=user_id)


async def select_direct_message_id(reader: Reader, one: UserId, other: UserId) -> ChannelId | None:
    """Select the id of the direct message between two users; None if there is none."""
    low, high = sorted((one, other))
    channel_id = await reader.scalar(_select_direct_message_id, low_user_id=low, high_user_id=high)
    return None if channel_id is None else ChannelId(Snowflake(channel_id))


async def insert_direct_message(tx: Transaction, one: UserId, other: UserId, channel_id: ChannelId) -> bool:
    """Register a channel as the direct message between two users; return False if they already have one."""
    low, high = sorted((one, other))
    return bool(await tx.execute(_insert_direct_message, low_user_id=low, high_user_id=high, channel_id=channel_id))


async def insert_recipients(tx: Transaction, recipients: Iterable[Recipient]) -> None:
    """Insert recipients of a direct message."""
    await tx.execute_many(_insert_recipient, [structs.asdict(recipient) for recipient in recipients])


async def update_closed(tx: Transaction, channel_id: ChannelId, user_ids: Sequence[UserId], *, closed: bool) -> None:
    """Close or reopen a direct message for some of its recipients."""
    await tx.execute(_update_closed, channel_id=channel_id, user_ids=list(user_ids), now_closed=closed)


async def update_consent(tx: Transaction, recipient: Recipient) -> None:
    """Store the consent of a recipient, and since when their direct message is a message request."""
    await tx.execute(
        _update_consent,
        channel_id=recipient.channel_id,
        user_id=recipient.user_id,
        new_consent=int(recipient.consent),
        new_requested_at=recipient.requested_at,
    )


async def has_authorized_bot(reader: Reader, user_id: UserId, bot_id: UserId) -> bool:
    """Whether a user has authorized the application of a bot."""
    return await reader.scalar(_select_authorized, user_id=user_id, bot_id=bot_id) is not None


async def clear_parent_of_children(tx: Transaction, category_id: ChannelId) -> list[ChannelRow]:
    """Remove all channels from a category; return their rows after the update."""
    rows = await tx.all(_select_children, category_id=category_id)
    if rows:
        await tx.execute(_clear_parent, category_id=category_id)
    for row in rows:
        row.parent_id = None
    return rows
