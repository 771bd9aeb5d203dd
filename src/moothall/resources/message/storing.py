"""The last step of every new message, whoever writes it: its row, its place in the channel, its dispatch."""

from msgspec import UNSET, structs

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.objects.ids import Snowflake
from moothall.resources.channel.operations.direct_message import reopen_direct_message
from moothall.resources.channel.thread_activity.operations import count_message
from moothall.resources.message import queries
from moothall.resources.message.attachment.queries import MessageKey
from moothall.resources.message.body import Head, Text, encode_body
from moothall.resources.message.drafts import Draft
from moothall.resources.message.files import keep_row_files, with_files_part
from moothall.resources.message.parts import write_parts
from moothall.resources.message.queries import MessageRow
from moothall.resources.message.writing import Author, MessageReferences, Written, author_in, id_of, parts_around


async def store_message(
    ctx: Context,
    access: ChannelAccess,
    author: Author,
    head: Head,
    text: Text,
    cast: MessageReferences,
    *,
    original: MessageRow | None = None,
    hidden_embeds: str | None = None,
    nonce: str | int | None = None,
    parts: int = 0,
    draft: Draft | None = None,
    source: MessageKey | None = None,
) -> Written:
    """Store and announce a message that is encoded already, with the parts that its draft has.

    `source` is the message that it is a copy of, with whose files.

    The row must declare `MessageCreate`, and if it can be in a direct message `DirectChannelCreate`.
    """
    if access.is_thread:
        head = structs.replace(head, position=await count_message(ctx, access, head.id, head.type))
    row = MessageRow(
        channel_id=access.id,
        id=head.id,
        guild_id=None if access.guild is None else access.guild.id,
        author_id=id_of(author),
        webhook_id=None if head.webhook_id is UNSET else head.webhook_id,
        type=head.type,
        flags=head.flags,
        pinned=False,
        reacted=False,
        replied_id=None if original is None else original.id,
        mentions=[Snowflake(user_id) for user_id in cast.mentioned.users] or None,
        body=encode_body(head, text),
        hidden_embeds=hidden_embeds,
        parts=parts,
    )
    row = with_files_part(row)
    await queries.insert_message(ctx.tx, row)
    await keep_row_files(ctx, row, () if draft is None else draft.attachments, source=source)
    if parts and draft is not None:
        await write_parts(ctx, access, row.id, draft)
    if access.guild is None:
        await reopen_direct_message(ctx, access)
    written = Written(
        access=access,
        row=row,
        head=head,
        text=text,
        author=author_in(row, cast.people),
        cast=cast,
        original=original,
        answers=original is not None,
        nonce=nonce,
        parts=await parts_around(ctx.tx, row, original),
    )
    ctx.emit(written.created())
    return written
