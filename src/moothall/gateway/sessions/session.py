"""A gateway session: the state that survives a dropped connection."""

import secrets
from collections import deque
from typing import Protocol

from moothall.gateway.protocol.capabilities import Capability
from moothall.gateway.protocol.frames import Frame
from moothall.gateway.sessions.subscriptions import PendingSubscriptions
from moothall.gateway.sessions.user_presence import SessionPresence
from moothall.objects.ids import ApplicationId, GuildId, UserId
from moothall.objects.presence import Activity
from moothall.runtime.invariants import BrokenInvariant


class SessionConnection(Protocol):
    """The connection that a session is attached to."""

    def dispatch(self, seq: int, frame: Frame) -> None:
        """Send a dispatch, now or once the client reads again."""

    async def prepare(self, frame: Frame) -> None:
        """Make the forms of a large frame that sending it needs, without blocking the event loop."""


class Session:
    """One identified client and the dispatches that it has not yet acknowledged.

    Frames are shared with all other sessions that receive the same event; the replay buffer holds references.
    A heartbeat carries the last sequence number received and releases every frame up to it, so that an idle
    session buffers nothing.
    """

    __slots__ = (
        "application_id",
        "bot",
        "broken",
        "capabilities",
        "client",
        "complete",
        "connection",
        "embedded_activity",
        "expires_at",
        "guild_ids",
        "id",
        "intents",
        "large_threshold",
        "member_list_times",
        "pending_subscriptions",
        "presence",
        "replay_buffer",
        "replay_bytes",
        "seq",
        "shard",
        "system",
        "token_hash",
        "user_id",
    )

    def __init__(
        self,
        *,
        user_id: UserId,
        bot: bool,
        application_id: ApplicationId | None,
        token_hash: bytes,
        intents: int,
        shard: tuple[int, int] | None,
        large_threshold: int,
        client: str,
        system: str = "unknown",
        presence: SessionPresence | None = None,
        capabilities: int = 0,
    ) -> None:
        self.id = secrets.token_hex(16)
        self.user_id = user_id
        self.bot = bot
        self.application_id = application_id
        """None for a person's session."""
        self.token_hash = token_hash
        self.intents = intents
        self.shard = shard
        self.capabilities = capabilities
        """`Capability` bits; 0 for a bot."""
        self.large_threshold = large_threshold
        self.client = client
        """desktop, mobile or web: the key of `client_status`."""
        self.system = system
        """The operating system of the client, as `client_info` names it."""
        self.guild_ids: set[GuildId] = set()
        """The guilds whose events the session receives."""
        self.pending_subscriptions: PendingSubscriptions | None = None
        """Subscriptions to guilds that the session has not joined yet, if there were any."""
        self.member_list_times: dict[GuildId, float] | None = None
        """When the client may request whole member lists again, by the event loop's clock; None if it never has."""
        self.presence = presence
        self.embedded_activity: Activity | None = None
        """The Activity that the session takes part in, as the presence shows it."""
        self.connection: SessionConnection | None = None
        self.expires_at = 0.0
        """When a session without a connection ends, by the event loop's clock."""
        self.complete = False
        """Whether READY and all initial guilds were sent: before, a session that loses its connection ends."""
        self.broken = False
        """Whether the session may have missed an event, so that its client must identify anew."""
        self.seq = 0
        self.replay_buffer: deque[Frame] | None = None
        self.replay_bytes = 0

    @property
    def resumable(self) -> bool:
        """Whether the replay buffer has everything that the client may have missed."""
        return self.complete and not self.broken

    @property
    def platform(self) -> str:
        """The platform of Activities that the client is: web, android or ios."""
        if self.client != "mobile":
            return "web"
        return "ios" if self.system == "ios" else "android"

    @property
    def takes_settings_proto(self) -> bool:
        """Whether the client takes settings as a protocol buffer, not as JSON."""
        return bool(self.capabilities & Capability.USER_SETTINGS_PROTO)

    @property
    def takes_guild_properties(self) -> bool:
        """Whether the client reads the fields of a guild in `properties`."""
        return bool(self.capabilities & Capability.CLIENT_STATE_V2)

    @property
    def reads_guilds_in_ready(self) -> bool:
        """Whether READY has the guilds of the session, which then receives no GUILD_CREATE of them.

        Clients of people do, as those are that state capabilities. Libraries for bots, which a person may log in with,
        state none and wait for GUILD_CREATE.
        """
        return not self.bot and bool(self.capabilities)

    @property
    def receives_own_presence(self) -> bool:
        """Whether the session receives PRESENCE_UPDATE of its own user.

        Clients that state capabilities follow their own presence by SESSIONS_REPLACE, and some fail on the other.
        """
        return not self.capabilities

    @property
    def takes_passive_updates(self) -> bool:
        """Whether the client receives of large guilds only what it has subscribed to, and PASSIVE_UPDATE."""
        return bool(self.capabilities & (Capability.PASSIVE_GUILD_UPDATE | Capability.PASSIVE_GUILD_UPDATE_V2))

    def in_shard(self, guild_id: GuildId | None) -> bool:
        """Whether the session's shard receives a guild's events. Events without a guild go to shard 0."""
        return self.shard is None or ((guild_id or 0) >> 22) % self.shard[1] == self.shard[0]

    def dispatch(self, frame: Frame, max_frames: int, max_bytes: int) -> None:
        """Number a frame, append it to the replay buffer and send it if there is a connection."""
        seq = self.seq = self.seq + 1
        buffer = self.replay_buffer
        if buffer is None:
            buffer = self.replay_buffer = deque()
        buffer.append(frame)
        self.replay_bytes += frame.size
        while len(buffer) > max_frames or (self.replay_bytes > max_bytes and len(buffer) > 1):
            self.replay_bytes -= buffer.popleft().size
        if self.connection is not None:
            self.connection.dispatch(seq, frame)

    def take_unsent(self) -> list[Frame] | None:
        """Take the frames dispatched before READY, which has the first sequence number; None if some were dropped."""
        if self.complete:
            raise BrokenInvariant("a session that its client may resume begins to count anew")
        frames = self.frames_after(0)
        self.replay_buffer, self.replay_bytes, self.seq = None, 0, 0
        return frames

    def discard_replay(self) -> None:
        """Drop all frames of a session that has ended, whatever still refers to it."""
        self.replay_buffer, self.replay_bytes = None, 0

    def acknowledge(self, seq: int) -> None:
        """Drop the frames up to a sequence number from the replay buffer."""
        buffer = self.replay_buffer
        if buffer is None:
            return
        surplus = len(buffer) - (self.seq - seq)
        if surplus >= len(buffer):
            self.replay_buffer = None
            self.replay_bytes = 0
            return
        for _ in range(surplus):
            self.replay_bytes -= buffer.popleft().size

    def frames_after(self, seq: int) -> list[Frame] | None:
        """The frames after a sequence number, oldest first; None if some were dropped or it is not sent yet."""
        count = self.seq - seq
        buffered = 0 if self.replay_buffer is None else len(self.replay_buffer)
        if seq < 0 or count < 0 or count > buffered:
            return None
        return [] if self.replay_buffer is None or not count else list(self.replay_buffer)[-count:]
