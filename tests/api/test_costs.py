"""Requests are charged for what they cost, and only who is over the budget notices."""

import threading
from typing import Any

import pytest

from moothall.api.pipeline import DecodedRequest
from moothall.api.request.body import MAX_VALUES
from moothall.runtime.budgets import Payer
from tests.support.harness import Caller, Guild, Platform
from tests.support.rate_limits import limit

FAR = "192.0.2.1"
LARGE = {"name": "large", "unknown": ["x"] * 1000}


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


async def test_a_body_of_many_values_is_read_beside_the_event_loop_and_charged(
    platform: Platform, guild: Guild, monkeypatch: pytest.MonkeyPatch
) -> None:
    budgets = limit(platform)
    threads: list[bool] = []
    charged: list[Payer] = []
    take_body, charge = DecodedRequest.take_body, budgets.charge_cpu

    def noted(decoded: DecodedRequest, *arguments: Any) -> None:
        threads.append(threading.current_thread() is threading.main_thread())
        take_body(decoded, *arguments)

    def note_charge(payer: Payer, seconds: float) -> None:
        charged.append(payer)
        charge(payer, seconds)

    monkeypatch.setattr(DecodedRequest, "take_body", noted)
    monkeypatch.setattr(budgets, "charge_cpu", note_charge)
    for body in ({"name": "small"}, LARGE):
        assert (await guild.owner.request("PATCH", f"/guilds/{guild.id}", body, client=FAR)).status == 200
    assert threads == [True, False]
    assert charged == [Payer(int(guild.owner.id), FAR)]


async def test_who_is_over_the_budget_gets_a_429_that_clients_wait_for_and_others_of_its_network_go_on(
    platform: Platform, guild: Guild
) -> None:
    budgets = limit(platform, cpu=1.0)
    bob = await platform.person("bob")
    other = await platform.guild(bob)
    budgets.charge_cpu(Payer(int(guild.owner.id), FAR), 5.0)
    refused = await guild.owner.request("PATCH", f"/guilds/{guild.id}", LARGE, client=FAR)
    assert refused.status == 429
    assert refused.json["retry_after"] > 0
    assert int(refused.headers["retry-after"]) > 0
    assert (await guild.owner.request("PATCH", f"/guilds/{guild.id}", {"name": "small"}, client=FAR)).status == 200
    assert (await bob.request("PATCH", f"/guilds/{other.id}", LARGE, client=FAR)).status == 200


async def sent_in_chunks(platform: Platform, caller: Caller, path: str, chunks: list[bytes]) -> int:
    sent: list[Any] = []
    left = list(chunks)

    async def receive() -> dict[str, Any]:
        return {"type": "http.request", "body": left.pop(0), "more_body": bool(left)}

    async def send(message: Any) -> None:
        sent.append(message)

    headers = [(b"authorization", (caller.authorization or "").encode()), (b"content-type", b"application/json")]
    scope = {"type": "http", "method": "PATCH", "path": f"/api/v10{path}", "query_string": b"", "headers": headers}
    await platform.pipeline({**scope, "client": (FAR, 1)}, receive, send)
    status: int = sent[0]["status"]
    return status


async def test_bodies_in_memory_are_bounded_for_an_account_and_released_with_their_requests(
    platform: Platform, guild: Guild
) -> None:
    budgets = limit(platform, memory=300_000)
    payer = Payer(int(guild.owner.id), FAR)
    chunks = [b'{"name": "small", "unknown": "', b"x" * 100_000, b"y" * 150_000, b'"}']
    path = f"/guilds/{guild.id}"
    assert await sent_in_chunks(platform, guild.owner, path, chunks) == 200
    assert budgets.requests.total == 0
    with budgets.requests.holding(payer, 100_000):
        assert await sent_in_chunks(platform, guild.owner, path, chunks) == 429
    assert budgets.requests.total == 0


async def test_a_list_of_millions_is_refused_without_being_decoded(
    owner: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[object] = []
    monkeypatch.setattr("moothall.api.request.body.decoder", decoded.append)
    bomb = b'{"name": "a guild", "channels": [' + b"1," * 7_900_000 + b"1]}"
    reply = await owner.request("POST", "/guilds", raw=bomb)
    assert (reply.status, reply.code) == (413, 40005)
    small = b'{"name": "a guild", "channels": [' + b"1," * MAX_VALUES + b"1]}"
    reply = await owner.request("POST", "/guilds", raw=small)
    assert (reply.status, reply.code) == (413, 40005)
    assert decoded == []


async def test_only_endpoints_that_take_images_take_bodies_of_megabytes(platform: Platform, owner: Caller) -> None:
    image = b'"icon": "data:image/png;base64,' + b"A" * 9_000_000 + b'"'
    guild = await platform.guild(owner)
    taken = await owner.request("PATCH", f"/guilds/{guild.id}", raw=b"{" + image + b"}")
    assert (taken.status, taken.code) == (400, 50035), "it is read, and is no image"
    refused = await owner.request("POST", f"/channels/{guild.general}/messages", raw=b"{" + image + b"}")
    assert (refused.status, refused.code) == (413, 40005)
