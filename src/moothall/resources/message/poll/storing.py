"""A poll as a part of its message: stored with it, and shown with it."""

from collections.abc import Sequence

from msgspec import UNSET, UnsetType, structs

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.kernel.jobs import enqueue
from moothall.objects import errors
from moothall.objects.emoji import PartialEmoji
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, EmojiId, MessageId, UserId
from moothall.objects.message_types import MessagePart
from moothall.objects.permissions import Permissions
from moothall.objects.poll import PollAnswer, PollAnswerCount, PollMedia, PollResults
from moothall.objects.wire import Timestamp, encode
from moothall.resources.message.drafts import Draft
from moothall.resources.message.parts import reads_part, writes_part
from moothall.resources.message.poll import queries
from moothall.resources.message.poll.body import PollBody
from moothall.resources.message.poll.jobs import EndPoll
from moothall.resources.message.poll.queries import PollRow
from moothall.resources.message.rules import message_id_moment
from moothall.storage.database import Reader

_HOUR_MS = 3_600_000


@writes_part(MessagePart.POLL)
async def store_poll(ctx: Context, access: ChannelAccess, message_id: MessageId, draft: Draft) -> None:
    """Store the poll of a new message, and have it end in time.

    Raises Refusal: 400/520004 for an emoji that is not its sender's to use here.
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
    expires_at = Timestamp(message_id_moment(message_id) + poll.hours * _HOUR_MS)
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
    """The answers with their guilds' emojis as they are now; a webhook has those of its own guild only."""
    wanted = [media.emoji.id for media in answers if media.emoji is not UNSET and media.emoji.id is not None]
    if not wanted:
        return list(answers)
    known = await queries.select_emojis(ctx.tx, wanted, ctx.actor.user_id)
    guild_id = None if access.guild is None else access.guild.id
    usable: dict[EmojiId, PartialEmoji] = {}
    for row in known.values():
        own = row.guild_id == guild_id
        if not row.available or not (own or row.held is not None):
            continue
        if row.roles and set(row.roles).isdisjoint(row.held or ()):
            continue
        if not own and not access.permissions & Permissions.USE_EXTERNAL_EMOJIS:
            continue
        usable[row.id] = PartialEmoji(id=row.id, name=row.name, animated=row.animated)
    if not usable.keys() >= set(wanted):
        raise Refusal(errors.POLL_EMOJI)
    return [structs.replace(media, emoji=_chosen(media.emoji, usable)) for media in answers]


def _chosen(emoji: PartialEmoji | UnsetType, usable: dict[EmojiId, PartialEmoji]) -> PartialEmoji | UnsetType:
    return emoji if emoji is UNSET or emoji.id is None else usable[emoji.id]


@reads_part(MessagePart.POLL, is_text=True)
async def encoded_polls(
    reader: Reader, channel_id: ChannelId, message_ids: Sequence[int], viewer_id: UserId
) -> dict[int, bytes]:
    """The `poll` of messages as somebody sees it, after a comma, by message."""
    bodies: dict[int, tuple[str, int, int]] = {}
    counts: dict[int, list[PollAnswerCount]] = {}
    for row in await queries.select_shown(reader, channel_id, message_ids, viewer_id):
        message_id, body, expires_at, ended, answer_id, count, me = row
        bodies[message_id] = body, expires_at, ended
        listed = counts.setdefault(message_id, [])
        if answer_id is not None and count is not None:
            listed.append(PollAnswerCount(id=answer_id, count=count, me_voted=me is not None))
    return {
        message_id: b',"poll":%b,"expiry":%b,"results":%b}'
        % (
            body.encode()[:-1],
            encode(Timestamp(expires_at)),
            encode(PollResults(answer_counts=counts[message_id], is_finalized=bool(ended))),
        )
        for message_id, (body, expires_at, ended) in bodies.items()
    }
