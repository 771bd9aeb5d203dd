"""Operation: change positions and categories of channels (api.md, Modify Guild Channel Positions)."""

from collections import Counter
from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEntry
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId
from moothall.objects.permissions import Permissions
from moothall.resources.channel import overwrites, queries
from moothall.resources.channel.events import ChannelUpdate
from moothall.resources.channel.objects import channel_objects
from moothall.resources.channel.requests import ChannelPosition
from moothall.resources.channel.rules import require_destination
from moothall.storage.bulk import map_batches

_CATEGORY: Final = ChannelType.GUILD_CATEGORY
_BATCH: Final = 50
"""Channels that are read and announced at once: a fraction of a millisecond."""


class _Move(NamedTuple):
    """A channel before and after the request."""

    before: Channel
    after: Channel


async def modify_channel_positions(ctx: Context, items: Sequence[ChannelPosition]) -> None:
    """Apply all items or none; emit one CHANNEL_UPDATE for each channel that changes.

    The caller needs VIEW_CHANNEL only for channels that change their category, so that a moderator can sort the whole
    list. Raises Refusal: 400/40009 if more than one channel changes its category; 403/50001 without MANAGE_CHANNELS
    in the channel or its new category; 403/50013 for `lock_permissions` without MANAGE_ROLES, or with changes to
    permissions that the caller lacks; 400/50035.
    """
    channels = await ctx.guild.channels(ctx.tx)
    form_errors = FormErrors()
    listed: set[ChannelId] = set()
    valid = [
        (index, item, channels[item.id])
        for index, item in enumerate(items)
        if _is_valid_target(channels, item, listed, form_errors.at((index, "id")))
    ]
    if sum(_changes_parent(item, channel) for _, item, channel in valid) > 1:
        raise Refusal(errors.ONE_PARENT_AT_A_TIME)
    moves = [_move(ctx, channels, item, channel, form_errors.at((str(index),))) for index, item, channel in valid]
    _check_category_sizes(moves, channels, form_errors)
    form_errors.raise_if_any()
    moves = [move for move in moves if move.after != move.before]
    if not moves:
        return
    changed = [move.after for move in moves]
    await queries.update_positions(ctx.tx, map(_position_update, changed))
    # Positions have no audit log entries, overwrites do.
    locked = [move for move in moves if move.after.permission_overwrites != move.before.permission_overwrites]
    await ctx.audit_all([entry for move in locked for entry in _overwrite_entries(ctx, move)])
    for channel in await map_batches(ctx.tx, partial(channel_objects, ctx.tx), changed, _BATCH):
        ctx.emit(ChannelUpdate(channel=channel))


def _overwrite_entries(ctx: Context, move: _Move) -> list[AuditLogEntry]:
    before, after = move
    return overwrites.overwrite_audit_entries(
        ctx, after.id, before.permission_overwrites or (), after.permission_overwrites or ()
    )


def _position_update(channel: Channel) -> queries.PositionUpdate:
    return queries.PositionUpdate(
        channel.id,
        channel.position or 0,
        channel.parent_id or None,
        overwrites.overwrites_column(channel.permission_overwrites or ()),
    )


def _is_valid_target(
    channels: dict[ChannelId, Channel], item: ChannelPosition, listed: set[ChannelId], at: FormErrors
) -> bool:
    """Whether an item is about a channel of the guild that is not `listed` before, and list it."""
    if item.id not in channels:
        at.add("", FormCode.BASE_TYPE_CHOICES, "The guild has no such channel.")
        return False
    if item.id in listed:
        at.add("", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The channel is listed twice.")
        return False
    listed.add(item.id)
    return True


def _changes_parent(item: ChannelPosition, channel: Channel) -> bool:
    return item.parent_id is not UNSET and item.parent_id != channel.parent_id


def _move(
    ctx: Context, channels: dict[ChannelId, Channel], item: ChannelPosition, channel: Channel, at: FormErrors
) -> _Move:
    after = channel
    if isinstance(item.position, int):
        after = structs.replace(after, position=item.position)
    if item.parent_id is not UNSET and _changes_parent(item, channel):
        needed = Permissions.VIEW_CHANNEL | Permissions.MANAGE_CHANNELS
        if ctx.member.permissions_in(channel) & needed != needed:
            raise Refusal(errors.MISSING_ACCESS)
        if _is_valid_parent(channels, channel, item.parent_id, at):
            require_destination(ctx, None if item.parent_id is None else channels[item.parent_id])
            after = structs.replace(after, parent_id=item.parent_id)
    if item.lock_permissions and after.parent_id:
        after = structs.replace(after, permission_overwrites=channels[after.parent_id].permission_overwrites)
        _require_may_lock(ctx, channels, channel, after)
    return _Move(channel, after)


def _require_may_lock(ctx: Context, channels: dict[ChannelId, Channel], channel: Channel, after: Channel) -> None:
    """Refuse (403/50013) copied overwrites that the caller could not set one by one."""
    if not ctx.member.permissions_in(channel) & Permissions.MANAGE_ROLES:
        raise Refusal(errors.MISSING_PERMISSIONS)
    parent = channels.get(channel.parent_id) if channel.parent_id else None
    overwrites.require_changeable(
        ctx.member,
        overwrites.changed_permissions(channel.permission_overwrites or (), after.permission_overwrites or ()),
        overwrites.changeable_below(ctx.member, channel, parent),
    )


def _is_valid_parent(
    channels: dict[ChannelId, Channel], channel: Channel, parent_id: ChannelId | None, at: FormErrors
) -> bool:
    if parent_id is None:
        return True
    parent = channels.get(parent_id)
    if parent is None:
        at.add("parent_id", FormCode.CHANNEL_PARENT_INVALID, "Category does not exist")
    elif channel.type == _CATEGORY or parent.type != _CATEGORY:
        at.add("parent_id", FormCode.CHANNEL_PARENT_INVALID_TYPE, "Not a category, or one inside another")
    else:
        return True
    return False


def _check_category_sizes(moves: Sequence[_Move], channels: dict[ChannelId, Channel], form_errors: FormErrors) -> None:
    after = {**channels, **{move.after.id: move.after for move in moves}}
    sizes = Counter(channel.parent_id for channel in after.values() if channel.parent_id)
    for index, move in enumerate(moves):
        parent_id = move.after.parent_id
        if parent_id and parent_id != move.before.parent_id and sizes[parent_id] > limits.CHANNELS_PER_CATEGORY:
            form_errors.add(
                (index, "parent_id"),
                FormCode.CHANNEL_PARENT_MAX_CHANNELS,
                "Maximum number of channels in category reached",
            )
