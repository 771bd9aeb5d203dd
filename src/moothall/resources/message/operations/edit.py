"""Editing messages: by their authors, and by moderators who suppress embeds."""

from msgspec import UNSET

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import MessageId
from moothall.objects.message_types import WRITTEN
from moothall.objects.permissions import Permissions
from moothall.resources.channel.direct_message_access import require_may_write_here
from moothall.resources.channel.thread_activity.rules import require_active, require_unlocked
from moothall.resources.component.resolved_ids import sender_of
from moothall.resources.message import queries
from moothall.resources.message.attachment.pending_upload.operations import uses_uploads
from moothall.resources.message.authors import Author, WebhookAuthor, author_id_of
from moothall.resources.message.components import without_components
from moothall.resources.message.drafts import EditDraft, MessageEdit
from moothall.resources.message.edits import EditedMessage, build_edit, require_editable
from moothall.resources.message.operations.copies import renew_copies
from moothall.resources.message.operations.files import store_files
from moothall.resources.message.operations.lookup import lock_message
from moothall.resources.message.operations.previews import request_previews
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.reading import draft_edit
from moothall.resources.message.references import MessageReferences, resolve_edit_references
from moothall.resources.message.rendering import Viewer, message_bytes, viewer_in
from moothall.resources.message.requests import EditMessage
from moothall.resources.message.rules import require_unrestricted
from moothall.resources.message.stored_message import StoredMessage, fragments_around
from moothall.resources.message.submitted_content import check_edit


async def edit_message(ctx: Context, message_id: MessageId, body: EditMessage) -> bytes:
    """Edit a message of the channel entered as the caller; the message as JSON.

    The author may change everything; others, with MANAGE_MESSAGES, only SUPPRESS_EMBEDS. An edit that changes nothing
    emits nothing. Raises Refusal: 10008, 50005, 50013, 50021, 50083, and as
    `require_may_write_here`, `draft_edit` and `apply_edit`.
    """
    access = ctx.channel
    row = await lock_message(ctx, access.id, message_id)
    own = row.author_id == ctx.actor.user_id
    if not own:
        if not body.only_flags or not ctx.in_guild:
            raise Refusal(errors.NOT_MESSAGE_AUTHOR)
        ctx.require(Permissions.MANAGE_MESSAGES)
    if row.type not in WRITTEN:
        raise Refusal(errors.SYSTEM_MESSAGE)
    require_unrestricted(ctx)
    require_active(ctx)
    require_unlocked(ctx)
    await require_may_write_here(ctx)
    if body.embeds:
        ctx.require(Permissions.EMBED_LINKS)
    if uses_uploads(body.attachments):
        ctx.require(Permissions.ATTACH_FILES)
    if not own or not ctx.actor.bot:
        body = without_components(body, UNSET)
    draft = await draft_edit(ctx, access, row, body, sender_of(ctx))
    edited = await apply_edit(ctx, access, row, ctx.actor.user_id, draft)
    if edited is not None:
        return edited
    return (await message_bytes(ctx.tx, access.id, [message_id], viewer_in(ctx)))[message_id]


async def apply_edit(
    ctx: Context, access: ChannelAccess, row: MessageRow, author: Author, draft: EditDraft, *, completes: bool = False
) -> bytes | None:
    """Store and announce an edit that its author may make; the message as JSON, or None if nothing changes.

    What the author may mention decides what new content mentions. With `completes` it ends LOADING, and the message
    does not count as edited. The row must declare `MessageUpdate`. Raises Refusal: 10008 if the message is deleted, and
    as `require_editable`, `build_edit` and `check_edit`.
    """
    edit = MessageEdit.of(access, row, author, draft, completes=completes)
    require_editable(edit)
    references = await resolve_edit_references(ctx, edit)
    edited = build_edit(ctx.services.links, edit, references, ctx.now)
    if edited is None:
        return None
    after_storing = await check_edit(ctx, access, author, draft, references, row.id)
    await _store_edit(ctx, edit, edited, references)
    if after_storing is not None:
        await after_storing(ctx)
    viewer = Viewer(author_id_of(author)) if isinstance(author, WebhookAuthor) else viewer_in(ctx)
    return (await message_bytes(ctx.tx, access.id, [row.id], viewer))[row.id]


async def _store_edit(ctx: Context, edit: MessageEdit, edited: EditedMessage, references: MessageReferences) -> None:
    row = edited.row
    if not await queries.update_message(ctx.tx, row):
        raise Refusal(errors.UNKNOWN_MESSAGE)
    await store_files(ctx, row, edit.draft.files, before=edit.row)
    await renew_copies(ctx, edit.access.id, [(row.id, row.flags)])
    stored = StoredMessage(
        access=edit.access,
        row=row,
        head=edited.head,
        text=edited.text,
        references=references,
        fragments=await fragments_around(ctx.tx, row, references.replied_to),
    )
    ctx.emit(stored.updated())
    await request_previews(ctx, edit.access, row, edited.text)
