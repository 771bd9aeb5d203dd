"""Events of members that join and leave a guild, as sessions receive them."""

from moothall.bus import Envelope
from tests.gateway.peer import GUILD, event


def added(user_id: int, version: int) -> Envelope:
    return event("GUILD_MEMBER_ADD", {"user": {"id": str(user_id)}, "roles": []}, state_version=version)


def removed(user_id: int, version: int) -> Envelope:
    data = {"guild_id": str(GUILD), "user": {"id": str(user_id)}}
    return event("GUILD_MEMBER_REMOVE", data, state_version=version)
