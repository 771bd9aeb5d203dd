"""What the rest of the platform does when something happens on a gateway session."""

import logging
from collections.abc import Awaitable, Callable

from msgspec import Struct

from moothall.objects.ids import ChannelId, GuildId, UserId

_log = logging.getLogger(__name__)


class VoiceStateRequest(Struct, frozen=True):
    """Opcode 4 of a session, for the operation that carries it out. A null channel disconnects."""

    user_id: UserId
    session_id: str
    guild_id: GuildId | None
    """None for calls in direct messages; with a null channel, for all that the session is in."""
    channel_id: ChannelId | None
    self_mute: bool
    self_deaf: bool
    self_video: bool


class GatewayCallbacks(Struct, frozen=True, kw_only=True):
    """Functions that a gateway node calls; an exception of theirs is logged. None does nothing."""

    on_voice_state_update: Callable[[VoiceStateRequest], Awaitable[None]] | None = None
    """A session sent opcode 4 for a guild that it receives, or, as a person, for no guild.

    A forbidden change has no effect and no event.
    """
    on_identify: Callable[[UserId], Awaitable[None]] | None = None
    """A user started a session."""
    on_offline: Callable[[UserId, frozenset[GuildId]], Awaitable[None]] | None = None
    """A user's last session ended; the guilds whose events it received."""
    on_session_end: Callable[[UserId, str], Awaitable[None]] | None = None
    """A session ended and cannot be resumed: its user and id. Its voice state and Activity end with it."""
    on_activity_timeout: Callable[[UserId, str], Awaitable[None]] | None = None
    """A session in an Activity has had no connection for a heartbeat interval: its user and id.

    It can still be resumed. The next round calls again, unless the session has left by then.
    """
    on_token_use: Callable[[bytes], None] | None = None
    """A person identified with the token of a hash."""


async def log_errors(callback: Awaitable[None]) -> None:
    """Wait for a callback, whose exception is logged."""
    try:
        await callback
    except Exception:  # noqa: BLE001 - logged
        _log.exception("a callback of the gateway failed")
