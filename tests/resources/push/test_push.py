"""Web Push notifies of direct messages and mentions: encrypted, signed, as users want it, and while they are away."""

import asyncio
import os
from collections.abc import AsyncIterator
from typing import Any

import http_ece
import jwt
import msgspec
import pytest
from aiohttp import web
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat
from sqlalchemy import delete, func, select

from moothall.objects.message_types import MessageFlags
from moothall.resources.push import sender as sender_module
from moothall.resources.push.encryption import VapidKey, decode_key, encode_key, new_private_key
from moothall.resources.push.operations import SUBSCRIPTIONS_MAX
from moothall.resources.push.sender import PushSender
from moothall.storage.database import Query
from moothall.storage.schema import push_subscriptions, tokens
from tests.resources.link_preview.sites import Site, running_site
from tests.resources.message.messaging import direct_messages, guild_of, member_of, say
from tests.support.harness import Caller, Guild, Platform
from tests.support.relationships import befriend

KEY = VapidKey(new_private_key(), "mailto:operator@moot.example")
URL = "/users/@me/push-subscriptions"


class Subscriber:
    """A browser: its keys, and what its push service has received, decrypted."""

    def __init__(self, path: str, url: str) -> None:
        self._private = ec.generate_private_key(ec.SECP256R1())
        self._auth = os.urandom(16)
        self.path = path
        self.status = 201
        self.received: list[dict[str, Any]] = []
        self.requests: list[web.Request] = []
        point = self._private.public_key().public_bytes(Encoding.X962, PublicFormat.UncompressedPoint)
        self.body = {"endpoint": url, "keys": {"p256dh": encode_key(point), "auth": encode_key(self._auth)}}

    async def answer(self, request: web.Request) -> web.Response:
        sealed = await request.read()
        opened = http_ece.decrypt(sealed, private_key=self._private, auth_secret=self._auth, version="aes128gcm")
        self.received.append(msgspec.json.decode(opened))
        self.requests.append(request)
        return web.Response(status=self.status)

    @property
    def bodies(self) -> list[str]:
        return [each["body"] for each in self.received]


@pytest.fixture
async def site(platform: Platform) -> AsyncIterator[Site]:
    async with running_site() as running:
        platform.allow_private_addresses()
        platform.services.resources.add(PushSender(platform.services, KEY))
        yield running


async def subscribed(site: Site, caller: Caller) -> Subscriber:
    """A browser that the caller has subscribed."""
    path = f"/push/{len(site.pages)}"
    browser = Subscriber(path, site.url + path)
    site.handle(path, browser.answer)
    reply = await caller.post(URL, browser.body)
    assert reply.status == 200, reply.json
    return browser


async def send(platform: Platform) -> None:
    """Send the notifications that wait."""
    await platform.services.resources[PushSender].drain()


async def test_a_direct_message_notifies_its_recipient_only(platform: Platform, site: Site) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    await befriend(alice, bob)
    hers, his = await subscribed(site, alice), await subscribed(site, bob)
    url = await direct_messages(alice, bob)
    sent = await say(alice, url, "hello **bob**")
    assert his.received == []
    await send(platform)
    channel_id = sent["channel_id"]
    expected = {
        "title": "alice", "body": "hello **bob**", "url": f"/channels/@me/{channel_id}/{sent['id']}", "tag": channel_id
    }  # fmt: skip
    assert (his.received, hers.received) == ([expected], [])


async def test_a_message_request_notifies_no_one_until_it_is_accepted(platform: Platform, site: Site) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    browser = await subscribed(site, bob)
    url = await direct_messages(alice, bob)
    await say(alice, url, "request")
    await send(platform)
    accepting = f"{url.removesuffix('/messages')}/recipients/@me"
    assert (await bob.put(accepting, {"consent_status": 2})).status == 200
    await say(alice, url, "accepted")
    await send(platform)
    assert browser.bodies == ["accepted"]


async def test_a_notification_is_signed_by_the_servers_key(platform: Platform, site: Site) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    await befriend(alice, bob)
    browser = await subscribed(site, bob)
    await say(alice, await direct_messages(alice, bob))
    await send(platform)
    (request,) = browser.requests
    scheme, token, key = request.headers["authorization"].replace(",", "").split()
    assert (scheme, key) == ("vapid", f"k={KEY.public_key}")
    public = ec.EllipticCurvePublicKey.from_encoded_point(ec.SECP256R1(), decode_key(KEY.public_key))
    claims = jwt.decode(token.removeprefix("t="), public, algorithms=["ES256"], audience=site.url)
    assert claims["sub"] == "mailto:operator@moot.example"
    assert (request.headers["content-encoding"], int(request.headers["ttl"]) > 0) == ("aes128gcm", True)
    state = (await bob.get(URL)).json
    assert state["public_key"] == KEY.public_key
    assert [(each["host"], each["current"]) for each in state["subscriptions"]] == [("127.0.0.1", True)]


async def test_mentions_notify_members_who_may_view_the_channel(platform: Platform, site: Site) -> None:
    owner, guild, url = await guild_of(platform)
    role = await guild.role()
    one, two, three = await member_of(platform, guild), await platform.person(), await member_of(platform, guild)
    await guild.join(two, roles=[role])
    stranger = await platform.person()
    browsers = [await subscribed(site, each) for each in (one, two, three, stranger)]
    await say(owner, url, "nobody is meant")
    await say(owner, url, f"one <@{one.id}> <@{stranger.id}>")
    await owner.patch(f"/guilds/{guild.id}/roles/{role}", {"mentionable": True})
    await say(owner, url, f"role <@&{role}>")
    await say(owner, url, "all @everyone")
    await send(platform)
    assert [[body.split()[0] for body in each.bodies] for each in browsers] == [
        ["one", "all"], ["role", "all"], ["all"], [],
    ]  # fmt: skip


async def test_a_hidden_channel_notifies_no_one_who_may_not_view_it(platform: Platform, site: Site) -> None:
    owner, guild, _ = await guild_of(platform)
    member = await member_of(platform, guild)
    browser = await subscribed(site, member)
    overwrite = {"id": str(int(guild.id)), "type": 0, "deny": str(1 << 10)}
    body = {"name": "hidden", "permission_overwrites": [overwrite]}
    hidden = (await owner.post(f"/guilds/{guild.id}/channels", body)).json["id"]
    await say(owner, f"/channels/{hidden}/messages", f"<@{member.id}> @everyone")
    await send(platform)
    assert browser.received == []


@pytest.mark.parametrize(
    ("settings", "bodies"),
    [
        ({"flags": 2}, ["one"]),
        ({"muted": True}, []),
        ({"flags": 8}, []),
        ({"muted": True, "mute_config": {"end_time": "2020-01-01T00:00:00+00:00"}}, ["one"]),
        ({"muted": True, "mute_config": {"end_time": "2100-01-01T00:00:00+00:00"}}, []),
    ],
)
async def test_a_muted_thread_notifies_no_one_who_muted_it(
    platform: Platform, site: Site, settings: dict[str, Any], bodies: list[str]
) -> None:
    owner, guild, _ = await guild_of(platform)
    member, other = await member_of(platform, guild), await member_of(platform, guild)
    browser, others = await subscribed(site, member), await subscribed(site, other)
    body = {"name": "moot", "type": 11}
    thread = (await owner.post(f"/channels/{guild.general}/threads", body)).json["id"]
    assert (await member.put(f"/channels/{thread}/thread-members/@me")).status == 204
    assert (await member.patch(f"/channels/{thread}/thread-members/@me/settings", settings)).status == 200
    await say(owner, f"/channels/{thread}/messages", f"one <@{member.id}> <@{other.id}>")
    await send(platform)
    assert [[text.split()[0] for text in each.bodies] for each in (browser, others)] == [bodies, ["one"]]


async def set_guild(caller: Caller, guild: Guild | None, **settings: Any) -> None:
    where = "@me" if guild is None else str(int(guild.id))
    reply = await caller.patch(f"/users/@me/guilds/{where}/settings", settings)
    assert reply.status == 200, reply.json


@pytest.mark.parametrize(
    ("settings", "bodies"),
    [
        ({}, ["u", "r", "e"]), ({"muted": True}, []), ({"mobile_push": False}, []), ({"message_notifications": 2}, []),
        ({"message_notifications": 1}, ["u", "r", "e"]), ({"suppress_everyone": True}, ["u", "r"]),
        ({"suppress_roles": True}, ["u", "e"]),
        ({"muted": True, "mute_config": {"end_time": "2020-01-01T00:00:00+00:00"}}, ["u", "r", "e"]),
        ({"channel_overrides": {"CHANNEL": {"muted": True}}}, []),
        ({"channel_overrides": {"CHANNEL": {"message_notifications": 2}}}, []),
        ({"message_notifications": 2, "channel_overrides": {"CHANNEL": {"message_notifications": 1}}}, ["u", "r", "e"]),
    ],
)  # fmt: skip
async def test_notification_settings_of_the_guild_decide(
    platform: Platform, site: Site, settings: dict[str, Any], bodies: list[str]
) -> None:
    owner, guild, url = await guild_of(platform)
    role = await guild.role(mentionable=True)
    member = await platform.person()
    await guild.join(member, roles=[role])
    browser = await subscribed(site, member)
    overrides = settings.get("channel_overrides")
    if overrides is not None:
        settings = settings | {"channel_overrides": {str(int(guild.general)): overrides["CHANNEL"]}}
    if settings:
        await set_guild(member, guild, **settings)
    for text in (f"u <@{member.id}>", f"r <@&{role}>", "e @everyone"):
        await say(owner, url, text)
    await send(platform)
    assert [body[0] for body in browser.bodies] == bodies


async def test_a_muted_direct_message_and_a_busy_user_are_left_alone(platform: Platform, site: Site) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    await befriend(alice, bob)
    browser = await subscribed(site, bob)
    url = await direct_messages(alice, bob)
    await set_guild(bob, None, channel_overrides={url.split("/")[2]: {"muted": True}})
    await say(alice, url, "muted")
    await send(platform)
    await set_guild(bob, None, channel_overrides={url.split("/")[2]: {"muted": False}})
    assert (await bob.patch("/users/@me/settings", {"status": "dnd"})).status == 200
    await say(alice, url, "busy")
    await send(platform)
    assert (await bob.patch("/users/@me/settings", {"status": "online"})).status == 200
    await say(alice, url, "silent", flags=int(MessageFlags.SUPPRESS_NOTIFICATIONS))
    await send(platform)
    platform.presences.connected.add(bob.id)
    await say(alice, url, "connected")
    await send(platform)
    platform.presences.connected.clear()
    await say(alice, url, "now")
    await send(platform)
    assert browser.bodies == ["now"]


async def test_blocked_authors_notify_no_one(platform: Platform, site: Site) -> None:
    owner, guild, url = await guild_of(platform)
    member = await member_of(platform, guild)
    browser = await subscribed(site, member)
    assert (await member.put(f"/users/@me/relationships/{owner.id}", {"type": 2})).status == 204
    await say(owner, url, f"<@{member.id}>")
    await send(platform)
    assert browser.received == []


@pytest.mark.parametrize("status", [404, 410])
async def test_a_subscription_that_its_service_has_ended_is_deleted(
    platform: Platform, site: Site, status: int
) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    await befriend(alice, bob)
    ended, works, failing = [await subscribed(site, bob) for _ in range(3)]
    ended.status, failing.status = status, 500
    url = await direct_messages(alice, bob)
    for _ in range(2):
        await say(alice, url)
        await send(platform)
    assert [len(each.received) for each in (ended, works, failing)] == [1, 2, 2]
    assert len((await bob.get(URL)).json["subscriptions"]) == 2


async def test_a_subscription_ends_with_its_login_or_by_its_owner(platform: Platform, site: Site) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    browser = await subscribed(site, bob)
    url = await direct_messages(alice, bob)
    (listed,) = (await bob.get(URL)).json["subscriptions"]
    assert (await alice.delete(f"{URL}/{listed['id']}")).status == 404
    assert (await bob.delete(f"{URL}/{listed['id']}")).status == 204
    assert (await bob.delete(f"{URL}/{listed['id']}")).status == 404
    other = await subscribed(site, bob)
    async with platform.database.transaction() as tx:
        await tx.execute(Query(delete(tokens).where(tokens.c.user_id == bob.id)))
    await say(alice, url)
    await send(platform)
    assert (browser.received, other.received) == ([], [])


async def test_a_browser_has_one_subscription_and_a_user_a_few(platform: Platform, site: Site) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    shared = await subscribed(site, alice)
    assert (await bob.post(URL, shared.body)).status == 200
    assert (await alice.get(URL)).json["subscriptions"] == []
    for _ in range(SUBSCRIPTIONS_MAX):
        await subscribed(site, bob)
    async with platform.database.read() as reader:
        assert await reader.scalar(Query(select(func.count()).select_from(push_subscriptions))) == SUBSCRIPTIONS_MAX


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"endpoint": "ftp://push.example/1"}, "endpoint"), ({"endpoint": "http://u:p@push.example/"}, "endpoint"),
        ({"endpoint": "x" * 3000}, "endpoint"), ({"keys": {"p256dh": "AAAA", "auth": "AAAA"}}, "keys"),
        ({"keys": {"p256dh": "!", "auth": "!"}}, "keys"),
    ],
)  # fmt: skip
async def test_a_subscription_that_is_none_is_refused(
    platform: Platform, site: Site, changes: dict[str, Any], field: str
) -> None:
    alice = await platform.person("alice")
    reply = await alice.post(URL, {**Subscriber("/x", site.url).body, **changes})
    assert (reply.status, bool(reply.errors_at(field))) == (400, True), reply.json


async def test_a_push_service_that_does_not_answer_holds_up_its_own_user_only(
    platform: Platform, site: Site, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sender_module, "_DELIVERIES_EACH", 5)
    platform.services.resources.add(PushSender(platform.services, KEY))
    alice, bob, carol = [await platform.person(name) for name in ("alice", "bob", "carol")]
    with_bob, with_carol = await direct_messages(alice, bob), await direct_messages(alice, carol)
    await befriend(alice, bob)
    await befriend(alice, carol)
    silent, browser = await subscribed(site, bob), await subscribed(site, carol)
    released = asyncio.Event()

    async def answer(request: web.Request) -> web.Response:
        await released.wait()
        return await silent.answer(request)

    site.handle(silent.path, answer)
    for number in range(8):
        await say(alice, with_bob, f"to bob {number}")
    await say(alice, with_carol, "to carol")
    sending = asyncio.create_task(send(platform))
    async with asyncio.timeout(5):
        while not browser.received:  # noqa: ASYNC110 there is no event
            await asyncio.sleep(0.01)
    assert silent.received == []
    released.set()
    await sending
    assert silent.bodies == [f"to bob {number}" for number in range(5)]
    assert browser.bodies == ["to carol"]


async def test_private_addresses_are_refused(platform: Platform, site: Site) -> None:
    platform.allow_private_addresses(False)
    alice = await platform.person("alice")
    for endpoint in (site.url, "https://127.0.0.1/x", "https://localhost/x", "http://push.example/x"):
        assert (await alice.post(URL, {**Subscriber("/x", endpoint).body})).errors_at("endpoint")


async def test_without_a_key_there_is_no_push(platform: Platform) -> None:
    alice = await platform.person("alice")
    assert (await alice.get(URL)).json == {"public_key": None, "subscriptions": []}
    assert (await alice.post(URL, Subscriber("/x", "https://push.example/x").body)).status == 404
