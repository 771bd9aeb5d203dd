"""The end of a poll: by its author, or when its duration is over."""

from collections.abc import Sequence

from msgspec import Raw

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess, find_channel
from moothall.objects.embed import Embed, EmbedField
from moothall.objects.ids import NO_USER, ChannelId, MessageId
from moothall.objects.message import MessageReference
from moothall.objects.message_types import MessagePart, MessageType
from moothall.objects.user import User
from moothall.objects.wire import decoder, encode
from moothall.resources.message.authors import Author, WebhookAuthor
from moothall.resources.message.body import decode_head
from moothall.resources.message.operations import announce_message, send_system_message
from moothall.resources.message.poll import queries
from moothall.resources.message.poll.queries import PollRow, decode_poll_body
from moothall.resources.message.queries import MessageRow, select_message
from moothall.resources.message.queries.avatars import select_avatar_url_of_message

_users = decoder(User)


async def end_expired_poll(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> None:
    """End a poll whose duration is over, as `end_poll`; nothing happens if it is deleted or has ended."""
    access = await find_channel(ctx.services.states, ctx.tx, channel_id, NO_USER, ctx.now, writes=True)
    row = None if access is None else await select_message(ctx.tx, channel_id, message_id)
    poll = await queries.lock_poll(ctx.tx, channel_id, message_id)
    if access is not None and row is not None and poll is not None and not poll.ended:
        await end_poll(ctx, access, row, poll)


async def end_poll(ctx: Context, access: ChannelAccess, row: MessageRow, poll: PollRow) -> None:
    """End a poll that has not ended, announce its message, and post its result."""
    await queries.end_poll(ctx.tx, access.id, row.id, min(ctx.now, poll.expires_at))
    await announce_message(ctx, access, row)
    counts = await queries.select_counts(ctx.tx, access.id, row.id)
    author = await _author(ctx, row)
    await send_system_message(
        ctx,
        access,
        author,
        MessageType.POLL_RESULT,
        reference=MessageReference(message_id=row.id, channel_id=access.id),
        embeds=Raw(encode([_result(poll, counts)])),
        mentions=() if isinstance(author, WebhookAuthor) else (author,),
    )


async def _author(ctx: Context, row: MessageRow) -> Author:
    """The author of a message, as they or the webhook appeared in it."""
    if row.webhook_id is None:
        return row.author_id
    head = decode_head(row.body)
    avatar_url = None
    if row.parts & MessagePart.AVATAR:
        avatar_url = await select_avatar_url_of_message(ctx.tx, row.channel_id, row.id)
    shown: User = _users.decode(head.author or b"")
    return WebhookAuthor(
        webhook_id=row.webhook_id,
        name=shown.username,
        avatar=shown.avatar,
        avatar_url=avatar_url,
        application_id=head.application_id or None,
    )


def _result(poll: PollRow, counts: Sequence[tuple[int, int]]) -> Embed:
    """The embed of a POLL_RESULT message: the question, the votes, and the winning answer if no other has as many."""
    body = decode_poll_body(poll)
    highest = counts[0][1] if counts else 0
    values = {
        "poll_question_text": body.question.text or "",
        "victor_answer_votes": str(highest),
        "total_votes": str(sum(count for _, count in counts)),
    }
    leading = [answer_id for answer_id, count in counts if count == highest]
    if len(leading) == 1:
        won = body.answers[leading[0] - 1]
        values["victor_answer_id"] = str(won.answer_id)
        values["victor_answer_text"] = won.poll_media.text or ""
        if emoji := won.poll_media.emoji:
            if emoji.id is not None:
                values["victor_answer_emoji_id"] = str(int(emoji.id))
                values["victor_answer_emoji_animated"] = "true" if emoji.animated else "false"
            values["victor_answer_emoji_name"] = emoji.name or ""
    fields = [EmbedField(name=name, value=value) for name, value in values.items()]
    return Embed(type="poll_result", fields=fields)
