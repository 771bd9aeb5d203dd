"""A server that carries no sound says so at once."""

from collections.abc import Iterator

import pytest

from tests.support.forking import ForkedServer
from tests.support.serving import RunningServer
from tests.voice.conftest import Hall
from tests.voice.processes import voice_processes


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningServer]:
    """A server without voice."""
    folder = tmp_path_factory.mktemp("silent") / "data"
    with ForkedServer(folder, "--no-demo", "--no-rate-limits", settings={"MOOTHALL_VOICE": "false"}) as running:
        yield running


async def test_who_joins_is_told_that_there_is_no_voice_server(hall: Hall) -> None:
    alice = await hall.member()
    await alice.join(hall.guild_id, hall.channels["General"])
    assert (await alice.event("VOICE_STATE_UPDATE"))["channel_id"] == hall.channels["General"]
    update = await alice.event("VOICE_SERVER_UPDATE")
    assert (update["guild_id"], update["endpoint"]) == (hall.guild_id, None)
    assert voice_processes(hall.server) == []
