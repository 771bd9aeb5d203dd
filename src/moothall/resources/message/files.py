"""Files of a message in what is stored of it: those that nothing else of the message shows are listed."""

from collections.abc import Iterable, Sequence

from msgspec import Raw, structs

from moothall.kernel.context import Context
from moothall.kernel.file_links import files_named, names_files
from moothall.objects.message import Attachment
from moothall.objects.message_types import MessagePart
from moothall.objects.wire import encode
from moothall.resources.message.attachment.keeping import find_attachments, keep_files
from moothall.resources.message.attachment.queries import MessageKey
from moothall.resources.message.body import NONE
from moothall.resources.message.queries import MessageRow


def mark_files(ctx: Context, files: Iterable[Attachment], encoded: Raw) -> Raw:
    """A part of a message's body with marks where it has URLs of `files`, which the message has, or signed ones."""
    if encoded is NONE:
        return encoded
    data = bytes(encoded)
    marked = ctx.services.links.mark(data, (file.url for file in files))
    return encoded if marked is data else Raw(marked)


def list_files(ctx: Context, files: Sequence[Attachment], *others: Raw) -> Raw:
    """The `attachments` of a message: the files that neither its embeds nor its components show."""
    if not files:
        return NONE
    shown = files_named(b"".join(bytes(other) for other in others))
    listed = [file for file in files if file.id not in shown]
    return mark_files(ctx, listed, Raw(encode(listed))) if listed else NONE


def with_files_part(row: MessageRow) -> MessageRow:
    """A row that says whether its message names files."""
    named = names_files(row.body) or (row.hidden_embeds is not None and names_files(row.hidden_embeds.encode()))
    parts = row.parts | MessagePart.FILES if named else row.parts & ~MessagePart.FILES
    return row if parts == row.parts else structs.replace(row, parts=int(parts))


async def keep_row_files(
    ctx: Context,
    row: MessageRow,
    files: Iterable[Attachment] = (),
    *,
    before: MessageRow | None = None,
    source: MessageKey | None = None,
) -> None:
    """Let a stored message have the files that it names, and no others; `before` is what it was.

    A copy of another message, its `source`, has files of that as well.
    """
    if (row.parts | (0 if before is None else before.parts)) & MessagePart.FILES:
        stored = row.body if row.hidden_embeds is None else row.body + row.hidden_embeds.encode()
        await keep_files(ctx, row.channel_id, row.id, stored, list(files), source=source)


async def files_of(ctx: Context, row: MessageRow) -> list[Attachment]:
    """All files of a message."""
    return await find_attachments(ctx, row.channel_id, row.id) if row.parts & MessagePart.FILES else []
