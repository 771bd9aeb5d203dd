"""The SQL of whether a user may write: slowmode and verification levels."""

from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.message_types import WRITTEN
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import members, messages, users

_WRITTEN_TYPES = [int(kind) for kind in sorted(WRITTEN)]
_select_last_message_of = Query(
    lambda: (
        select(messages.c.id)
        .where(
            messages.c.author_id == bindparam("author_id"),
            messages.c.id > bindparam("since_id"),
            messages.c.channel_id == bindparam("channel_id"),
            messages.c.type.in_(_WRITTEN_TYPES),
        )
        .order_by(messages.c.id.desc())
        .limit(1)
    )
)
_select_verification = Query(
    lambda: (
        select(users.c.verified, members.c.joined_at, members.c.flags)
        .select_from(users.join(members, members.c.user_id == users.c.id))
        .where(users.c.id == bindparam("user_id"), members.c.guild_id == bindparam("guild_id"))
    )
)


async def select_last_message_of(
    reader: Reader, channel_id: ChannelId, author_id: UserId, since_id: Snowflake
) -> MessageId | None:
    """The last message that an author wrote in a channel after an id: none that the server wrote for them."""
    return await reader.scalar(  # type: ignore[no-any-return]
        _select_last_message_of, channel_id=channel_id, author_id=author_id, since_id=since_id
    )


async def select_verification(reader: Reader, guild_id: GuildId, user_id: UserId) -> tuple[bool, Timestamp, int] | None:
    """What verification levels check of a member: whether the e-mail address is verified, `joined_at`, `flags`."""
    row = await reader.one(_select_verification, guild_id=guild_id, user_id=user_id)
    return None if row is None else (bool(row[0]), Timestamp(row[1]), row[2])
