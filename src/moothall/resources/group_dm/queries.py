"""The SQL of group direct messages."""

from collections.abc import Collection
from typing import Any

from msgspec import Struct
from sqlalchemy import bindparam, delete, func, select, update

from moothall.objects import limits
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import ChannelId, UserId
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore
from moothall.storage.schema import channel_recipients, channels, dm_pairs, guilds, invites, members


class SharedGuild(Struct):
    """A guild that somebody is in together with another."""

    user_id: UserId
    """The other."""
    incidents_data: dict[str, Any] | None


_theirs = members.alias()

_select_shared = Query(
    select(_theirs.c.user_id, guilds.c.incidents_data)
    .select_from(
        members.join(_theirs, _theirs.c.guild_id == members.c.guild_id).join(guilds, guilds.c.id == members.c.guild_id)
    )
    .where(members.c.user_id == bindparam("user_id"), in_list(_theirs.c.user_id, "other_ids")),
    into=SharedGuild,
)
_select_partners = Query(
    select(dm_pairs.c.low_user_id, dm_pairs.c.high_user_id).where(
        (dm_pairs.c.low_user_id == bindparam("user_id")) & in_list(dm_pairs.c.high_user_id, "other_ids")
        | (dm_pairs.c.high_user_id == bindparam("user_id")) & in_list(dm_pairs.c.low_user_id, "other_ids")
    )
)
_count_groups = Query(
    select(func.count())
    .select_from(channels.join(channel_recipients, channel_recipients.c.channel_id == channels.c.id))
    .where(channel_recipients.c.user_id == bindparam("user_id"), channels.c.type == int(ChannelType.GROUP_DM))
)
_take_place = Query(
    update(channels)
    .where(channels.c.id == bindparam("channel_id"), channels.c.member_count < limits.GROUP_DM_RECIPIENTS_MAX)
    .values(member_count=channels.c.member_count + 1)
)
_free_place = Query(
    update(channels).where(channels.c.id == bindparam("channel_id")).values(member_count=channels.c.member_count - 1)
)
_insert_recipient = Query(insert_ignore(channel_recipients, key=("channel_id", "user_id")))
_delete_recipient = Query(
    delete(channel_recipients).where(
        channel_recipients.c.channel_id == bindparam("channel_id"), channel_recipients.c.user_id == bindparam("user_id")
    )
)
_delete_channel = Query(delete(channels).where(channels.c.id == bindparam("channel_id")))
_delete_invites = Query(delete(invites).where(invites.c.channel_id == bindparam("channel_id")))


async def select_shared(reader: Reader, user_id: UserId, others: Collection[UserId]) -> list[SharedGuild]:
    """Each guild that somebody shares with some others, once for each of them."""
    return await reader.all(_select_shared, user_id=user_id, other_ids=list(others)) if others else []


async def select_partners(reader: Reader, user_id: UserId, others: Collection[UserId]) -> set[int]:
    """With which of some others somebody has a direct message."""
    if not others:
        return set()
    rows = await reader.all(_select_partners, user_id=user_id, other_ids=list(others))
    return {int(i) for row in rows for i in row if i != user_id}


async def count_groups(reader: Reader, user_id: UserId) -> int:
    """In how many groups somebody is."""
    return int(await reader.scalar(_count_groups, user_id=user_id) or 0)


async def add_recipient(tx: Transaction, channel_id: ChannelId, user_id: UserId, nick: str | None) -> bool | None:
    """Put one more into a group; None if it is full, False if they are in it already."""
    if not await tx.execute(_take_place, channel_id=channel_id):
        return None
    if await tx.execute(_insert_recipient, channel_id=channel_id, user_id=user_id, closed=False, nick=nick):
        return True
    await tx.execute(_free_place, channel_id=channel_id)
    return False


async def delete_recipient(tx: Transaction, channel_id: ChannelId, user_id: UserId) -> bool:
    """Take somebody out of a group; False if they were not in it."""
    if not await tx.execute(_delete_recipient, channel_id=channel_id, user_id=user_id):
        return False
    await tx.execute(_free_place, channel_id=channel_id)
    return True


async def delete_group(tx: Transaction, channel_id: ChannelId) -> None:
    """Remove a group and the invites to it."""
    await tx.execute(_delete_invites, channel_id=channel_id)
    await tx.execute(_delete_channel, channel_id=channel_id)
