"""Gateway events: the name of the dispatch, its audience, and its payload."""

from typing import ClassVar, Final

from msgspec import Raw, Struct

from moothall.authority.guild_changes import GuildPart
from moothall.bus import Audience, Envelope
from moothall.objects.ids import GuildId, UserId
from moothall.objects.role import Role
from moothall.objects.wire import encode

_GUILD: Final = Audience.GUILD
_CHANNEL: Final = Audience.CHANNEL


class Event(Struct, frozen=True, kw_only=True):
    """A gateway dispatch that an operation emits, and that is published after the commit.

    The fields of a subclass are the dispatch's `d`, unless it overrides `payload`. The audience depends on
    `guild_id`, `channel_id`, `thread_id` and `user_ids`, which a subclass has as fields or as properties.
    """

    name: ClassVar[str]
    """The dispatch name."""
    audience: ClassVar[Audience] = Audience.GUILD
    intent: ClassVar[int] = 0
    """Intent bits of which a session needs one to receive the event; 0 needs none."""
    permission: ClassVar[int] = 0
    """Permission bits of which a user needs one in the channel or guild to receive the event; 0 needs none."""
    transient: ClassVar[bool] = False
    """Whether the event announces no stored change, so that a crash may lose it (typing)."""
    changes_guild: ClassVar[tuple[GuildPart, ...]] = ()
    """The parts of `GuildState` that the event announces a change of."""

    changes_view: ClassVar[bool] = False
    """Whether gateway nodes keep what the event announces a change of, so that it has a number in its guild."""

    def changed_row(self) -> int:
        """The id of the role or channel that the event announces a change of; 0 for other parts of a guild."""
        return 0

    def changed_role(self) -> Role | None:
        """The role as it is stored after the change; None for events about other things, and for a deleted one."""
        return None

    def payload(self) -> object:
        """The `d` of the dispatch."""
        return self

    def only_in_guild(self) -> GuildId | None:
        """The guild whose members alone receive the event; None if others may as well.

        Without a session in that guild, the event is not even encoded.
        """
        audience = self.audience
        # An optional field is UNSET, not None, where the channel is in no guild.
        return (getattr(self, "guild_id", None) or None) if audience is _GUILD or audience is _CHANNEL else None

    def envelope(self) -> Envelope:
        """The event encoded, with its routing."""
        return Envelope(
            name=self.name,
            data=Raw(encode(self.payload())),
            audience=self.audience,
            guild_id=getattr(self, "guild_id", None) or None,
            channel_id=getattr(self, "channel_id", None) or None,
            thread_id=getattr(self, "thread_id", None) or None,
            user_ids=list(getattr(self, "user_ids", ())),
            intent=self.intent,
            permission=self.permission,
        )


class UserEvent(Event, frozen=True, kw_only=True):
    """An event to every session of one user. `user_id` is no part of the payload: a subclass overrides that."""

    audience: ClassVar[Audience] = Audience.USERS
    user_id: UserId

    @property
    def user_ids(self) -> tuple[UserId, ...]:
        """The user whose sessions receive the event."""
        return (self.user_id,)
