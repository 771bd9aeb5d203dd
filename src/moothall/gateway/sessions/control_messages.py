"""Data of the NODE envelopes that the rest of the platform publishes to gateway nodes."""

from msgspec import Raw, Struct

from moothall.objects.ids import ChannelId, GuildId, UserId


class SessionsClose(Struct):
    """SESSIONS_CLOSE: end the sessions of a user, or only those of one token."""

    user_id: UserId
    token_hash: str | None = None
    """Hexadecimal SHA-256."""


class GuildOpen(Struct):
    """GUILD_OPEN: a user created or joined a guild."""

    user_id: UserId
    guild_id: GuildId


class VoiceServer(Struct):
    """VOICE_SERVER: tell a session where to connect for voice, after its voice state if that is here."""

    user_id: UserId
    session_id: str
    token: str
    endpoint: str | None = None
    """Host and port; None for those at which the session's client has reached the gateway."""
    guild_id: GuildId | None = None
    """None for a call, which is in `channel_id`."""
    channel_id: ChannelId | None = None
    state: Raw = Raw(b"null")
    is_carried: bool = True
    """Whether there is a voice server: clients are told of none by an endpoint that is null."""


class SessionsInvalidate(Struct):
    """SESSIONS_INVALIDATE: all clients of other nodes than the one named identify anew, which has told its own."""

    node: str
    reason: str
