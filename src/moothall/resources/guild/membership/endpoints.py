"""Guild members over HTTP (api.md, Members)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct

from moothall.api.access import BY_FIELD, MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import Json, delete, get, patch, put
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.objects.member import Member
from moothall.objects.permissions import Permissions
from moothall.objects.text import search_key
from moothall.objects.wire import encode
from moothall.resources.guild.membership import operations
from moothall.resources.guild.membership.access import has_members_intent
from moothall.resources.guild.membership.operations.add import JOIN_SCOPE
from moothall.resources.guild.membership.requests import (
    AddGuildMember,
    ModifyCurrentMember,
    ModifyCurrentUserNick,
    ModifyGuildMember,
)
from moothall.resources.member import queries
from moothall.resources.member.encoded import EncodedMembers, encode_members
from moothall.resources.member.events import GuildMemberRemove, GuildMemberUpdate
from moothall.resources.voice.events import VOICE_EVENTS


class AddRoleMembers(Struct, frozen=True):
    """The body of Add Guild Role Members."""

    member_ids: Annotated[list[UserId], Meta(max_length=limits.ROLE_MEMBERS_ADDED)] = []


class Nickname(Struct, frozen=True):
    """The response of Modify Current User Nick."""

    nick: str | None


@get("/guilds/{guild_id}/members/{user_id}", permission=MEMBER)
async def get_guild_member(ctx: Context, guild_id: GuildId, user_id: UserId) -> Json[Member]:
    """Get a member of a guild; 404/10007 for a user who is not a member."""
    return await _encoded_member(ctx, guild_id, user_id)


@get("/users/@me/guilds/{guild_id}/member", permission=MEMBER, scope="guilds.members.read")
async def get_current_user_guild_member(ctx: Context, guild_id: GuildId) -> Json[Member]:
    """Get the caller's member object in one of their guilds."""
    return await _encoded_member(ctx, guild_id, ctx.actor.user_id)


async def _encoded_member(ctx: Context, guild_id: GuildId, user_id: UserId) -> Json[Member]:
    async def read() -> bytes:
        row = await queries.get_member(ctx.tx, guild_id, user_id)
        return b"" if row is None else encode(await queries.member_object(ctx.tx, row))

    cache = ctx.services.resources[EncodedMembers]
    member = await cache.get(ctx.tx, (guild_id, user_id), ctx.now, read)
    if not member:
        raise Refusal(errors.UNKNOWN_MEMBER)
    return Json(member, names_files=False)


@get("/guilds/{guild_id}/members", permission=MEMBER)
async def list_guild_members(
    ctx: Context,
    guild_id: GuildId,
    *,
    limit: Annotated[int, Meta(ge=1, le=limits.MEMBER_LIST_MAX)] = 1,
    after: UserId = UserId(Snowflake(0)),  # noqa: B008 - an immutable number
) -> Json[list[Member]]:
    """List members by ascending user id. A bot's application needs the privileged GUILD_MEMBERS intent."""
    if not has_members_intent(ctx.actor):
        raise Refusal(errors.MISSING_ACCESS)

    async def read() -> bytes:
        return await encode_members(ctx.tx, await queries.select_members_after(ctx.tx, guild_id, after, limit))

    cache = ctx.services.resources[EncodedMembers]
    return Json(await cache.get(ctx.tx, (guild_id, after, limit), ctx.now, read), names_files=False)


@get("/guilds/{guild_id}/members/search", permission=MEMBER)
async def search_guild_members(
    ctx: Context,
    guild_id: GuildId,
    *,
    query: Annotated[str, Meta(min_length=1, max_length=100)],
    limit: Annotated[int, Meta(ge=1, le=limits.MEMBER_SEARCH_MAX)] = 1,
) -> Json[list[Member]]:
    """List members whose username or nickname starts with `query`, ignoring case and accents."""
    key = search_key(query)
    if not key:
        return Json(b"[]")

    async def read() -> bytes:
        return await encode_members(ctx.tx, await queries.search_members(ctx.tx, guild_id, key, limit))

    cache = ctx.services.resources[EncodedMembers]
    return Json(await cache.get(ctx.tx, (guild_id, key, limit), ctx.now, read), names_files=False)


@put(
    "/guilds/{guild_id}/members/{user_id}",
    permission=Permissions.CREATE_INSTANT_INVITE,
    fires=operations.JOIN_EVENTS,
    scope=JOIN_SCOPE,
    status=201,
)
async def add_guild_member(ctx: Context, guild_id: GuildId, user_id: UserId, body: AddGuildMember) -> Member | None:
    """Add a user with their access token for the calling bot's application; 204 if they are a member already."""
    return await operations.add_member(
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
    fires=(GuildMemberUpdate, GuildMemberRemove, *VOICE_EVENTS),
)
async def modify_guild_member(ctx: Context, guild_id: GuildId, user_id: UserId, body: ModifyGuildMember) -> Member:
    """Change a member's nickname, roles, timeout, flags or voice channel."""
    return await operations.modify_member(ctx, guild_id, user_id, body)


@patch("/guilds/{guild_id}/members/@me", permission=BY_FIELD, audit_reason=True, fires=(GuildMemberUpdate,))
async def modify_current_member(ctx: Context, guild_id: GuildId, body: ModifyCurrentMember) -> Member:
    """Change the caller's own profile in a guild. A nickname requires CHANGE_NICKNAME."""
    return await operations.modify_current_member(
        ctx, guild_id, nick=body.nick, avatar=body.avatar, banner=body.banner, bio=body.bio
    )


@patch(
    "/guilds/{guild_id}/members/@me/nick",
    permission=Permissions.CHANGE_NICKNAME,
    audit_reason=True,
    fires=(GuildMemberUpdate,),
)
async def modify_current_user_nick(ctx: Context, guild_id: GuildId, body: ModifyCurrentUserNick) -> Nickname:
    """Change the caller's own nickname (deprecated; use Modify Current Member)."""
    member = await operations.modify_current_member(ctx, guild_id, nick=body.nick)
    return Nickname(nick=member.nick)


@put(
    "/guilds/{guild_id}/members/{user_id}/roles/{role_id}",
    permission=Permissions.MANAGE_ROLES,
    audit_reason=True,
    fires=(GuildMemberUpdate,),
)
async def add_guild_member_role(ctx: Context, guild_id: GuildId, user_id: UserId, role_id: RoleId) -> None:
    """Add a role to a member."""
    await operations.change_member_role(ctx, guild_id, user_id, role_id, add=True)


@patch(
    "/guilds/{guild_id}/roles/{role_id}/members",
    permission=Permissions.MANAGE_ROLES,
    audit_reason=True,
    fires=(GuildMemberUpdate,),
)
async def add_guild_role_members(
    ctx: Context, guild_id: GuildId, role_id: RoleId, body: AddRoleMembers
) -> dict[str, Member]:
    """Add a role to up to 30 members, all or none. Returns the members by id."""
    members = await operations.add_role_to_members(ctx, guild_id, role_id, body.member_ids)
    return {member.user.id.wire(): member for member in members if member.user is not UNSET}


@delete(
    "/guilds/{guild_id}/members/{user_id}/roles/{role_id}",
    permission=Permissions.MANAGE_ROLES,
    audit_reason=True,
    fires=(GuildMemberUpdate,),
)
async def remove_guild_member_role(ctx: Context, guild_id: GuildId, user_id: UserId, role_id: RoleId) -> None:
    """Remove a role from a member."""
    await operations.change_member_role(ctx, guild_id, user_id, role_id, add=False)


@delete(
    "/guilds/{guild_id}/members/{user_id}",
    permission=Permissions.KICK_MEMBERS,
    audit_reason=True,
    fires=operations.LEAVE_EVENTS,
)
async def remove_guild_member(ctx: Context, guild_id: GuildId, user_id: UserId) -> None:
    """Kick a member."""
    await operations.kick_member(ctx, guild_id, user_id)
