"""What an event is: a dispatch's name, who may hear it, and its payload."""

from typing import ClassVar

from msgspec import Raw, Struct

from moothall.bus import Audience, Envelope
from moothall.objects.wire import encode


class Event(Struct, frozen=True, kw_only=True):
    """One gateway dispatch, stated by an operation, published after the commit.

    The fields of a subclass are the dispatch's `d`, unless it overrides `payload`. The routing is
    read from `guild_id`, `channel_id`, `thread_id` and `user_ids`, which a subclass has as fields
    or as properties.
    """

    name: ClassVar[str]
    """The dispatch name."""
    audience: ClassVar[Audience] = Audience.GUILD
    intent: ClassVar[int] = 0
    """Intent bits, any one of which lets a session hear it; 0 is always heard."""
    permission: ClassVar[int] = 0
    """Bits that the hearer needs in the channel or guild."""
    fleeting: ClassVar[bool] = False
    """Whether it tells of nothing stored, and may be lost in a crash (someone types)."""
    stales_guild: ClassVar[bool] = False
    """Whether it tells of a change to what `GuildState` holds."""

    def payload(self) -> object:
        """The `d` of the dispatch."""
        return self

    def only_in_guild(self) -> int:
        """The guild whose sessions alone can hear it; 0 where others may.

        What none of them is there to hear need not even be encoded.
        """
        return (getattr(self, "guild_id", 0) or 0) if self.audience is Audience.CHANNEL else 0

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
