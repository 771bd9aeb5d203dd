"""Reading and changing the new member welcome of a guild."""

from collections.abc import Mapping
from typing import TypedDict

from msgspec import UNSET, structs

from moothall.kernel.audit import differences
from moothall.kernel.context import Context
from moothall.kernel.guild_state import GuildState
from moothall.objects import limits
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.emoji import PartialEmoji
from moothall.objects.emoji_choice import choose_emoji, current_emoji
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.guild_home import GuildHome, NewMemberAction, NewMemberActionType, ResourceChannel, WelcomeMessage
from moothall.objects.ids import ChannelId
from moothall.objects.permissions import Permissions
from moothall.objects.text import clean, clean_name
from moothall.resources.guild.home import queries
from moothall.resources.guild.home.requests import HomeChannelRequest, ModifyGuildHome, WelcomeMessageRequest
from moothall.resources.member.queries import get_members

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
