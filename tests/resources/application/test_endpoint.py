"""An interactions endpoint is saved only once it has shown that it checks signatures."""

import asyncio
import socket
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.harness import Caller, Platform
from tests.resources.application.endpoint_server import endpoint

FIELD = "interactions_endpoint_url"


@pytest.fixture
def inside(platform: Platform) -> Platform:
    """The platform of an operator who lets requests go to private addresses."""
    limits = platform.services.limits
    given = {name: getattr(limits, name) for name in limits.__struct_fields__} | {"allow_private_addresses": True}
    platform.services.limits = type(limits)(**given)
    return platform


async def made(platform: Platform) -> tuple[Caller, Any, Caller]:
    owner = await platform.person()
    app = (await owner.post("/applications", {"name": "Herald"})).json
    return owner, app, Caller(platform, app["id"], f"Bot {app['bot']['token']}")


async def test_an_endpoint_is_asked_with_a_signed_ping_before_it_is_saved(inside: Platform) -> None:
    owner, app, bot = await made(inside)
    async with endpoint(app["verify_key"]) as server:
        reply = await owner.patch(f"/applications/{app['id']}", {FIELD: server.url})
        assert (reply.status, reply.json[FIELD]) == (200, server.url)
        (ping,) = server.asked
        assert (ping["type"], ping["application_id"], ping["version"]) == (1, app["id"], 1)
        # What is so already is not asked again.
        assert (await bot.patch("/applications/@me", {FIELD: server.url, "description": "x"})).status == 200
        assert len(server.asked) == 1
    assert (await bot.get("/applications/@me")).json[FIELD] == server.url
    assert (await owner.patch(f"/applications/{app['id']}", {FIELD: None})).json[FIELD] is None


@pytest.mark.parametrize("manner", ["believes anything", "says something else", "is redirected", "fails"])
async def test_an_endpoint_that_is_none_is_refused_and_nothing_changes(inside: Platform, manner: str) -> None:
    owner, app, bot = await made(inside)
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


async def test_nobody_there_is_no_endpoint(inside: Platform) -> None:
    owner, app, _ = await made(inside)
    async with endpoint(app["verify_key"]) as server:
        gone = server.url
    reply = await owner.patch(f"/applications/{app['id']}", {FIELD: gone})
    assert reply.errors_at(FIELD) == ["APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID"]


async def test_a_private_address_is_not_asked(platform: Platform) -> None:
    owner, app, _ = await made(platform)
    async with endpoint(app["verify_key"]) as server:
        reply = await owner.patch(f"/applications/{app['id']}", {FIELD: server.url})
        assert reply.errors_at(FIELD) == ["APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID"]
        assert server.asked == []


async def test_a_refusal_tells_no_open_port_from_a_closed_one_and_no_private_host_from_one_that_is_away(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    def look_up_components(host: str, port: int, **_options: Any) -> list[Any]:
        if host == "inside.example":
            return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port))]
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr("moothall.kernel.outgoing.socket.getaddrinfo", look_up_components)
    owner, app, _ = await made(platform)
    async with endpoint(app["verify_key"]) as server, endpoint(app["verify_key"]) as other:
        open_port, closed_port = urlsplit(server.url).port, urlsplit(other.url).port
        hosts = ("127.0.0.1", "①②⑦.⓪.⓪.①", "inside.example", "[::1]", "10.255.255.1", "away.example")
        await other.stop()
        replies = [
            await owner.patch(f"/applications/{app['id']}", {FIELD: f"http://{host}:{port}/interactions"})
            for port in (open_port, closed_port)
            for host in hosts
        ]
        assert server.asked == []
    assert {reply.status for reply in replies} == {400}
    assert len({reply.body for reply in replies}) == 1


async def test_a_port_that_speaks_no_http_is_refused_like_a_closed_one(inside: Platform) -> None:
    async def speak(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writer.write(b"220 mail.example ESMTP\r\n")
        await writer.drain()
        writer.close()

    owner, app, _ = await made(inside)
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
    inside: Platform, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    names: list[str] = []

    def look_up_components(host: str, *_arguments: Any, **_options: Any) -> list[Any]:
        names.append(host)
        raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")

    monkeypatch.setattr("moothall.kernel.outgoing.socket.getaddrinfo", look_up_components)
    owner, app, _ = await made(inside)
    reply = await owner.patch(f"/applications/{app['id']}", {FIELD: url})
    assert (reply.status, names) == (400, [])
    assert reply.json["errors"][FIELD]


@pytest.mark.parametrize("url", ["ftp://example.org/x", "nothing", "https://"])
async def test_an_address_that_is_none_is_not_asked(platform: Platform, url: str) -> None:
    owner, app, _ = await made(platform)
    reply = await owner.patch(f"/applications/{app['id']}", {FIELD: url})
    assert reply.status == 400
    assert reply.errors_at(FIELD) != ["APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID"]


async def test_another_who_may_not_change_the_application_makes_nobody_ask(inside: Platform) -> None:
    _, app, _ = await made(inside)
    async with endpoint(app["verify_key"]) as server:
        reply = await (await inside.person()).patch(f"/applications/{app['id']}", {FIELD: server.url})
        assert (reply.status, reply.code, server.asked) == (403, 20012, [])


async def test_a_new_application_has_no_key_yet_that_an_endpoint_could_know(inside: Platform) -> None:
    owner = await inside.person()
    reply = await owner.post("/applications", {"name": "x", FIELD: "https://example.org/"})
    assert (reply.status, reply.errors_at(FIELD)) == (400, ["BASE_TYPE_BAD_TYPE"])
