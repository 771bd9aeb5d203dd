"""What accounts announce."""

from typing import ClassVar

from msgspec import UNSET, UnsetType

from moothall.bus import Audience
from moothall.kernel.events import Event
from moothall.objects.ids import UserId
from moothall.objects.user import CurrentUser


class UserUpdate(Event, frozen=True, kw_only=True):
    """USER_UPDATE: to the account's own sessions. Others hear GUILD_MEMBER_UPDATE in the guilds they share."""

    name: ClassVar[str] = "USER_UPDATE"
    audience: ClassVar[Audience] = Audience.USERS
    user: CurrentUser

    def payload(self) -> object:
        """The whole user."""
        return self.user

    @property
    def user_ids(self) -> tuple[UserId, ...]:
        """Whose sessions hear it."""
        return (self.user.id,)


class SessionsClose(Event, frozen=True, kw_only=True):
    """To the gateway nodes: end a user's sessions, those of one token or all of them."""

    name: ClassVar[str] = "SESSIONS_CLOSE"
    audience: ClassVar[Audience] = Audience.NODE
    user_id: UserId
    token_hash: str | UnsetType = UNSET
    """Hexadecimal SHA-256."""

    def payload(self) -> object:
        """Ids as the numbers that nodes read: nothing here goes to a client."""
        return {"user_id": int(self.user_id), "token_hash": None if self.token_hash is UNSET else self.token_hash}
