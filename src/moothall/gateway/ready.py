"""READY: the first dispatch of a session."""

from collections.abc import Iterable
from typing import Final

from msgspec import Raw, Struct

from moothall.gateway.session import Session
from moothall.objects.intents import Intent
from moothall.objects.wire import encode


class Identity(Struct, frozen=True):
    """Whose token it is: a person's session or a bot."""

    user_id: int
    bot: bool
    application_id: int
    """0 for a person."""
    application_flags: int
    token_hash: bytes


class _Application(Struct):
    id: str
    flags: int


class _UnavailableGuild(Struct):
    id: str
    unavailable: bool = True


class _Ready(Struct, omit_defaults=True):
    v: int
    user: Raw
    guilds: list[_UnavailableGuild]
    session_id: str
    resume_gateway_url: str
    shard: tuple[int, int] | None = None
    application: _Application | None = None


# What client libraries look for although the public documentation leaves it out.
_EXTRAS: Final = (
    b',"session_type":"normal","private_channels":[],"relationships":[],"presences":[],"user_settings":{},'
    b'"geo_ordered_rtc_regions":[],"_trace":["moothall"]}'
)


def ready(session: Session, identity: Identity, user: bytes, guild_ids: Iterable[int], resume_url: str) -> bytes:
    """The `d` of READY; `user` is the current user's object, already encoded.

    Its guilds are unavailable until their GUILD_CREATE; without the GUILDS intent there are none.
    """
    heard = guild_ids if session.intents & Intent.GUILDS else ()
    application = None
    if identity.application_id:
        application = _Application(str(identity.application_id), identity.application_flags)
    told = _Ready(
        v=10,
        user=Raw(user),
        guilds=[_UnavailableGuild(str(guild_id)) for guild_id in heard],
        session_id=session.id,
        resume_gateway_url=resume_url,
        shard=session.shard,
        application=application,
    )
    return encode(told)[:-1] + _EXTRAS
