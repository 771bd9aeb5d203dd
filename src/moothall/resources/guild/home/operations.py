"""Reading and changing the new member welcome of a guild, and completing its actions."""

from collections.abc import Mapping
from typing import TypedDict

from msgspec import UNSET, structs

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.authority.guild_state import GuildState
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.emoji import PartialEmoji
from moothall.objects.emoji_choice import choose_emoji, current_emoji
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.guild_home import (
    GuildHome,
    NewMemberAction,
    NewMemberActionProgress,
    NewMemberActionsProgress,
    NewMemberActionType,
    ResourceChannel,
    WelcomeMessage,
)
from moothall.objects.ids import ChannelId
from moothall.objects.member import MemberFlags
from moothall.objects.permissions import Permissions
from moothall.objects.text import clean, clean_name
from moothall.resources.guild.home import queries
from moothall.resources.guild.home.requests import HomeChannelRequest, ModifyGuildHome, WelcomeMessageRequest
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.member.queries import get_member, get_members, member_object, update_member

_SETTINGS = ("enabled", "welcome_message", "new_member_actions", "resource_channels")


async def get_home(ctx: Context) -> GuildHome | None:
    """The new member welcome; None if there is none, or if it is disabled and the actor lacks MANAGE_GUILD."""
    home = await queries.select_home(ctx.tx, ctx.guild.id)
    if home is None or not (home.enabled or ctx.has(Permissions.MANAGE_GUILD)):
        return None
    return _without_deleted(home, ctx.guild, await ctx.guild.channels(ctx.tx))


async def modify_home(ctx: Context, body: ModifyGuildHome) -> GuildHome:
    """Change the new member welcome; returns all of it after the change.

    A request that changes nothing is not recorded. Raises Refusal: 400/50035 for channels and emojis of other guilds,
    and for authors who are not members.
    """
    channels = await ctx.guild.channels(ctx.tx)
    stored = await queries.select_home(ctx.tx, ctx.guild.id)
    blank = GuildHome(guild_id=ctx.guild.id, enabled=False, new_member_actions=[], resource_channels=[])
    before = blank if stored is None else _without_deleted(stored, ctx.guild, channels)
    form_errors, after = FormErrors(), before
    if body.enabled is not UNSET:
        after = structs.replace(after, enabled=bool(body.enabled))
    if body.welcome_message is not UNSET:
        message = body.welcome_message
        at = form_errors.at("welcome_message")
        after = structs.replace(
            after, welcome_message=UNSET if message is None else await _welcome_message(ctx, message, at)
        )
    if body.new_member_actions is not UNSET:
        actions = [
            NewMemberAction(
                **_channel_entry(ctx, request, channels, form_errors.at(["new_member_actions", index])),
                action_type=int(request.action_type or NewMemberActionType.VIEW),
            )
            for index, request in enumerate(body.new_member_actions or ())
        ]
        after = structs.replace(after, new_member_actions=actions)
    if body.resource_channels is not UNSET:
        resources = [
            ResourceChannel(**_channel_entry(ctx, request, channels, form_errors.at(["resource_channels", index])))
            for index, request in enumerate(body.resource_channels or ())
        ]
        after = structs.replace(after, resource_channels=resources)
    form_errors.raise_if_any()
    if after == before and stored is not None:
        return after
    await queries.upsert_home(ctx.tx, after)
    action = AuditLogEvent.HOME_SETTINGS_CREATE if stored is None else AuditLogEvent.HOME_SETTINGS_UPDATE
    changes = differences(None if stored is None else before, after, _SETTINGS)
    await ctx.audit(action, target=ctx.guild.id, changes=changes)
    return after


async def get_progress(ctx: Context) -> NewMemberActionsProgress | None:
    """The new member actions that the caller has completed; None if they have completed none."""
    channel_ids = await queries.select_progress(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    return None if channel_ids is None else _progress_object(ctx, channel_ids)


async def complete_action(ctx: Context, channel_id: ChannelId) -> NewMemberActionsProgress:
    """Complete the new member action in a channel as the caller; returns all that they have completed.

    The first completed action sets STARTED_HOME_ACTIONS, and the last of them COMPLETED_HOME_ACTIONS. Completing one
    again changes nothing. Raises Refusal: 403/20001 for bots, 403/50013 for pending and timed out members, 404/10003
    for a channel without an action, 403/50001 for one that the caller may not view.
    """
    if ctx.actor.bot:
        raise Refusal(errors.BOTS_CANNOT_USE)
    if ctx.member.restricted:
        raise Refusal(errors.MISSING_PERMISSIONS)
    channels = await ctx.guild.channels(ctx.tx)
    home = await queries.select_home(ctx.tx, ctx.guild.id)
    offered = {action.channel_id for action in home.new_member_actions} if home is not None and home.enabled else set()
    if channel_id not in offered or channel_id not in channels:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    if not ctx.member.may_view(channels[channel_id]):
        raise Refusal(errors.MISSING_ACCESS)
    completed = await queries.select_progress(ctx.tx, ctx.guild.id, ctx.actor.user_id) or []
    if channel_id in completed:
        return _progress_object(ctx, completed)
    completed = [*(each for each in completed if each in channels), channel_id]
    await queries.upsert_progress(ctx.tx, ctx.guild.id, ctx.actor.user_id, completed)
    left = (offered & channels.keys()) - set(completed)
    await _set_flags(ctx, MemberFlags.STARTED_HOME_ACTIONS | (0 if left else MemberFlags.COMPLETED_HOME_ACTIONS))
    return _progress_object(ctx, completed)


async def _set_flags(ctx: Context, flags: int) -> None:
    """Set flags of the caller's member, and emit GUILD_MEMBER_UPDATE if any is new."""
    row = await get_member(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    if row is None or row.flags & flags == flags:
        return
    after = structs.replace(row, flags=row.flags | flags)
    await update_member(ctx.tx, row.guild_id, row.user_id, flags=after.flags)
    ctx.emit(GuildMemberUpdate(guild_id=row.guild_id, member=await member_object(ctx.tx, after)))


def _progress_object(ctx: Context, channel_ids: list[ChannelId]) -> NewMemberActionsProgress:
    return NewMemberActionsProgress(
        guild_id=ctx.guild.id,
        user_id=ctx.actor.user_id,
        channel_actions={str(int(each)): NewMemberActionProgress(completed=True) for each in channel_ids},
    )


def _without_deleted(home: GuildHome, guild: GuildState, channels: Mapping[ChannelId, Channel]) -> GuildHome:
    """The new member welcome without deleted channels and emojis."""
    emojis = {emoji.id: emoji for emoji in guild.emojis}
    return structs.replace(
        home,
        new_member_actions=[
            structs.replace(action, emoji=current_emoji(emojis, action.emoji))
            for action in home.new_member_actions
            if action.channel_id in channels
        ],
        resource_channels=[
            structs.replace(channel, emoji=current_emoji(emojis, channel.emoji))
            for channel in home.resource_channels
            if channel.channel_id in channels
        ],
    )


async def _welcome_message(ctx: Context, request: WelcomeMessageRequest, at: FormErrors) -> WelcomeMessage:
    text = clean(request.message).strip()
    if not text:
        at.add("message", *FieldError.length(1, limits.HOME_MESSAGE_MAX))
    authors = list(dict.fromkeys(request.author_ids))
    known = await get_members(ctx.tx, ctx.guild.id, authors)
    for index, author_id in enumerate(request.author_ids):
        if author_id not in known:
            at.add(["author_ids", index], FormCode.BASE_TYPE_CHOICES, "This user is not a member of this guild.")
    return WelcomeMessage(author_ids=authors, message=text)


class _ChannelEntry(TypedDict):
    channel_id: ChannelId
    title: str
    description: str
    emoji: PartialEmoji


def _channel_entry(
    ctx: Context, request: HomeChannelRequest, channels: Mapping[ChannelId, Channel], at: FormErrors
) -> _ChannelEntry:
    """The fields that new member actions and resource channels have in common."""
    channel = channels.get(request.channel_id)
    if channel is None or channel.type == ChannelType.GUILD_CATEGORY:
        at.add("channel_id", FormCode.BASE_TYPE_CHOICES, "The guild has no such channel to show.")
    title = clean_name(request.title)
    if not title:
        at.add("title", *FieldError.length(1, limits.HOME_TITLE_MAX))
    return {
        "channel_id": request.channel_id,
        "title": title,
        "description": clean(request.description or "").strip(),
        "emoji": choose_emoji(ctx.guild.emojis, request.emoji_id or None, request.emoji_name or None, at),
    }
