"""The events of reactions, for users who may view the channel."""

from typing import ClassVar

from msgspec import Raw

from moothall.objects.emoji import PartialEmoji
from moothall.objects.ids import MessageId, UserId
from moothall.objects.intents import Intent
from moothall.objects.wire import to_plain
from moothall.resources.message.events import ChannelEvent

_NORMAL = 0
"""The type of every reaction; there are no super reactions."""


class _ReactionEvent(ChannelEvent, frozen=True, kw_only=True):
    """An event about the reactions of one message."""

    intent: ClassVar[int] = Intent.GUILD_MESSAGE_REACTIONS
    direct_intent: ClassVar[int] = Intent.DIRECT_MESSAGE_REACTIONS
    message_id: MessageId

    def where(self) -> dict[str, object]:
        """The keys that name the message."""
        return {"message_id": str(int(self.message_id)), **self.route.ids()}


class MessageReactionAdd(_ReactionEvent, frozen=True, kw_only=True):
    """MESSAGE_REACTION_ADD."""

    name: ClassVar[str] = "MESSAGE_REACTION_ADD"
    user_id: UserId
    emoji: PartialEmoji
    author_id: UserId | None
    """The message's author; None for a webhook's message."""
    member: bytes | None
    """The member object with its user; None in a direct message."""

    def payload(self) -> object:
        """The user, the message and the emoji."""
        payload = {
            "user_id": str(int(self.user_id)),
            **self.where(),
            "emoji": to_plain(self.emoji),
            "burst": False,
            "burst_colors": [],
            "type": _NORMAL,
        }
        if self.author_id is not None:
            payload["message_author_id"] = str(int(self.author_id))
        if self.member is not None:
            payload["member"] = Raw(self.member)
        return payload


class MessageReactionRemove(_ReactionEvent, frozen=True, kw_only=True):
    """MESSAGE_REACTION_REMOVE."""

    name: ClassVar[str] = "MESSAGE_REACTION_REMOVE"
    user_id: UserId
    emoji: PartialEmoji

    def payload(self) -> object:
        """The user, the message and the emoji."""
        return {
            "user_id": str(int(self.user_id)),
            **self.where(),
            "emoji": to_plain(self.emoji),
            "burst": False,
            "type": _NORMAL,
        }


class MessageReactionRemoveAll(_ReactionEvent, frozen=True, kw_only=True):
    """MESSAGE_REACTION_REMOVE_ALL."""

    name: ClassVar[str] = "MESSAGE_REACTION_REMOVE_ALL"

    def payload(self) -> object:
        """The message."""
        return self.where()


class MessageReactionRemoveEmoji(_ReactionEvent, frozen=True, kw_only=True):
    """MESSAGE_REACTION_REMOVE_EMOJI."""

    name: ClassVar[str] = "MESSAGE_REACTION_REMOVE_EMOJI"
    emoji: PartialEmoji

    def payload(self) -> object:
        """The message and the emoji."""
        return {**self.where(), "emoji": to_plain(self.emoji)}
