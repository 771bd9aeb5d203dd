"""The SQL of recent mentions."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.resources.read_state.queries import MEMBER_SINCE, UNHEARD_IDS, ChannelKey
from moothall.storage.database import Query, Reader, Transaction, in_list, insert_ignore
from moothall.storage.sql import BindParameter, ColumnElement, bindparam, delete, or_, select
from moothall.storage.tables import channels, dismissed_mentions, members, message_mentions


class Membership(Struct, frozen=True):
    """A guild of a user, and the user's roles there."""

    guild_id: GuildId
    roles: list[Snowflake]


class Mention(Struct, frozen=True):
    """A message that mentions a user, with what the visibility of its channel depends on."""

    id: ChannelId
    guild_id: GuildId | None
    parent_id: ChannelId | None
    type: int
    message_id: MessageId

    @property
    def channel(self) -> ChannelKey:
        """The channel."""
        return ChannelKey(self.id, self.guild_id, self.parent_id, self.type)


_user: BindParameter[int] = bindparam("user_id")
_mentions = message_mentions.c

_OF_GUILD: Final = channels.c.guild_id == bindparam("guild_id")


def _mentions_where(*conditions: ColumnElement[bool]) -> Query[Mention]:
    return Query(
        lambda: (
            select(channels.c.id, channels.c.guild_id, channels.c.parent_id, channels.c.type, _mentions.message_id)
            .select_from(
                message_mentions.join(channels, channels.c.id == _mentions.channel_id)
                .outerjoin(members, (members.c.guild_id == channels.c.guild_id) & (members.c.user_id == _user))
                .outerjoin(
                    dismissed_mentions,
                    (dismissed_mentions.c.user_id == _user) & (dismissed_mentions.c.message_id == _mentions.message_id),
                )
            )
            .where(
                in_list(_mentions.target_id, "target_ids"),
                _mentions.message_id > bindparam("oldest_id"),
                _mentions.message_id < bindparam("before"),
                _mentions.author_id != _user,
                _mentions.author_id.not_in(UNHEARD_IDS),
                dismissed_mentions.c.user_id.is_(None),
                or_(channels.c.guild_id.is_(None), _mentions.message_id > MEMBER_SINCE),
                *conditions,
            )
            .distinct()
            .order_by(_mentions.message_id.desc())
            .limit(bindparam("maximum"))
        ),
        into=Mention,
    )


_select_mentions = _mentions_where()
_select_mentions_of_guild = _mentions_where(_OF_GUILD)
_select_memberships = Query(
    lambda: select(members.c.guild_id, members.c.roles).where(members.c.user_id == _user), into=Membership
)
_insert_dismissed = Query(lambda: insert_ignore(dismissed_mentions, key=("user_id", "message_id")))
_delete_old = Query(
    lambda: delete(dismissed_mentions).where(
        dismissed_mentions.c.user_id == _user, dismissed_mentions.c.message_id <= bindparam("oldest_id")
    )
)


async def select_memberships(reader: Reader, user_id: UserId) -> list[Membership]:
    """Select the guilds of a user, each with the user's roles."""
    return await reader.all(_select_memberships, user_id=user_id)


async def select_mentions(
    reader: Reader,
    user_id: UserId,
    target_ids: Iterable[int],
    *,
    oldest_id: Snowflake,
    before: Snowflake,
    guild_id: GuildId | None,
    maximum: int,
) -> list[Mention]:
    """Select the newest mentions of a user or another of `target_ids`, between two ids, in one guild or everywhere.

    Those in channels that the user may not view are not left out.
    """
    values: dict[str, object] = {
        "user_id": user_id,
        "target_ids": list(target_ids),
        "oldest_id": oldest_id,
        "before": before,
        "maximum": maximum,
    }
    if guild_id is None:
        return await reader.all_long(_select_mentions, **values)
    return await reader.all_long(_select_mentions_of_guild, guild_id=guild_id, **values)


async def insert_dismissed(tx: Transaction, user_id: UserId, message_id: MessageId, oldest_id: Snowflake) -> bool:
    """Insert a mention that a user removed from their list; delete those that are too old. False if it is there."""
    await tx.execute(_delete_old, user_id=user_id, oldest_id=oldest_id)
    return bool(await tx.execute(_insert_dismissed, user_id=user_id, message_id=message_id))
