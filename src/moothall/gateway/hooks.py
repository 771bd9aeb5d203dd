"""What the rest of the platform tells gateway nodes, and what they ask of it."""

from collections.abc import Awaitable, Callable

from msgspec import Struct


class VoiceRequest(Struct, frozen=True):
    """Opcode 4, as the operation that carries it out takes it. A null channel disconnects."""

    user_id: int
    session_id: str
    guild_id: int
    channel_id: int | None
    self_mute: bool
    self_deaf: bool
    self_video: bool


class Hooks(Struct, kw_only=True):
    """What the rest of the platform does for the gateway; the composition root fills them in."""

    voice_update: Callable[[VoiceRequest], Awaitable[None]] | None = None
    """Move a user in voice. What is not allowed changes nothing and tells nobody."""
    seen: Callable[[int], Awaitable[None]] | None = None
    """A user has identified."""
    token_used: Callable[[bytes], None] | None = None
    """A person's client has identified or resumed: the hash of its token."""
    offline: Callable[[int, frozenset[int]], Awaitable[None]] | None = None
    """A user's last session ended; the guilds that it heard."""
    session_ended: Callable[[int, str], Awaitable[None]] | None = None
    """A session ended for good: its user and id. Its voice state, if any, goes with it."""


class SessionsClose(Struct):
    """The data of the NODE envelope SESSIONS_CLOSE: end a user's sessions, or those of one token."""

    user_id: int
    token_hash: str | None = None
    """Hexadecimal SHA-256."""


class GuildOpen(Struct):
    """The data of the NODE envelope GUILD_OPEN: a user has made a guild, or is let into one."""

    user_id: int
    guild_id: int
