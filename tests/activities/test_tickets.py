"""Proxy tickets on a running server: targets learn who makes a request, and only from the proxy."""

import base64
import json
import time
from collections.abc import AsyncIterator, Mapping
from typing import Any

import aiohttp
import nacl.signing
import pytest

from moothall.activities.origin import ActivityOrigins
from moothall.activities.tickets import Tickets
from moothall.objects.clock import CLOCK
from moothall.objects.ids import ApplicationId, Snowflake, UserId
from moothall.objects.proxy_ticket import TICKET_SECONDS, ProxyTicket, SignedPayload
from moothall.objects.wire import encode
from tests.activities.target import Activity, Target
from tests.support.guests import Guest, connect
from tests.support.serving import RunningServer

SIGNED = ("x-discord-proxy-payload", "x-signature-ed25519", "x-signature-timestamp")


@pytest.fixture
async def target() -> AsyncIterator[Target]:
    async with Target() as running:
        yield running


@pytest.fixture
async def player(server: RunningServer, target: Target, request: pytest.FixtureRequest) -> AsyncIterator[Guest]:
    """The developer of an Activity, who takes part in it."""
    async with aiohttp.ClientSession(auto_decompress=False, cookie_jar=aiohttp.DummyCookieJar()) as session:
        activity, name = Activity(server, session), f"t{abs(hash(request.node.name)) % 10**12}"
        await activity.create(name)
        await activity.map(root=f"localhost:{target.port}")
        guest = await connect(activity, name, registered=True)
        guild = await guest.api("POST", "/guilds", {"name": "Guild", "system_channel_flags": 1})
        channel = await guest.api("POST", f"/guilds/{guild['id']}/channels", {"name": "x", "type": 0})
        await guest.launch(channel["id"])
        yield guest
        await guest.socket.close(code=1000)


async def ticket_of(guest: Guest) -> str:
    ticket: str = (await guest.api("POST", f"/applications/{guest.activity.id}/proxy-tickets", {}))["ticket"]
    return ticket


async def verified(guest: Guest, headers: Mapping[str, str]) -> dict[str, Any] | None:
    """The payload of a request, as the public documentation tells targets to verify it; None without the headers."""
    signature, timestamp, encoded = (headers.get(name) for name in (SIGNED[1], SIGNED[2], SIGNED[0]))
    if signature is None or timestamp is None or encoded is None:
        return None
    application = await guest.api("GET", f"/applications/{guest.activity.id}")
    payload = base64.b64decode(encoded)
    read: dict[str, Any] = json.loads(payload)
    key = nacl.signing.VerifyKey(bytes.fromhex(application["verify_key"]))
    key.verify(payload, base64.b64decode(signature))
    assert str(read["created_at"]) == timestamp
    assert read["expires_at"] > time.time()
    return read


async def test_targets_learn_who_makes_a_request_and_see_no_ticket(player: Guest, target: Target) -> None:
    activity, ticket = player.activity, await ticket_of(player)
    async with activity.request("GET", f"/?frame_id=1&discord_proxy_ticket={ticket}&x=2") as response:
        (cookie,) = [each for each in response.headers.getall("set-cookie") if "ticket" in each]
    assert cookie == (
        f"moothall_proxy_ticket={ticket}; Path=/; Max-Age={cookie.partition('Max-Age=')[2].partition(';')[0]}; "
        "HttpOnly; Secure; SameSite=None; Partitioned"
    )
    assert target.requests[-1].query_string == "frame_id=1&x=2"
    expected = {"application_id": activity.id, "user_id": player.id, "is_developer": True}
    stored = {"cookie": f"game=1; moothall_proxy_ticket={ticket}"}
    page = {"referer": f"{activity.origin}/?frame_id=1&discord_proxy_ticket={ticket}"}
    for headers in ({"sec-fetch-site": "same-origin", **stored}, {"origin": activity.origin, **stored}, page):
        async with activity.request("GET", "/api/score", headers=headers):
            pass
        sent = target.requests[-1].headers
        read = await verified(player, sent)
        assert read is not None
        assert expected.items() <= read.items()
        assert ticket not in str(target.requests[-1].raw_headers)
    async with activity.websocket("/socket", headers=stored) as socket:
        await socket.send_str("hi")
        await socket.receive_str()
    assert await verified(player, target.requests[-1].headers) is not None


async def test_pages_of_other_origins_do_not_act_as_the_user(player: Guest, target: Target) -> None:
    activity = player.activity
    stored = {"cookie": f"moothall_proxy_ticket={await ticket_of(player)}"}
    for headers in (
        {},
        {"sec-fetch-site": "cross-site"},
        {"sec-fetch-site": "same-site", "referer": "https://evil.example/"},
        {"origin": "https://evil.example"},
        {"origin": activity.server.url},
        {"referer": f"{activity.origin}.evil.example/"},
    ):
        async with activity.request("POST", "/", headers=stored | headers):
            assert await verified(player, target.requests[-1].headers) is None, headers


async def test_forged_and_foreign_tickets_say_nothing(player: Guest, server: RunningServer, target: Target) -> None:
    activity, ticket = player.activity, await ticket_of(player)
    payload, _, signature = ticket.partition(".")
    forged = json.loads(base64.urlsafe_b64decode(payload + "==")) | {"user_id": "1"}
    text = base64.urlsafe_b64encode(json.dumps(forged).encode()).rstrip(b"=").decode()
    other = Activity(server, activity.session)
    await other.create("othertickets")
    await other.map(root=f"localhost:{target.port}")
    for owner, wrong in ((activity, f"{text}.{signature}"), (activity, payload), (other, ticket)):
        async with owner.request("GET", f"/?discord_proxy_ticket={wrong}") as response:
            assert response.status == 200
            assert "ticket" not in str(response.headers)
        assert not {*SIGNED} & {name.lower() for name in target.requests[-1].headers}


def test_a_ticket_expires_and_is_of_one_application() -> None:
    key, now = nacl.signing.SigningKey.generate(), int(CLOCK.now())
    application_id = ApplicationId(Snowflake(1 << 60))
    payload = encode(ProxyTicket(application_id, UserId(Snowflake(7)), False, now, now + TICKET_SECONDS))
    text = SignedPayload(payload, key.sign(payload).signature).text()
    tickets = Tickets(ActivityOrigins("https://activities.example.com", "https://example.com"))
    scope = {"headers": [], "query_string": f"discord_proxy_ticket={text}".encode()}
    verify_key = key.verify_key.encode().hex()
    valid = tickets.in_query(scope, application_id, verify_key)
    assert valid is not None
    assert tickets.in_query(scope, ApplicationId(Snowflake(application_id + 1)), verify_key) is None
    assert tickets.cookie(valid)[1].startswith(b"__Host-moothall_proxy_ticket=")
    CLOCK.advance(TICKET_SECONDS)
    try:
        assert tickets.in_query(scope, application_id, verify_key) is None
    finally:
        CLOCK.reset()


async def test_only_the_proxy_signs(player: Guest, target: Target) -> None:
    made_up = dict.fromkeys(SIGNED, "AAAA")
    async with player.activity.request("GET", "/", headers=made_up):
        assert not {*SIGNED} & {name.lower() for name in target.requests[-1].headers}


async def test_the_client_stores_a_new_ticket_through_the_relay_page(player: Guest, target: Target) -> None:
    activity, ticket = player.activity, await ticket_of(player)
    before = len(target.requests)
    async with activity.request("GET", f"/.moothall/ticket?discord_proxy_ticket={ticket}") as response:
        assert response.status == 204
        assert response.headers["set-cookie"].startswith(f"moothall_proxy_ticket={ticket};")
    async with activity.request("GET", "/.moothall/ticket?discord_proxy_ticket=x.y") as response:
        assert response.status == 401
    assert len(target.requests) == before
