"""Who may see an event, and who may change it (guild scheduled event permissions requirements)."""

from collections.abc import Mapping
from typing import Any

from moothall.kernel.access import Member
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.channel import Channel
from moothall.objects.channel_types import VOICE
from moothall.objects.errors import Refusal
from moothall.objects.permissions import Permissions
from moothall.objects.scheduled_event import EntityType
from moothall.resources.scheduled_event.queries import EventRow, select_event
from moothall.resources.stage_instance.operations import MODERATOR

_IN_PLACE: dict[int, int] = {
    EntityType.STAGE_INSTANCE: MODERATOR | Permissions.VIEW_CHANNEL,
    EntityType.VOICE: int(Permissions.VIEW_CHANNEL | Permissions.CONNECT),
    EntityType.EXTERNAL: 0,
}
"""What planning an event takes beside the permission for events, by entity type."""


class ViewsEvent(Member):
    """Members who may view the channel of the event in the path, which becomes `ctx.subject`."""

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Find the event. Raises Refusal: 404/10070 for one that is not there, or not theirs to see."""
        await super().check(ctx, path)
        row = await select_event(ctx.tx, ctx.guild.id, path["guild_scheduled_event_id"])
        if row is None or not await sees_event(ctx, row):
            raise Refusal(errors.UNKNOWN_SCHEDULED_EVENT)
        ctx.subject = row


class ManagesEvent(ViewsEvent):
    """Those who may change the event in the path: its creator with CREATE_EVENTS, others with MANAGE_EVENTS."""

    label = "CREATE_EVENTS|MANAGE_EVENTS"

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Find the event. Raises Refusal: 404/10070, 403/50013."""
        await super().check(ctx, path)
        await require_management(ctx, ctx.subject)


class CreatesEvents(Member):
    """Members who may create events in the guild or in any channel; the operation asks for the place itself."""

    label = "CREATE_EVENTS"

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Enter the guild. Raises Refusal: 403/50013."""
        await super().check(ctx, path)
        if ctx.member.permissions & Permissions.CREATE_EVENTS:
            return
        channels = (await ctx.guild.channels(ctx.tx)).values()
        if not any(c.type in VOICE and ctx.member.permissions_in(c) & Permissions.CREATE_EVENTS for c in channels):
            raise Refusal(errors.MISSING_PERMISSIONS)


async def sees_event(ctx: Context, row: EventRow) -> bool:
    """Whether the actor, a member, may see an event of the guild entered."""
    if row.channel_id is None:
        return True
    channel = await ctx.guild.channel(ctx.tx, row.channel_id)
    return channel is not None and ctx.member.may_view(channel)


async def require_management(ctx: Context, row: EventRow) -> None:
    """Refuse (403/50013) unless the actor may change an event of the guild entered."""
    channel = None if row.channel_id is None else await ctx.guild.channel(ctx.tx, row.channel_id)
    own = row.creator_id == ctx.actor.user_id
    require_in_place(ctx, row.entity_type, channel, may_create=own)


def require_in_place(ctx: Context, entity_type: int, channel: Channel | None, *, may_create: bool) -> None:
    """Refuse (403/50013) unless the actor may plan events of a type in a channel, or in the guild as a whole.

    `may_create` says that CREATE_EVENTS will do.
    """
    held = ctx.member.permissions if channel is None else ctx.member.permissions_in(channel)
    enough = int(Permissions.MANAGE_EVENTS) | (Permissions.CREATE_EVENTS if may_create else 0)
    needed = _IN_PLACE[entity_type]
    if not held & enough or held & needed != needed:
        raise Refusal(errors.MISSING_PERMISSIONS)
    ctx.require_mfa(needed)


def require_creation(ctx: Context, entity_type: int, channel: Channel | None) -> None:
    """Refuse (403/50013) unless the actor may create events of a type there."""
    held = ctx.member.permissions if channel is None else ctx.member.permissions_in(channel)
    needed = _IN_PLACE[entity_type] | Permissions.CREATE_EVENTS
    if held & needed != needed:
        raise Refusal(errors.MISSING_PERMISSIONS)
    ctx.require_mfa(needed)
