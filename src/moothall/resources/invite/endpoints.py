"""Invites over HTTP (api.md, Invites; resources: invite, channel, guild)."""

from moothall.api.access import PUBLIC, SIGNED_IN, any_of
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, post
from moothall.objects.ids import ChannelId, GuildId, ScheduledEventId
from moothall.objects.invite import Invite, InviteMetadata
from moothall.objects.permissions import Permissions
from moothall.resources.group_dm.operations import ADD_RECIPIENT_EVENTS
from moothall.resources.guild.membership.operations import JOIN_EVENTS
from moothall.resources.invite import operations, queries
from moothall.resources.invite.access import CanManageInvite
from moothall.resources.invite.events import InviteCreate, InviteDelete
from moothall.resources.invite.lookup import resolve_invite
from moothall.resources.invite.objects import invite_objects, without_metadata
from moothall.resources.invite.requests import CreateChannelInvite
from moothall.resources.invite.target_users.files import TargetUsersUploads, uploaded_user_ids
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.user.relationship.events import RelationshipAdd
from moothall.resources.user.relationship.operations import FRIENDS_MADE


@post(
    "/channels/{channel_id}/invites",
    permission=Permissions.CREATE_INSTANT_INVITE,
    audit_reason=True,
    fires=(InviteCreate,),
    forms=True,
    uploads=TargetUsersUploads(),
)
async def create_channel_invite(ctx: Context, channel_id: ChannelId, body: CreateChannelInvite) -> InviteMetadata:
    """Create an invite to a channel, for users of a `target_users_file` or for all, or get the caller's own like it."""
    return await operations.create_invite(ctx, body, uploaded_user_ids(ctx))


@get("/channels/{channel_id}/invites", permission=Permissions.MANAGE_CHANNELS)
async def get_channel_invites(ctx: Context, channel_id: ChannelId) -> list[InviteMetadata]:
    """List the live invites to a channel, with metadata."""
    return await invite_objects(ctx, ctx.guild, await queries.select_channel_invites(ctx.tx, channel_id, ctx.now))


@get("/guilds/{guild_id}/invites", permission=any_of(Permissions.MANAGE_GUILD, Permissions.VIEW_AUDIT_LOG))
async def get_guild_invites(ctx: Context, guild_id: GuildId) -> list[InviteMetadata] | list[Invite]:
    """List the live invites to a guild, with metadata for members with MANAGE_GUILD."""
    invites = await invite_objects(ctx, ctx.guild, await queries.select_guild_invites(ctx.tx, guild_id, ctx.now))
    if ctx.has(Permissions.MANAGE_GUILD):
        return invites
    return [without_metadata(invite) for invite in invites]


@get("/invites/{code}", permission=PUBLIC)
async def get_invite(
    ctx: Context, code: str, *, with_counts: bool = False, guild_scheduled_event_id: ScheduledEventId | None = None
) -> Invite:
    """Get an invite, optionally with an event; `with_counts` adds the numbers of members and online members."""
    return await resolve_invite(ctx, code, with_counts=with_counts, event_id=guild_scheduled_event_id)


@post(
    "/invites/{code}",
    permission=SIGNED_IN,
    fires=(*JOIN_EVENTS, *ADD_RECIPIENT_EVENTS, GuildMemberUpdate, InviteDelete, RelationshipAdd, FRIENDS_MADE),
)
async def accept_invite(ctx: Context, code: str) -> Invite:
    """Join the guild or group of an invite, or become a friend of its inviter."""
    return await operations.accept_invite(ctx, code)


@delete("/invites/{code}", permission=CanManageInvite(), audit_reason=True, fires=(InviteDelete,))
async def delete_invite(ctx: Context, code: str) -> Invite:
    """Delete an invite; returns the deleted invite."""
    return await operations.delete_invite(ctx, code)
