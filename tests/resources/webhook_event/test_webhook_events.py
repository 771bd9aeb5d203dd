"""Webhook events: settings, signed requests, attempts and their end."""

from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import pytest
from aiohttp import web
from nacl.exceptions import BadSignatureError
from nacl.signing import VerifyKey

from moothall.objects.wire import Timestamp
from moothall.resources.webhook_event.sender import MAX_FAILURES, RETRY_MS, WebhookEventSender
from tests.oauth2.flow import App, application, consent
from tests.support.harness import Platform

ALL = ["APPLICATION_AUTHORIZED", "APPLICATION_DEAUTHORIZED", "ENTITLEMENT_CREATE", "ENTITLEMENT_UPDATE",
       "ENTITLEMENT_DELETE"]  # fmt: skip


class Receiver:
    """A server that verifies signatures and records what it receives."""

    def __init__(self, verify_key: str) -> None:
        self.key = VerifyKey(bytes.fromhex(verify_key))
        self.status = 204
        self.checks = True
        self.received: list[Any] = []
        self.url = ""
        self.stop: Callable[[], Awaitable[None]]

    async def answer(self, request: web.Request) -> web.Response:
        body = await request.read()
        signed = request.headers["X-Signature-Timestamp"].encode() + body
        try:
            self.key.verify(signed, bytes.fromhex(request.headers["X-Signature-Ed25519"]))
        except BadSignatureError:
            if self.checks:
                return web.Response(status=401)
        self.received.append(await request.json())
        return web.Response(status=self.status)

    def events(self) -> list[Any]:
        return [each["event"] for each in self.received if each["type"] == 1]


@asynccontextmanager
async def receiver(verify_key: str) -> AsyncIterator[Receiver]:
    server = Receiver(verify_key)
    app = web.Application()
    app.router.add_post("/events", server.answer)
    runner = web.AppRunner(app)
    await runner.setup()
    site = web.TCPSite(runner, "127.0.0.1", 0)
    await site.start()
    server.url = f"http://127.0.0.1:{runner.addresses[0][1]}/events"
    server.stop = site.stop
    try:
        yield server
    finally:
        await runner.cleanup()


@pytest.fixture
async def app(platform: Platform) -> App:
    platform.allow_private_addresses()
    return await application(platform)


@pytest.fixture
async def server(app: App) -> AsyncIterator[Receiver]:
    key = (await app.owner.get(f"/applications/{app.id}")).json["verify_key"]
    async with receiver(key) as running:
        yield running


async def subscribe(app: App, server: Receiver, *types: str) -> None:
    body = {"event_webhooks_url": server.url, "event_webhooks_status": 2, "event_webhooks_types": list(types or ALL)}
    reply = await app.bot.patch("/applications/@me", body)
    assert reply.status == 200, reply.json
    server.received.clear()


async def settings(app: App) -> tuple[Any, ...]:
    made = (await app.bot.get("/applications/@me")).json
    return tuple(made[f"event_webhooks_{name}"] for name in ("url", "status", "types"))


async def send(platform: Platform, *, later: int = 0) -> None:
    """Send what is due, or will be after some milliseconds."""
    await platform.services.resources[WebhookEventSender].drain(Timestamp(Timestamp.now() + later))


async def test_a_url_is_stored_once_it_has_acknowledged_a_signed_ping(app: App, server: Receiver) -> None:
    body = {"event_webhooks_url": server.url, "event_webhooks_status": 2, "event_webhooks_types": ALL[:2]}
    reply = await app.owner.patch(f"/applications/{app.id}", body)
    assert {name: reply.json[name] for name in body} == body
    assert server.received == [{"version": 1, "application_id": app.id, "type": 0}]
    # What does not change is not verified again.
    assert (await app.bot.patch("/applications/@me", {**body, "description": "x"})).status == 200
    assert len(server.received) == 1
    assert (await app.bot.patch("/applications/@me", {"event_webhooks_status": 1})).status == 200
    assert (await app.bot.patch("/applications/@me", {"event_webhooks_status": 2})).status == 200
    assert len(server.received) == 2
    assert (await app.bot.patch("/applications/@me", {"event_webhooks_url": None})).status == 200
    assert await settings(app) == (None, 1, ALL[:2])


@pytest.mark.parametrize("how", ["status", "signature", "closed"])
async def test_a_url_that_fails_verification_is_refused_and_nothing_changes(
    app: App, server: Receiver, how: str
) -> None:
    if how == "status":
        server.status = 200
    elif how == "signature":
        server.checks = False
    else:
        await server.stop()
    body = {"event_webhooks_url": server.url, "event_webhooks_types": ALL, "description": "new"}
    reply = await app.bot.patch("/applications/@me", body)
    assert (reply.status, reply.errors_at("event_webhooks_url")) == (400, ["APPLICATION_EVENT_WEBHOOKS_URL_INVALID"])
    assert await settings(app) == (None, 1, [])
    assert (await app.bot.get("/applications/@me")).json["description"] == ""


async def test_a_private_address_is_not_requested(platform: Platform, app: App, server: Receiver) -> None:
    platform.allow_private_addresses(False)
    reply = await app.bot.patch("/applications/@me", {"event_webhooks_url": server.url})
    assert reply.errors_at("event_webhooks_url") == ["APPLICATION_EVENT_WEBHOOKS_URL_INVALID"]
    assert server.received == []


@pytest.mark.parametrize(
    ("field", "value", "at"),
    [
        ("event_webhooks_url", "ftp://x.example", ""), ("event_webhooks_url", 5, ""), ("event_webhooks_status", 2, ""),
        ("event_webhooks_status", 3, ""), ("event_webhooks_types", ["TYPING_START"], ".0"),
        ("event_webhooks_types", [ALL[0], ALL[0]], ".1"), ("event_webhooks_types", "x", ""),
    ],
)  # fmt: skip
async def test_settings_that_do_not_fit_are_refused(app: App, field: str, value: object, at: str) -> None:
    reply = await app.bot.patch("/applications/@me", {field: value})
    assert (reply.status, bool(reply.errors_at(field + at))) == (400, True), reply.json
    assert await settings(app) == (None, 1, [])
    if field == "event_webhooks_url":
        body = {"name": "Other", field: "https://ok.example"}
        assert (await app.owner.post("/applications", body)).errors_at(field)


async def test_consents_and_their_end_are_sent(platform: Platform, app: App, server: Receiver) -> None:
    await subscribe(app, server)
    user = await platform.person("bob")
    guild = await platform.guild(user)
    assert (await consent(user, app, "identify")).status == 200
    plain: dict[str, Any] = {"response_type": None, "redirect_uri": None}
    body = {"guild_id": str(guild.id), "permissions": "0"}
    assert (await consent(user, app, "bot applications.commands", body, **plain)).status == 200
    assert (await consent(user, app, "applications.commands", integration_type="1", **plain)).status == 200
    assert server.received == []
    await send(platform)
    events = sorted(server.events(), key=lambda event: event["timestamp"])
    assert [event["type"] for event in events] == ["APPLICATION_AUTHORIZED"] * 3
    assert [event["data"].get("integration_type") for event in events] == [None, 0, 1]
    assert [event["data"]["scopes"] for event in events] == [
        ["identify"],
        ["bot", "applications.commands"],
        ["applications.commands"],
    ]
    assert {event["data"]["user"]["id"] for event in events} == {str(int(user.id))}
    assert ["guild" in event["data"] for event in events] == [False, True, False]
    assert events[1]["data"]["guild"]["id"] == str(int(guild.id))
    assert {(each["version"], each["application_id"]) for each in server.received} == {(1, app.id)}
    (authorization,) = (await user.get("/oauth2/tokens")).json
    assert (await user.delete(f"/oauth2/tokens/{authorization['id']}")).status == 204
    await send(platform)
    assert [(each["type"], each["data"]["user"]["username"]) for each in server.events()[3:]] == [
        ("APPLICATION_DEAUTHORIZED", "bob")
    ]


async def granted(platform: Platform, app: App) -> Any:
    """A new entitlement to a consumable SKU."""
    sku = (await app.owner.post("/store/skus", {"application_id": app.id, "type": 3, "name": "Potion"})).json
    user = await platform.person()
    body = {"sku_id": sku["id"], "owner_id": str(int(user.id)), "owner_type": 2}
    return (await app.bot.post(f"/applications/{app.id}/entitlements", body)).json


async def test_changes_of_entitlements_are_sent(platform: Platform, app: App, server: Receiver) -> None:
    await subscribe(app, server)
    entitlement = await granted(platform, app)
    path = f"/applications/{app.id}/entitlements/{entitlement['id']}"
    await app.bot.post(f"{path}/consume")
    await app.bot.delete(path)
    await send(platform)
    events = {event["type"]: event["data"] for event in server.events()}
    assert set(events) == {"ENTITLEMENT_CREATE", "ENTITLEMENT_UPDATE", "ENTITLEMENT_DELETE"}
    assert events["ENTITLEMENT_CREATE"] == entitlement
    assert events["ENTITLEMENT_UPDATE"] == {**entitlement, "consumed": True}
    assert events["ENTITLEMENT_DELETE"]["deleted"] is True
    await send(platform, later=RETRY_MS)
    assert len(server.events()) == 3


async def test_only_events_that_the_application_subscribes_to_are_sent(
    platform: Platform, app: App, server: Receiver
) -> None:
    await subscribe(app, server, "ENTITLEMENT_DELETE")
    await granted(platform, app)
    await consent(await platform.person(), app, "identify")
    await send(platform)
    assert server.events() == []
    await subscribe(app, server, *ALL)
    await granted(platform, app)
    # An event whose receiver is gone before it is sent is dropped.
    await app.bot.patch("/applications/@me", {"event_webhooks_status": 1})
    await send(platform)
    await app.bot.patch("/applications/@me", {"event_webhooks_status": 2})
    await send(platform, later=RETRY_MS)
    assert server.events() == []


async def test_a_refused_change_sends_nothing(platform: Platform, app: App, server: Receiver) -> None:
    await subscribe(app, server)
    path = f"/applications/{app.id}/entitlements"
    body = {"sku_id": "1", "owner_id": str(int(app.owner.id)), "owner_type": 2}
    assert (await app.bot.post(path, body)).status == 404
    await send(platform)
    assert server.events() == []


async def test_an_event_that_is_not_acknowledged_is_sent_again_for_ten_minutes(
    platform: Platform, app: App, server: Receiver
) -> None:
    await subscribe(app, server)
    server.status = 500
    await granted(platform, app)
    later, counts = 0, []
    for seconds in (0, 1, 7, 20, 50, 110, 230, 470, 600, 1200, 3600):
        later = seconds * 1000
        await send(platform, later=later)
        counts.append(len(server.events()))
    assert counts[:3] == [1, 1, 2]
    assert counts[-1] == counts[-3] <= 8
    server.status = 204
    await send(platform, later=2 * 3_600_000)
    assert len(server.events()) == counts[-1]
    # Another one is sent as ever.
    await granted(platform, app)
    await send(platform)
    assert len(server.events()) == counts[-1] + 1
    assert (await settings(app))[1] == 2


async def test_an_application_that_acknowledges_nothing_gets_no_more(
    platform: Platform, app: App, server: Receiver
) -> None:
    await subscribe(app, server)
    server.status = 400
    for number in range(MAX_FAILURES):
        assert (await settings(app))[1] == 2, number
        await granted(platform, app)
        await send(platform, later=RETRY_MS)
    assert await settings(app) == (server.url, 3, ALL)
    count = len(server.received)
    await granted(platform, app)
    await send(platform, later=RETRY_MS)
    assert len(server.received) == count
    server.status = 204
    await subscribe(app, server)
    await granted(platform, app)
    await send(platform)
    assert len(server.events()) == 1


async def test_an_acknowledged_event_forgives_those_before(platform: Platform, app: App, server: Receiver) -> None:
    await subscribe(app, server)
    for status in (*[500] * (MAX_FAILURES - 1), 204, *[500] * (MAX_FAILURES - 1)):
        server.status = status
        await granted(platform, app)
        await send(platform, later=RETRY_MS)
    assert (await settings(app))[1] == 2


async def test_a_slow_application_delays_no_other(platform: Platform, app: App, server: Receiver) -> None:
    await subscribe(app, server)
    other = await application(platform)
    key = (await other.owner.get(f"/applications/{other.id}")).json["verify_key"]
    async with receiver(key) as quick:
        await subscribe(other, quick)
        for _ in range(7):
            await granted(platform, app)
        await granted(platform, other)
        sender = platform.services.resources[WebhookEventSender]
        assert await sender._start_due(Timestamp.now())
        assert sender._in_flight == {int(app.id): 5, int(other.id): 1}
        await send(platform)
        assert (len(server.events()), len(quick.events())) == (7, 1)


async def test_events_of_a_deleted_application_are_deleted(platform: Platform, app: App, server: Receiver) -> None:
    await subscribe(app, server)
    await granted(platform, app)
    assert (await app.owner.delete(f"/applications/{app.id}")).status == 204
    await send(platform, later=RETRY_MS)
    assert server.events() == []
