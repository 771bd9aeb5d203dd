"""A session: what outlives a dropped socket."""

import secrets
from collections import deque
from typing import Any, Protocol

from moothall.gateway.frames import Frame


class Link(Protocol):
    """The live connection of a session."""

    def dispatch(self, seq: int, frame: Frame) -> None:
        """Send a dispatch, now or as soon as the peer reads."""


class Session:
    """One identified client and the dispatches that it has not yet acknowledged.

    Frames are shared with all other sessions that hear the same event; the replay buffer holds
    references. A heartbeat names the last sequence number received, which lets go of everything up
    to it, so that an idle session holds nothing.
    """

    __slots__ = (
        "application_id",
        "bot",
        "client",
        "expires_at",
        "guilds",
        "id",
        "intents",
        "large_threshold",
        "link",
        "presence",
        "replay",
        "replay_bytes",
        "seq",
        "shard",
        "token_hash",
        "user_id",
    )

    def __init__(
        self,
        *,
        user_id: int,
        bot: bool,
        application_id: int,
        token_hash: bytes,
        intents: int,
        shard: tuple[int, int] | None,
        large_threshold: int,
        client: str,
    ) -> None:
        self.id = secrets.token_hex(16)
        self.user_id = user_id
        self.bot = bot
        self.application_id = application_id
        """0 for a person's session."""
        self.token_hash = token_hash
        self.intents = intents
        self.shard = shard
        self.large_threshold = large_threshold
        self.client = client
        """desktop, mobile or web: the key of `client_status`."""
        self.guilds: set[int] = set()
        """Guilds heard."""
        self.presence: Any = None
        self.link: Link | None = None
        self.expires_at = 0.0
        """When a session without a link ends, by the loop's clock."""
        self.seq = 0
        self.replay: deque[Frame] | None = None
        self.replay_bytes = 0

    def hears_guild(self, guild_id: int) -> bool:
        """Whether a guild is this shard's business; 0 (no guild) is the first shard's."""
        return self.shard is None or (guild_id >> 22) % self.shard[1] == self.shard[0]

    def dispatch(self, frame: Frame, max_frames: int, max_bytes: int) -> None:
        """Number a frame, keep it for a resume and send it if there is a connection."""
        seq = self.seq = self.seq + 1
        replay = self.replay
        if replay is None:
            replay = self.replay = deque()
        replay.append(frame)
        self.replay_bytes += frame.size
        while len(replay) > max_frames or (self.replay_bytes > max_bytes and len(replay) > 1):
            self.replay_bytes -= replay.popleft().size
        if self.link is not None:
            self.link.dispatch(seq, frame)

    def acknowledge(self, seq: int) -> None:
        """Forget what the client says it has received."""
        replay = self.replay
        if replay is None:
            return
        surplus = len(replay) - (self.seq - seq)
        if surplus >= len(replay):
            self.replay = None
            self.replay_bytes = 0
            return
        for _ in range(surplus):
            self.replay_bytes -= replay.popleft().size

    def missed(self, seq: int) -> list[Frame] | None:
        """The frames after a sequence number, oldest first; None if some are gone or the number is from the future."""
        count = self.seq - seq
        kept = 0 if self.replay is None else len(self.replay)
        if seq < 0 or count < 0 or count > kept:
            return None
        return [] if self.replay is None or not count else list(self.replay)[-count:]
