"""Operations: start threads from a message, without one, or with their first message in forums."""

from collections.abc import Sequence

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.authority.channel_queries import select_channel
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel, ThreadMember, ThreadMetadata
from moothall.objects.channel_types import FORUMS, TEXT, ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId
from moothall.objects.message import MessageReference
from moothall.objects.message_types import WRITTEN, MessageFlags, MessagePart, MessageType
from moothall.objects.permissions import Permissions
from moothall.objects.text import search_key
from moothall.objects.wire import encode
from moothall.resources.channel.objects import channel_object
from moothall.resources.channel.queries import (
    insert_channel,
    new_channel_row,
    select_activity,
    select_own_memberships,
    upsert_last_message,
)
from moothall.resources.channel.thread_activity.events import ThreadCreate
from moothall.resources.channel.thread_activity.operations import (
    add_to_thread,
    require_active_thread_capacity,
    schedule_archival,
)
from moothall.resources.channel.thread_activity.state import metadata_column
from moothall.resources.member.activity import touch_seen
from moothall.resources.message.authors import Author, WebhookAuthor
from moothall.resources.message.body import decode_head, decode_text, encode_body
from moothall.resources.message.drafts import Draft
from moothall.resources.message.operations import announce_message, lock_message, send_message, send_system_message
from moothall.resources.message.queries import MessageRow, update_message
from moothall.resources.message.reading import draft_own_message
from moothall.resources.message.rules import require_unrestricted, require_verified
from moothall.resources.message.submitted_content import check_title
from moothall.resources.read_state.operations import read_own_message
from moothall.resources.thread import queries, rules
from moothall.resources.thread.operations.audit import audit_thread
from moothall.resources.thread.requests import StartThread, StartThreadFromMessage
from moothall.storage.database import ConstraintFailed
from moothall.storage.rows import channel_from_row


class NewThread(Struct, frozen=True, kw_only=True):
    """The settings of a thread to create."""

    id: ChannelId
    type: int
    name: str
    minutes: int
    """`auto_archive_duration`."""
    slowmode: int
    """In seconds."""
    owner_id: UserId
    invitable: bool | UnsetType = UNSET
    tags: Sequence[Snowflake] = ()


async def start_thread_from_message(ctx: Context, message_id: MessageId, body: StartThreadFromMessage) -> Channel:
    """Start a public thread from a message of the current channel; it has the message's id.

    Raises Refusal: 400/50024 in a channel without such threads, 404/10008, 400/50068 for a system message, 400/160004
    for a message with a thread, 400/160006 at the limit of active threads, 429/20016, 403/50009, 400/50035.
    """
    access = ctx.channel
    if access.channel.type not in TEXT:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    ctx.require(Permissions.READ_MESSAGE_HISTORY)
    await _require_may_start(ctx)
    row = await lock_message(ctx, access.id, message_id)
    if row.type not in WRITTEN:
        raise Refusal(errors.INVALID_MESSAGE_TYPE)
    thread_id = ChannelId(message_id)
    if await select_channel(ctx.tx, thread_id) is not None:
        raise Refusal(errors.THREAD_EXISTS)
    form_errors = FormErrors()
    new = _new_thread(ctx, access.channel, thread_id, rules.public_thread_type(access.channel), body, form_errors)
    form_errors.raise_if_any()
    await rules.require_thread_slowmode(ctx, ctx.ids.next())
    after_storing = await check_title(ctx, access, new.name)
    thread = await create_thread(ctx, access, new, AuditLogEvent.THREAD_CREATE)
    reference = MessageReference(message_id=message_id, channel_id=access.id, guild_id=ctx.guild.id)
    await send_system_message(
        ctx,
        thread,
        ctx.actor.user_id,
        MessageType.THREAD_STARTER_MESSAGE,
        reference=reference,
        parts=MessagePart.STARTER,
    )
    await set_has_thread(ctx, access, row, has_thread=True)
    last = (await select_activity(ctx.tx, [access.id])).get(access.id)
    if last is not None and last.last_message_id != message_id:
        await _send_thread_created(ctx, access, new)
    if after_storing is not None:
        await after_storing(ctx)
    return await _thread_with_own_member(ctx, thread)


async def start_thread(ctx: Context, body: StartThread) -> bytes:
    """Start a thread in the current channel, in a forum with its first message; return it as JSON.

    Raises Refusal: 400/50024 in a channel without threads; 403/50013 without the permission for the type of thread;
    400/160006 at the limit of active threads; 400/40067 for no tag in a forum that requires one; 403/50003 for a direct
    message; 429/20016, 403/50009, 400/50006, 400/50035.
    """
    if not ctx.in_guild:
        raise Refusal(errors.NOT_ON_DM)
    if ctx.channel.channel.type in FORUMS:
        return await _start_with_message(ctx, body)
    form_errors, access = FormErrors(), ctx.channel
    kind = rules.thread_type(access.channel, body.type, form_errors)
    private = kind == ChannelType.PRIVATE_THREAD
    ctx.require(Permissions.CREATE_PRIVATE_THREADS if private else Permissions.CREATE_PUBLIC_THREADS)
    await _require_may_start(ctx)
    thread_id = ChannelId(ctx.ids.next())
    new = _new_thread(ctx, access.channel, thread_id, kind, body, form_errors)
    form_errors.raise_if_any()
    await rules.require_thread_slowmode(ctx, thread_id)
    if private:
        new = structs.replace(new, invitable=body.invitable is not False)
    after_storing = await check_title(ctx, access, new.name)
    thread = await create_thread(ctx, access, new, AuditLogEvent.THREAD_CREATE)
    if not private:
        await _send_thread_created(ctx, access, new)
    if after_storing is not None:
        await after_storing(ctx)
    return encode(await _thread_with_own_member(ctx, thread))


async def _start_with_message(ctx: Context, body: StartThread) -> bytes:
    access, message = ctx.channel, body.message
    ctx.require(Permissions.SEND_MESSAGES)
    await _require_may_start(ctx)
    form_errors = FormErrors()
    thread_id = ChannelId(ctx.ids.next())
    new = _new_thread(ctx, access.channel, thread_id, int(ChannelType.PUBLIC_THREAD), body, form_errors)
    manages = ctx.has(Permissions.MANAGE_THREADS)
    tags = rules.check_tags(access.channel, body.applied_tags or (), (), manages=manages, form_errors=form_errors)
    if message is None:
        form_errors.add("message", *FieldError.required())
        raise form_errors.refusal()
    draft = await draft_own_message(ctx, message, form_errors.at("message"), channel_id=thread_id)
    await rules.require_thread_slowmode(ctx, thread_id)
    touch_seen(ctx, ctx.guild.id, ctx.actor.user_id)
    after_storing = await check_title(ctx, access, new.name)
    thread, first = await start_forum_thread(ctx, access, structs.replace(new, tags=tags), ctx.actor.user_id, draft)
    if not ctx.actor.bot:
        await read_own_message(ctx.tx, access, ctx.actor.user_id, MessageId(thread_id), MessageType.DEFAULT, ctx.now)
    if after_storing is not None:
        await after_storing(ctx)
    return b'%b,"message":%b}' % (encode(await _thread_with_own_member(ctx, thread))[:-1], first)


async def start_forum_thread(
    ctx: Context, forum: ChannelAccess, new: NewThread, author: Author, draft: Draft
) -> tuple[ChannelAccess, bytes]:
    """Create a forum thread with its first message, which has the thread's id; return the thread and the JSON message.

    The row must declare `ThreadCreate`, `MessageCreate` and, unless the author is a webhook, `ADD_MEMBER_EVENTS`.
    """
    webhook_author = isinstance(author, WebhookAuthor)
    thread = await create_thread(
        ctx, forum, new, None if webhook_author else AuditLogEvent.THREAD_CREATE, joins=not webhook_author
    )
    await upsert_last_message(ctx.tx, forum.id, MessageId(new.id))
    message = await send_message(
        ctx, thread, author, draft, message_id=MessageId(new.id), adds_mentioned=not webhook_author
    )
    return thread, message


async def create_thread(
    ctx: Context, parent: ChannelAccess, new: NewThread, action: AuditLogEvent | None, *, joins: bool = True
) -> ChannelAccess:
    """Insert a thread, emit THREAD_CREATE and, if `joins`, add the owner to it.

    Raises Refusal: 400/160006, 400/160004.
    """
    if parent.guild is None:
        raise Refusal(errors.NOT_ON_DM)
    guild_id = parent.guild.id
    await require_active_thread_capacity(ctx, guild_id)
    metadata = ThreadMetadata(
        archived=False,
        auto_archive_duration=new.minutes,
        archive_timestamp=ctx.now,
        locked=False,
        invitable=new.invitable,
        create_timestamp=ctx.now,
    )
    row = structs.replace(
        new_channel_row(new.id, new.type, guild_id=guild_id, name=new.name),
        parent_id=parent.id,
        owner_id=new.owner_id,
        rate_limit_per_user=new.slowmode,
        thread_metadata=metadata_column(metadata),
        applied_tags=list(new.tags),
        member_count=0,
        message_count=0,
        total_message_sent=0,
        latest_message_id=MessageId(new.id),
        name_key=search_key(new.name),
    )
    try:
        await insert_channel(ctx.tx, row)
    except ConstraintFailed:
        # A concurrent request has started a thread from the same message.
        raise Refusal(errors.THREAD_EXISTS) from None
    if new.tags:
        await queries.replace_tags(ctx.tx, new.id, new.tags)
    await schedule_archival(ctx, new.id, ctx.now, new.minutes)
    access = ChannelAccess(
        channel_from_row(row), parent.permissions, parent.guild, parent.member, parent.channel, recipients=()
    )
    if action is not None:
        await audit_thread(ctx, action, new.id, None, access.channel)
    starter = structs.replace(access, recipients=(new.owner_id,))
    ctx.emit(
        ThreadCreate(
            guild_id=guild_id,
            channel_id=parent.id,
            user_ids=starter.event_user_ids if new.type == ChannelType.PRIVATE_THREAD else (),
            thread=structs.replace(access.channel, last_message_id=None, member_count=int(joins)),
        )
    )
    return await add_to_thread(ctx, access, [new.owner_id], notify_added=False) if joins else access


async def set_has_thread(ctx: Context, access: ChannelAccess, row: MessageRow, *, has_thread: bool) -> None:
    """Set or clear HAS_THREAD on a message and emit MESSAGE_UPDATE. The row must declare `MessageUpdate`."""
    head, flag, part = decode_head(row.body), MessageFlags.HAS_THREAD, int(MessagePart.THREAD)
    flags = head.flags | flag if has_thread else head.flags & ~flag
    parts = row.parts | part if has_thread else row.parts & ~part
    body = encode_body(structs.replace(head, flags=flags), decode_text(row.body))
    changed = structs.replace(row, flags=flags, parts=parts, body=body)
    await update_message(ctx.tx, changed)
    await announce_message(ctx, access, changed)


def _new_thread(
    ctx: Context,
    parent: Channel,
    thread_id: ChannelId,
    kind: int,
    body: StartThreadFromMessage,
    form_errors: FormErrors,
) -> NewThread:
    slowmode = body.rate_limit_per_user
    if slowmode is None:
        slowmode = parent.default_thread_rate_limit_per_user or 0
    return NewThread(
        id=thread_id,
        type=kind,
        name=rules.stored_name(body.name, form_errors),
        minutes=body.auto_archive_duration or parent.default_auto_archive_duration or rules.DEFAULT_AUTO_ARCHIVE,
        slowmode=slowmode,
        owner_id=ctx.actor.user_id,
    )


async def _require_may_start(ctx: Context) -> None:
    require_unrestricted(ctx)
    await require_verified(ctx)


async def _send_thread_created(ctx: Context, access: ChannelAccess, new: NewThread) -> None:
    """Send the system message THREAD_CREATED in the parent, which otherwise does not show the thread."""
    await send_system_message(
        ctx,
        access,
        ctx.actor.user_id,
        MessageType.THREAD_CREATED,
        reference=MessageReference(channel_id=new.id, guild_id=ctx.guild.id),
        content=new.name,
    )


async def _thread_with_own_member(ctx: Context, thread: ChannelAccess) -> Channel:
    """Return the current object of a thread, with the caller's thread member."""
    row = await select_channel(ctx.tx, thread.id)
    channel = await channel_object(ctx.tx, thread.channel if row is None else channel_from_row(row))
    members: dict[ChannelId, ThreadMember] = await select_own_memberships(ctx.tx, ctx.actor.user_id, [thread.id])
    return structs.replace(channel, member=members[thread.id]) if thread.id in members else channel
