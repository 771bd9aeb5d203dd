"""PRESENCE_UPDATE, to a guild and to friends."""

from msgspec import Raw

from moothall.bus import Audience, Envelope
from moothall.gateway.sessions.user_presence import UserPresence
from moothall.objects.ids import GuildId, UserId
from moothall.objects.intents import Intent
from moothall.objects.wire import encode


def presence_update(user_id: UserId, guild_id: GuildId, presence: UserPresence) -> Envelope:
    """PRESENCE_UPDATE to one guild. `user_ids` has the user, not the audience."""
    return Envelope(
        name="PRESENCE_UPDATE",
        data=Raw(encode(presence.to_object(user_id, guild_id))),
        audience=Audience.GUILD,
        guild_id=guild_id,
        user_ids=[user_id],
        intent=Intent.GUILD_PRESENCES,
    )


def friend_updates(user_id: UserId, presence: UserPresence, friend_ids: list[UserId]) -> list[Envelope]:
    """PRESENCE_UPDATE to friends, which names no guild; none without friends."""
    if not friend_ids:
        return []
    data = Raw(encode(presence.to_object(user_id)))
    return [Envelope(name="PRESENCE_UPDATE", data=data, audience=Audience.USERS, user_ids=list(friend_ids))]
