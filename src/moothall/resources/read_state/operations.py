"""Operations: acknowledge messages, pins and features, and delete read states."""

from collections.abc import Collection, Iterable

from msgspec import UNSET, UnsetType, structs

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.objects import errors
from moothall.objects.channel_types import THREADS
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.message_types import MessageType
from moothall.objects.read_state import GUILD_FEATURES, USER_FEATURES, ReadStateFlags, ReadStateType
from moothall.objects.wire import Timestamp
from moothall.resources.read_state import queries
from moothall.resources.read_state.events import (
    ChannelAck,
    ChannelPinsAck,
    FeatureAck,
    GuildFeatureAck,
    MessageAck,
    PinsAck,
    UserNonChannelAck,
)
from moothall.resources.read_state.queries import ChannelKey, ReadStateRow
from moothall.resources.read_state.requests import AckMessage, ReadStateUpdate
from moothall.resources.read_state.visibility import viewable
from moothall.storage.database import Transaction

ACK_EVENTS = (MessageAck, GuildFeatureAck, UserNonChannelAck)
"""What an endpoint that acknowledges several read states declares in `fires`."""

_CHANNEL = ReadStateType.CHANNEL
_NOTHING = Snowflake(0)


async def acknowledge_message(ctx: Context, message_id: MessageId, body: AckMessage) -> None:
    """Store that the caller has read the channel entered up to a message, which need not exist.

    Without `manual` an older message than the acknowledged one changes nothing. Mentions in newer messages are counted,
    unless a manual acknowledgement states their number.
    """
    access, user_id = ctx.channel, ctx.actor.user_id
    row = await queries.lock_read_state(ctx.tx, user_id, _CHANNEL, access.id)
    if row is None:
        row = _new_row(user_id, _CHANNEL, access.id, ctx.now, flags=_flags_of(access))
    elif not body.manual and message_id < row.last_acked_id:
        return
    stated = body.mention_count if body.manual and isinstance(body.mention_count, int) else None
    counted_after_id = message_id
    if stated is not None:
        newest, _ = await queries.select_newest(ctx.tx, access.id)
        counted_after_id = max(message_id, newest or message_id)
    row = structs.replace(
        row,
        last_acked_id=message_id,
        mention_count=stated or 0,
        counted_after_id=counted_after_id,
        flags=body.flags if isinstance(body.flags, int) else row.flags,
        last_viewed=body.last_viewed if isinstance(body.last_viewed, int) else row.last_viewed,
        version=ctx.now,
    )
    await queries.upsert_read_states(ctx.tx, [row])
    mentions = await _count_mentions(ctx, access, message_id) if stated is None else stated
    ctx.emit(_message_ack(row, mentions, manual=True if body.manual else UNSET))


async def acknowledge_pins(ctx: Context) -> None:
    """Store that the caller has seen the newest pin of the channel entered."""
    access, user_id = ctx.channel, ctx.actor.user_id
    _, newest = await queries.select_newest(ctx.tx, access.id)
    pinned_at = ctx.now if newest is None else newest
    row = await queries.lock_read_state(ctx.tx, user_id, _CHANNEL, access.id)
    if row is None:
        row = _new_row(user_id, _CHANNEL, access.id, ctx.now, flags=_flags_of(access))
    await queries.upsert_read_states(ctx.tx, [structs.replace(row, last_pin_timestamp=pinned_at, version=ctx.now)])
    ctx.emit(
        ChannelPinsAck(user_id=user_id, ack=PinsAck(channel_id=access.id, timestamp=pinned_at, version=int(ctx.now)))
    )


async def acknowledge_guild(ctx: Context) -> None:
    """Store that the caller has read every channel of the guild entered, and seen its newest scheduled event."""
    guild_id, user_id = ctx.guild.id, ctx.actor.user_id
    unread = await queries.select_unread_channels(ctx.tx, guild_id, user_id)
    listed = [row.channel for row in unread]
    visible = await viewable(ctx.tx, ctx.services.states, user_id, listed, writes=ctx.writes)
    newest_ids = {row.channel: row.last_message_id for row in unread if row.id in visible}
    await acknowledge_channels(ctx, newest_ids)
    newest_event_id = await queries.select_newest_event(ctx.tx, guild_id)
    if newest_event_id is not None:
        await _acknowledge_features(ctx, {(ReadStateType.GUILD_EVENT, guild_id): newest_event_id})


async def acknowledge_guild_feature(ctx: Context, type_number: str, entity_id: Snowflake) -> None:
    """Store that the caller has seen a feature of the guild entered up to an entity. Raises Refusal: 404."""
    await _acknowledge_features(ctx, {(_read_type(type_number, GUILD_FEATURES), ctx.guild.id): entity_id})


async def acknowledge_user_feature(ctx: Context, type_number: str, entity_id: Snowflake) -> None:
    """Store that the caller has seen a feature of their own up to an entity. Raises Refusal: 404."""
    await _acknowledge_features(ctx, {(_read_type(type_number, USER_FEATURES), ctx.actor.user_id): entity_id})


async def acknowledge_several(ctx: Context, updates: Iterable[ReadStateUpdate]) -> None:
    """Store several acknowledgements; those of what the caller may not view are ignored, like those of the id 0."""
    user_id = ctx.actor.user_id
    ids: dict[ReadStateType, dict[Snowflake, Snowflake]] = {}
    for update in updates:
        if update.message_id:
            ids.setdefault(update.read_state_type, {})[update.channel_id] = update.message_id
    channels = await queries.select_channel_keys(ctx.tx, ids.get(_CHANNEL, ()))
    visible = await viewable(ctx.tx, ctx.services.states, user_id, channels, writes=ctx.writes)
    newest = {key: MessageId(ids[_CHANNEL][key.id]) for key in channels if key.id in visible}
    await acknowledge_channels(ctx, newest)
    features = {
        (kind, resource_id): entity_id
        for kind, listed in ids.items()
        for resource_id, entity_id in listed.items()
        if kind is not _CHANNEL
    }
    guild_ids = await queries.select_own_guilds(ctx.tx, user_id, [i for kind, i in features if kind in GUILD_FEATURES])
    await _acknowledge_features(
        ctx,
        {
            key: entity_id
            for key, entity_id in features.items()
            if key[1] in guild_ids or (key[0] in USER_FEATURES and key[1] == user_id)
        },
    )


async def delete_read_state(ctx: Context, resource_id: Snowflake, kind: ReadStateType) -> None:
    """Delete a read state of the caller; deleting one that does not exist changes nothing."""
    await queries.delete_read_state(ctx.tx, ctx.actor.user_id, kind, resource_id)


async def read_own_message(
    tx: Transaction, access: ChannelAccess, author_id: UserId, message_id: MessageId, kind: int, now: Timestamp
) -> None:
    """Store that the author of a new message, no bot, has read the channel up to it. Clients do so without an event."""
    if kind == MessageType.POLL_RESULT:
        return
    row = _new_row(author_id, _CHANNEL, access.id, now, flags=_flags_of(access))
    await queries.upsert_sent(tx, structs.replace(row, last_acked_id=message_id, counted_after_id=message_id))


async def start_read_state(ctx: Context, channel_id: ChannelId, user_id: UserId) -> None:
    """Let the messages that a channel has already count as read by a user who is added to it."""
    newest, _ = await queries.select_newest(ctx.tx, channel_id)
    row = _new_row(user_id, _CHANNEL, channel_id, ctx.now, flags=0)
    if newest is not None:
        await queries.insert_read_state(ctx.tx, structs.replace(row, last_acked_id=newest, counted_after_id=newest))


async def acknowledge_channels(ctx: Context, newest_ids: dict[ChannelKey, MessageId]) -> None:
    """Store that the caller has read channels up to a message each, and announce it."""
    if not newest_ids:
        return
    user_id = ctx.actor.user_id
    stored = {
        row.resource_id: row
        for row in await queries.lock_read_states(ctx.tx, user_id, [key.id for key in newest_ids])
        if row.type == _CHANNEL
    }
    rows = [
        structs.replace(
            stored.get(key.id) or _new_row(user_id, _CHANNEL, key.id, ctx.now, flags=_flags_of_key(key)),
            last_acked_id=message_id,
            mention_count=0,
            counted_after_id=message_id,
            version=ctx.now,
        )
        for key, message_id in newest_ids.items()
    ]
    await queries.upsert_read_states(ctx.tx, rows)
    for row in rows:
        ctx.emit(_message_ack(row, 0))


async def _acknowledge_features(ctx: Context, newest: dict[tuple[ReadStateType, Snowflake], Snowflake]) -> None:
    if not newest:
        return
    user_id = ctx.actor.user_id
    await queries.upsert_read_states(
        ctx.tx,
        [
            structs.replace(_new_row(user_id, kind, resource_id, ctx.now, flags=0), last_acked_id=entity_id)
            for (kind, resource_id), entity_id in newest.items()
        ],
    )
    for (kind, resource_id), entity_id in newest.items():
        ack = FeatureAck(ack_type=kind, resource_id=resource_id, entity_id=entity_id, version=int(ctx.now))
        event = GuildFeatureAck if kind in GUILD_FEATURES else UserNonChannelAck
        ctx.emit(event(user_id=user_id, ack=ack))


async def _count_mentions(ctx: Context, access: ChannelAccess, after_id: MessageId) -> int:
    newest, _ = await queries.select_newest(ctx.tx, access.id)
    if newest is None or newest <= after_id:
        return 0
    user_id = ctx.actor.user_id
    if access.guild is None or access.member is None:
        return await queries.count_direct(ctx.tx, access.id, user_id, after_id)
    target_ids = {user_id, access.guild.id, *access.member.role_ids}
    return await queries.count_mentions(ctx.tx, access.id, user_id, target_ids, after_id)


def _read_type(type_number: str, types: Collection[ReadStateType]) -> ReadStateType:
    """One of some types by its number in a path. Raises Refusal: 404."""
    for kind in types:
        if type_number == str(int(kind)):
            return kind
    raise Refusal(errors.NOT_FOUND)


def _message_ack(row: ReadStateRow, mentions: int, *, manual: bool | UnsetType = UNSET) -> MessageAck:
    ack = ChannelAck(
        channel_id=ChannelId(row.resource_id),
        message_id=row.last_acked_id,
        mention_count=mentions,
        flags=row.flags,
        last_viewed=row.last_viewed,
        version=int(row.version),
        manual=manual,
    )
    return MessageAck(user_id=row.user_id, ack=ack)


def _new_row(
    user_id: UserId, kind: ReadStateType, resource_id: Snowflake, now: Timestamp, *, flags: int
) -> ReadStateRow:
    return ReadStateRow(
        user_id=user_id,
        type=int(kind),
        resource_id=resource_id,
        last_acked_id=_NOTHING,
        mention_count=0,
        counted_after_id=MessageId(_NOTHING),
        last_pin_timestamp=None,
        flags=flags,
        last_viewed=None,
        version=now,
    )


def _flags_of(access: ChannelAccess) -> int:
    guild_id = None if access.guild is None else access.guild.id
    return _flags(guild_id, access.channel.type)


def _flags_of_key(key: ChannelKey) -> int:
    return _flags(key.guild_id, key.type)


def _flags(guild_id: GuildId | None, kind: int) -> int:
    flags = 0 if guild_id is None else ReadStateFlags.IS_GUILD_CHANNEL
    return int(flags | ReadStateFlags.IS_THREAD) if kind in THREADS else int(flags)
