"""Making channels of a guild and changing them."""

from collections.abc import Iterable
from typing import Any, Final

from msgspec import UNSET, structs

from moothall.kernel.audit import differences
from moothall.kernel.context import Context
from moothall.kernel.hooks import Hook
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel, Overwrite
from moothall.objects.channel_types import FORUMS, THREADS, VOICE, ChannelType, applies
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId, RoleId, Snowflake
from moothall.objects.permissions import Permissions
from moothall.resources.channel import overwrites, queries, rules
from moothall.resources.channel.events import ChannelCreate, ChannelUpdate
from moothall.resources.channel.objects import channel_object, with_activity
from moothall.resources.channel.requests import (
    ChannelSettings,
    CreateGuildChannel,
    EditChannelPermissions,
    ModifyChannel,
)
from moothall.storage.rows import ChannelRow, channel_from_row, overwrites_from_row

CHANNEL_CHANGED: Final = Hook[[Context, Channel, Channel], None]("channel changed")
"""What else changes with a channel of a guild, given as it was and as it is."""
CHANNEL_DELETING: Final = Hook[[Context, Channel], None]("channel deleting")
"""What ends before a channel of a guild does: whoever sees the channel still hears of it."""
CHANNEL_DELETED: Final = Hook[[Context, Channel], None]("channel deleted")
"""What ends after a channel of a guild has."""
CHANNEL_PURGED: Final = Hook[[Context, ChannelId], None]("channel purged")
"""What is removed by the job that removes a deleted channel's messages."""
OTHER_CHANNEL_CHANGING: Final = Hook[[Context, ModifyChannel], Channel | None]("other channel changing")
"""Changes a thread or a group direct message; None for a channel of another kind."""
OTHER_CHANNEL_DELETING: Final = Hook[[Context], Channel | None]("other channel deleting")
"""Deletes a thread or leaves a group direct message; None for a channel of another kind."""

AUDITED: Final = (
    "name", "type", "position", "topic", "nsfw", "bitrate", "user_limit", "rate_limit_per_user", "parent_id",
    "rtc_region", "video_quality_mode", "default_auto_archive_duration", "default_thread_rate_limit_per_user",
    "flags", "available_tags", "default_reaction_emoji", "default_sort_order", "default_forum_layout",
)  # fmt: skip
"""The keys that an entry of the audit log tells of; overwrites have entries of their own once the channel is there."""


async def create_channel(ctx: Context, body: CreateGuildChannel) -> Channel:
    """Make a channel in the guild entered.

    Without overwrites of its own a channel in a category begins with the category's. Raises Refusal:
    403/50013 for overwrite bits that the caller lacks, 400/30013 for a full guild, 400/50035.
    """
    form_errors, kind = FormErrors(), int(body.type or ChannelType.GUILD_TEXT)
    channels = await ctx.guild.channels(ctx.tx)
    listed = await overwrites.read_overwrites(ctx, body.permission_overwrites or (), (), form_errors)
    overwrites.require_bits(ctx.member, overwrites.changed_bits((), listed), ctx.member.permissions)
    if len(channels) >= limits.CHANNELS_PER_GUILD:
        raise Refusal(errors.TOO_MANY_CHANNELS)
    rules.check_creatable(ctx.guild, kind, form_errors)
    row = queries.blank_row(
        ChannelId(ctx.ids.next()), kind, guild_id=ctx.guild.id, name=rules.stored_name(body.name, kind, form_errors)
    )
    if body.parent_id and applies("parent_id", kind):
        parent = check_parent(channels, body.parent_id, form_errors.at("parent_id"))
        if parent is not None:
            row.parent_id = parent.id
            listed = listed or list(parent.permission_overwrites or ())
    columns = _settings(ctx, body, row, form_errors)
    columns.setdefault("position", _end(channels.values(), kind))
    form_errors.raise_if_any()
    row = structs.replace(row, **columns, permission_overwrites=overwrites.as_column(listed))
    await queries.insert_channel(ctx.tx, row)
    channel = with_activity(channel_from_row(row), None)
    await ctx.audit(
        AuditLogEvent.CHANNEL_CREATE,
        target=channel.id,
        changes=differences(None, channel, (*AUDITED, "permission_overwrites")),
    )
    ctx.emit(ChannelCreate(channel=channel))
    return channel


async def modify_channel(ctx: Context, body: ModifyChannel) -> Channel:
    """Change the channel of a guild that has been entered: what is absent stays, null clears.

    A request that changes nothing is answered alike, but neither recorded nor announced. Raises Refusal:
    403/50013 for overwrites without MANAGE_ROLES, or with bits that the caller lacks; 403/50003 for a
    direct message; 400/50024 for a thread; 400/50035.
    """
    access = _guild_channel(ctx)
    row = await queries.select_channel(ctx.tx, access.id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    form_errors, before = FormErrors(), overwrites_from_row(row)
    after = before
    if body.permission_overwrites is not UNSET:
        ctx.require(Permissions.MANAGE_ROLES)
        after = await overwrites.read_overwrites(ctx, body.permission_overwrites or (), before, form_errors)
        bits = overwrites.changed_bits(before, after)
        overwrites.require_bits(ctx.member, bits, await overwrites.held_for_editing(ctx, access))
        if sorted(after, key=_target) == sorted(before, key=_target):
            after = before  # in another order they say the same
    columns: dict[str, Any] = {"permission_overwrites": overwrites.as_column(after)}
    kind = row.type
    if isinstance(body.type, int):
        kind = columns["type"] = int(body.type)
        rules.check_conversion(ctx.guild, row.type, kind, form_errors)
    if body.name is not UNSET:
        if body.name is None:
            form_errors.add("name", *FieldError.required())
        else:
            columns["name"] = rules.stored_name(body.name, kind, form_errors)
    if body.parent_id is not UNSET and applies("parent_id", kind) and body.parent_id != row.parent_id:
        await _check_move(ctx, body.parent_id, form_errors.at("parent_id"))
        columns["parent_id"] = body.parent_id
    columns |= _settings(ctx, body, structs.replace(row, type=kind), form_errors)
    form_errors.raise_if_any()
    channel = await _store(ctx, row, structs.replace(row, **columns))
    await CHANNEL_CHANGED(ctx, access, channel)
    return channel


async def edit_permissions(ctx: Context, target: Snowflake, body: EditChannelPermissions) -> None:
    """Set the overwrite of one role or member in the channel entered.

    Raises Refusal: 404/10009 for what is neither a role nor a member of the guild, 403/50013 for bits
    that the caller lacks, 403/50003 for a direct message, 400/50024 for a thread.
    """
    channel = _guild_channel(ctx)
    before = list(channel.permission_overwrites or ())
    held = next((o for o in before if o.id == target), None)
    is_role = RoleId(target) in ctx.guild.roles
    kind = int(body.type) if isinstance(body.type, int) else int(not is_role)
    if kind == 0 and not is_role:
        raise Refusal(errors.UNKNOWN_OVERWRITE)
    known = held is not None and held.type == kind
    if kind != 0 and not known and not await queries.members_among(ctx.tx, ctx.guild.id, [target]):
        raise Refusal(errors.UNKNOWN_OVERWRITE)
    now = overwrites.overwrite(target, kind, body.allow, body.deny)
    after = [now if o.id == target else o for o in before] if held else [*before, now]
    bits = overwrites.changed_bits(before, after)
    overwrites.require_bits(ctx.member, bits, await overwrites.held_for_editing(ctx, channel))
    if len(after) > limits.CHANNEL_OVERWRITES_MAX:
        raise Refusal(errors.TOO_MANY_OVERWRITES)
    await _set_overwrites(ctx, channel, after)


async def delete_permission(ctx: Context, target: Snowflake) -> None:
    """Take the overwrite of a role or member away. Raises Refusal: 404/10009 if there is none."""
    channel = _guild_channel(ctx)
    before = list(channel.permission_overwrites or ())
    after = [o for o in before if o.id != target]
    if len(after) == len(before):
        raise Refusal(errors.UNKNOWN_OVERWRITE)
    await _set_overwrites(ctx, channel, after)


def check_parent(channels: dict[ChannelId, Channel], parent_id: ChannelId, at: FormErrors) -> Channel | None:
    """The category that a channel is to be put in, with room for it; None, and an error, if it is not one."""
    parent = channels.get(parent_id)
    if parent is None:
        at.add("", FormCode.CHANNEL_PARENT_INVALID, "Category does not exist")
        return None
    if parent.type != ChannelType.GUILD_CATEGORY:
        at.add("", FormCode.CHANNEL_PARENT_INVALID_TYPE, "Not a category")
        return None
    if sum(channel.parent_id == parent_id for channel in channels.values()) >= limits.CHANNELS_PER_CATEGORY:
        at.add("", FormCode.CHANNEL_PARENT_MAX_CHANNELS, "Maximum number of channels in category reached")
        return None
    return parent


def require_destination(ctx: Context, parent: Channel | None) -> None:
    """Moving a channel takes MANAGE_CHANNELS where it goes: the category, or the guild outside of one.

    Raises Refusal: 403/50001.
    """
    bits = ctx.member.permissions if parent is None else ctx.member.permissions_in(parent)
    if not bits & Permissions.MANAGE_CHANNELS:
        raise Refusal(errors.MISSING_ACCESS)


def _guild_channel(ctx: Context) -> Channel:
    if not ctx.in_guild:
        raise Refusal(errors.NOT_ON_DM)
    if ctx.channel.channel.type in THREADS:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    return ctx.channel.channel


async def _check_move(ctx: Context, parent_id: ChannelId | None, at: FormErrors) -> None:
    channels = await ctx.guild.channels(ctx.tx)
    parent = None if parent_id is None else check_parent(channels, parent_id, at)
    if parent is not None or parent_id is None:
        require_destination(ctx, parent)


def _target(about: Overwrite) -> int:
    return int(about.id)


def _settings(ctx: Context, body: ChannelSettings, row: ChannelRow, form_errors: FormErrors) -> dict[str, Any]:
    """The columns that a request sets, for the type that the channel has afterwards."""
    kind = row.type
    rules.check_voice(body, ctx.guild, row, form_errors)
    columns = rules.plain_columns(body, kind)
    if kind in FORUMS:
        if body.default_reaction_emoji is not UNSET:
            columns["default_reaction_emoji"] = rules.reaction_column(
                body.default_reaction_emoji, ctx.guild, row.default_reaction_emoji, form_errors
            )
        if body.available_tags is not UNSET:
            columns["available_tags"] = rules.tag_column(
                body.available_tags, ctx.guild, row.available_tags, ctx.ids, form_errors
            )
    nsfw = bool(columns.get("nsfw", row.nsfw))
    columns["flags"] = rules.changed_flags(body, kind, row.flags, nsfw=nsfw, form_errors=form_errors)
    return columns


def _end(channels: Iterable[Channel], kind: int) -> int:
    """The position after all channels that are listed together with a new one: categories, voice, or the others."""

    def group(channel_type: int) -> int:
        return 2 if channel_type == ChannelType.GUILD_CATEGORY else int(channel_type in VOICE)

    taken = [int(c.position or 0) for c in channels if group(c.type) == group(kind)]
    return max(taken, default=-1) + 1


async def _set_overwrites(ctx: Context, channel: Channel, after: list[Overwrite]) -> None:
    row = await queries.select_channel(ctx.tx, channel.id)
    if row is not None:
        await _store(ctx, row, structs.replace(row, permission_overwrites=overwrites.as_column(after)))


async def _store(ctx: Context, before: ChannelRow, after: ChannelRow) -> Channel:
    """Write what differs between two versions of a channel, record it and announce it."""
    old, new = structs.asdict(before), structs.asdict(after)
    changed = {name: value for name, value in new.items() if value != old[name]}
    channel = await channel_object(ctx.tx, channel_from_row(after))
    if not changed:
        return channel
    await queries.update_channel(ctx.tx, after.id, **changed)
    if channel_from_row(before) == channel_from_row(after):
        return channel  # what was a default is now said in so many words
    changes = differences(channel_from_row(before), channel_from_row(after), AUDITED)
    if changes:
        await ctx.audit(AuditLogEvent.CHANNEL_UPDATE, target=after.id, changes=changes)
    if "permission_overwrites" in changed:
        entries = overwrites.overwrite_entries(ctx, after.id, overwrites_from_row(before), overwrites_from_row(after))
        await ctx.audit_all(entries)
    ctx.emit(ChannelUpdate(channel=channel))
    return channel
