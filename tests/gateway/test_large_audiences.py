"""One event for very many sessions: other tasks run meanwhile, and every session receives events in order."""

from msgspec import Raw

from moothall.bus import Audience, Envelope
from moothall.gateway.delivery.hub import Hub
from moothall.gateway.protocol.frames import Frame
from moothall.gateway.sessions.session import Session
from moothall.gateway.settings import GatewaySettings, NoMetrics
from tests.gateway.peer import ALICE, World, run_pending

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


async def test_a_very_large_audience_is_dispatched_to_in_slices_and_in_order() -> None:
    hub = Hub(GatewaySettings(), World(), NoMetrics())
    _, connections = add_sessions(hub)
    hub.receive([numbered_event(1), numbered_event(2), numbered_event(3)])
    await run_pending()
    assert not hub._delivery_scheduled
    assert all(connection.dispatches == expected(1, 2, 3) for connection in connections)


async def test_a_dispatch_to_one_session_does_not_overtake_a_fan_out_in_progress() -> None:
    hub = Hub(GatewaySettings(), World(), NoMetrics())
    sessions, connections = add_sessions(hub)
    hub._dispatcher.dispatch(sessions, numbered_event(1))
    assert [len(connection.dispatches) for connection in (connections[0], connections[-1])] == [1, 0]
    hub.send(sessions[-1], "NEWS", b"2")
    assert connections[-1].dispatches == expected(1, 2)
    assert all(connection.dispatches == expected(1) for connection in connections[:-1])
    await run_pending()
    assert sum(len(connection.dispatches) for connection in connections) == MANY + 1


async def test_an_audience_of_some_hundreds_is_dispatched_to_at_once() -> None:
    hub = Hub(GatewaySettings(), World(), NoMetrics())
    sessions, connections = add_sessions(hub, 512)
    hub._dispatcher.dispatch(sessions, numbered_event(1))
    assert all(connection.dispatches == expected(1) for connection in connections)
