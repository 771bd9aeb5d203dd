"""READY, GUILD_CREATE and member chunks from a database, on both engines."""

from typing import Any

import pytest
from sqlalchemy import bindparam, insert, update

from moothall.gateway.settings import GatewaySettings
from moothall.objects.intents import ALL, Intent
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import channel_activity, members, thread_members, voice_states
from tests.gateway.peer import Peer
from tests.support.gateway_nodes import ACTIVE, greeted, node_over
from tests.support.harness import VOICE, Guild, Platform

VIEW = int(Permissions.VIEW_CHANNEL)
FLAGS = 1 << 13 | 1 << 15 | 1 << 19

_write_activity = Query(insert(channel_activity))
_write_thread_member = Query(insert(thread_members))
_write_voice = Query(insert(voice_states))
_mute = Query(update(members).where(members.c.user_id == bindparam("who")).values(mute=True))


async def test_ready_has_the_user_and_the_application(platform: Platform) -> None:
    alice = await platform.person("alice", email="alice@example.org")
    bot = await platform.bot(alice, flags=FLAGS)
    guild = await platform.guild(alice)
    await guild.join(bot)
    node = node_over(platform)
    ready, _, _ = await greeted(node, alice)
    user = ready["user"]
    assert (user["id"], user["username"], user["discriminator"]) == (str(alice.id), "alice", "0")
    assert user["email"] == "alice@example.org"
    assert {"mfa_enabled", "flags", "locale", "verified"} <= user.keys()
    assert "application" not in ready
    ready, _, _ = await greeted(node, bot, intents=ALL)
    assert ready["application"] == {"id": str(bot.application_id), "flags": FLAGS, "flags_new": str(FLAGS)}
    assert ready["user"]["bot"] is True
    assert ready["guilds"] == [{"id": str(guild.id), "unavailable": True}]


async def test_guild_create_has_what_the_public_documentation_lists(platform: Platform) -> None:
    alice = await platform.person("alice")
    guild = await platform.guild(alice)
    hidden = await guild.channel(name="hidden", overwrites=[(guild.id, 0, 0, VIEW)])
    bob = await guild.member_with(0, name="bob")
    async with platform.database.transaction() as tx:
        await tx.execute(_write_activity, channel_id=guild.general, last_message_id=7)
    node = node_over(platform)
    _, created, peer = await greeted(node, bob)
    assert {
        "id", "name", "icon", "owner_id", "roles", "emojis", "stickers", "features", "mfa_level", "system_channel_id",
        "verification_level", "preferred_locale", "premium_tier", "nsfw_level", "afk_timeout", "joined_at", "large",
        "unavailable", "member_count", "voice_states", "members", "channels", "threads", "presences",
        "stage_instances", "guild_scheduled_events", "soundboard_sounds",
    } <= created.keys()  # fmt: skip
    assert (created["member_count"], created["large"], created["unavailable"]) == (2, False, False)
    assert created["joined_at"].endswith("+00:00")
    assert [(c["id"], c["last_message_id"]) for c in created["channels"]] == [(str(guild.general), "7")]
    assert sorted(m["user"]["username"] for m in created["members"]) == ["alice", "bob"]
    assert [p["user"]["id"] for p in created["presences"]] == [str(bob.id)]
    _, created, _ = await greeted(node, alice)
    assert sorted(c["id"] for c in created["channels"]) == [str(guild.general), str(hidden)]
    assert len(created["presences"]) == 2
    assert await peer.names() == ["PRESENCE_UPDATE", "PRESENCE_UPDATE"]


async def test_the_members_in_guild_create_depend_on_presences_size_and_voice(platform: Platform) -> None:
    alice = await platform.person("alice")
    guild = await platform.guild(alice)
    people = [await platform.person(f"extra{n}") for n in range(60)]
    await guild.join(*people)
    lounge = await guild.channel(type=VOICE, name="lounge")
    bot = await platform.bot(alice, flags=FLAGS)
    await guild.join(bot)
    async with platform.database.transaction() as tx:
        await tx.execute(
            _write_voice, guild_id=guild.id, user_id=people[0].id, channel_id=lounge, session_id="s", self_mute=True
        )
        await tx.execute(_mute, who=people[0].id)
    node = node_over(platform)
    _, few, _ = await greeted(node, bot, intents=Intent.GUILDS)
    assert [m["user"]["id"] for m in few["members"]] == sorted([str(people[0].id), str(bot.id)], key=int)
    assert few["large"] is True
    assert few["member_count"] == 62
    (state,) = few["voice_states"]
    assert (state["user_id"], state["channel_id"], state["mute"], state["self_mute"]) == (
        str(people[0].id),
        str(lounge),
        True,
        True,
    )
    assert "guild_id" not in state
    online, _, _ = await greeted(node, people[5])
    del online
    _, some, _ = await greeted(node, bot, intents=ALL)
    assert len(some["members"]) == 3
    _, everyone, _ = await greeted(node, bot, intents=ALL, large_threshold=250)
    assert len(everyone["members"]) == 62
    assert everyone["large"] is False


async def test_guild_create_lists_the_active_threads_that_the_member_can_reach(platform: Platform) -> None:
    alice = await platform.person("alice")
    guild = await platform.guild(alice)
    bob = await guild.member_with(0, name="bob")
    common: dict[str, Any] = {"parent_id": guild.general, "owner_id": alice.id, "thread_metadata": ACTIVE}
    public = await guild.channel(type=11, name="public", **common)
    joined = await guild.channel(type=12, name="joined", **common)
    await guild.channel(type=12, name="private", **common)
    await guild.channel(type=11, name="old", **common | {"thread_metadata": ACTIVE | {"archived": True}})
    async with platform.database.transaction() as tx:
        await tx.execute(
            _write_thread_member, thread_id=joined, user_id=bob.id, join_timestamp=Timestamp.now(), flags=1
        )
    node = node_over(platform)
    _, created, _ = await greeted(node, bob)
    assert {t["id"] for t in created["threads"]} == {str(public), str(joined)}
    assert [t["member"]["flags"] for t in created["threads"] if t["id"] == str(joined)] == [1]
    assert [c["id"] for c in created["channels"]] == [str(guild.general)]
    _, created, _ = await greeted(node, alice)
    assert len(created["threads"]) == 3


async def test_members_are_requested_as_a_whole_by_prefix_and_by_id(platform: Platform) -> None:
    alice = await platform.person("alice")
    guild = await platform.guild(alice)
    people = [await platform.person(f"Person_{n:03}") for n in range(120)]
    await guild.join(*people)
    _, _, peer = await greeted(node_over(platform), alice, large_threshold=250)
    await peer.receive_all()
    peer.send({"op": 8, "d": {"guild_id": int(guild.id), "query": "", "limit": 0}})
    chunk = (await peer.receive())["d"]
    assert (chunk["chunk_index"], chunk["chunk_count"]) == (0, 1)
    assert {m["user"]["id"] for m in chunk["members"]} == {str(p.id) for p in (alice, *people)}
    peer.send({"op": 8, "d": {"guild_id": str(guild.id), "query": "person_01", "limit": 5}})
    chunk = (await peer.receive())["d"]
    assert sorted(m["user"]["username"] for m in chunk["members"]) == [f"Person_01{n}" for n in range(5)]
    peer.send({"op": 8, "d": {"guild_id": str(guild.id), "user_ids": [str(people[3].id), "5"], "limit": 0}})
    chunk = (await peer.receive())["d"]
    assert ([m["user"]["username"] for m in chunk["members"]], chunk["not_found"]) == (["Person_003"], ["5"])


@pytest.mark.parametrize("token", ["", "nonsense", "Bearer x"])
async def test_a_token_that_opens_no_session_is_4004(platform: Platform, token: str) -> None:
    peer = Peer(node_over(platform))
    peer.send({"op": 2, "d": {"token": token, "properties": {}}})
    assert await peer.close_code() == 4004


async def test_a_change_over_http_is_dispatched(platform: Platform) -> None:
    alice = await platform.person("alice")
    guild: Guild = await platform.guild(alice)
    bob = await guild.member_with(0, name="bob")
    node = node_over(platform)
    _, _, peer = await greeted(node, bob)
    await peer.receive_all()
    secret = await alice.post(
        f"/guilds/{guild.id}/channels",
        {"name": "secret", "permission_overwrites": [{"id": str(guild.id), "type": 0, "deny": str(VIEW)}]},
    )
    assert secret.status == 201
    assert await peer.names() == []
    shown = await alice.put(f"/channels/{secret.json['id']}/permissions/{bob.id}", {"type": 1, "allow": str(VIEW)})
    assert shown.status == 204
    ((name, data),) = await peer.dispatches()
    assert (name, data["name"]) == ("CHANNEL_CREATE", "secret")


async def test_a_role_reveals_and_hides_channels_to_a_member_with_an_overwrite_too(platform: Platform) -> None:
    guild = await platform.guild(await platform.person("alice"))
    bob = await guild.member_with(0, name="bob")
    crew = await guild.role(name="crew", position=1)
    await guild.channel(name="own", overwrites=[(guild.id, 0, 0, VIEW), (bob.id, 1, VIEW, 0)])
    deck = await guild.channel(name="deck", overwrites=[(guild.id, 0, 0, VIEW), (crew, 0, VIEW, 0)])
    _, created, peer = await greeted(node_over(platform), bob)
    assert len(created["channels"]) == 2
    await peer.receive_all()
    assert (await guild.owner.put(f"/guilds/{guild.id}/members/{bob.id}/roles/{crew}")).status == 204
    heard = [await peer.receive() for _ in range(2)]
    assert [(payload["t"], payload["d"].get("id")) for payload in heard] == [
        ("GUILD_MEMBER_UPDATE", None),
        ("CHANNEL_CREATE", str(deck)),
    ]
    assert (await guild.owner.delete(f"/guilds/{guild.id}/members/{bob.id}/roles/{crew}")).status == 204
    assert [(await peer.receive())["t"] for _ in range(2)] == ["GUILD_MEMBER_UPDATE", "CHANNEL_DELETE"]


async def test_a_revealed_channel_comes_with_its_threads_and_voice_states(platform: Platform) -> None:
    alice = await platform.person("alice")
    guild = await platform.guild(alice)
    bob = await guild.member_with(0, name="bob")
    crew = await guild.role(name="crew")
    hidden = [(guild.id, 0, 0, VIEW), (crew, 0, VIEW, 0)]
    deck = await guild.channel(name="deck", overwrites=hidden)
    bridge = await guild.channel(type=VOICE, name="bridge", overwrites=hidden)
    values: dict[str, Any] = {"parent_id": deck, "owner_id": alice.id, "thread_metadata": ACTIVE}
    public = await guild.channel(type=11, name="public", **values)
    await guild.channel(type=12, name="private", **values)
    async with platform.database.transaction() as tx:
        await tx.execute(_write_voice, guild_id=guild.id, user_id=alice.id, channel_id=bridge, session_id="s")
    _, created, peer = await greeted(node_over(platform), bob)
    assert (created["threads"], created["voice_states"]) == ([], [])
    await peer.receive_all()
    assert (await alice.put(f"/guilds/{guild.id}/members/{bob.id}/roles/{crew}")).status == 204
    heard = [await peer.receive() for _ in range(5)]
    assert [payload["t"] for payload in heard] == [
        "GUILD_MEMBER_UPDATE",
        "CHANNEL_CREATE",
        "CHANNEL_CREATE",
        "THREAD_LIST_SYNC",
        "VOICE_STATE_UPDATE",
    ]
    synced, state = heard[3]["d"], heard[4]["d"]
    assert ([t["id"] for t in synced["threads"]], synced["channel_ids"]) == ([str(public)], [str(deck)])
    assert (state["user_id"], state["channel_id"], state["member"]["user"]["id"]) == (
        str(alice.id),
        str(bridge),
        str(alice.id),
    )


async def test_without_a_public_url_the_gateway_url_has_the_host_of_the_request(platform: Platform) -> None:
    bot = await platform.bot(await platform.person())
    platform.gateway.settings = GatewaySettings(public_url_is_guessed=True)
    for path in ("/gateway", "/gateway/bot"):
        for host, url in (("moot.lan:3333", "ws://moot.lan:3333/gateway"), ("a b", GatewaySettings().public_url)):
            assert (await bot.get(path, headers=[("host", host)])).json["url"] == url
