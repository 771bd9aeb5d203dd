"""SQL of deleting accounts."""

from collections.abc import Collection
from typing import Final

from moothall.api.authenticate import TokenKind
from moothall.objects.application import MembershipState
from moothall.objects.channel_types import ChannelType
from moothall.objects.ids import ChannelId, GuildId, TeamId, UserId
from moothall.resources.message.queries.purge import MAX_AT_ONCE, owned_by
from moothall.storage.database import Query, Reader, Transaction, in_list
from moothall.storage.sql import BindParameter, bindparam, delete, exists, select
from moothall.storage.tables import (
    authorization_codes,
    channel_recipients,
    channels,
    device_codes,
    former_members,
    guilds,
    members,
    operator_tokens,
    operators,
    team_members,
    teams,
    tokens,
    users,
)

_of_user: BindParameter[UserId] = bindparam("user_id")
_other_members = members.join(users, users.c.id == members.c.user_id)
_select_shared_guild = Query(
    lambda: (
        select(guilds.c.id)
        .where(
            guilds.c.owner_id == _of_user,
            exists().where(
                members.c.guild_id == guilds.c.id, members.c.user_id == users.c.id, users.c.id != _of_user, ~users.c.bot
            ),
        )
        .limit(1)
    )
)
_colleagues = team_members.alias()
_select_shared_team = Query(
    lambda: (
        select(teams.c.id)
        .where(
            teams.c.owner_user_id == _of_user,
            exists().where(
                _colleagues.c.team_id == teams.c.id,
                _colleagues.c.user_id != _of_user,
                _colleagues.c.membership_state == int(MembershipState.ACCEPTED),
            ),
        )
        .limit(1)
    )
)
_select_next_owner = Query(
    lambda: (
        select(members.c.user_id)
        .select_from(_other_members)
        .where(
            members.c.guild_id == bindparam("guild_id"),
            members.c.user_id != _of_user,
            members.c.guest_channel_id.is_(None),
            ~members.c.pending,
            ~users.c.bot,
            ~users.c.disabled,
        )
        .order_by(members.c.joined_at, members.c.user_id)
        .limit(1)
    )
)
_select_some_membership = Query(
    lambda: (
        select(members.c.guild_id, members.c.user_id)
        .where(in_list(members.c.user_id, "user_ids"))
        .order_by(members.c.guild_id, members.c.user_id)
        .limit(1)
    )
)
_select_some_group_dm = Query(
    lambda: (
        select(channels.c.id)
        .select_from(channels.join(channel_recipients, channel_recipients.c.channel_id == channels.c.id))
        .where(channel_recipients.c.user_id == _of_user, channels.c.type == int(ChannelType.GROUP_DM))
        .order_by(channels.c.id)
        .limit(1)
    )
)
_delete_tokens = Query(lambda: delete(tokens).where(tokens.c.user_id == _of_user, tokens.c.kind != int(TokenKind.BOT)))
_delete_operator = Query(lambda: delete(operators).where(operators.c.user_id == _of_user))
_delete_operator_tokens = Query(lambda: delete(operator_tokens).where(operator_tokens.c.user_id == _of_user))
_delete_codes = Query(lambda: delete(authorization_codes).where(authorization_codes.c.user_id == _of_user))
_delete_device_codes = Query(lambda: delete(device_codes).where(device_codes.c.user_id == _of_user))
_select_teams = Query(lambda: select(teams.c.id).where(teams.c.owner_user_id == _of_user))
_delete_memberships_of_teams = Query(lambda: delete(team_members).where(in_list(team_members.c.team_id, "team_ids")))
_delete_teams = Query(lambda: delete(teams).where(in_list(teams.c.id, "team_ids")))
_delete_team_memberships = Query(lambda: delete(team_members).where(team_members.c.user_id == _of_user))
_OF_USER: Final = owned_by("user_id")
_delete_some_former = Query(
    lambda: delete(former_members).where(
        former_members.c.user_id == _of_user,
        former_members.c.guild_id.in_(
            select(former_members.c.guild_id).where(former_members.c.user_id == _of_user).limit(MAX_AT_ONCE)
        ),
    )
)


async def owns_shared_guild(reader: Reader, user_id: UserId) -> bool:
    """Whether a user owns a guild that has other members than them and bots."""
    return await reader.scalar(_select_shared_guild, user_id=user_id) is not None


async def owns_shared_team(reader: Reader, user_id: UserId) -> bool:
    """Whether a user owns a team that has other members."""
    return await reader.scalar(_select_shared_team, user_id=user_id) is not None


async def select_next_owner(reader: Reader, guild_id: GuildId, owner_id: UserId) -> UserId | None:
    """The person who has been a member of a guild the longest, apart from its owner; None if there is none."""
    next_owner_id: UserId | None = await reader.scalar(_select_next_owner, guild_id=guild_id, user_id=owner_id)
    return next_owner_id


async def select_some_membership(reader: Reader, user_ids: Collection[UserId]) -> tuple[GuildId, UserId] | None:
    """A guild that one of several users is in, and that user; None if they are in none."""
    row = await reader.one(_select_some_membership, user_ids=list(user_ids))
    return None if row is None else (row[0], row[1])


async def select_some_group_dm(reader: Reader, user_id: UserId) -> ChannelId | None:
    """A group direct message that a user is in; None if they are in none."""
    channel_id: ChannelId | None = await reader.scalar(_select_some_group_dm, user_id=user_id)
    return channel_id


async def delete_all_tokens(tx: Transaction, user_id: UserId) -> None:
    """Delete the tokens of a person: of their logins and of applications, with the codes for new ones."""
    await tx.execute(_delete_codes, user_id=user_id)
    await tx.execute(_delete_device_codes, user_id=user_id)
    await tx.execute(_delete_tokens, user_id=user_id)


async def delete_operator(tx: Transaction, user_id: UserId) -> None:
    """Delete the permissions of an operator, and their tokens."""
    await tx.execute(_delete_operator, user_id=user_id)
    await tx.execute(_delete_operator_tokens, user_id=user_id)


async def delete_teams(tx: Transaction, user_id: UserId) -> None:
    """Delete the teams that a user owns, which have no applications, and remove the user from all others."""
    team_ids = [TeamId(row[0]) for row in await tx.all(_select_teams, user_id=user_id)]
    await tx.execute(_delete_memberships_of_teams, team_ids=team_ids)
    await tx.execute(_delete_teams, team_ids=team_ids)
    await tx.execute(_delete_team_memberships, user_id=user_id)


async def delete_some_of_user(tx: Transaction, user_id: UserId) -> bool:
    """Delete at most some hundred of the rows that only their user reads, or that guilds keep of a user who left.

    False once there are none.
    """
    for query in _OF_USER:
        if await tx.execute(query, owner=user_id):
            return True
    return await tx.execute(_delete_some_former, user_id=user_id) > 0
