"""The verbs of polls: voting, and ending them. How one comes to be and is shown: `storing`."""

from collections.abc import Sequence

from msgspec import Raw

from moothall.kernel.channel_access import ChannelAccess, find_channel
from moothall.kernel.context import Context
from moothall.objects import errors, limits
from moothall.objects.embed import Embed, EmbedField
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId
from moothall.objects.message import MessageReference
from moothall.objects.message_types import MessagePart, MessageType
from moothall.objects.user import User
from moothall.objects.wire import decoder, encode
from moothall.resources.channel.thread_activity.rules import require_active
from moothall.resources.member.activity import touch_seen
from moothall.resources.message.body import decode_head
from moothall.resources.message.events import route_of
from moothall.resources.message.operations import announce_message, get_message, send_system_message
from moothall.resources.message.poll import queries
from moothall.resources.message.poll.body import decode_body
from moothall.resources.message.poll.events import MessagePollVoteAdd, MessagePollVoteRemove
from moothall.resources.message.poll.queries import PollRow
from moothall.resources.message.queries import MessageRow, select_message
from moothall.resources.message.rules import require_entry, require_history, require_unrestricted
from moothall.resources.message.writing import Author, WebhookAuthor

_NO_USER = UserId(Snowflake(0))
_users = decoder(User)


async def vote(ctx: Context, message_id: MessageId, answer_ids: Sequence[int]) -> None:
    """Vote for answers of a poll in the channel entered as the caller, instead of for those voted for before.

    No answers take back every vote; the same ones again change nothing. Raises Refusal: 403/20001 for
    bots, 10008, 400/520006 for a message without a poll, 400/520001 for one that is over, 50035 for
    answers that there are not, or more than may be; 50083 in an archived thread.
    """
    if ctx.actor.bot:
        raise Refusal(errors.BOTS_CANNOT_USE)
    require_history(ctx)
    require_unrestricted(ctx)
    require_active(ctx)
    access, user_id = ctx.channel, ctx.actor.user_id
    poll = await _lock(ctx, access, message_id)
    if poll.ended or poll.expires_at <= ctx.now:
        raise Refusal(errors.POLL_EXPIRED)
    _check_answers(poll, answer_ids)
    before = await queries.select_choice(ctx.tx, access.id, message_id, user_id, range(1, poll.answers + 1))
    gone, new = sorted(before.difference(answer_ids)), sorted(set(answer_ids) - before)
    route = route_of(access)
    if gone:
        await queries.delete_votes(ctx.tx, access.id, message_id, user_id, gone)
        for answer_id in gone:
            ctx.emit(MessagePollVoteRemove(route=route, message_id=message_id, user_id=user_id, answer_id=answer_id))
    if new:
        await queries.insert_votes(ctx.tx, access.id, message_id, user_id, new)
        for answer_id in new:
            ctx.emit(MessagePollVoteAdd(route=route, message_id=message_id, user_id=user_id, answer_id=answer_id))
    if access.guild is not None:
        touch_seen(ctx, access.guild.id, user_id)


def _check_answers(poll: PollRow, answer_ids: Sequence[int]) -> None:
    form_errors = FormErrors()
    if len(answer_ids) > 1 and not poll.multiselect:
        form_errors.add("answer_ids", *FieldError.length(None, 1))
    for index, answer_id in enumerate(answer_ids[: limits.POLL_ANSWERS_MAX + 1]):
        if not 1 <= answer_id <= poll.answers:
            form_errors.add(("answer_ids", index), FormCode.BASE_TYPE_CHOICES, "This poll has no such answer.")
        elif answer_id in answer_ids[:index]:
            form_errors.add(
                ("answer_ids", index),
                FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE,
                "The set already contains this value",
            )
    form_errors.raise_if_any()


async def list_voters(
    ctx: Context, message_id: MessageId, answer_id: int, *, after: UserId, maximum: int
) -> list[User]:
    """Who voted for an answer of a poll in the channel entered, by ascending id.

    Raises Refusal: 10008, 400/520006 for a message without a poll. An answer that there is not has no voters.
    """
    require_history(ctx)
    row = await get_message(ctx, ctx.channel.id, message_id)
    if not row.parts & MessagePart.POLL:
        raise Refusal(errors.NOT_A_POLL, message="This message has no poll")
    return await queries.select_voters(ctx.tx, ctx.channel.id, message_id, answer_id, after=after, maximum=maximum)


async def expire_poll(ctx: Context, message_id: MessageId) -> None:
    """End a poll of the caller's at once, and tell its result.

    Raises Refusal: 10008, 50005 for another's, 400/520006 for a message without a poll, 400/520001
    for one that is over.
    """
    require_entry(ctx)
    require_unrestricted(ctx)
    require_active(ctx)
    access = ctx.channel
    row = await get_message(ctx, access.id, message_id)
    poll = await _lock(ctx, access, message_id)
    if row.webhook_id is not None or row.author_id != ctx.actor.user_id:
        raise Refusal(errors.NOT_MESSAGE_AUTHOR)
    if poll.ended:
        raise Refusal(errors.POLL_EXPIRED)
    await _end(ctx, access, row, poll)


async def end_in_time(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> None:
    """End a poll whose time is over, and tell its result. One that is gone, or over already, stays as it is."""
    access = await find_channel(ctx.services.states, ctx.tx, channel_id, _NO_USER, ctx.now, writes=True)
    row = None if access is None else await select_message(ctx.tx, channel_id, message_id)
    poll = await queries.lock_poll(ctx.tx, channel_id, message_id)
    if access is not None and row is not None and poll is not None and not poll.ended:
        await _end(ctx, access, row, poll)


async def _lock(ctx: Context, access: ChannelAccess, message_id: MessageId) -> PollRow:
    poll = await queries.lock_poll(ctx.tx, access.id, message_id)
    if poll is None:
        await get_message(ctx, access.id, message_id)
        raise Refusal(errors.NOT_A_POLL, message="This message has no poll")
    return poll


async def _end(ctx: Context, access: ChannelAccess, row: MessageRow, poll: PollRow) -> None:
    await queries.end_poll(ctx.tx, access.id, row.id, min(ctx.now, poll.expires_at))
    await announce_message(ctx, access, row)
    counts = await queries.select_counts(ctx.tx, access.id, row.id)
    author = _author(row)
    await send_system_message(
        ctx,
        access,
        author,
        MessageType.POLL_RESULT,
        reference=MessageReference(message_id=row.id, channel_id=access.id),
        embeds=Raw(encode([_result(poll, counts)])),
        mentions=() if isinstance(author, WebhookAuthor) else (author,),
    )


def _author(row: MessageRow) -> Author:
    if row.webhook_id is None:
        return row.author_id
    head = decode_head(row.body)
    shown: User = _users.decode(head.author or b"")
    return WebhookAuthor(
        webhook_id=row.webhook_id,
        name=shown.username,
        avatar=shown.avatar,
        application_id=head.application_id or None,
    )


def _result(poll: PollRow, counts: Sequence[tuple[int, int]]) -> Embed:
    """What clients make the announcement of: the question, the votes, and the answer that won alone."""
    body = decode_body(poll)
    maximum = counts[0][1] if counts else 0
    told = {
        "poll_question_text": body.question.text or "",
        "victor_answer_votes": str(maximum),
        "total_votes": str(sum(count for _, count in counts)),
    }
    leading = [answer_id for answer_id, count in counts if count == maximum]
    if len(leading) == 1:
        won = body.answers[leading[0] - 1]
        told["victor_answer_id"] = str(won.answer_id)
        told["victor_answer_text"] = won.poll_media.text or ""
        if emoji := won.poll_media.emoji:
            if emoji.id is not None:
                told["victor_answer_emoji_id"] = str(int(emoji.id))
                told["victor_answer_emoji_animated"] = "true" if emoji.animated else "false"
            told["victor_answer_emoji_name"] = emoji.name or ""
    fields = [EmbedField(name=name, value=value) for name, value in told.items()]
    return Embed(type="poll_result", fields=fields)
