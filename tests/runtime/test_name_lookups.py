"""Names whose servers hang hold up neither other names nor memory."""

import asyncio
import socket
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from moothall.runtime.lanes import enter_lane
from moothall.runtime.name_lookups import NameLookups, domain_of


class NameServers:
    """Name servers of which those of `hangs.example` answer once they are released."""

    def __init__(self) -> None:
        self.released = threading.Event()
        self.names: list[str] = []

    def look_up(self, host: str, port: int, **_options: Any) -> list[Any]:
        self.names.append(host)
        if "hangs" in host and not self.released.wait(30):
            raise AssertionError("it was not released")
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", port))]


@pytest.fixture
def servers(monkeypatch: pytest.MonkeyPatch) -> Iterator[NameServers]:
    servers = NameServers()
    monkeypatch.setattr(socket, "getaddrinfo", servers.look_up)
    yield servers
    servers.released.set()


async def test_a_domain_that_does_not_answer_holds_up_no_other(servers: NameServers) -> None:
    lookups = NameLookups(threads=4, each=2, waiting_each=8)
    hanging = [asyncio.create_task(lookups.look_up(f"a{number}.hangs.example", 80)) for number in range(8)]
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        assert await lookups.look_up("www.answers.example", 443) == [
            (socket.AF_INET, socket.SOCK_STREAM, 6, "", ("192.0.2.1", 443))
        ]
    servers.released.set()
    await asyncio.gather(*hanging)
    assert lookups.waiting == 0


async def test_an_account_with_many_domains_that_do_not_answer_holds_up_no_other(servers: NameServers) -> None:
    lookups = NameLookups(threads=4, each=2)

    async def look_up(account: str, host: str) -> list[Any]:
        enter_lane(lambda: account)
        return await lookups.look_up(host, 443)

    hanging = [asyncio.create_task(look_up("mallory", f"www.domain{number}-hangs.example")) for number in range(8)]
    await asyncio.sleep(0)
    async with asyncio.timeout(5):
        assert await asyncio.create_task(look_up("alice", "www.answers.example"))
        assert await lookups.look_up("www.answers.example", 443)
    servers.released.set()
    await asyncio.gather(*hanging)
    assert lookups.waiting == 0


@pytest.mark.parametrize("bounds", [{"waiting_each": 5}, {"waiting_max": 5}])
async def test_lookups_whose_caller_has_given_up_count_until_they_end(
    servers: NameServers, bounds: dict[str, int]
) -> None:
    lookups = NameLookups(**bounds)
    for number in range(5):
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.01):
                await lookups.look_up(f"a{number}.hangs.example", 80)
    with pytest.raises(OSError, match="too many names"):
        await lookups.look_up("more.hangs.example", 80)
    assert lookups.waiting == 5
    servers.released.set()
    while lookups.waiting:  # noqa: ASYNC110 there is no event
        await asyncio.sleep(0.01)
    assert "more.hangs.example" not in servers.names
    assert await lookups.look_up("more.hangs.example", 80)


async def test_a_name_that_does_not_exist_is_an_oserror_also_if_its_caller_has_given_up(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*_: object, **__: object) -> None:
        raise socket.gaierror(socket.EAI_NONAME, "no such name")

    monkeypatch.setattr(socket, "getaddrinfo", fail)
    lookups = NameLookups()
    with pytest.raises(socket.gaierror):
        await lookups.look_up("nowhere.example", 80)
    abandoned = asyncio.create_task(lookups.look_up("nowhere.example", 80))
    await asyncio.sleep(0)
    abandoned.cancel()
    await asyncio.sleep(0.05)
    assert lookups.waiting == 0


@pytest.mark.parametrize(
    ("host", "domain"),
    [("a.b.Example.com.", "example.com"), ("example.com", "example.com"), ("localhost", "localhost"), ("", "")],
)
def test_all_names_of_a_domain_are_counted_together(host: str, domain: str) -> None:
    assert domain_of(host) == domain
