"""The SQL of group direct messages."""

from collections.abc import Collection

from msgspec import Struct

from moothall.objects import limits
from moothall.objects.channel import ConsentStatus
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import ChannelId, UserId
from moothall.objects.json_object import JsonObject
from moothall.resources.channel.queries import delete_channel
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore
from moothall.storage.sql import bindparam, delete, func, select, update
from moothall.storage.tables import channel_recipients, channels, dm_pairs, guilds, invites, members


class SharedGuild(Struct):
    """A guild that two users are both members of."""

    user_id: UserId
    """The other user."""
    incidents_data: JsonObject | None


_others = members.alias()

_select_shared_guilds = Query(
    lambda: (
        select(_others.c.user_id, guilds.c.incidents_data)
        .select_from(
            members.join(_others, _others.c.guild_id == members.c.guild_id).join(
                guilds, guilds.c.id == members.c.guild_id
            )
        )
        .where(members.c.user_id == bindparam("user_id"), in_list(_others.c.user_id, "other_ids"))
    ),
    into=SharedGuild,
)
_select_direct_message_partners = Query(
    lambda: (
        select(channel_recipients.c.user_id)
        .select_from(dm_pairs.join(channel_recipients, channel_recipients.c.channel_id == dm_pairs.c.channel_id))
        .where(
            (dm_pairs.c.low_user_id == bindparam("user_id")) & in_list(dm_pairs.c.high_user_id, "other_ids")
            | (dm_pairs.c.high_user_id == bindparam("user_id")) & in_list(dm_pairs.c.low_user_id, "other_ids"),
            channel_recipients.c.user_id != bindparam("user_id"),
            channel_recipients.c.consent == int(ConsentStatus.ACCEPTED),
        )
    )
)
_count_group_dms = Query(
    lambda: (
        select(func.count())
        .select_from(channels.join(channel_recipients, channel_recipients.c.channel_id == channels.c.id))
        .where(channel_recipients.c.user_id == bindparam("user_id"), channels.c.type == int(ChannelType.GROUP_DM))
    )
)
_increment_member_count = Query(
    lambda: (
        update(channels)
        .where(channels.c.id == bindparam("channel_id"), channels.c.member_count < limits.GROUP_DM_RECIPIENTS_MAX)
        .values(member_count=channels.c.member_count + 1)
    )
)
_decrement_member_count = Query(
    lambda: (
        update(channels)
        .where(channels.c.id == bindparam("channel_id"))
        .values(member_count=channels.c.member_count - 1)
    )
)
_insert_recipient = Query(lambda: insert_ignore(channel_recipients, key=("channel_id", "user_id")))
_delete_recipient = Query(
    lambda: delete(channel_recipients).where(
        channel_recipients.c.channel_id == bindparam("channel_id"), channel_recipients.c.user_id == bindparam("user_id")
    )
)
_delete_invites = Query(lambda: delete(invites).where(invites.c.channel_id == bindparam("channel_id")))


async def select_shared_guilds(reader: Reader, user_id: UserId, others: Collection[UserId]) -> list[SharedGuild]:
    """Select the guilds that a user shares with others, once for each of them."""
    return await reader.all(_select_shared_guilds, user_id=user_id, other_ids=list(others)) if others else []


async def select_direct_message_partners(reader: Reader, user_id: UserId, others: Collection[UserId]) -> set[int]:
    """Select those of several users with whom a user has a direct message that they have accepted."""
    if not others:
        return set()
    rows = await reader.all(_select_direct_message_partners, user_id=user_id, other_ids=list(others))
    return {int(row[0]) for row in rows}


async def count_group_dms(reader: Reader, user_id: UserId) -> int:
    """Count the group direct messages of a user."""
    return int(await reader.scalar(_count_group_dms, user_id=user_id) or 0)


async def insert_recipient(tx: Transaction, channel_id: ChannelId, user_id: UserId, nick: str | None) -> bool | None:
    """Insert a recipient of a group; return None if the group is full, False if the user is in it already."""
    if not await tx.execute(_increment_member_count, channel_id=channel_id):
        return None
    if await tx.execute(_insert_recipient, channel_id=channel_id, user_id=user_id, closed=False, nick=nick):
        return True
    await tx.execute(_decrement_member_count, channel_id=channel_id)
    return False


async def delete_recipient(tx: Transaction, channel_id: ChannelId, user_id: UserId) -> bool:
    """Delete a recipient of a group; return False if the user is not in it."""
    if not await tx.execute(_delete_recipient, channel_id=channel_id, user_id=user_id):
        return False
    await tx.execute(_decrement_member_count, channel_id=channel_id)
    return True


async def delete_group_dm(tx: Transaction, channel_id: ChannelId) -> None:
    """Delete a group and its invites."""
    await tx.execute(_delete_invites, channel_id=channel_id)
    await delete_channel(tx, channel_id)
