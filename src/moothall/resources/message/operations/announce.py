"""Announcing a stored message of which something has changed that is no edit."""

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.resources.message.body import decode_head, decode_text
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.references import resolve_stored_references
from moothall.resources.message.stored_message import StoredMessage, fragments_around


async def announce_message(ctx: Context, access: ChannelAccess, row: MessageRow) -> None:
    """Emit MESSAGE_UPDATE with a message as its row is now. The row must declare `MessageUpdate`."""
    head = decode_head(row.body)
    references = await resolve_stored_references(ctx, access, row, head)
    stored = StoredMessage(
        access=access,
        row=row,
        head=head,
        text=decode_text(row.body),
        references=references,
        fragments=await fragments_around(ctx.tx, row, references.replied_to),
    )
    ctx.emit(stored.updated())
