"""A new interactions endpoint is stored only after it has proved that it verifies signatures."""

import asyncio
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.resources.application.endpoint_server import endpoint
from tests.support.harness import Caller, Platform

FIELD = "interactions_endpoint_url"


@pytest.fixture
def permissive_platform(platform: Platform) -> Platform:
    """A platform whose operator allows requests to private addresses."""
    platform.allow_private_addresses()
    return platform


async def create_app(platform: Platform) -> tuple[Caller, Any, Caller]:
    owner = await platform.person()
    app = (await owner.post("/applications", {"name": "Herald"})).json
    return owner, app, Caller(platform, app["id"], f"Bot {app['bot']['token']}")


async def test_a_new_endpoint_receives_a_signed_ping_before_it_is_stored(permissive_platform: Platform) -> None:
    owner, app, bot = await create_app(permissive_platform)
    async with endpoint(app["verify_key"]) as server:
        reply = await owner.patch(f"/applications/{app['id']}", {FIELD: server.url})
        assert (reply.status, reply.json[FIELD]) == (200, server.url)
        (ping,) = server.requests
        assert (ping["type"], ping["application_id"], ping["version"]) == (1, app["id"], 1)
        # An unchanged endpoint is not verified again.
        assert (await bot.patch("/applications/@me", {FIELD: server.url, "description": "x"})).status == 200
        assert len(server.requests) == 1
    assert (await bot.get("/applications/@me")).json[FIELD] == server.url
    assert (await owner.patch(f"/applications/{app['id']}", {FIELD: None})).json[FIELD] is None


@pytest.mark.parametrize("manner", ["believes anything", "says something else", "is redirected", "fails"])
async def test_an_endpoint_that_fails_verification_is_refused_and_nothing_changes(
    permissive_platform: Platform, manner: str
) -> None:
    owner, app, bot = await create_app(permissive_platform)
    before = (await owner.get(f"/applications/{app['id']}")).json
    async with endpoint(app["verify_key"], manner) as server:
        body = {FIELD: server.url, "description": "new"}
        for reply in (
            await owner.patch(f"/applications/{app['id']}", body),
            await bot.patch("/applications/@me", body),
        ):
            assert (reply.status, reply.code) == (400, 50035)
            assert reply.errors_at(FIELD) == ["APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID"]
    assert (await owner.get(f"/applications/{app['id']}")).json == before


async def test_an_unreachable_endpoint_is_refused(permissive_platform: Platform) -> None:
    owner, app, _ = await create_app(permissive_platform)
    async with endpoint(app["verify_key"]) as server:
        closed = server.url
    reply = await owner.patch(f"/applications/{app['id']}", {FIELD: closed})
    assert reply.errors_at(FIELD) == ["APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID"]


async def test_a_private_address_is_not_requested(platform: Platform) -> None:
    owner, app, _ = await create_app(platform)
    async with endpoint(app["verify_key"]) as server:
        reply = await owner.patch(f"/applications/{app['id']}", {FIELD: server.url})
        assert reply.errors_at(FIELD) == ["APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID"]
        assert server.requests == []


async def test_a_refusal_tells_no_open_port_from_a_closed_one_and_no_private_host_from_one_that_is_away(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look_up(host: str, port: int, **_options: Any) -> list[Any]:
        if host == "inside.example":
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr("moothall.runtime.name_lookups.socket.getaddrinfo", look_up)
    owner, app, _ = await create_app(platform)
    async with endpoint(app["verify_key"]) as server, endpoint(app["verify_key"]) as other:
        open_port, closed_port = urlsplit(server.url).port, urlsplit(other.url).port
        hosts = ("127.0.0.1", "①②⑦.⓪.⓪.①", "inside.example", "[::1]", "10.255.255.1", "away.example")
        await other.stop()
        replies = [
            await owner.patch(f"/applications/{app['id']}", {FIELD: f"http://{host}:{port}/interactions"})
            for port in (open_port, closed_port)
            for host in hosts
        ]
        assert server.requests == []
    assert {reply.status for reply in replies} == {400}
    assert len({reply.body for reply in replies}) == 1


async def test_a_port_that_speaks_no_http_is_refused_like_a_closed_one(permissive_platform: Platform) -> None:
    async def speak(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        await writer.drain()
        writer.close()

    owner, app, _ = await create_app(permissive_platform)
    server = await asyncio.start_server(speak, "127.0.0.1", 0)
    url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/"
    spoken = await owner.patch(f"/applications/{app['id']}", {FIELD: url})
    server.close()
    closed = await owner.patch(f"/applications/{app['id']}", {FIELD: url})
    assert spoken.body == closed.body
    assert spoken.errors_at(FIELD) == ["APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID"]


@pytest.mark.parametrize(
    "url",
    [
        "https://user:secret@example.org/",
        "https://user@example.org/",
        "http://example.org:25/",
        "http://example.org:6667/",
        "http://[::1]@/",
    ],
)
async def test_an_address_that_its_text_rules_out_is_not_looked_up(
    permissive_platform: Platform, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    names: list[str] = []

    def look_up(host: str, *_arguments: Any, **_options: Any) -> list[Any]:
        names.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr("moothall.runtime.name_lookups.socket.getaddrinfo", look_up)
    owner, app, _ = await create_app(permissive_platform)
    reply = await owner.patch(f"/applications/{app['id']}", {FIELD: url})
    assert (reply.status, names) == (400, [])
    assert reply.json["errors"][FIELD]


@pytest.mark.parametrize("url", ["ftp://example.org/x", "nothing", "https://"])
async def test_an_invalid_address_is_not_requested(platform: Platform, url: str) -> None:
    owner, app, _ = await create_app(platform)
    reply = await owner.patch(f"/applications/{app['id']}", {FIELD: url})
    assert reply.status == 400
    assert reply.errors_at(FIELD) != ["APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID"]


async def test_a_refused_caller_causes_no_verification_request(permissive_platform: Platform) -> None:
    _, app, _ = await create_app(permissive_platform)
    async with endpoint(app["verify_key"]) as server:
        reply = await (await permissive_platform.person()).patch(f"/applications/{app['id']}", {FIELD: server.url})
        assert (reply.status, reply.code, server.requests) == (403, 20012, [])


async def test_an_endpoint_cannot_be_set_on_creation(permissive_platform: Platform) -> None:
    owner = await permissive_platform.person()
    reply = await owner.post("/applications", {"name": "x", FIELD: "https://example.org/"})
    assert (reply.status, reply.errors_at(FIELD)) == (400, ["BASE_TYPE_BAD_TYPE"])
