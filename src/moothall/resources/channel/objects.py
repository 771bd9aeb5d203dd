"""Channel objects: rows with their newest message and pin, and the recipients of direct messages."""

from collections.abc import Iterable

from msgspec import UNSET, structs

from moothall.objects.channel import Channel, ConsentStatus, GroupNick
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import ChannelId, UserId
from moothall.objects.user import User
from moothall.resources.channel.queries import (
    ChannelActivity,
    Recipient,
    select_activity,
    select_activity_of,
    select_recipients,
)
from moothall.resources.user.queries import get_users
from moothall.storage.bulk import map_items
from moothall.storage.database import Reader
from moothall.storage.rows import ChannelRow, channel_from_row


def with_activity(channel: Channel, activity: ChannelActivity | None) -> Channel:
    """Return a channel with its newest message and pin; a category has neither."""
    if channel.type == ChannelType.GUILD_CATEGORY:
        return channel
    last_pin = None if activity is None else activity.last_pin_timestamp
    return structs.replace(
        channel,
        last_message_id=None if activity is None else activity.last_message_id,
        last_pin_timestamp=UNSET if last_pin is None else last_pin,
    )


async def channel_object(reader: Reader, channel: Channel) -> Channel:
    """Return a channel with its newest message and pin."""
    if channel.type == ChannelType.GUILD_CATEGORY:
        return channel
    return with_activity(channel, await select_activity_of(reader, channel.id))


async def channel_objects(reader: Reader, channels: Iterable[Channel]) -> list[Channel]:
    """Return channels with their newest message and pin, in the same order, with one query."""
    channels = list(channels)
    activity = await select_activity(reader, [channel.id for channel in channels])
    return await map_items(reader, lambda channel: with_activity(channel, activity.get(channel.id)), channels)


async def direct_channel_objects(reader: Reader, rows: Iterable[ChannelRow], viewer: UserId | None) -> list[Channel]:
    """Return direct messages as the viewer sees them: `recipients` leaves out the viewer; None leaves out no user."""
    rows = list(rows)
    if not rows:
        return []
    ids = [row.id for row in rows]
    activity = await select_activity(reader, ids)
    others: dict[ChannelId, list[UserId]] = {channel_id: [] for channel_id in ids}
    nicks: dict[ChannelId, list[GroupNick]] = {channel_id: [] for channel_id in ids}
    own: dict[ChannelId, Recipient] = {}
    for recipient in await select_recipients(reader, ids):
        if recipient.user_id != viewer:
            others[recipient.channel_id].append(recipient.user_id)
        else:
            own[recipient.channel_id] = recipient
        if recipient.nick is not None:
            nicks[recipient.channel_id].append(GroupNick(id=recipient.user_id, nick=recipient.nick))
    users = await get_users(reader, [user_id for listed in others.values() for user_id in listed])
    return [
        direct_channel_object(
            row,
            [users[user_id] for user_id in others[row.id] if user_id in users],
            activity.get(row.id),
            nicks=nicks[row.id],
            own=own.get(row.id),
        )
        for row in rows
    ]


def direct_channel_object(
    row: ChannelRow,
    others: list[User],
    activity: ChannelActivity | None,
    *,
    nicks: list[GroupNick] | None = None,
    own: Recipient | None = None,
) -> Channel:
    """Build the object of a direct message; `own` is the recipient who sees it."""
    channel = structs.replace(with_activity(channel_from_row(row), activity), recipients=others, nicks=nicks or UNSET)
    if own is None or own.requested_at is None:
        return channel
    return structs.replace(
        channel,
        is_message_request=own.consent == ConsentStatus.PENDING,
        is_message_request_timestamp=own.requested_at,
        is_spam=False,
    )


def group_dm_for(whole: Channel, viewer: UserId) -> Channel:
    """Return a group direct message, given with all recipients, as one of them sees it: without themselves."""
    return structs.replace(whole, recipients=[user for user in whole.recipients or () if user.id != viewer])
