"""Changing threads, and deleting them."""

from typing import Any

from msgspec import UNSET, Struct, structs

from moothall.kernel.context import Context
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel, ThreadMetadata
from moothall.objects.channel_types import FORUMS, ChannelFlags, ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import MessageId
from moothall.objects.message_types import MessagePart, MessageType
from moothall.objects.permissions import Permissions
from moothall.objects.text import search_key
from moothall.resources.channel.objects import channel_object
from moothall.resources.channel.queries import delete_channel, select_channel
from moothall.resources.channel.requests import ModifyChannel
from moothall.resources.channel.thread_activity.events import ThreadUpdate, deleted
from moothall.resources.channel.thread_activity.jobs import watch
from moothall.resources.channel.thread_activity.operations import require_room, tell_awake
from moothall.resources.channel.thread_activity.rules import metadata_of
from moothall.resources.channel.thread_activity.state import change_thread, metadata_from_row
from moothall.resources.message.operations import send_system_message
from moothall.resources.message.queries import select_message
from moothall.resources.message.rules import require_unrestricted
from moothall.resources.thread import queries, rules
from moothall.resources.thread.recording import record
from moothall.resources.thread.starting import mark_message
from moothall.storage.rows import ChannelRow, channel_from_row

_BY_STARTER = ("name", "archived", "auto_archive_duration", "invitable", "applied_tags")
"""What whoever started a thread may change of it; the rest takes MANAGE_THREADS."""
_BY_MANAGER = ("rate_limit_per_user", "locked", "flags")


class _Wanted(Struct):
    """What a request makes of a thread."""

    metadata: ThreadMetadata
    columns: dict[str, Any]


async def modify_thread(ctx: Context, body: ModifyChannel) -> Channel:
    """Change the thread entered: what is absent or null stays.

    Making an archived thread active again is for whoever may write in it. A request that changes nothing
    is answered alike, but neither recorded nor announced. Raises Refusal: 403/50013; 403/160005 for a locked
    thread; 400/50083 for one that is archived and shall stay so; 160006, 30047, 40067, 50035.
    """
    access, before = ctx.channel, metadata_of(ctx.channel)
    row = await select_channel(ctx.tx, access.id)
    if row is None or before is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    asked = {name: getattr(body, name) for name in (*_BY_STARTER, *_BY_MANAGER)}
    given = {name for name, value in asked.items() if value is not UNSET and value is not None}
    _require_may_change(ctx, body, row, before, given)
    form_errors = FormErrors()
    wanted = await _wanted(ctx, body, row, form_errors)
    form_errors.raise_if_any()
    awakes = before.archived and not wanted.metadata.archived
    if before.archived and not awakes and (wanted.columns or wanted.metadata != before):
        raise Refusal(errors.THREAD_ARCHIVED)
    if not wanted.columns and wanted.metadata == before:
        return await channel_object(ctx.tx, access.channel)
    return await _store(ctx, row, wanted, awakes=awakes)


def _require_may_change(
    ctx: Context, body: ModifyChannel, row: ChannelRow, before: ThreadMetadata, given: set[str]
) -> None:
    require_unrestricted(ctx)
    if ctx.has(Permissions.MANAGE_THREADS):
        if given - set(_BY_STARTER) or row.owner_id != ctx.actor.user_id:
            ctx.require_mfa(Permissions.MANAGE_THREADS)
        return
    if before.locked and given:
        raise Refusal(errors.THREAD_LOCKED)
    if given == {"archived"} and body.archived is False:
        ctx.require(Permissions.SEND_MESSAGES)
    elif row.owner_id != ctx.actor.user_id or given & set(_BY_MANAGER):
        raise Refusal(errors.MISSING_PERMISSIONS)


async def _wanted(ctx: Context, body: ModifyChannel, row: ChannelRow, form_errors: FormErrors) -> _Wanted:
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
        await _in_forum(ctx, body, row, parent, columns, form_errors)
        if metadata.archived:
            columns["flags"] = columns.get("flags", row.flags) & ~ChannelFlags.PINNED
    changed = {name: value for name, value in columns.items() if value != getattr(row, name)}
    return _Wanted(metadata, changed)


async def _in_forum(
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


async def _store(ctx: Context, row: ChannelRow, wanted: _Wanted, *, awakes: bool) -> Channel:
    access, before, metadata = ctx.channel, metadata_from_row(row), wanted.metadata
    if awakes:
        await require_room(ctx, ctx.guild.id)
    renewed = metadata.archived != before.archived or metadata.auto_archive_duration != before.auto_archive_duration
    if renewed:
        metadata = structs.replace(metadata, archive_timestamp=ctx.now)
    after = await change_thread(ctx, row, archived=metadata.archived, metadata=metadata, **wanted.columns)
    if renewed and not metadata.archived:
        await watch(ctx, row.id, ctx.now, metadata.auto_archive_duration)
    if "applied_tags" in wanted.columns:
        await queries.replace_tags(ctx.tx, row.id, after.applied_tags)
    await record(ctx, AuditLogEvent.THREAD_UPDATE, row.id, channel_from_row(row), channel_from_row(after))
    if awakes:
        await tell_awake(ctx, access, after)
    else:
        thread = await channel_object(ctx.tx, channel_from_row(after))
        ctx.emit(
            ThreadUpdate(
                guild_id=ctx.guild.id, channel_id=access.audience_channel_id, user_ids=access.hearers, thread=thread
            )
        )
    if "name" in wanted.columns:
        renamed = structs.replace(access, channel=channel_from_row(after))
        await send_system_message(
            ctx, renamed, ctx.actor.user_id, MessageType.CHANNEL_NAME_CHANGE, content=after.name or ""
        )
    current = await select_channel(ctx.tx, row.id)
    return await channel_object(ctx.tx, channel_from_row(current or after))


async def remove_thread(ctx: Context) -> Channel:
    """Delete the thread entered, which takes MANAGE_THREADS; the object as it was.

    What was said in it is the caller's to have removed. The message that it was started from stays, and
    another thread can be started from it. The row must declare `ThreadDelete` and `MessageUpdate`.
    """
    ctx.require(Permissions.MANAGE_THREADS)
    access = ctx.channel
    row = await select_channel(ctx.tx, access.id)
    if row is None or access.parent is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    channel = await channel_object(ctx.tx, access.channel)
    await delete_channel(ctx.tx, row.id)
    await queries.replace_tags(ctx.tx, row.id, ())
    await record(ctx, AuditLogEvent.THREAD_DELETE, row.id, channel, None)
    ctx.emit(deleted(row, ctx.guild.id, access.hearers))
    starter = await select_message(ctx.tx, access.parent.id, MessageId(row.id))
    if starter is not None and starter.parts & MessagePart.THREAD:
        parent = structs.replace(access, channel=access.parent, parent=None, recipients=())
        await mark_message(ctx, parent, starter, has_thread=False)
    return channel
