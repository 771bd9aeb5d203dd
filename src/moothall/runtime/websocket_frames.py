"""Bounds on the WebSocket frames of a peer, which are counted before they are parsed.

Control frames and small fragments carry no message, so no limit of messages counts them, while each costs as much to
parse as a message. They are limited by connection and by network, and far more before a connection has identified.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

EXTENSION: Final = "moothall.frames"
"""The key of a connection's `FrameBudget` in the `extensions` of its ASGI scope."""

FRAMES_PER_TURN: Final = 32
"""Frames parsed without a break for other tasks; a message ends them earlier."""
IDLE_FRAMES_AT_FIRST: Final = 10
"""Idle frames of a connection that has not identified."""
IDLE_FRAMES_PER_MINUTE: Final = 120
BYTES_AT_FIRST: Final = 16_384
"""Bytes of a connection that has not identified."""
IDLE_FRAMES_OF_NETWORK: Final = 600
"""Idle frames of a network in a minute, and `IDLE_FRAMES_OF_NEIGHBOUR` for each of its open connections."""
IDLE_FRAMES_OF_NEIGHBOUR: Final = 30
IDLE_FRAMES_FREE: Final = 5
"""Idle frames of a connection in a minute that the limit of its network does not affect."""
SMALL_FRAGMENT: Final = 256
"""A fragment with fewer bytes that does not end its message is idle."""

_MINUTE: Final = 60.0
_MAX_NETWORKS: Final = 10_000
_POLICY_VIOLATION: Final = 1008

_FIN, _MASKED, _LENGTH = 0x80, 0x80, 0x7F
_FIRST_CONTROL_OPCODE: Final = 8
_LONGEST_HEAD: Final = 14


class FrameScanner:
    """Finds where the frames of a byte stream end, from their heads alone (RFC 6455, 5.2)."""

    __slots__ = ("_head", "_remaining")

    def __init__(self) -> None:
        self._head = b""
        """The start of a head of which the rest has not arrived."""
        self._remaining = 0
        """Bytes of the frame begun last that have not arrived."""

    def scan(self, data: bytes, start: int, max_frames: int) -> tuple[int, int, int]:
        """Scan from `start` to the end of a message, of `max_frames` frames, or of the data.

        Returns the position reached, the frames begun, and how many of them are idle.
        """
        size = len(data)
        position = start + self._remaining
        frames = idle = 0
        while position < size and frames < max_frames:
            pending = len(self._head)
            head = _read_head(
                self._head + data[position : position + _LONGEST_HEAD - pending] if pending else data,
                0 if pending else position,
            )
            if head is None:
                self._head += data[position:]
                self._remaining = 0
                return size, frames, idle
            head_size, length, is_idle, ends_message = head
            position += head_size - pending + length
            self._head = b""
            frames += 1
            idle += is_idle
            if ends_message:
                break
        self._remaining = max(0, position - size)
        return min(position, size), frames, idle


def _read_head(data: bytes, position: int) -> tuple[int, int, bool, bool] | None:
    """The sizes of a head and of its payload, whether the frame is idle, and whether it ends a message.

    None if the head is incomplete.
    """
    available = len(data) - position
    if available < 2:
        return None
    first, second = data[position], data[position + 1]
    length = second & _LENGTH
    extended = 0 if length < 126 else 2 if length == 126 else 8
    size = 2 + extended + (4 if second & _MASKED else 0)
    if available < size:
        return None
    if extended:
        length = int.from_bytes(data[position + 2 : position + 2 + extended], "big")
    is_control = first & 0x0F >= _FIRST_CONTROL_OPCODE
    is_final = bool(first & _FIN)
    return size, length, is_control or (not is_final and length < SMALL_FRAGMENT), is_final and not is_control


class NetworkFrames:
    """Counts the idle frames of each network in a minute. The network "" is loopback, which has no limit."""

    __slots__ = ("_networks",)

    def __init__(self) -> None:
        self._networks: dict[str, list[float]] = {}
        """By network: open connections, end of the minute, idle frames in it."""

    def __len__(self) -> int:
        """The number of networks that are counted."""
        return len(self._networks)

    def add(self, network: str) -> None:
        """Count an open connection."""
        if network:
            self._networks.setdefault(network, [0, 0.0, 0])[0] += 1

    def remove(self, network: str, now: float) -> None:
        """Count an open connection no longer."""
        counts = self._networks.get(network)
        if counts is None:
            return
        counts[0] -= 1
        if counts[0] <= 0 and (counts[1] <= now or len(self._networks) > _MAX_NETWORKS):
            del self._networks[network]
        if len(self._networks) > _MAX_NETWORKS:
            self._networks = {key: each for key, each in self._networks.items() if each[0] > 0 or each[1] > now}

    def spend(self, network: str, idle: int, now: float) -> bool:
        """Count idle frames; whether the network is within its limit."""
        counts = self._networks.get(network)
        if counts is None:
            return True
        if now >= counts[1]:
            counts[1], counts[2] = now + _MINUTE, 0
        counts[2] += idle
        return counts[2] <= IDLE_FRAMES_OF_NETWORK + IDLE_FRAMES_OF_NEIGHBOUR * counts[0]


class FrameBudget:
    """What one connection may send that is no message, and how much before it has identified."""

    __slots__ = ("_bytes_left", "_clock", "_idle", "_minute_end", "_network", "_networks", "close_code", "identified")

    def __init__(self, clock: Callable[[], float]) -> None:
        self.close_code = _POLICY_VIOLATION
        """The code that closes the connection when it exceeds a limit."""
        self.identified = False
        self._clock = clock
        self._bytes_left = BYTES_AT_FIRST
        self._idle = 0
        self._minute_end = 0.0
        self._network = ""
        self._networks: NetworkFrames | None = None

    def join(self, networks: NetworkFrames, network: str) -> None:
        """Count the connection's frames for its network too, until `leave`."""
        self._network, self._networks = network, networks
        networks.add(network)

    def leave(self) -> None:
        """Count the connection for its network no longer. Does nothing the second time."""
        if self._networks is not None:
            self._networks.remove(self._network, self._clock())
            self._networks = None

    def identify(self) -> None:
        """Allow what a client may send whose user is known."""
        self.identified = True

    def take_bytes(self, count: int) -> bool:
        """Count bytes as they arrive; False if they are too many before identifying."""
        if self.identified:
            return True
        self._bytes_left -= count
        return self._bytes_left >= 0

    def take_idle(self, count: int) -> bool:
        """Count idle frames; False if they are too many."""
        now = self._clock()
        if self.identified and now >= self._minute_end:
            self._minute_end, self._idle = now + _MINUTE, 0
        self._idle += count
        if self._idle > (IDLE_FRAMES_PER_MINUTE if self.identified else IDLE_FRAMES_AT_FIRST):
            return False
        within = self._networks is None or self._networks.spend(self._network, count, now)
        return within or self._idle <= IDLE_FRAMES_FREE


def frame_budget(scope: Mapping[str, Any]) -> FrameBudget | None:
    """The budget of a WebSocket's scope; None if its server counts no frames."""
    budget = scope.get("extensions", {}).get(EXTENSION)
    return budget if isinstance(budget, FrameBudget) else None
