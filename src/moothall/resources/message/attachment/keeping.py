"""Which message has which files: read off the marks in what is stored of it, whoever wrote that."""

from collections.abc import Sequence

from moothall.kernel.context import Context
from moothall.kernel.file_links import files_named
from moothall.objects.ids import ChannelId, MessageId
from moothall.objects.message import Attachment
from moothall.objects.wire import decoder, encode
from moothall.resources.message.attachment import queries
from moothall.resources.message.attachment.queries import MessageKey, NewAttachment

_decode = decoder(Attachment).decode


async def find_attachments(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> list[Attachment]:
    """All files of a message, also those that only its embeds or components show, oldest first."""
    found = await queries.select_attachments(ctx.tx, channel_id, message_id)
    return [_decode(ctx.services.links.plainly(body)) for body in found.values()]


async def keep_files(
    ctx: Context,
    channel_id: ChannelId,
    message_id: MessageId,
    stored: bytes,
    files: Sequence[Attachment] = (),
    *,
    source: MessageKey | None = None,
) -> None:
    """Give a message the files that are named in what is stored of it, and take all others from it.

    `files` are those that the request has brought, and those that it says something new of. A copy of another
    message, its `source`, gets those that this has: such a file stays as long as one of them has it. What is
    shown of yet other messages' files, by their URLs, is shown as long as those messages are there.
    """
    named = files_named(stored)
    links = ctx.services.links
    described = {int(file.id): links.mark(encode(file), (file.url,)) for file in files if file.id in named}
    had = await queries.select_attachments(ctx.tx, channel_id, message_id)
    new = [
        NewAttachment(file.id, file.content_type or "", file.size, described[file.id])
        for file in files
        if file.id in named and file.id not in had and any(staged.id == file.id for staged in ctx.files)
    ]
    await queries.insert_attachments(ctx.tx, channel_id, message_id, new)
    if source is not None:
        await queries.copy_attachments(ctx.tx, source, (channel_id, message_id), named - had.keys())
    changed = {file_id: body for file_id, body in described.items() if file_id in had and had[file_id] != body}
    await queries.update_attachments(ctx.tx, channel_id, message_id, changed)
    await queries.drop_attachments(ctx.tx, channel_id, message_id, had.keys() - named)
    for staged in ctx.files:
        staged.taken = staged.taken or staged.id in named
