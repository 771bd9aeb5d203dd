"""Guild members over HTTP (api.md, Members)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.kernel.access import BY_FIELD, MEMBER
from moothall.kernel.context import Context
from moothall.kernel.endpoint import delete, get, patch, put
from moothall.objects import errors, limits
from moothall.objects.application import ApplicationFlags
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, GuildId, RoleId, Snowflake, UserId
from moothall.objects.images import ImageData
from moothall.objects.member import Member
from moothall.objects.permissions import Permissions
from moothall.objects.text import search_key
from moothall.objects.wire import Timestamp
from moothall.resources.guild.membership import editing, operations
from moothall.resources.guild.membership.adding import JOIN_SCOPE, add_member
from moothall.resources.guild.membership.editing import MemberChanges
from moothall.resources.member import queries
from moothall.resources.member.events import GuildMemberRemove, GuildMemberUpdate
from moothall.resources.voice.events import VoiceStateUpdate

_LISTS_MEMBERS = ApplicationFlags.GATEWAY_GUILD_MEMBERS | ApplicationFlags.GATEWAY_GUILD_MEMBERS_LIMITED
_ROLES_MAX = 350

Nick = Annotated[str, Meta(max_length=limits.NICK_MAX)]


class ModifyGuildMember(Struct, frozen=True):
    """The body of Modify Guild Member; everything may be absent or null."""

    nick: Nick | UnsetType | None = UNSET
    roles: Annotated[list[RoleId], Meta(max_length=_ROLES_MAX)] | UnsetType | None = UNSET
    mute: bool | UnsetType | None = UNSET
    deaf: bool | UnsetType | None = UNSET
    channel_id: ChannelId | UnsetType | None = UNSET
    communication_disabled_until: Timestamp | UnsetType | None = UNSET
    flags: int | UnsetType | None = UNSET


class AddGuildMember(Struct, frozen=True):
    """The body of Add Guild Member; null is like absence."""

    access_token: Annotated[str, Meta(max_length=limits.ACCESS_TOKEN_MAX)]
    nick: Nick | None = None
    roles: Annotated[list[RoleId], Meta(max_length=_ROLES_MAX)] | None = None
    mute: bool | None = None
    deaf: bool | None = None


class ModifyCurrentMember(Struct, frozen=True):
    """The body of Modify Current Member."""

    nick: Nick | UnsetType | None = UNSET
    banner: ImageData | UnsetType | None = UNSET
    avatar: ImageData | UnsetType | None = UNSET
    bio: Annotated[str, Meta(max_length=limits.BIO_MAX)] | UnsetType | None = UNSET


class ModifyCurrentUserNick(Struct, frozen=True):
    """The body of Modify Current User Nick."""

    nick: Nick | UnsetType | None = UNSET


class Nickname(Struct, frozen=True):
    """The answer of Modify Current User Nick."""

    nick: str | None


@get("/guilds/{guild_id}/members/{user_id}", permission=MEMBER)
async def get_guild_member(ctx: Context, guild_id: GuildId, user_id: UserId) -> Member:
    """Get a member of a guild; 404/10007 for an outsider."""
    row = await queries.get_member(ctx.tx, guild_id, user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    return await queries.member_object(ctx.tx, row)


@get("/users/@me/guilds/{guild_id}/member", permission=MEMBER, scope="guilds.members.read")
async def get_current_user_guild_member(ctx: Context, guild_id: GuildId) -> Member:
    """The caller as a member of one of their guilds."""
    row = await queries.get_member(ctx.tx, guild_id, ctx.actor.user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    return await queries.member_object(ctx.tx, row)


@get("/guilds/{guild_id}/members", permission=MEMBER)
async def list_guild_members(
    ctx: Context,
    guild_id: GuildId,
    *,
    limit: Annotated[int, Meta(ge=1, le=limits.MEMBER_LIST_MAX)] = 1,
    after: UserId = UserId(Snowflake(0)),  # noqa: B008 - an immutable number
) -> list[Member]:
    """List members by ascending user id; bots need the privileged GUILD_MEMBERS intent of their application."""
    if ctx.actor.bot and not ctx.actor.application_flags & _LISTS_MEMBERS:
        raise Refusal(errors.MISSING_ACCESS)
    return await queries.member_objects(ctx.tx, await queries.select_page(ctx.tx, guild_id, after, limit))


@get("/guilds/{guild_id}/members/search", permission=MEMBER)
async def search_guild_members(
    ctx: Context,
    guild_id: GuildId,
    *,
    query: Annotated[str, Meta(min_length=1, max_length=100)],
    limit: Annotated[int, Meta(ge=1, le=limits.MEMBER_SEARCH_MAX)] = 1,
) -> list[Member]:
    """List members whose username or nickname begins with a text, whatever its case and accents."""
    key = search_key(query)
    if not key:
        return []
    return await queries.member_objects(ctx.tx, await queries.search_members(ctx.tx, guild_id, key, limit))


@put(
    "/guilds/{guild_id}/members/{user_id}",
    permission=Permissions.CREATE_INSTANT_INVITE,
    fires=operations.JOINING,
    scope=JOIN_SCOPE,
    status=201,
)
async def add_guild_member(ctx: Context, guild_id: GuildId, user_id: UserId, body: AddGuildMember) -> Member | None:
    """Let somebody in with the access token that they gave the calling bot's application; 204 for a member."""
    return await add_member(
        ctx,
        user_id,
        body.access_token,
        nick=body.nick,
        roles=body.roles or (),
        mute=bool(body.mute),
        deaf=bool(body.deaf),
    )


@patch(
    "/guilds/{guild_id}/members/{user_id}",
    permission=BY_FIELD,
    audit_reason=True,
    fires=(GuildMemberUpdate, GuildMemberRemove, VoiceStateUpdate),
)
async def modify_guild_member(ctx: Context, guild_id: GuildId, user_id: UserId, body: ModifyGuildMember) -> Member:
    """Change a member's nickname, roles, timeout, flags or place in voice."""
    wanted = MemberChanges(
        nick=body.nick,
        roles=body.roles,
        mute=body.mute,
        deaf=body.deaf,
        channel_id=body.channel_id,
        communication_disabled_until=body.communication_disabled_until,
        flags=body.flags,
    )
    return await editing.modify_member(ctx, guild_id, user_id, wanted)


@patch("/guilds/{guild_id}/members/@me", permission=BY_FIELD, audit_reason=True, fires=(GuildMemberUpdate,))
async def modify_current_member(ctx: Context, guild_id: GuildId, body: ModifyCurrentMember) -> Member:
    """Change how one appears in a guild; a nickname needs CHANGE_NICKNAME."""
    return await editing.modify_self(
        ctx, guild_id, nick=body.nick, avatar=body.avatar, banner=body.banner, bio=body.bio
    )


@patch(
    "/guilds/{guild_id}/members/@me/nick",
    permission=Permissions.CHANGE_NICKNAME,
    audit_reason=True,
    fires=(GuildMemberUpdate,),
)
async def modify_current_user_nick(ctx: Context, guild_id: GuildId, body: ModifyCurrentUserNick) -> Nickname:
    """Change one's nickname; the row before does the same and more."""
    member = await editing.modify_self(ctx, guild_id, nick=body.nick)
    return Nickname(nick=member.nick)


@put(
    "/guilds/{guild_id}/members/{user_id}/roles/{role_id}",
    permission=Permissions.MANAGE_ROLES,
    audit_reason=True,
    fires=(GuildMemberUpdate,),
)
async def add_guild_member_role(ctx: Context, guild_id: GuildId, user_id: UserId, role_id: RoleId) -> None:
    """Give a member a role."""
    await editing.change_role(ctx, guild_id, user_id, role_id, give=True)


@delete(
    "/guilds/{guild_id}/members/{user_id}/roles/{role_id}",
    permission=Permissions.MANAGE_ROLES,
    audit_reason=True,
    fires=(GuildMemberUpdate,),
)
async def remove_guild_member_role(ctx: Context, guild_id: GuildId, user_id: UserId, role_id: RoleId) -> None:
    """Take a role from a member."""
    await editing.change_role(ctx, guild_id, user_id, role_id, give=False)


@delete(
    "/guilds/{guild_id}/members/{user_id}",
    permission=Permissions.KICK_MEMBERS,
    audit_reason=True,
    fires=operations.LEAVING,
)
async def remove_guild_member(ctx: Context, guild_id: GuildId, user_id: UserId) -> None:
    """Kick a member; they may come back."""
    await operations.kick_member(ctx, guild_id, user_id)
