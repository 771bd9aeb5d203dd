"""Poll operations: create, vote, end."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, UnsetType, structs

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.authority.channel_access import ChannelAccess
from moothall.objects import errors, limits
from moothall.objects.emoji import PartialEmoji
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import EmojiId, MessageId, UserId
from moothall.objects.message_types import MessagePart
from moothall.objects.permissions import Permissions
from moothall.objects.poll import PollAnswer, PollMedia
from moothall.objects.user import User
from moothall.objects.wire import Timestamp, encode
from moothall.resources.channel.thread_activity.rules import require_active
from moothall.resources.member.activity import touch_seen
from moothall.resources.message.drafts import Draft
from moothall.resources.message.events import route_of
from moothall.resources.message.extensions import writes_part
from moothall.resources.message.operations import get_message
from moothall.resources.message.poll import queries
from moothall.resources.message.poll.ending import end_poll
from moothall.resources.message.poll.events import MessagePollVoteAdd, MessagePollVoteRemove
from moothall.resources.message.poll.jobs import EndPoll
from moothall.resources.message.poll.queries import EmojiOfMember, PollBody, PollRow
from moothall.resources.message.rules import require_entry, require_history, require_unrestricted, sent_at

_HOUR_MS: Final = 3_600_000


@writes_part(MessagePart.POLL)
async def create_poll(ctx: Context, access: ChannelAccess, message_id: MessageId, draft: Draft) -> None:
    """Store the poll of a new message, and enqueue its end.

    Raises Refusal: 400/520004 for an emoji that the sender may not use here.
    """
    poll = draft.poll
    if poll is None:
        return
    answers = await _with_emojis(ctx, access, poll.answers)
    body = PollBody(
        question=PollMedia(text=poll.question),
        answers=[PollAnswer(answer_id=number, poll_media=media) for number, media in enumerate(answers, 1)],
        allow_multiselect=poll.multiselect,
    )
    expires_at = Timestamp(sent_at(message_id) + poll.hours * _HOUR_MS)
    row = PollRow(
        channel_id=access.id,
        message_id=message_id,
        body=encode(body).decode(),
        answers=len(answers),
        multiselect=poll.multiselect,
        expires_at=expires_at,
        ended=False,
    )
    await queries.insert_poll(ctx.tx, row)
    await enqueue(ctx, EndPoll(channel_id=access.id, message_id=message_id), at=expires_at)


async def _with_emojis(ctx: Context, access: ChannelAccess, answers: Sequence[PollMedia]) -> list[PollMedia]:
    """The answers with the current names of custom emojis; a webhook may use those of its own guild only."""
    emoji_ids = [media.emoji.id for media in answers if media.emoji is not UNSET and media.emoji.id is not None]
    if not emoji_ids:
        return list(answers)
    rows = await queries.select_emojis(ctx.tx, emoji_ids, ctx.actor.user_id)
    usable = {
        row.id: PartialEmoji(id=row.id, name=row.name, animated=row.animated)
        for row in rows.values()
        if _is_usable(access, row)
    }
    if not usable.keys() >= set(emoji_ids):
        raise Refusal(errors.POLL_EMOJI)
    return [structs.replace(media, emoji=_current_emoji(media.emoji, usable)) for media in answers]


def _is_usable(access: ChannelAccess, row: EmojiOfMember) -> bool:
    """Whether the caller may use a guild's emoji in a channel."""
    own = access.guild is not None and row.guild_id == access.guild.id
    if not row.available or not (own or row.member_roles is not None):
        return False
    if row.roles and set(row.roles).isdisjoint(row.member_roles or ()):
        return False
    return own or bool(access.permissions & Permissions.USE_EXTERNAL_EMOJIS)


def _current_emoji(emoji: PartialEmoji | UnsetType, usable: dict[EmojiId, PartialEmoji]) -> PartialEmoji | UnsetType:
    return emoji if emoji is UNSET or emoji.id is None else usable[emoji.id]


async def vote_in_poll(ctx: Context, message_id: MessageId, answer_ids: Sequence[int]) -> None:
    """Replace the caller's votes in a poll of the channel entered by votes for `answer_ids`.

    No answers remove every vote; the same answers again change nothing. Raises Refusal: 403/20001 for bots, 10008,
    400/520006 for a message without a poll, 400/520001 for one that has ended, 50035 for unknown answers and for more
    than one without multiselect; 50083 in an archived thread.
    """
    if ctx.actor.bot:
        raise Refusal(errors.BOTS_CANNOT_USE)
    require_history(ctx)
    require_unrestricted(ctx)
    require_active(ctx)
    access, user_id = ctx.channel, ctx.actor.user_id
    poll = await _lock_poll(ctx, access, message_id)
    if poll.ended or poll.expires_at <= ctx.now:
        raise Refusal(errors.POLL_EXPIRED)
    _check_answers(poll, answer_ids)
    before = await queries.select_choice(ctx.tx, access.id, message_id, user_id, range(1, poll.answers + 1))
    removed, added = sorted(before.difference(answer_ids)), sorted(set(answer_ids) - before)
    route = route_of(access)
    if removed:
        await queries.delete_votes(ctx.tx, access.id, message_id, user_id, removed)
        for answer_id in removed:
            ctx.emit(MessagePollVoteRemove(route=route, message_id=message_id, user_id=user_id, answer_id=answer_id))
    if added:
        await queries.insert_votes(ctx.tx, access.id, message_id, user_id, added)
        for answer_id in added:
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
    """The users who voted for an answer of a poll in the channel entered, by ascending id; none for an unknown answer.

    Raises Refusal: 10008, 400/520006 for a message without a poll.
    """
    require_history(ctx)
    row = await get_message(ctx, ctx.channel.id, message_id)
    if not row.parts & MessagePart.POLL:
        raise Refusal(errors.NOT_A_POLL, message="This message has no poll")
    return await queries.select_voters(ctx.tx, ctx.channel.id, message_id, answer_id, after=after, maximum=maximum)


async def expire_poll(ctx: Context, message_id: MessageId) -> None:
    """End a poll of the caller now, and post its result.

    Raises Refusal: 10008, 50005 for another author's, 400/520006 for a message without a poll, 400/520001 for one that
    has ended.
    """
    require_entry(ctx)
    require_unrestricted(ctx)
    require_active(ctx)
    access = ctx.channel
    row = await get_message(ctx, access.id, message_id)
    poll = await _lock_poll(ctx, access, message_id)
    if row.webhook_id is not None or row.author_id != ctx.actor.user_id:
        raise Refusal(errors.NOT_MESSAGE_AUTHOR)
    if poll.ended:
        raise Refusal(errors.POLL_EXPIRED)
    await end_poll(ctx, access, row, poll)


async def _lock_poll(ctx: Context, access: ChannelAccess, message_id: MessageId) -> PollRow:
    poll = await queries.lock_poll(ctx.tx, access.id, message_id)
    if poll is None:
        await get_message(ctx, access.id, message_id)
        raise Refusal(errors.NOT_A_POLL, message="This message has no poll")
    return poll
