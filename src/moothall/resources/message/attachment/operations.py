"""Storing which files messages have. A message has the files whose placeholders are in its stored body."""

from collections.abc import Sequence

from moothall.api.context import Context
from moothall.api.file_links import placeholder_file_ids
from moothall.api.storage_quota import require_room_in_guild, require_within_quota, select_stored_bytes
from moothall.objects.ids import ChannelId, MessageId, UserId, WebhookId
from moothall.objects.message import Attachment
from moothall.objects.wire import decoder, encode
from moothall.resources.message.attachment import queries
from moothall.resources.message.attachment.queries import MessageKey, NewAttachment

_decode = decoder(Attachment).decode


async def get_attachments(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> list[Attachment]:
    """All files of a message, oldest first, also those that only its embeds or components show."""
    bodies = await queries.select_attachments(ctx.tx, channel_id, message_id)
    return [_decode(ctx.services.links.with_plain_urls(body)) for body in bodies.values()]


async def store_attachments(
    ctx: Context,
    channel_id: ChannelId,
    message_id: MessageId,
    stored: bytes,
    files: Sequence[Attachment] = (),
    *,
    author_id: UserId,
    webhook_id: WebhookId | None = None,
    source: MessageKey | None = None,
) -> None:
    """Give a message the files whose placeholders are in `stored`, its body, and take all others from it.

    `files` are those that the request uploads or describes. A copy of another message, its `source`, also gets the
    files of that one, which are kept as long as one of them has them. Embeds with URLs of yet other messages' files
    show them as long as those messages exist.

    The files are charged to the author, or to whom a webhook's are charged; those of a published message's copies to
    the publisher, who has them already. Raises Refusal: 413/40005 for more than the account or the guild may
    have stored.
    """
    named = placeholder_file_ids(stored)
    links = ctx.services.links
    described = {
        int(file.id): links.insert_placeholders(encode(file), (file.url,)) for file in files if file.id in named
    }
    before = await queries.select_attachments(ctx.tx, channel_id, message_id)
    new = [
        NewAttachment(file.id, file.content_type or "", file.size, described[file.id])
        for file in files
        if file.id in named and file.id not in before and any(staged.id == file.id for staged in ctx.files)
    ]
    # Before those that come, which may need their room.
    await queries.drop_attachments(ctx.tx, channel_id, message_id, before.keys() - named)
    if new:
        payer_id = await queries.select_payer(ctx.tx, author_id, webhook_id)
        stored_bytes = await queries.insert_attachments(ctx.tx, channel_id, message_id, new, payer_id)
        require_within_quota(ctx.services.limits, stored_bytes)
        await require_room_in_guild(ctx.tx, ctx.services.limits, channel_id)
    if source is not None:
        payer = author_id if webhook_id is None else None
        ids = named - before.keys() - {file.id for file in new}
        added = await queries.copy_attachments(ctx.tx, source, (channel_id, message_id), ids, payer)
        if added and payer is not None:
            require_within_quota(ctx.services.limits, await select_stored_bytes(ctx.tx, payer))
            await require_room_in_guild(ctx.tx, ctx.services.limits, channel_id)
    changed = {file_id: body for file_id, body in described.items() if file_id in before and before[file_id] != body}
    await queries.update_attachments(ctx.tx, channel_id, message_id, changed)
    for staged in ctx.files:
        staged.taken = staged.taken or staged.id in named
