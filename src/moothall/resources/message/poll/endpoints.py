"""Polls over HTTP (resources: poll). They are created with their messages."""

from typing import Annotated

from msgspec import Meta, Struct

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import Json, get, post, put
from moothall.objects import limits
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId
from moothall.objects.message import Message
from moothall.objects.user import User
from moothall.resources.channel.events import DirectChannelCreate
from moothall.resources.message.events import MessageCreate, MessageUpdate
from moothall.resources.message.poll import operations, rendering  # noqa: F401 registers how messages show polls
from moothall.resources.message.poll.events import MessagePollVoteAdd, MessagePollVoteRemove
from moothall.resources.message.rendering import message_bytes, viewer_in

ListSize = Annotated[int, Meta(ge=1, le=limits.POLL_VOTERS_MAX)]

_POLL = "/channels/{channel_id}/polls/{message_id}"


class PollVoters(Struct, frozen=True):
    """The users who voted for an answer."""

    users: list[User]


class PollVote(Struct, frozen=True):
    """The body of a vote: all answers that the caller votes for."""

    answer_ids: list[Snowflake]


@get(f"{_POLL}/answers/{{answer_id}}", permission=MEMBER)
async def get_answer_voters(
    ctx: Context,
    channel_id: ChannelId,
    message_id: MessageId,
    answer_id: Snowflake,
    *,
    after: UserId = UserId(Snowflake(0)),  # noqa: B008 a constant
    limit: ListSize = limits.POLL_VOTERS_DEFAULT,
) -> PollVoters:
    """List the users who voted for an answer of a poll, by ascending id."""
    return PollVoters(await operations.list_voters(ctx, message_id, answer_id, after=after, maximum=limit))


@put(f"{_POLL}/answers/@me", permission=MEMBER, fires=(MessagePollVoteAdd, MessagePollVoteRemove))
async def vote_in_poll(ctx: Context, channel_id: ChannelId, message_id: MessageId, body: PollVote) -> None:
    """Vote for answers of a poll in place of earlier votes; an empty list removes every vote. Not for bots."""
    await operations.vote_in_poll(ctx, message_id, [int(answer_id) for answer_id in body.answer_ids])


@post(f"{_POLL}/expire", permission=MEMBER, fires=(MessageUpdate, MessageCreate, DirectChannelCreate))
async def end_poll(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> Json[Message]:
    """End one's own poll now."""
    await operations.expire_poll(ctx, message_id)
    return Json((await message_bytes(ctx.tx, channel_id, [message_id], viewer_in(ctx)))[message_id])
