"""Operations: create and modify guild channels."""

from collections.abc import Iterable
from typing import Any, Final

from msgspec import UNSET, structs

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.authority.channel_queries import select_channel
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel, Overwrite
from moothall.objects.channel_types import FORUMS, THREADS, VOICE, ChannelType, applies
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import ChannelId
from moothall.objects.permissions import Permissions
from moothall.resources.channel import overwrites, queries, rules
from moothall.resources.channel.events import ChannelCreate, ChannelUpdate
from moothall.resources.channel.objects import channel_object, with_activity
from moothall.resources.channel.operations import CHANNEL_CHANGED
from moothall.resources.channel.requests import (
    ChannelSettings,
    CreateGuildChannel,
    ModifyChannel,
)
from moothall.resources.channel.rules import check_parent, require_destination
from moothall.storage.rows import ChannelRow, channel_from_row, overwrites_from_row

AUDITED_FIELDS: Final = (
    "name", "type", "position", "topic", "nsfw", "bitrate", "user_limit", "rate_limit_per_user", "parent_id",
    "rtc_region", "video_quality_mode", "default_auto_archive_duration", "default_thread_rate_limit_per_user",
    "flags", "available_tags", "default_reaction_emoji", "default_sort_order", "default_forum_layout",
)  # fmt: skip
"""The fields in audit log entries of a channel; overwrites of an existing channel have entries of their own."""


async def create_channel(ctx: Context, body: CreateGuildChannel) -> Channel:
    """Create a channel in the current guild.

    A channel in a category that is created without overwrites copies those of the category. Raises Refusal:
    403/50013 for overwrite permissions that the caller lacks, 403/50001 without MANAGE_CHANNELS in the category,
    400/30013 at the channel limit of the guild, 400/50035.
    """
    form_errors, kind = FormErrors(), int(body.type or ChannelType.GUILD_TEXT)
    channels = await ctx.guild.channels(ctx.tx)
    listed = await overwrites.read_overwrites(ctx, body.permission_overwrites or (), (), form_errors)
    overwrites.require_changeable(ctx.member, overwrites.changed_permissions((), listed), ctx.member.permissions)
    if len(channels) >= limits.CHANNELS_PER_GUILD:
        raise Refusal(errors.TOO_MANY_CHANNELS)
    rules.check_type_available(ctx.guild, kind, form_errors)
    row = queries.new_channel_row(
        ChannelId(ctx.ids.next()), kind, guild_id=ctx.guild.id, name=rules.stored_name(body.name, kind, form_errors)
    )
    if body.parent_id and applies("parent_id", kind):
        parent = check_parent(channels, body.parent_id, form_errors.at("parent_id"))
        if parent is not None:
            # One whose category is hidden from the caller would show its overwrites.
            require_destination(ctx, parent)
            row.parent_id = parent.id
            listed = listed or list(parent.permission_overwrites or ())
    columns = _settings(ctx, body, row, form_errors)
    columns.setdefault("position", _end_position(channels.values(), kind))
    form_errors.raise_if_any()
    row = structs.replace(row, **columns, permission_overwrites=overwrites.overwrites_column(listed))
    await queries.insert_channel(ctx.tx, row)
    channel = with_activity(channel_from_row(row), None)
    await ctx.audit(
        AuditLogEvent.CHANNEL_CREATE,
        target=channel.id,
        changes=differences(None, channel, (*AUDITED_FIELDS, "permission_overwrites")),
    )
    ctx.emit(ChannelCreate(channel=channel))
    return channel


async def modify_channel(ctx: Context, body: ModifyChannel) -> Channel:
    """Modify the current guild channel: absent fields stay, null resets.

    A request that changes nothing writes no audit log entry and emits no event. Raises Refusal: 403/50013 for
    overwrites without MANAGE_ROLES, or with permissions that the caller lacks; 403/50003 for a direct message;
    400/50024 for a thread; 400/50035.
    """
    access = guild_channel_of(ctx)
    row = await select_channel(ctx.tx, access.id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    form_errors, before = FormErrors(), overwrites_from_row(row)
    after = before
    if body.permission_overwrites is not UNSET:
        ctx.require(Permissions.MANAGE_ROLES)
        after = await overwrites.read_overwrites(ctx, body.permission_overwrites or (), before, form_errors)
        bits = overwrites.changed_permissions(before, after)
        overwrites.require_changeable(ctx.member, bits, await overwrites.changeable_permissions(ctx, access))
        if sorted(after, key=_target_id) == sorted(before, key=_target_id):
            after = before  # only the order differs
    columns: dict[str, object] = {"permission_overwrites": overwrites.overwrites_column(after)}
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
        await _check_destination(ctx, body.parent_id, form_errors.at("parent_id"))
        columns["parent_id"] = body.parent_id
    columns |= _settings(ctx, body, structs.replace(row, type=kind), form_errors)
    form_errors.raise_if_any()
    channel = await save_channel(ctx, row, structs.replace(row, **columns))
    await CHANNEL_CHANGED(ctx, access, channel)
    return channel


def guild_channel_of(ctx: Context) -> Channel:
    """Return the current guild channel. Raises Refusal: 403/50003 for a direct message, 400/50024 for a thread."""
    if not ctx.in_guild:
        raise Refusal(errors.NOT_ON_DM)
    if ctx.channel.channel.type in THREADS:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    return ctx.channel.channel


async def _check_destination(ctx: Context, parent_id: ChannelId | None, at: FormErrors) -> None:
    channels = await ctx.guild.channels(ctx.tx)
    parent = None if parent_id is None else check_parent(channels, parent_id, at)
    if parent is not None or parent_id is None:
        require_destination(ctx, parent)


def _target_id(overwrite: Overwrite) -> int:
    return int(overwrite.id)


def _settings(ctx: Context, body: ChannelSettings, row: ChannelRow, form_errors: FormErrors) -> dict[str, Any]:
    """Return the columns that a request sets, for the type in `row`, which is the type after the request."""
    kind = row.type
    rules.check_voice(body, ctx.guild, row, form_errors)
    columns = rules.simple_columns(body, kind)
    if kind in FORUMS:
        if body.default_reaction_emoji is not UNSET:
            columns["default_reaction_emoji"] = rules.default_reaction_column(
                body.default_reaction_emoji, ctx.guild, row.default_reaction_emoji, form_errors
            )
        if body.available_tags is not UNSET:
            columns["available_tags"] = rules.tags_column(
                body.available_tags, ctx.guild, row.available_tags, ctx.ids, form_errors
            )
    nsfw = bool(columns.get("nsfw", row.nsfw))
    columns["flags"] = rules.flags_column(body, kind, row.flags, nsfw=nsfw, form_errors=form_errors)
    return columns


def _end_position(channels: Iterable[Channel], kind: int) -> int:
    """Return the position after all channels of the same group: categories, voice channels, or the others."""

    def group(channel_type: int) -> int:
        return 2 if channel_type == ChannelType.GUILD_CATEGORY else int(channel_type in VOICE)

    taken = [int(c.position or 0) for c in channels if group(c.type) == group(kind)]
    return max(taken, default=-1) + 1


async def save_channel(ctx: Context, before: ChannelRow, after: ChannelRow) -> Channel:
    """Store the difference between two versions of a channel, audit it and emit CHANNEL_UPDATE."""
    old, new = structs.asdict(before), structs.asdict(after)
    changed = {name: value for name, value in new.items() if value != old[name]}
    channel = await channel_object(ctx.tx, channel_from_row(after))
    if not changed:
        return channel
    await queries.update_channel(ctx.tx, after.id, **changed)
    if channel_from_row(before) == channel_from_row(after):
        return channel  # a default became explicit
    changes = differences(channel_from_row(before), channel_from_row(after), AUDITED_FIELDS)
    if changes:
        await ctx.audit(AuditLogEvent.CHANNEL_UPDATE, target=after.id, changes=changes)
    if "permission_overwrites" in changed:
        entries = overwrites.overwrite_audit_entries(
            ctx, after.id, overwrites_from_row(before), overwrites_from_row(after)
        )
        await ctx.audit_all(entries)
    ctx.emit(ChannelUpdate(channel=channel))
    return channel
