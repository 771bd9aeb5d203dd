"""Reading and changing what newcomers are shown first."""

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


async def read_home(ctx: Context) -> GuildHome | None:
    """What newcomers are shown first; None where it is off, but for those who manage the guild."""
    home = await queries.select_home(ctx.tx, ctx.guild.id)
    if home is None or not (home.enabled or ctx.has(Permissions.MANAGE_GUILD)):
        return None
    return _without_gone(home, ctx.guild, await ctx.guild.channels(ctx.tx))


async def modify_home(ctx: Context, body: ModifyGuildHome) -> GuildHome:
    """Change what newcomers are shown first; all of it as it is then.

    What changes nothing is not recorded. Raises Refusal: 400/50035 for channels and emojis that are not the
    guild's, and authors who are no members.
    """
    channels = await ctx.guild.channels(ctx.tx)
    stored = await queries.select_home(ctx.tx, ctx.guild.id)
    blank = GuildHome(guild_id=ctx.guild.id, enabled=False, new_member_actions=[], resource_channels=[])
    before = blank if stored is None else _without_gone(stored, ctx.guild, channels)
    form_errors, after = FormErrors(), before
    if body.enabled is not UNSET:
        after = structs.replace(after, enabled=bool(body.enabled))
    if body.welcome_message is not UNSET:
        message = body.welcome_message
        made = UNSET if message is None else await _message(ctx, message, form_errors.at("welcome_message"))
        after = structs.replace(after, welcome_message=made)
    if body.new_member_actions is not UNSET:
        actions = [
            NewMemberAction(
                **_shown(ctx, asked, channels, form_errors.at(["new_member_actions", index])),
                action_type=int(asked.action_type or NewMemberActionType.VIEW),
            )
            for index, asked in enumerate(body.new_member_actions or ())
        ]
        after = structs.replace(after, new_member_actions=actions)
    if body.resource_channels is not UNSET:
        resources = [
            ResourceChannel(**_shown(ctx, asked, channels, form_errors.at(["resource_channels", index])))
            for index, asked in enumerate(body.resource_channels or ())
        ]
        after = structs.replace(after, resource_channels=resources)
    form_errors.raise_if_any()
    if after == before and stored is not None:
        return after
    await queries.write_home(ctx.tx, after)
    action = AuditLogEvent.HOME_SETTINGS_CREATE if stored is None else AuditLogEvent.HOME_SETTINGS_UPDATE
    changes = differences(None if stored is None else before, after, _SETTINGS)
    await ctx.audit(action, target=ctx.guild.id, changes=changes)
    return after


def _without_gone(home: GuildHome, guild: GuildState, channels: Mapping[ChannelId, Channel]) -> GuildHome:
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


async def _message(ctx: Context, asked: WelcomeMessageRequest, at: FormErrors) -> WelcomeMessage:
    text = clean(asked.message).strip()
    if not text:
        at.add("message", *FieldError.length(1, limits.HOME_MESSAGE_MAX))
    authors = list(dict.fromkeys(asked.author_ids))
    known = await get_members(ctx.tx, ctx.guild.id, authors)
    for index, author_id in enumerate(asked.author_ids):
        if author_id not in known:
            at.add(["author_ids", index], FormCode.BASE_TYPE_CHOICES, "They are no member of the guild.")
    return WelcomeMessage(author_ids=authors, message=text)


class _Shown(TypedDict):
    channel_id: ChannelId
    title: str
    description: str
    emoji: PartialEmoji


def _shown(ctx: Context, asked: HomeChannelRequest, channels: Mapping[ChannelId, Channel], at: FormErrors) -> _Shown:
    """What things to do and channels to read have in common."""
    channel = channels.get(asked.channel_id)
    if channel is None or channel.type == ChannelType.GUILD_CATEGORY:
        at.add("channel_id", FormCode.BASE_TYPE_CHOICES, "The guild has no such channel to show.")
    title = clean_name(asked.title)
    if not title:
        at.add("title", *FieldError.length(1, limits.HOME_TITLE_MAX))
    return {
        "channel_id": asked.channel_id,
        "title": title,
        "description": clean(asked.description or "").strip(),
        "emoji": choose_emoji(ctx.guild.emojis, asked.emoji_id or None, asked.emoji_name or None, at),
    }
