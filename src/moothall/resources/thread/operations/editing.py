"""Operation: modify a thread."""

from typing import Any

from msgspec import UNSET, Struct, structs

from moothall.api.context import Context
from moothall.authority.channel_queries import select_channel
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel, ThreadMetadata
from moothall.objects.channel_types import FORUMS, ChannelFlags, ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.message_types import MessageType
from moothall.objects.permissions import Permissions
from moothall.objects.text import search_key
from moothall.resources.channel.objects import channel_object
from moothall.resources.channel.requests import ModifyChannel
from moothall.resources.channel.thread_activity.events import ThreadUpdate
from moothall.resources.channel.thread_activity.operations import (
    announce_unarchived,
    require_active_thread_capacity,
    schedule_archival,
    update_thread,
)
from moothall.resources.channel.thread_activity.rules import metadata_of
from moothall.resources.channel.thread_activity.state import metadata_from_row
from moothall.resources.message.operations import send_system_message
from moothall.resources.message.rules import require_unrestricted
from moothall.resources.message.submitted_content import check_title
from moothall.resources.thread import queries, rules
from moothall.resources.thread.operations.audit import audit_thread
from moothall.storage.rows import ChannelRow, channel_from_row

_OWNER_FIELDS = ("name", "archived", "auto_archive_duration", "invitable", "applied_tags")
"""The fields that the owner of a thread may modify; the others require MANAGE_THREADS."""
_MANAGER_FIELDS = ("rate_limit_per_user", "locked", "flags")


class _ThreadChanges(Struct):
    """The metadata and columns of a thread after a request."""

    metadata: ThreadMetadata
    columns: dict[str, Any]


async def modify_thread(ctx: Context, body: ModifyChannel) -> Channel:
    """Modify the current thread: absent and null fields stay.

    Unarchiving a thread requires only SEND_MESSAGES. A request that changes nothing writes no audit log entry and emits
    no event. Raises Refusal: 403/50013; 403/160005 for a locked thread; 400/50083 for an archived thread that stays
    archived; 400/160006, 400/30047, 400/40067, 400/50035.
    """
    access, before = ctx.channel, metadata_of(ctx.channel)
    row = await select_channel(ctx.tx, access.id)
    if row is None or before is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    values = {name: getattr(body, name) for name in (*_OWNER_FIELDS, *_MANAGER_FIELDS)}
    fields = {name for name, value in values.items() if value is not UNSET and value is not None}
    _require_may_modify(ctx, body, row, before, fields)
    form_errors = FormErrors()
    changes = await _read_changes(ctx, body, row, form_errors)
    form_errors.raise_if_any()
    unarchives = before.archived and not changes.metadata.archived
    if before.archived and not unarchives and (changes.columns or changes.metadata != before):
        raise Refusal(errors.THREAD_ARCHIVED)
    if not changes.columns and changes.metadata == before:
        return await channel_object(ctx.tx, access.channel)
    return await _save(ctx, row, changes, unarchives=unarchives)


def _require_may_modify(
    ctx: Context, body: ModifyChannel, row: ChannelRow, before: ThreadMetadata, fields: set[str]
) -> None:
    require_unrestricted(ctx)
    if ctx.has(Permissions.MANAGE_THREADS):
        if fields - set(_OWNER_FIELDS) or row.owner_id != ctx.actor.user_id:
            ctx.require_mfa(Permissions.MANAGE_THREADS)
        return
    if before.locked and fields:
        raise Refusal(errors.THREAD_LOCKED)
    if fields == {"archived"} and body.archived is False:
        ctx.require(Permissions.SEND_MESSAGES)
    elif row.owner_id != ctx.actor.user_id or fields & set(_MANAGER_FIELDS):
        raise Refusal(errors.MISSING_PERMISSIONS)


async def _read_changes(ctx: Context, body: ModifyChannel, row: ChannelRow, form_errors: FormErrors) -> _ThreadChanges:
    metadata, columns = metadata_from_row(row), dict[str, Any]()
    if isinstance(body.name, str):
        columns["name"] = rules.stored_name(body.name, form_errors)
        columns["name_key"] = search_key(columns["name"])
    if isinstance(body.rate_limit_per_user, int):
        columns["rate_limit_per_user"] = body.rate_limit_per_user
    if isinstance(body.archived, bool):
        metadata = structs.replace(metadata, archived=body.archived)
    if isinstance(body.locked, bool):
        metadata = structs.replace(metadata, locked=body.locked)
    if isinstance(body.invitable, bool) and row.type == ChannelType.PRIVATE_THREAD:
        metadata = structs.replace(metadata, invitable=body.invitable)
    minutes = body.auto_archive_duration
    if isinstance(minutes, int):
        metadata = structs.replace(metadata, auto_archive_duration=minutes)
    parent = ctx.channel.parent
    if parent is not None and parent.type in FORUMS:
        await _read_forum_changes(ctx, body, row, parent, columns, form_errors)
        if metadata.archived:
            columns["flags"] = columns.get("flags", row.flags) & ~ChannelFlags.PINNED
    changed = {name: value for name, value in columns.items() if value != getattr(row, name)}
    return _ThreadChanges(metadata, changed)


async def _read_forum_changes(
    ctx: Context, body: ModifyChannel, row: ChannelRow, forum: Channel, columns: dict[str, Any], form_errors: FormErrors
) -> None:
    if isinstance(body.flags, int):
        columns["flags"] = row.flags & ~ChannelFlags.PINNED | body.flags & ChannelFlags.PINNED
        if columns["flags"] & ~row.flags and body.archived is not True:
            pinned = await queries.count_pinned(ctx.tx, forum.id)
            if pinned >= limits.PINNED_THREADS_PER_FORUM:
                raise Refusal(errors.TOO_MANY_PINNED_THREADS)
    if isinstance(body.applied_tags, list):
        columns["applied_tags"] = rules.check_tags(
            forum,
            body.applied_tags,
            row.applied_tags,
            manages=ctx.has(Permissions.MANAGE_THREADS),
            form_errors=form_errors,
        )


async def _save(ctx: Context, row: ChannelRow, changes: _ThreadChanges, *, unarchives: bool) -> Channel:
    access, before, metadata = ctx.channel, metadata_from_row(row), changes.metadata
    if unarchives:
        await require_active_thread_capacity(ctx, ctx.guild.id)
    after_storing = await check_title(ctx, access, changes.columns["name"]) if "name" in changes.columns else None
    restarts_timer = (
        metadata.archived != before.archived or metadata.auto_archive_duration != before.auto_archive_duration
    )
    if restarts_timer:
        metadata = structs.replace(metadata, archive_timestamp=ctx.now)
    after = await update_thread(ctx, row, archived=metadata.archived, metadata=metadata, **changes.columns)
    if restarts_timer and not metadata.archived:
        await schedule_archival(ctx, row.id, ctx.now, metadata.auto_archive_duration)
    if "applied_tags" in changes.columns:
        await queries.replace_tags(ctx.tx, row.id, after.applied_tags)
    await audit_thread(ctx, AuditLogEvent.THREAD_UPDATE, row.id, channel_from_row(row), channel_from_row(after))
    if unarchives:
        await announce_unarchived(ctx, access, after)
    else:
        thread = await channel_object(ctx.tx, channel_from_row(after))
        ctx.emit(
            ThreadUpdate(
                guild_id=ctx.guild.id,
                channel_id=access.audience_channel_id,
                user_ids=access.event_user_ids,
                thread=thread,
            )
        )
    if "name" in changes.columns:
        renamed = structs.replace(access, channel=channel_from_row(after))
        await send_system_message(
            ctx, renamed, ctx.actor.user_id, MessageType.CHANNEL_NAME_CHANGE, content=after.name or ""
        )
    if after_storing is not None:
        await after_storing(ctx)
    current = await select_channel(ctx.tx, row.id)
    return await channel_object(ctx.tx, channel_from_row(current or after))
