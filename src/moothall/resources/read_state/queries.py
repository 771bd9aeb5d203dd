"""The SQL of read states and mentions."""

from collections.abc import Iterable

from msgspec import Struct, structs

from moothall.objects import limits
from moothall.objects.channel import ConsentStatus
from moothall.objects.channel_types import THREADS, type_numbers
from moothall.objects.ids import EPOCH_MS, ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.message_types import MessageType
from moothall.objects.read_state import ReadStateType
from moothall.objects.relationship import RelationshipType
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore, upsert
from moothall.storage.sql import (
    BigInteger,
    BindParameter,
    bindparam,
    delete,
    exists,
    func,
    insert,
    literal,
    or_,
    select,
    type_coerce,
)
from moothall.storage.tables import (
    channel_activity,
    channel_recipients,
    channels,
    members,
    message_mentions,
    messages,
    read_states,
    relationships,
    scheduled_events,
    thread_members,
)


class ReadStateRow(Struct):
    """A row of `read_states`."""

    user_id: UserId
    type: int
    resource_id: Snowflake
    last_acked_id: Snowflake
    mention_count: int
    counted_after_id: MessageId
    last_pin_timestamp: Timestamp | None
    flags: int
    last_viewed: int | None
    version: Timestamp


class ChannelKey(Struct, frozen=True):
    """A channel with what its visibility depends on."""

    id: ChannelId
    guild_id: GuildId | None
    parent_id: ChannelId | None
    type: int


class MentionCount(Struct, frozen=True):
    """How often a user was mentioned in the unread messages of a channel."""

    id: ChannelId
    guild_id: GuildId | None
    parent_id: ChannelId | None
    type: int
    count: int

    @property
    def channel(self) -> ChannelKey:
        """The channel."""
        return ChannelKey(self.id, self.guild_id, self.parent_id, self.type)


class NewestMessage(Struct, frozen=True):
    """A channel with its newest message."""

    id: ChannelId
    guild_id: GuildId | None
    parent_id: ChannelId | None
    type: int
    last_message_id: MessageId

    @property
    def channel(self) -> ChannelKey:
        """The channel."""
        return ChannelKey(self.id, self.guild_id, self.parent_id, self.type)


class Badge(Struct, frozen=True):
    """How many scheduled events of a guild a user has not seen."""

    guild_id: GuildId
    count: int


_CHANNEL = int(ReadStateType.CHANNEL)
_user: BindParameter[int] = bindparam("user_id")
_key = ("user_id", "type", "resource_id")
_of_user = read_states.c.user_id == _user
_this = _of_user & (read_states.c.type == bindparam("type")) & (read_states.c.resource_id == bindparam("resource_id"))
_channel_columns = tuple(channels.c[name] for name in ChannelKey.__struct_fields__)
_of_channel = _of_user & (read_states.c.type == _CHANNEL)
MEMBER_SINCE = (type_coerce(members.c.joined_at, BigInteger) - EPOCH_MS) * (1 << 22)
"""The smallest id that is not older than the membership: earlier mentions do not count."""

_select_read_states = Query(
    lambda: select(read_states).where(_of_user).order_by(read_states.c.type, read_states.c.resource_id),
    into=ReadStateRow,
)
_lock_read_state = Query(lambda: select(read_states).where(_this).with_for_update(), into=ReadStateRow)
_lock_read_states = Query(
    lambda: (
        select(read_states)
        .where(_of_user, in_list(read_states.c.resource_id, "resource_ids"))
        .order_by(read_states.c.type, read_states.c.resource_id)
        .with_for_update()
    ),
    into=ReadStateRow,
)
_upsert = Query(
    lambda: upsert(
        read_states,
        key=_key,
        update=tuple(name for name in ReadStateRow.__struct_fields__ if name not in _key),
    )
)
_upsert_sent = Query(
    lambda: upsert(
        read_states,
        key=_key,
        update=("mention_count", "version"),
        rising=("last_acked_id", "counted_after_id"),
    ),
    key=_key,
)
_insert_if_new = Query(lambda: insert_ignore(read_states, key=_key))
_delete = Query(lambda: delete(read_states).where(_this))
_insert_mention = Query(lambda: insert(message_mentions))
UNHEARD_IDS = select(relationships.c.other_id).where(
    relationships.c.user_id == _user,
    or_(relationships.c.type == int(RelationshipType.BLOCKED), relationships.c.ignored),
)
"""Users whose messages do not count: those whom the user has blocked or ignores."""
_unread = (message_mentions.c.author_id != _user) & message_mentions.c.author_id.not_in(UNHEARD_IDS)
_select_mention_counts = Query(
    lambda: (
        select(*_channel_columns, func.count(message_mentions.c.message_id.distinct()).label("count"))
        .select_from(
            message_mentions.join(channels, channels.c.id == message_mentions.c.channel_id)
            .join(members, (members.c.guild_id == channels.c.guild_id) & (members.c.user_id == _user))
            .outerjoin(
                read_states,
                _of_channel & (read_states.c.resource_id == message_mentions.c.channel_id),
            )
        )
        .where(
            in_list(message_mentions.c.target_id, "target_ids"),
            message_mentions.c.message_id > bindparam("oldest_id"),
            message_mentions.c.message_id > func.coalesce(read_states.c.counted_after_id, 0),
            message_mentions.c.message_id > MEMBER_SINCE,
            _unread,
        )
        .group_by(*_channel_columns)
    ),
    into=MentionCount,
)
_count_mentions = Query(
    lambda: select(func.count(message_mentions.c.message_id.distinct())).where(
        message_mentions.c.channel_id == bindparam("channel_id"),
        message_mentions.c.message_id > bindparam("after_id"),
        in_list(message_mentions.c.target_id, "target_ids"),
        _unread,
    )
)
_counts_in_direct_message = (
    (messages.c.author_id != _user)
    & (messages.c.type != int(MessageType.RECIPIENT_REMOVE))
    & messages.c.author_id.not_in(UNHEARD_IDS)
)
_unread_messages = (
    select(literal(1).label("one"))
    .select_from(messages)
    .where(
        messages.c.channel_id == channel_recipients.c.channel_id,
        messages.c.id > func.coalesce(read_states.c.counted_after_id, 0),
        _counts_in_direct_message,
    )
    .correlate(channel_recipients, read_states)
    .limit(limits.UNREAD_MESSAGES_COUNTED)
    .subquery()
)
_select_direct_counts = Query(
    lambda: (
        select(
            *_channel_columns,
            select(func.count()).select_from(_unread_messages).scalar_subquery().label("count"),
        )
        .select_from(
            channel_recipients.join(channels, channels.c.id == channel_recipients.c.channel_id).outerjoin(
                read_states,
                _of_user
                & (read_states.c.type == _CHANNEL)
                & (read_states.c.resource_id == channel_recipients.c.channel_id),
            )
        )
        .where(
            channel_recipients.c.user_id == _user,
            ~channel_recipients.c.closed,
            channel_recipients.c.consent == int(ConsentStatus.ACCEPTED),
        )
    ),
    into=MentionCount,
)
_select_direct_mentions = Query(
    lambda: (
        select(message_mentions.c.channel_id, func.count().label("count"))
        .select_from(
            message_mentions.outerjoin(
                read_states, _of_channel & (read_states.c.resource_id == message_mentions.c.channel_id)
            )
        )
        .where(
            in_list(message_mentions.c.channel_id, "channel_ids"),
            message_mentions.c.target_id == _user,
            message_mentions.c.message_id > func.coalesce(read_states.c.counted_after_id, 0),
            _unread,
        )
        .group_by(message_mentions.c.channel_id)
    )
)
_messages_after = (
    select(literal(1).label("one"))
    .select_from(messages)
    .where(
        messages.c.channel_id == bindparam("channel_id"),
        messages.c.id > bindparam("after_id"),
        _counts_in_direct_message,
    )
    .limit(limits.UNREAD_MESSAGES_COUNTED)
    .subquery()
)
_count_direct = Query(lambda: select(func.count()).select_from(_messages_after))
_select_badges = Query(
    lambda: (
        select(scheduled_events.c.guild_id, func.count().label("count"))
        .select_from(
            scheduled_events.join(
                members, (members.c.guild_id == scheduled_events.c.guild_id) & (members.c.user_id == _user)
            ).outerjoin(
                read_states,
                _of_user
                & (read_states.c.type == int(ReadStateType.GUILD_EVENT))
                & (read_states.c.resource_id == scheduled_events.c.guild_id),
            )
        )
        .where(
            scheduled_events.c.id > func.coalesce(read_states.c.last_acked_id, 0),
            scheduled_events.c.id > MEMBER_SINCE,
            scheduled_events.c.creator_id != _user,
        )
        .group_by(scheduled_events.c.guild_id)
    ),
    into=Badge,
)
_joined = exists().where(thread_members.c.thread_id == channels.c.id, thread_members.c.user_id == _user)
_select_unread_channels = Query(
    lambda: (
        select(*_channel_columns, channel_activity.c.last_message_id)
        .select_from(
            channels.join(channel_activity, channel_activity.c.channel_id == channels.c.id).outerjoin(
                read_states,
                _of_channel & (read_states.c.resource_id == channels.c.id),
            )
        )
        .where(
            channels.c.guild_id == bindparam("guild_id"),
            ~channels.c.archived,
            or_(channels.c.type.not_in(type_numbers(THREADS)), _joined),
            channel_activity.c.last_message_id > func.coalesce(read_states.c.last_acked_id, 0),
        )
        .order_by(channels.c.id)
    ),
    into=NewestMessage,
)
_select_newest_event = Query(
    lambda: select(func.max(scheduled_events.c.id)).where(scheduled_events.c.guild_id == bindparam("guild_id"))
)
_select_channel_keys = Query(
    lambda: select(*_channel_columns).where(in_list(channels.c.id, "channel_ids")), into=ChannelKey
)
_select_joined_threads = Query(
    lambda: select(thread_members.c.thread_id).where(
        in_list(thread_members.c.thread_id, "thread_ids"), thread_members.c.user_id == _user
    )
)
_select_own_direct = Query(
    lambda: select(channel_recipients.c.channel_id).where(
        in_list(channel_recipients.c.channel_id, "channel_ids"), channel_recipients.c.user_id == _user
    )
)
_select_own_guilds = Query(
    lambda: select(members.c.guild_id).where(in_list(members.c.guild_id, "guild_ids"), members.c.user_id == _user)
)
_select_newest = Query(
    lambda: select(channel_activity.c.last_message_id, channel_activity.c.last_pin_timestamp).where(
        channel_activity.c.channel_id == bindparam("channel_id")
    )
)


async def select_read_states(reader: Reader, user_id: UserId) -> list[ReadStateRow]:
    """The read states of a user, channels first."""
    return await reader.all(_select_read_states, user_id=user_id)


async def lock_read_state(
    tx: Transaction, user_id: UserId, kind: ReadStateType, resource_id: Snowflake
) -> ReadStateRow | None:
    """One read state of a user, locked until the transaction ends; None if there is none."""
    return await tx.one(_lock_read_state, user_id=user_id, type=int(kind), resource_id=resource_id)


async def lock_read_states(tx: Transaction, user_id: UserId, resource_ids: Iterable[Snowflake]) -> list[ReadStateRow]:
    """The read states of a user for resources, of every type, locked until the transaction ends."""
    return await tx.all(_lock_read_states, user_id=user_id, resource_ids=list(resource_ids))


async def upsert_read_states(tx: Transaction, rows: Iterable[ReadStateRow]) -> None:
    """Store read states in place of the earlier ones."""
    await tx.execute_many(_upsert, [structs.asdict(row) for row in rows])


async def upsert_sent(tx: Transaction, row: ReadStateRow) -> None:
    """Store that a user has read a channel up to their own message; flags and pins stay as they are."""
    await tx.write(_upsert_sent, **structs.asdict(row))


async def insert_read_state(tx: Transaction, row: ReadStateRow) -> None:
    """Store a read state unless the user has one for the resource."""
    await tx.execute(_insert_if_new, **structs.asdict(row))


async def delete_read_state(tx: Transaction, user_id: UserId, kind: ReadStateType, resource_id: Snowflake) -> None:
    """Delete a read state of a user, if there is one."""
    await tx.execute(_delete, user_id=user_id, type=int(kind), resource_id=resource_id)


async def insert_mentions(
    tx: Transaction, channel_id: ChannelId, message_id: MessageId, author_id: UserId, target_ids: Iterable[Snowflake]
) -> None:
    """Store whom a message mentions: users, roles, and for @everyone the guild."""
    values: dict[str, object] = {"channel_id": channel_id, "message_id": message_id, "author_id": author_id}
    await tx.write_many(_insert_mention, [{**values, "target_id": target_id} for target_id in target_ids])


async def select_mention_counts(
    reader: Reader, user_id: UserId, target_ids: Iterable[Snowflake], oldest_id: Snowflake
) -> list[MentionCount]:
    """How many unread messages above an id mention the user, a role of theirs or @everyone, by guild channel.

    Channels without any are left out; those that the user may not view are not.
    """
    return await reader.all_long(
        _select_mention_counts, user_id=user_id, target_ids=list(target_ids), oldest_id=oldest_id
    )


async def select_direct_counts(reader: Reader, user_id: UserId) -> list[MentionCount]:
    """How many unread messages each open direct message of a user has, at most `UNREAD_MESSAGES_COUNTED`."""
    return await reader.all_long(_select_direct_counts, user_id=user_id)


async def select_direct_mentions(
    reader: Reader, user_id: UserId, channel_ids: Iterable[ChannelId]
) -> dict[ChannelId, int]:
    """How many unread messages of each direct message mention the user; those without any are left out."""
    rows = await reader.all_long(_select_direct_mentions, user_id=user_id, channel_ids=list(channel_ids))
    return {ChannelId(Snowflake(channel_id)): count for channel_id, count in rows}


async def select_badges(reader: Reader, user_id: UserId) -> list[Badge]:
    """How many scheduled events of each guild a user has not seen; guilds without any are left out."""
    return await reader.all_long(_select_badges, user_id=user_id)


async def count_mentions(
    reader: Reader, channel_id: ChannelId, user_id: UserId, target_ids: Iterable[Snowflake], after_id: MessageId
) -> int:
    """How many messages of a channel after one mention a user or another of `target_ids`."""
    count = await reader.scalar(
        _count_mentions, channel_id=channel_id, user_id=user_id, target_ids=list(target_ids), after_id=after_id
    )
    return int(count)


async def count_direct(reader: Reader, channel_id: ChannelId, user_id: UserId, after_id: MessageId) -> int:
    """How many messages of others a direct message has after one, at most `UNREAD_MESSAGES_COUNTED`."""
    return int(await reader.scalar(_count_direct, channel_id=channel_id, user_id=user_id, after_id=after_id))


async def select_unread_channels(reader: Reader, guild_id: GuildId, user_id: UserId) -> list[NewestMessage]:
    """The channels of a guild, and the active threads that a user has joined, with messages that the user has not read.

    Channels that the user may not view are not left out.
    """
    return await reader.all(_select_unread_channels, guild_id=guild_id, user_id=user_id)


async def select_newest_event(reader: Reader, guild_id: GuildId) -> Snowflake | None:
    """The newest scheduled event of a guild; None if it has none."""
    newest = await reader.scalar(_select_newest_event, guild_id=guild_id)
    return None if newest is None else Snowflake(newest)


async def select_channel_keys(reader: Reader, channel_ids: Iterable[Snowflake]) -> list[ChannelKey]:
    """What the visibility of channels depends on; ids of no channel are left out."""
    return await reader.all(_select_channel_keys, channel_ids=list(channel_ids))


async def select_joined_threads(reader: Reader, user_id: UserId, thread_ids: list[ChannelId]) -> set[int]:
    """Those of some threads that a user has joined."""
    return {row[0] for row in await reader.all(_select_joined_threads, user_id=user_id, thread_ids=thread_ids)}


async def select_own_direct(reader: Reader, user_id: UserId, channel_ids: list[ChannelId]) -> set[int]:
    """Those of some direct messages that a user is a recipient of."""
    return {row[0] for row in await reader.all(_select_own_direct, user_id=user_id, channel_ids=channel_ids)}


async def select_own_guilds(reader: Reader, user_id: UserId, guild_ids: list[Snowflake]) -> set[int]:
    """Those of some guilds that a user is a member of."""
    if not guild_ids:
        return set()
    return {row[0] for row in await reader.all(_select_own_guilds, user_id=user_id, guild_ids=guild_ids)}


async def select_newest(reader: Reader, channel_id: ChannelId) -> tuple[MessageId | None, Timestamp | None]:
    """The newest message and the newest pin of a channel."""
    message_id, pinned_at = await reader.one(_select_newest, channel_id=channel_id) or (None, None)
    return (
        None if message_id is None else MessageId(Snowflake(message_id)),
        None if pinned_at is None else Timestamp(pinned_at),
    )
