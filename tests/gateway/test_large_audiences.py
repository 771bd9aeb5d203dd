"""One event for very many sessions: others get their turn meanwhile, and no session hears anything out of order."""

from msgspec import Raw

from moothall.bus import Audience, Envelope
from moothall.gateway.frames import Frame
from moothall.gateway.hub import Hub
from moothall.gateway.session import Session
from moothall.gateway.settings import GatewaySettings, NoMetrics
from tests.gateway.peer import ALICE, World, settle

MANY = 2_000


class Ear:
    """Writes down what one session is sent."""

    def __init__(self) -> None:
        self.heard: list[tuple[int, str]] = []

    def dispatch(self, seq: int, frame: Frame) -> None:
        self.heard.append((seq, frame.text))


def crowd(hub: Hub, count: int = MANY) -> tuple[list[Session], list[Ear]]:
    sessions, ears = [], []
    for _ in range(count):
        session = Session(
            user_id=ALICE,
            bot=False,
            application_id=0,
            token_hash=b"",
            intents=0,
            shard=None,
            large_threshold=50,
            client="web",
        )
        ear = Ear()
        session.link = ear
        hub.add(session)
        sessions.append(session)
        ears.append(ear)
    return sessions, ears


def news(number: int) -> Envelope:
    return Envelope(name="NEWS", data=Raw(b"%d" % number), audience=Audience.USERS, user_ids=[ALICE])


def told(*numbers: int) -> list[tuple[int, str]]:
    return [(at, f'"t":"NEWS","d":{number}}}') for at, number in enumerate(numbers, 1)]


async def test_a_very_large_audience_is_told_in_slices_and_in_order() -> None:
    hub = Hub(GatewaySettings(), World(), NoMetrics())
    _, ears = crowd(hub)
    hub.hear([news(1), news(2), news(3)])
    await settle()
    assert not hub._working
    assert all(ear.heard == told(1, 2, 3) for ear in ears)


async def test_what_is_told_to_one_session_meanwhile_does_not_overtake() -> None:
    hub = Hub(GatewaySettings(), World(), NoMetrics())
    sessions, ears = crowd(hub)
    hub._delivery.to(sessions, news(1))
    assert [len(ear.heard) for ear in (ears[0], ears[-1])] == [1, 0]
    hub.send(sessions[-1], "NEWS", b"2")
    assert ears[-1].heard == told(1, 2)
    assert all(ear.heard == told(1) for ear in ears[:-1])
    await settle()
    assert sum(len(ear.heard) for ear in ears) == MANY + 1


async def test_an_audience_of_some_hundreds_is_told_at_once() -> None:
    hub = Hub(GatewaySettings(), World(), NoMetrics())
    sessions, ears = crowd(hub, 512)
    hub._delivery.to(sessions, news(1))
    assert all(ear.heard == told(1) for ear in ears)
