"""The events of messages, for users who may view the channel, with or without the text."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from msgspec import Raw, Struct

from moothall.api.events import Event
from moothall.authority.channel_access import ChannelAccess
from moothall.bus import Audience, Envelope
from moothall.objects.channel_types import VOICE
from moothall.objects.ids import ChannelId, GuildId, MessageId, UserId
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from moothall.objects.wire import encode


class Route(Struct, frozen=True, kw_only=True):
    """The channel of an event, and its audience."""

    id: ChannelId
    """The channel, thread or direct message itself."""
    guild_id: GuildId | None
    audience_channel_id: ChannelId
    """The channel whose overwrites apply: for a thread its parent."""
    user_ids: tuple[UserId, ...] = ()
    """The members of a direct message or private thread: `ChannelAccess.event_user_ids`."""
    permission: int = 0
    shown_guild_id: GuildId | None = None
    """The `guild_id` in the payload of an ephemeral message, which is not sent to the guild."""

    def ids(self) -> dict[str, str]:
        """`channel_id` and `guild_id` of the payload."""
        guild_id = self.shown_guild_id if self.guild_id is None else self.guild_id
        if guild_id is None:
            return {"channel_id": str(int(self.id))}
        return {"channel_id": str(int(self.id)), "guild_id": str(int(guild_id))}


def route_in_guild(
    guild_id: GuildId,
    channel_id: ChannelId,
    kind: int,
    parent_id: ChannelId | None,
    user_ids: tuple[UserId, ...] = (),
) -> Route:
    """The route to a guild channel, or to a thread of `parent_id`; `user_ids` are the members of a private thread."""
    return Route(
        user_ids=user_ids,
        id=channel_id,
        guild_id=guild_id,
        audience_channel_id=channel_id if parent_id is None else parent_id,
        # Messages of a voice channel are for users who may connect to it.
        permission=int(Permissions.CONNECT) if kind in VOICE else 0,
    )


def route_of(access: ChannelAccess) -> Route:
    """The route to a channel."""
    if access.guild is not None:
        parent_id = None if access.parent is None else access.parent.id
        return route_in_guild(access.guild.id, access.id, access.channel.type, parent_id, access.event_user_ids)
    channel_id, shown_guild_id = (access.id, None) if access.shown is None else access.shown
    return Route(
        id=channel_id,
        guild_id=None,
        audience_channel_id=channel_id,
        user_ids=access.recipients,
        shown_guild_id=shown_guild_id,
    )


class ChannelEvent(Event, frozen=True, kw_only=True):
    """An event for a channel, with one intent in guilds and another in direct messages."""

    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILD_MESSAGES
    direct_intent: ClassVar[int] = Intent.DIRECT_MESSAGES
    route: Route

    def only_in_guild(self) -> GuildId | None:
        """The guild whose sessions receive it; None for a direct message."""
        return self.route.guild_id

    def envelope(self) -> Envelope:
        """The event with its routing."""
        return self.routed(encode(self.payload()))

    def routed(self, data: bytes) -> Envelope:
        """An encoded `d` with the event's routing."""
        route = self.route
        in_guild = route.guild_id is not None
        return Envelope(
            name=self.name,
            data=Raw(data),
            audience=self.audience,
            guild_id=route.guild_id,
            channel_id=route.audience_channel_id,
            thread_id=route.id if route.id != route.audience_channel_id else None,
            user_ids=list(route.user_ids),
            intent=self.intent if in_guild else self.direct_intent,
            permission=route.permission,
        )


class _MessageEvent(ChannelEvent, frozen=True, kw_only=True):
    """An event with a message, which is encoded only if it has recipients."""

    dispatch: Callable[[], tuple[bytes, bytes | None]]
    """Encodes the message as JSON with `guild_id` and the author's `member`, and again without its text."""
    readers: tuple[UserId, ...] = ()
    """Users who receive the text without the MESSAGE_CONTENT intent: the author and mentioned users."""

    def envelope(self) -> Envelope:
        """The event, also without the text."""
        message, stripped = self.dispatch()
        envelope = self.routed(message)
        # In direct messages every recipient receives the text.
        if stripped is not None and self.route.guild_id is not None:
            envelope.stripped = Raw(stripped)
            envelope.exempt = list(self.readers)
        return envelope


class MessageCreate(_MessageEvent, frozen=True, kw_only=True):
    """MESSAGE_CREATE."""

    name: ClassVar[str] = "MESSAGE_CREATE"


class MessageUpdate(_MessageEvent, frozen=True, kw_only=True):
    """MESSAGE_UPDATE: an edit, a pin, or embeds suppressed. `tts` is always false in it."""

    name: ClassVar[str] = "MESSAGE_UPDATE"


class MessageDelete(ChannelEvent, frozen=True, kw_only=True):
    """MESSAGE_DELETE."""

    name: ClassVar[str] = "MESSAGE_DELETE"
    message_id: MessageId

    def payload(self) -> object:
        """The deleted message."""
        return {"id": str(int(self.message_id)), **self.route.ids()}


class MessageDeleteBulk(ChannelEvent, frozen=True, kw_only=True):
    """MESSAGE_DELETE_BULK: several messages of one channel, at most 100."""

    name: ClassVar[str] = "MESSAGE_DELETE_BULK"
    message_ids: tuple[int, ...]

    def payload(self) -> object:
        """The deleted messages."""
        return {"ids": _texts(self.message_ids), **self.route.ids()}


def _texts(ids: Iterable[int]) -> list[str]:
    return [str(int(item)) for item in ids]
