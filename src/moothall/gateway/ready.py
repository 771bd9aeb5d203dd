"""READY, the first dispatch of a session (events: gateway events, ready)."""

from collections.abc import Iterable
from typing import Final

from msgspec import Raw, Struct

from moothall.gateway.session import Session
from moothall.objects.ids import ApplicationId, GuildId, UserId
from moothall.objects.intents import Intent
from moothall.objects.wire import encode


class Identity(Struct, frozen=True):
    """The person or bot that a token authenticates."""

    user_id: UserId
    bot: bool
    application_id: ApplicationId | None
    """None for a person."""
    application_flags: int
    token_hash: bytes


class _Application(Struct):
    id: ApplicationId
    flags: int


class _UnavailableGuild(Struct):
    id: GuildId
    unavailable: bool = True


class _Ready(Struct, omit_defaults=True):
    v: int
    user: Raw
    guilds: list[_UnavailableGuild]
    session_id: str
    resume_gateway_url: str
    shard: tuple[int, int] | None = None
    application: _Application | None = None


# Fields that client libraries read although the public documentation omits them.
_EXTRAS: Final = (
    b',"session_type":"normal","private_channels":[],"relationships":[],"presences":[],"user_settings":{},'
    b'"geo_ordered_rtc_regions":[],"_trace":["moothall"]}'
)


def ready(session: Session, identity: Identity, user: bytes, guild_ids: Iterable[GuildId], resume_url: str) -> bytes:
    """Build the `d` of READY; `user` is the current user's object as JSON.

    Its guilds are unavailable until their GUILD_CREATE; without the GUILDS intent the list is empty.
    """
    listed_ids = guild_ids if session.intents & Intent.GUILDS else ()
    application = None
    if identity.application_id is not None:
        application = _Application(identity.application_id, identity.application_flags)
    fields = _Ready(
        v=10,
        user=Raw(user),
        guilds=[_UnavailableGuild(guild_id) for guild_id in listed_ids],
        session_id=session.id,
        resume_gateway_url=resume_url,
        shard=session.shard,
        application=application,
    )
    return encode(fields)[:-1] + _EXTRAS
