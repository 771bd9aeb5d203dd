"""Editing messages: what their authors make of them, and whether others let their embeds be seen."""

from collections.abc import Iterable

from msgspec import UNSET, Raw, structs

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import MessageId, Snowflake, UserId
from moothall.objects.message_types import EDITABLE, WRITTEN, MessageFlags, MessagePart
from moothall.objects.permissions import Permissions
from moothall.resources.channel.thread_activity.rules import require_active, require_unlocked
from moothall.resources.component.resolved_ids import look_up, sender_of
from moothall.resources.message import queries
from moothall.resources.message.attachment.drafting import Uploaded
from moothall.resources.message.body import (
    NONE,
    Head,
    decode_head,
    decode_text,
    encode_body,
    encode_embeds,
)
from moothall.resources.message.copies import renew_copies
from moothall.resources.message.drafts import EditDraft, EditMessage, read_edit
from moothall.resources.message.files import files_of, keep_row_files, list_files, mark_files, with_files_part
from moothall.resources.message.layouts import (
    arrange,
    files_in,
    is_layout,
    require_nothing_left,
    without_components,
)
from moothall.resources.message.operations import lock_message
from moothall.resources.message.pages import Viewer, message_bytes, viewer_in
from moothall.resources.message.people import Person, find_people
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.rules import (
    require_unrestricted,
)
from moothall.resources.message.writing import (
    Author,
    Mentioned,
    MessageReferences,
    WebhookAuthor,
    Written,
    author_in,
    find_references,
    id_of,
    parts_around,
)


async def modify_message(ctx: Context, message_id: MessageId, body: EditMessage) -> bytes:
    """Edit a message of the channel entered as the caller; the message as JSON.

    The author may change everything, others with MANAGE_MESSAGES only whether embeds are shown. An
    edit that changes nothing tells nobody. Raises Refusal: 10008, 50005, 50013, 50021, 50035, 50006.
    """
    access = ctx.channel
    row = await lock_message(ctx, access.id, message_id)
    if row.author_id != ctx.actor.user_id:
        if not body.only_flags or not ctx.in_guild:
            raise Refusal(errors.NOT_MESSAGE_AUTHOR)
        ctx.require(Permissions.MANAGE_MESSAGES)
        body = without_components(body, UNSET)
    if row.type not in WRITTEN:
        raise Refusal(errors.SYSTEM_MESSAGE)
    require_unrestricted(ctx)
    require_active(ctx)
    require_unlocked(ctx)
    if body.embeds:
        ctx.require(Permissions.EMBED_LINKS)
    draft = await read_edit_of(ctx, row, body)
    written = await edit_message(ctx, access, row, ctx.actor.user_id, draft)
    if written is None:
        viewer = viewer_in(ctx)
        return (await message_bytes(ctx.tx, access.id, [message_id], viewer))[message_id]
    return written


async def read_edit_of(ctx: Context, row: MessageRow, body: EditMessage) -> EditDraft:
    """A request of the caller's to edit a message of theirs. Raises Refusal: 50035 with every error."""
    if not ctx.actor.bot:
        body = without_components(body, UNSET)
    lookup = await look_up(ctx, ctx.channel, body.components, sender_of(ctx))
    return read_edit(
        body,
        layout=is_layout(row.flags) or is_layout(body.flags),
        lookup=lookup,
        own_files=files_in(ctx, row),
        uploaded=Uploaded.of(ctx, row.channel_id),
        held=await files_of(ctx, row),
    )


async def edit_message(
    ctx: Context, access: ChannelAccess, row: MessageRow, author: Author, draft: EditDraft, *, fills: bool = False
) -> bytes | None:
    """Store and announce an edit that may be made; the message as JSON, or None if nothing changes.

    `author` says by whose rules new content mentions. What `fills` a message that was loading is no edit to
    be told of as one. Raises Refusal: 50006 if nothing would be left of the message, 10008 if it is gone by
    now. The row must declare `MessageUpdate`.
    """
    head, text = decode_head(row.body), decode_text(row.body)
    _require_editable(row, draft)
    rewrites = draft.content is not UNSET and draft.content != text.content
    content = text.content if draft.content is UNSET else draft.content
    embeds = Raw(row.hidden_embeds.encode()) if row.hidden_embeds is not None else text.embeds
    if draft.embeds is not UNSET:
        embeds = mark_files(ctx, draft.files, encode_embeds(draft.embeds))
    flags = head.flags & ~MessageFlags.LOADING if fills else head.flags
    if draft.flags is not UNSET:
        flags = flags & ~MessageFlags.SUPPRESS_EMBEDS | draft.flags & EDITABLE
    layout = is_layout(flags)
    becomes = layout and not is_layout(head.flags)
    if becomes:
        require_nothing_left(
            content=bool(content),
            embeds=embeds != NONE,
            poll=bool(row.parts & MessagePart.POLL),
            attachments=text.attachments != NONE and draft.attachments is UNSET,
            stickers=bool(head.sticker_items),
        )
    arranged = arrange(text, draft.components, draft.attachments, draft.files, layout=layout, becomes=becomes)
    components = mark_files(ctx, draft.files, arranged.components)
    attachments = text.attachments
    if draft.shows_files or becomes:
        listed = draft.files if draft.attachments is UNSET else draft.attachments
        attachments = NONE if layout else list_files(ctx, listed, embeds, components)
    if not content and embeds == components == attachments == NONE:
        _require_stands_alone(row, head)
    hides = bool(flags & MessageFlags.SUPPRESS_EMBEDS) and embeds != NONE
    shown = structs.replace(
        text, content=content, embeds=NONE if hides else embeds, components=components, attachments=attachments
    )
    hidden = bytes(embeds).decode() if hides else None
    original = None if row.replied_id is None else await queries.select_message(ctx.tx, access.id, row.replied_id)
    said = content if arranged.texts is None else arranged.texts
    named = await find_references(ctx, access, author, content=said, allowed=draft.allowed_mentions, original=original)
    mentioned = named.mentioned
    if arranged.texts is None if layout else draft.content is UNSET:
        kept = [UserId(user_id) for user_id in row.mentions or ()]
        mentioned = Mentioned(kept, head.mention_roles, head.mention_everyone)
    people = await _people_around(ctx, access, named, (row.author_id, *mentioned.users))
    mentions = [Snowflake(user_id) for user_id in mentioned.users] or None
    touched = rewrites or shown.components != text.components or attachments != text.attachments
    if draft.embeds is not UNSET:
        touched = touched or shown.embeds != text.embeds or hidden != row.hidden_embeds
    changed = structs.replace(head, flags=flags, mention_roles=mentioned.roles, mention_everyone=mentioned.everyone)
    if not touched and changed == head and mentions == row.mentions:
        return None
    if touched and not fills:
        changed = structs.replace(changed, edited_timestamp=ctx.now)
    new = with_files_part(
        structs.replace(row, flags=flags, mentions=mentions, body=encode_body(changed, shown), hidden_embeds=hidden)
    )
    if not await queries.update_message(ctx.tx, new):
        raise Refusal(errors.UNKNOWN_MESSAGE)
    await keep_row_files(ctx, new, draft.files, before=row)
    await renew_copies(ctx, access.id, [(new.id, new.flags)])
    written = Written(
        access=access,
        row=new,
        head=changed,
        text=shown,
        author=author_in(new, people),
        cast=MessageReferences(mentioned, people),
        original=original,
        answers=row.replied_id is not None,
        parts=await parts_around(ctx.tx, row, original),
    )
    ctx.emit(written.updated())
    viewer = Viewer(id_of(author)) if isinstance(author, WebhookAuthor) else viewer_in(ctx)
    return (await message_bytes(ctx.tx, access.id, [row.id], viewer))[row.id]


async def _people_around(
    ctx: Context, access: ChannelAccess, cast: MessageReferences, wanted: Iterable[UserId]
) -> dict[int, Person]:
    """The people of a cast, and those of `wanted` who are not among them."""
    missing = [user_id for user_id in wanted if user_id not in cast.people]
    if not missing:
        return cast.people
    return cast.people | await find_people(ctx.tx, missing, None if access.guild is None else access.guild.id)


def _require_stands_alone(row: MessageRow, head: Head) -> None:
    """Refuse (400/50006) to leave nothing of a message, unless it is more than what can be edited."""
    if not (row.parts & MessagePart.POLL or row.flags & MessageFlags.HAS_SNAPSHOT or head.sticker_items):
        raise Refusal(errors.EMPTY_MESSAGE)


def _require_editable(row: MessageRow, draft: EditDraft) -> None:
    if draft.only_flags:
        return
    if row.flags & MessageFlags.IS_VOICE_MESSAGE:
        raise Refusal(errors.VOICE_MESSAGE_NOT_EDITABLE)
    if row.parts & MessagePart.POLL:
        raise Refusal(errors.POLL_NOT_EDITABLE)
    if row.flags & MessageFlags.HAS_SNAPSHOT:
        raise Refusal(errors.INVALID_MESSAGE_TYPE)
