"""What is announced of messages: to those who may view the channel, with or without the text."""

from collections.abc import Callable, Iterable
from typing import ClassVar

from msgspec import Raw, Struct

from moothall.bus import Audience, Envelope
from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.events import Event
from moothall.objects.channel_types import VOICE
from moothall.objects.ids import ChannelId, GuildId, MessageId, UserId
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from moothall.objects.wire import encode


class Route(Struct, frozen=True, kw_only=True):
    """The way of an event to those who are in a channel."""

    id: ChannelId
    """The channel, thread or direct message itself."""
    guild_id: GuildId | None
    audience_channel_id: ChannelId
    """The channel whose overwrites decide: for a thread its parent."""
    user_ids: tuple[UserId, ...] = ()
    """Who is in a direct message or a private thread: `ChannelAccess.hearers`."""
    permission: int = 0
    told_guild_id: GuildId | None = None
    """For what one person sees in a guild: the guild that is named, though nobody else there hears of it."""

    def ids(self) -> dict[str, str]:
        """The keys that say in events where something happened."""
        guild_id = self.told_guild_id if self.guild_id is None else self.guild_id
        if guild_id is None:
            return {"channel_id": str(int(self.id))}
        return {"channel_id": str(int(self.id)), "guild_id": str(int(guild_id))}


def route_in_guild(
    guild_id: GuildId, channel_id: ChannelId, kind: int, parent_id: ChannelId | None, hearers: tuple[UserId, ...] = ()
) -> Route:
    """The way to those in a guild's channel, or in a thread of `parent_id`; `hearers` are those of a private one."""
    return Route(
        user_ids=hearers,
        id=channel_id,
        guild_id=guild_id,
        audience_channel_id=channel_id if parent_id is None else parent_id,
        # What is written in a voice channel can only be read by those who may enter it.
        permission=int(Permissions.CONNECT) if kind in VOICE else 0,
    )


def route_of(access: ChannelAccess) -> Route:
    """The way to those in a place."""
    if access.guild is not None:
        parent_id = None if access.parent is None else access.parent.id
        return route_in_guild(access.guild.id, access.id, access.channel.type, parent_id, access.hearers)
    channel_id, told = (access.id, None) if access.shown is None else access.shown
    return Route(
        id=channel_id, guild_id=None, audience_channel_id=channel_id, user_ids=access.recipients, told_guild_id=told
    )


class ChannelEvent(Event, frozen=True, kw_only=True):
    """An event that those in a channel hear, in guilds under one intent and in direct messages under another."""

    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILD_MESSAGES
    direct_intent: ClassVar[int] = Intent.DIRECT_MESSAGES
    route: Route

    def only_in_guild(self) -> int:
        """The guild whose sessions alone can hear it; 0 for a direct message."""
        return self.route.guild_id or 0

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
            guild_id=route.guild_id or 0,
            channel_id=route.audience_channel_id,
            thread_id=route.id if route.id != route.audience_channel_id else 0,
            user_ids=list(route.user_ids),
            intent=self.intent if in_guild else self.direct_intent,
            permission=route.permission,
        )


class _Written(ChannelEvent, frozen=True, kw_only=True):
    """A message as it is now, encoded only if anybody is there to hear it."""

    dispatch: Callable[[], tuple[bytes, bytes | None]]
    """Makes the message as JSON, with `guild_id` and the author's `member`; and the same without its text."""
    readers: tuple[int, ...] = ()
    """Who gets the text without the MESSAGE_CONTENT intent: the author and those mentioned."""

    def envelope(self) -> Envelope:
        """The event with what is left of it for those who may not read the text."""
        message, stripped = self.dispatch()
        envelope = self.routed(message)
        # Nothing is withheld in direct messages.
        if stripped is not None and self.route.guild_id is not None:
            envelope.stripped = Raw(stripped)
            envelope.exempt = list(self.readers)
        return envelope


class MessageCreate(_Written, frozen=True, kw_only=True):
    """MESSAGE_CREATE."""

    name: ClassVar[str] = "MESSAGE_CREATE"


class MessageUpdate(_Written, frozen=True, kw_only=True):
    """MESSAGE_UPDATE: an edit, a pin, or embeds suppressed. `tts` is always false in it."""

    name: ClassVar[str] = "MESSAGE_UPDATE"


class MessageDelete(ChannelEvent, frozen=True, kw_only=True):
    """MESSAGE_DELETE."""

    name: ClassVar[str] = "MESSAGE_DELETE"
    message_id: MessageId

    def payload(self) -> object:
        """Which message is gone."""
        return {"id": str(int(self.message_id)), **self.route.ids()}


class MessageDeleteBulk(ChannelEvent, frozen=True, kw_only=True):
    """MESSAGE_DELETE_BULK: several messages of one channel, at most 100."""

    name: ClassVar[str] = "MESSAGE_DELETE_BULK"
    message_ids: tuple[int, ...]

    def payload(self) -> object:
        """Which messages are gone."""
        return {"ids": _texts(self.message_ids), **self.route.ids()}


def _texts(ids: Iterable[int]) -> list[str]:
    return [str(int(item)) for item in ids]
