"""Workers that share a port carry the voice gateway as the one process of a server does."""

from collections.abc import Iterator

import pytest

from tests.support.forking import ForkedServer
from tests.support.serving import RunningServer
from tests.voice.conftest import Hall


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server of two workers and a process that writes."""
    folder = tmp_path_factory.mktemp("workers") / "data"
    with ForkedServer(folder, "--no-demo", "--no-rate-limits", "--workers", "2") as running:
        yield running


async def test_members_whose_sessions_are_at_several_workers_hear_each_other(hall: Hall) -> None:
    gateways = [await hall.member() for _ in range(4)]
    voices = [(await hall.in_voice(gateway))[0] for gateway in gateways]
    for number, speaking in enumerate(voices):
        speaking.say(b"from %d" % number)
        for listening in voices:
            if listening is not speaking:
                assert await listening.hear() == (speaking.ready["ssrc"], b"from %d" % number)

    await gateways[0].join(hall.guild_id, None)

    assert await voices[0].closed() == 4014
