"""Permissions to view, create and manage scheduled events (guild scheduled event permissions requirements)."""

from moothall.api.access import Member, PathValues
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.channel import Channel
from moothall.objects.channel_types import VOICE
from moothall.objects.errors import Refusal
from moothall.objects.permissions import Permissions
from moothall.objects.scheduled_event import EntityType
from moothall.resources.scheduled_event.queries import EventRow, select_event
from moothall.resources.stage_instance.operations import STAGE_MODERATOR

_ENTITY_PERMISSIONS: dict[int, int] = {
    EntityType.STAGE_INSTANCE: STAGE_MODERATOR | Permissions.VIEW_CHANNEL,
    EntityType.VOICE: int(Permissions.VIEW_CHANNEL | Permissions.CONNECT),
    EntityType.EXTERNAL: 0,
}
"""The permissions that an event needs beside CREATE_EVENTS or MANAGE_EVENTS, by entity type."""


class ViewsEvent(Member):
    """Members who may view the channel of the event in the path. Loads its row."""

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Load the event. Raises Refusal: 404/10070 for an unknown event, or one in a channel they may not view."""
        await super().check(ctx, path)
        row = await select_event(ctx.tx, ctx.guild.id, path["guild_scheduled_event_id"])
        if row is None or not await can_view_event(ctx, row):
            raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT)
        ctx.set_resource(row)


class ManagesEvent(ViewsEvent):
    """Members who may manage the event in the path: its creator with CREATE_EVENTS, others with MANAGE_EVENTS."""

    label = "CREATE_EVENTS|MANAGE_EVENTS"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Load the event. Raises Refusal: 404/10070, 403/50013."""
        await super().check(ctx, path)
        await require_management(ctx, ctx.resource(EventRow))


class CreatesEvents(Member):
    """Members with CREATE_EVENTS in the guild or in any voice channel; the operation checks the requested channel."""

    label = "CREATE_EVENTS"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Raise Refusal 403/50013 for members without the permission."""
        await super().check(ctx, path)
        if ctx.member.permissions & Permissions.CREATE_EVENTS:
            return
        channels = (await ctx.guild.channels(ctx.tx)).values()
        if not any(c.type in VOICE and ctx.member.permissions_in(c) & Permissions.CREATE_EVENTS for c in channels):
            raise Refusal(errors.MISSING_PERMISSIONS)


async def can_view_event(ctx: Context, row: EventRow) -> bool:
    """Whether the acting member may view an event of the guild of the request."""
    if row.channel_id is None:
        return True
    channel = await ctx.guild.channel(ctx.tx, row.channel_id)
    return channel is not None and ctx.member.may_view(channel)


async def require_management(ctx: Context, row: EventRow) -> None:
    """Raise Refusal 403/50013 unless the actor may manage an event of the guild of the request."""
    channel = None if row.channel_id is None else await ctx.guild.channel(ctx.tx, row.channel_id)
    is_creator = row.creator_id == ctx.actor.user_id
    require_event_permissions(ctx, row.entity_type, channel, may_create=is_creator)


def require_event_permissions(ctx: Context, entity_type: int, channel: Channel | None, *, may_create: bool) -> None:
    """Raise Refusal 403/50013 unless the actor may manage events of a type in a channel, or outside of channels.

    With `may_create` CREATE_EVENTS suffices in place of MANAGE_EVENTS.
    """
    permissions = ctx.member.permissions if channel is None else ctx.member.permissions_in(channel)
    sufficient = int(Permissions.MANAGE_EVENTS) | (Permissions.CREATE_EVENTS if may_create else 0)
    needed = _ENTITY_PERMISSIONS[entity_type]
    if not permissions & sufficient or permissions & needed != needed:
        raise Refusal(errors.MISSING_PERMISSIONS)
    ctx.require_mfa(needed)


def require_creation(ctx: Context, entity_type: int, channel: Channel | None) -> None:
    """Raise Refusal 403/50013 unless the actor may create events of a type in a channel, or outside of channels."""
    permissions = ctx.member.permissions if channel is None else ctx.member.permissions_in(channel)
    needed = _ENTITY_PERMISSIONS[entity_type] | Permissions.CREATE_EVENTS
    if permissions & needed != needed:
        raise Refusal(errors.MISSING_PERMISSIONS)
    ctx.require_mfa(needed)
