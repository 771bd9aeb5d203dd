"""The events of votes, for users who may view the channel."""

from typing import ClassVar

from moothall.objects.ids import MessageId, UserId
from moothall.objects.intents import Intent
from moothall.resources.message.events import ChannelEvent


class _VoteEvent(ChannelEvent, frozen=True, kw_only=True):
    """An event about one vote for one answer."""

    intent: ClassVar[int] = Intent.GUILD_MESSAGE_POLLS
    direct_intent: ClassVar[int] = Intent.DIRECT_MESSAGE_POLLS
    message_id: MessageId
    user_id: UserId
    answer_id: int

    def payload(self) -> object:
        """The user, the message and the answer."""
        return {
            "user_id": str(int(self.user_id)),
            "message_id": str(int(self.message_id)),
            **self.route.ids(),
            "answer_id": self.answer_id,
        }


class MessagePollVoteAdd(_VoteEvent, frozen=True, kw_only=True):
    """MESSAGE_POLL_VOTE_ADD."""

    name: ClassVar[str] = "MESSAGE_POLL_VOTE_ADD"


class MessagePollVoteRemove(_VoteEvent, frozen=True, kw_only=True):
    """MESSAGE_POLL_VOTE_REMOVE."""

    name: ClassVar[str] = "MESSAGE_POLL_VOTE_REMOVE"
