"""Guilds with many sessions, and the events that each of them should receive."""

from msgspec import Raw

from moothall.bus import Audience, Envelope
from moothall.gateway.delivery.hub import Hub
from moothall.gateway.protocol.frames import Frame
from moothall.gateway.sessions.session import Session
from tests.gateway.peer import ALICE

MANY = 2_000


class RecordingConnection:
    """Records the dispatches of one session."""

    def __init__(self) -> None:
        self.dispatches: list[tuple[int, str]] = []

    def dispatch(self, seq: int, frame: Frame) -> None:
        self.dispatches.append((seq, frame.text))

    async def prepare(self, frame: Frame) -> None:
        raise AssertionError(frame.text)


def add_sessions(hub: Hub, count: int = MANY) -> tuple[list[Session], list[RecordingConnection]]:
    sessions, connections = [], []
    for _ in range(count):
        session = Session(
            user_id=ALICE,
            bot=False,
            application_id=None,
            token_hash=b"",
            intents=0,
            shard=None,
            large_threshold=50,
            client="web",
        )
        connection = RecordingConnection()
        session.connection = connection
        hub.add(session)
        sessions.append(session)
        connections.append(connection)
    return sessions, connections


def numbered_event(number: int) -> Envelope:
    return Envelope(name="NEWS", data=Raw(b"%d" % number), audience=Audience.USERS, user_ids=[ALICE])


def expected(*numbers: int) -> list[tuple[int, str]]:
    return [(at, f'"t":"NEWS","d":{number}}}') for at, number in enumerate(numbers, 1)]
