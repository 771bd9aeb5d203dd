"""Storing which files a message has."""

from collections.abc import Iterable

from moothall.api.context import Context
from moothall.objects.message import Attachment
from moothall.objects.message_types import MessagePart
from moothall.resources.message.attachment.operations import store_attachments
from moothall.resources.message.attachment.queries import MessageKey
from moothall.resources.message.queries import MessageRow


async def store_files(
    ctx: Context,
    row: MessageRow,
    files: Iterable[Attachment] = (),
    *,
    before: MessageRow | None = None,
    source: MessageKey | None = None,
) -> None:
    """Give a stored message the files that its row names, and take all others from it.

    `files` are those of the request, `before` is the row before an edit. A copy of another message, its `source`, also
    gets files of that one.
    """
    if (row.parts | (0 if before is None else before.parts)) & MessagePart.FILES:
        stored = row.body if row.hidden_embeds is None else row.body + row.hidden_embeds.encode()
        await store_attachments(
            ctx,
            row.channel_id,
            row.id,
            stored,
            list(files),
            author_id=row.author_id,
            webhook_id=row.webhook_id,
            source=source,
        )
