"""The gateway events of join requests: for members with KICK_MEMBERS, and each once more for the user of the request.

A moderator's own request therefore reaches them twice, as in the public API.
"""

from typing import ClassVar

from moothall.api.events import Event
from moothall.bus import Audience
from moothall.objects.ids import GuildId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.screening import JoinRequest
from moothall.objects.wire import to_plain


class _JoinRequestEvent(Event, frozen=True, kw_only=True):
    request: JoinRequest

    def payload(self) -> object:
        """The join request, its guild and its status."""
        return {
            "guild_id": self.request.guild_id.wire(),
            "request": to_plain(self.request),
            "status": self.request.application_status.value,
        }


class _ForModerators(_JoinRequestEvent, frozen=True, kw_only=True):
    permission: ClassVar[int] = Permissions.KICK_MEMBERS

    @property
    def guild_id(self) -> GuildId:
        """The guild whose moderators receive the event."""
        return self.request.guild_id


class _ForUser(_JoinRequestEvent, frozen=True, kw_only=True):
    audience: ClassVar[Audience] = Audience.USERS

    @property
    def user_ids(self) -> tuple[UserId, ...]:
        """The user of the request, who need not be a member any more."""
        return (self.request.user_id,)


class GuildJoinRequestCreate(_ForModerators, frozen=True, kw_only=True):
    """GUILD_JOIN_REQUEST_CREATE: a pending member has submitted a request."""

    name: ClassVar[str] = "GUILD_JOIN_REQUEST_CREATE"


class OwnJoinRequestCreate(_ForUser, frozen=True, kw_only=True):
    """GUILD_JOIN_REQUEST_CREATE, to the user of the request."""

    name: ClassVar[str] = "GUILD_JOIN_REQUEST_CREATE"


class GuildJoinRequestUpdate(_ForModerators, frozen=True, kw_only=True):
    """GUILD_JOIN_REQUEST_UPDATE: a request was reviewed, or submitted again."""

    name: ClassVar[str] = "GUILD_JOIN_REQUEST_UPDATE"


class OwnJoinRequestUpdate(_ForUser, frozen=True, kw_only=True):
    """GUILD_JOIN_REQUEST_UPDATE, to the user of the request."""

    name: ClassVar[str] = "GUILD_JOIN_REQUEST_UPDATE"


class GuildJoinRequestDelete(_ForModerators, frozen=True, kw_only=True):
    """GUILD_JOIN_REQUEST_DELETE: a request was withdrawn, or its user left."""

    name: ClassVar[str] = "GUILD_JOIN_REQUEST_DELETE"

    def payload(self) -> object:
        """The ids of the join request, its guild and its user."""
        return _ids(self.request)


class OwnJoinRequestDelete(_ForUser, frozen=True, kw_only=True):
    """GUILD_JOIN_REQUEST_DELETE, to the user of the request."""

    name: ClassVar[str] = "GUILD_JOIN_REQUEST_DELETE"

    def payload(self) -> object:
        """The ids of the join request, its guild and its user."""
        return _ids(self.request)


def _ids(request: JoinRequest) -> dict[str, str]:
    return {"guild_id": request.guild_id.wire(), "id": request.id.wire(), "user_id": request.user_id.wire()}


SUBMIT_EVENTS = (GuildJoinRequestCreate, OwnJoinRequestCreate, GuildJoinRequestUpdate, OwnJoinRequestUpdate)
"""What a row that submits join requests declares to fire."""
REVIEW_EVENTS = (GuildJoinRequestUpdate, OwnJoinRequestUpdate)
"""What a row that reviews join requests declares to fire."""
WITHDRAW_EVENTS = (GuildJoinRequestDelete, OwnJoinRequestDelete)
"""What a row that withdraws join requests declares to fire."""
