"""Events of accounts, for their sessions and for gateway nodes."""

from typing import ClassVar

from msgspec import UNSET, UnsetType

from moothall.api.events import Event
from moothall.bus import Audience
from moothall.objects.ids import UserId
from moothall.objects.user import CurrentUser


class UserUpdate(Event, frozen=True, kw_only=True):
    """USER_UPDATE: an account changed. Sent to its own sessions; shared guilds receive GUILD_MEMBER_UPDATE."""

    name: ClassVar[str] = "USER_UPDATE"
    audience: ClassVar[Audience] = Audience.USERS
    user: CurrentUser

    def payload(self) -> object:
        """The user."""
        return self.user

    @property
    def user_ids(self) -> tuple[UserId, ...]:
        """The user whose sessions receive the event."""
        return (self.user.id,)


class SessionsClose(Event, frozen=True, kw_only=True):
    """Tells gateway nodes to close a user's sessions: all, or those of one token."""

    name: ClassVar[str] = "SESSIONS_CLOSE"
    audience: ClassVar[Audience] = Audience.NODE
    user_id: UserId
    token_hash: str | UnsetType = UNSET
    """The token's SHA-256 in hexadecimal; UNSET for all sessions."""

    def payload(self) -> object:
        """The user's id as a number, as only nodes read it, and the token's hash."""
        return {"user_id": int(self.user_id), "token_hash": None if self.token_hash is UNSET else self.token_hash}
