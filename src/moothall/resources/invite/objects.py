"""Invite objects: public ones, and those with metadata."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, UnsetType

from moothall.api.context import Context
from moothall.authority.guild_state import GuildState
from moothall.objects.channel import Channel, PartialChannel
from moothall.objects.features import Feature
from moothall.objects.guild import InviteGuild, NsfwLevel
from moothall.objects.ids import ApplicationId, RoleId, UserId
from moothall.objects.invite import Invite, InviteMetadata, InviteRole, InviteType
from moothall.resources.guild.objects import welcome_screen
from moothall.resources.invite.queries import InviteRow, get_applications
from moothall.resources.user.queries import get_users

AUDITED: Final = ("code", "channel_id", "inviter_id", "max_uses", "uses", "max_age", "temporary", "flags")
"""The audited fields of an invite's row."""


def invite_guild(guild: GuildState) -> InviteGuild:
    """The partial guild object of an invite."""
    row = guild.row
    screen = welcome_screen(guild) if Feature.WELCOME_SCREEN_ENABLED in row.features else None
    return InviteGuild(
        id=row.id,
        name=row.name,
        splash=row.splash,
        banner=row.banner,
        description=row.description,
        icon=row.icon,
        features=row.features,
        verification_level=row.verification_level,
        vanity_url_code=row.vanity_url_code,
        nsfw_level=row.nsfw_level,
        nsfw=row.nsfw_level in {NsfwLevel.EXPLICIT, NsfwLevel.AGE_RESTRICTED},
        premium_subscription_count=row.premium_subscription_count,
        premium_tier=row.premium_tier,
        welcome_screen=UNSET if screen is None else screen,
    )


def partial_channel(channel: Channel) -> PartialChannel:
    """The partial channel object of an invite."""
    return PartialChannel(id=channel.id, type=channel.type, name=channel.name or None)


async def invite_objects(ctx: Context, guild: GuildState, rows: Sequence[InviteRow]) -> list[InviteMetadata]:
    """Invites to one guild with metadata, in the order of `rows`, without those whose channel was deleted."""
    user_ids: set[UserId] = {row.inviter_id for row in rows if row.inviter_id is not None}
    user_ids |= {row.target_user_id for row in rows if row.target_user_id is not None}
    users = await get_users(ctx.tx, user_ids)
    application_ids: set[ApplicationId] = {
        row.target_application_id for row in rows if row.target_application_id is not None
    }
    applications = await get_applications(ctx.tx, application_ids)
    guild_object = invite_guild(guild)
    if len(rows) > 1:
        # Loads all channels in one query instead of one query each.
        await guild.channels(ctx.tx)
    invites: list[InviteMetadata] = []
    for row in rows:
        channel = await guild.channel(ctx.tx, row.channel_id)
        if channel is None:
            continue
        invites.append(
            InviteMetadata(
                type=row.type,
                code=row.code,
                guild_id=guild.id,
                guild=guild_object,
                channel=partial_channel(channel),
                inviter=UNSET if row.inviter_id is None else users.get(row.inviter_id, UNSET),
                target_type=UNSET if row.target_type is None else row.target_type,
                target_user=UNSET if row.target_user_id is None else users.get(row.target_user_id, UNSET),
                target_application=UNSET
                if row.target_application_id is None
                else applications.get(row.target_application_id, UNSET),
                expires_at=row.expires_at,
                flags=row.flags,
                roles=_roles(guild, row) or UNSET,
                uses=row.uses,
                max_uses=row.max_uses,
                max_age=row.max_age,
                temporary=row.temporary,
                created_at=row.created_at,
            )
        )
    return invites


def _roles(guild: GuildState, row: InviteRow) -> list[InviteRole]:
    roles = [guild.roles.get(RoleId(role_id)) for role_id in row.role_ids]
    return [
        InviteRole(
            id=role.id,
            name=role.name,
            position=role.position,
            color=role.color,
            colors=role.colors,
            icon=role.icon,
            unicode_emoji=role.unicode_emoji,
        )
        for role in roles
        if role is not None
    ]


def without_metadata(
    invite: InviteMetadata, *, members: int | UnsetType = UNSET, presences: int | UnsetType = UNSET
) -> Invite:
    """The public invite object, with the two counts if they are passed."""
    return Invite(
        type=invite.type,
        code=invite.code,
        guild_id=invite.guild_id,
        guild=invite.guild,
        channel=invite.channel,
        inviter=invite.inviter,
        target_type=invite.target_type,
        target_user=invite.target_user,
        target_application=invite.target_application,
        approximate_member_count=members,
        approximate_presence_count=presences,
        expires_at=invite.expires_at,
        flags=invite.flags,
        roles=invite.roles,
    )


def vanity_invite(
    guild: GuildState,
    channel: Channel | None,
    *,
    members: int | UnsetType = UNSET,
    presences: int | UnsetType = UNSET,
) -> Invite:
    """The public invite object of a guild's vanity code."""
    return Invite(
        type=InviteType.GUILD,
        code=guild.row.vanity_url_code or "",
        guild_id=guild.id,
        guild=invite_guild(guild),
        channel=None if channel is None else partial_channel(channel),
        approximate_member_count=members,
        approximate_presence_count=presences,
        expires_at=None,
        flags=0,
    )
