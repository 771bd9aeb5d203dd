"""Each attacker for a moment, beside everybody else. `make abuse` measures; here only counts what must never happen."""

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.abuse.attackers import ATTACKERS
from tests.abuse.clients import Clients
from tests.abuse.community import Community
from tests.abuse.processes import finish_attacks, start_attacks, wait_until_ready
from tests.support.serving import RunningServer

_SECONDS = 2.0
_TOGETHER = 10


@pytest.fixture
async def community(tmp_path: Path) -> AsyncIterator[tuple[RunningServer, Community]]:
    arguments = ("--no-demo", "--trusted-proxy", "127.0.0.1")
    with RunningServer(tmp_path / "data", *arguments) as server:
        community = Community(server.url)
        yield server, community
        await community.close()


@pytest.mark.timeout(300)
async def test_no_other_client_is_refused_or_misses_a_message_while_ten_attack(
    community: tuple[RunningServer, Community],
) -> None:
    server, attacked = community
    await attacked.build()
    clients = await Clients.ready(attacked)
    targets = {name: await attacked.attacker(number) for number, name in enumerate(ATTACKERS)}
    for start in range(0, len(ATTACKERS), _TOGETHER):
        names = ATTACKERS[start : start + _TOGETHER]
        process = start_attacks({name: targets[name] for name in names}, _SECONDS)
        await wait_until_ready(process)
        waits = await clients.run(_SECONDS)
        assert await finish_attacks(process, 60) == "", names
        assert {kind: of.failures for kind, of in waits.items() if of.failures} == {}, names
        assert server.process.poll() is None, (names, server.printed[-2000:])
    assert clients.missed == 0
    assert "Traceback" not in server.printed, server.printed[server.printed.index("Traceback") - 300 :][:3000]
