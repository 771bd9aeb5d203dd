"""Member lists by subscription: a client that applies their operations has what a new subscriber is sent."""

import asyncio
import random
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

import moothall.gateway.member_lists.lists as lists_module
from moothall.gateway.member_lists.list_ids import murmur3_32
from moothall.gateway.node import GatewayNode
from moothall.objects.permissions import Permissions
from moothall.storage.database import StorageUnavailable
from tests.gateway.list_mirror import ListMirror
from tests.gateway.peer import Peer
from tests.support.gateway_nodes import node_over
from tests.support.harness import Caller, Guild, Platform

VIEW = int(Permissions.VIEW_CHANNEL)


class Watcher:
    """A client that is connected and mirrors lists."""

    def __init__(self, node: GatewayNode, caller: Caller) -> None:
        self.peer = Peer(node)
        self.caller = caller
        self.lists = ListMirror()

    async def connect(self, **fields: Any) -> "Watcher":
        await self.peer.identify(self.caller.token, **fields)
        await self.read()
        return self

    def subscribe(self, guild: Guild, channels: dict[Any, list[list[int]]], *, opcode: int = 14) -> None:
        named = {"channels": {str(channel_id): ranges for channel_id, ranges in channels.items()}}
        data = {"guild_id": str(guild.id), **named} if opcode == 14 else {"subscriptions": {str(guild.id): named}}
        self.peer.send({"op": opcode, "d": data})

    async def read(self) -> list[str]:
        """Apply what has arrived; the names of the events."""
        dispatches = await self.peer.dispatches()
        for name, data in dispatches:
            if name == "GUILD_MEMBER_LIST_UPDATE":
                self.lists.apply(data)
        return [name for name, _ in dispatches]

    async def wait_for(self, is_met: Callable[[], bool]) -> None:
        """Apply what arrives until a condition is met."""
        async with asyncio.timeout(10):
            while not is_met():
                await asyncio.sleep(0.01)
                await self.read()


@pytest.fixture(autouse=True)
def short_delay(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lists_module, "_DELAY", 0.005)


@pytest.fixture
async def node(platform: Platform) -> AsyncIterator[GatewayNode]:
    made = node_over(platform, commands_per_minute=0)
    yield made
    await made.close()


async def test_a_client_that_opens_a_channel_is_sent_its_members_by_group(
    platform: Platform, node: GatewayNode
) -> None:
    owner, zoe, bob, amy = [await platform.person(name) for name in ("owner", "zoe", "bob", "amy")]
    guild = await platform.guild(owner)
    captain = await guild.role(name="Captain", hoist=True)
    await guild.join(zoe, amy)
    await guild.join(bob, roles=[captain])
    watcher = await Watcher(node, owner).connect()
    await Watcher(node, zoe).connect()
    await Watcher(node, bob).connect(presence={"status": "dnd", "activities": [], "since": 0, "afk": False})
    watcher.subscribe(guild, {guild.general: [[0, 99]]})
    expected = [f"[{captain}]", "bob dnd", "[online]", "owner online", "zoe online", "[offline]", "amy offline"]
    await watcher.wait_for(lambda: watcher.lists.shown() == expected)
    assert watcher.lists.summaries["everyone"] == (4, 3, {str(captain): 1, "online": 2, "offline": 1})


async def test_changes_of_members_are_operations(platform: Platform, node: GatewayNode) -> None:
    owner, zoe, bob = [await platform.person(name) for name in ("owner", "zoe", "bob")]
    guild = await platform.guild(owner)
    await guild.join(zoe)
    watcher = await Watcher(node, owner).connect()
    watcher.subscribe(guild, {guild.general: [[0, 99]]}, opcode=37)
    await watcher.wait_for(lambda: bool(watcher.lists.rows))
    watcher.lists.ops.clear()
    other = await Watcher(node, zoe).connect()
    await watcher.wait_for(lambda: "zoe online" in watcher.lists.shown())
    assert watcher.lists.shown() == ["[online]", "owner online", "zoe online"]
    assert sorted(watcher.lists.ops) == ["DELETE", "UPDATE"], "the heading goes with its last member"
    assert (await owner.patch(f"/guilds/{guild.id}/members/{zoe.id}", {"nick": "Aaron"})).status == 200
    await watcher.wait_for(lambda: "Aaron online" in watcher.lists.shown())
    assert watcher.lists.shown() == ["[online]", "Aaron online", "owner online"]
    watcher.lists.ops.clear()
    other.peer.send({"op": 3, "d": {"status": "idle", "activities": [], "since": 0, "afk": False}})
    await watcher.wait_for(lambda: "Aaron idle" in watcher.lists.shown())
    assert watcher.lists.ops == ["UPDATE"]
    role = (await owner.post(f"/guilds/{guild.id}/roles", {"name": "Elder", "hoist": True})).json["id"]
    assert (await owner.put(f"/guilds/{guild.id}/members/{zoe.id}/roles/{role}")).status == 204
    await watcher.wait_for(lambda: f"[{role}]" in watcher.lists.shown())
    assert watcher.lists.shown() == [f"[{role}]", "Aaron idle", "[online]", "owner online"]
    assert (await owner.delete(f"/guilds/{guild.id}/roles/{role}")).status == 204
    await watcher.wait_for(lambda: f"[{role}]" not in watcher.lists.shown())
    code = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    assert (await bob.post(f"/invites/{code}")).status == 200
    await watcher.wait_for(lambda: "bob offline" in watcher.lists.shown())
    assert (await zoe.delete(f"/users/@me/guilds/{guild.id}")).status == 204
    await watcher.wait_for(lambda: "Aaron idle" not in watcher.lists.shown())
    assert watcher.lists.shown() == ["[online]", "owner online", "[offline]", "bob offline"]
    assert watcher.lists.summaries["everyone"] == (2, 1, {"online": 1, "offline": 1})


async def test_a_list_has_only_those_who_may_view_the_channel_and_moves_with_its_overwrites(
    platform: Platform, node: GatewayNode
) -> None:
    owner, zoe, bob = [await platform.person(name) for name in ("owner", "zoe", "bob")]
    guild = await platform.guild(owner)
    captain = await guild.role(name="Captain")
    await guild.join(zoe, roles=[captain])
    await guild.join(bob)
    crypt = await guild.channel(name="crypt", overwrites=[(guild.id, 0, 0, VIEW), (captain, 0, VIEW, 0)])
    hidden = str(murmur3_32(f"allow:{captain},deny:{guild.id}".encode()))
    watcher, outsider = await Watcher(node, owner).connect(), await Watcher(node, bob).connect()
    watcher.subscribe(guild, {crypt: [[0, 99]]})
    outsider.subscribe(guild, {crypt: [[0, 99]], guild.general: [[0, 99]]})
    await watcher.wait_for(lambda: hidden in watcher.lists.rows)
    assert watcher.lists.shown(hidden) == ["[online]", "owner online", "[offline]", "zoe offline"]
    await outsider.wait_for(lambda: "everyone" in outsider.lists.rows)
    assert set(outsider.lists.rows) == {"everyone"}, "the channel is hidden from them"
    assert (await owner.put(f"/guilds/{guild.id}/members/{bob.id}/roles/{captain}")).status == 204
    await watcher.wait_for(lambda: "bob online" in watcher.lists.shown(hidden))
    await outsider.wait_for(lambda: hidden in outsider.lists.rows)
    assert (await owner.delete(f"/guilds/{guild.id}/members/{bob.id}/roles/{captain}")).status == 204
    await watcher.wait_for(lambda: "bob online" not in watcher.lists.shown(hidden))
    await asyncio.sleep(0.1)
    await outsider.read()
    outsider.lists.ops.clear()
    body = {"permission_overwrites": [{"id": str(guild.id), "type": 0, "allow": "0", "deny": str(VIEW)}]}
    assert (await owner.patch(f"/channels/{crypt}", body)).status == 200
    alone = str(murmur3_32(f"deny:{guild.id}".encode()))
    await watcher.wait_for(lambda: alone in watcher.lists.rows)
    assert watcher.lists.shown(alone) == ["[online]", "owner online"]
    await outsider.read()
    assert outsider.lists.ops == []


async def test_a_large_guild_lists_only_who_is_online(
    platform: Platform, node: GatewayNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists_module, "MAX_MEMBERS_WITH_OFFLINE", 2)
    owner, zoe, bob = [await platform.person(name) for name in ("owner", "zoe", "bob")]
    guild = await platform.guild(owner)
    await guild.join(zoe)
    await guild.join(bob)
    watcher = await Watcher(node, owner).connect()
    watcher.subscribe(guild, {guild.general: [[0, 99]]})
    await watcher.wait_for(lambda: bool(watcher.lists.rows))
    assert watcher.lists.shown() == ["[online]", "owner online"]
    other = await Watcher(node, zoe).connect()
    await watcher.wait_for(lambda: "zoe online" in watcher.lists.shown())
    assert watcher.lists.summaries["everyone"] == (3, 2, {"online": 2})
    await other.peer.disconnect(1000)
    await watcher.wait_for(lambda: "zoe online" not in watcher.lists.shown())
    assert watcher.lists.shown() == ["[online]", "owner online"]


async def test_bots_and_strangers_are_sent_no_lists(platform: Platform, node: GatewayNode) -> None:
    owner, stranger = await platform.person("owner"), await platform.person("stranger")
    guild, bot = await platform.guild(owner), await platform.bot(owner)
    await guild.join(bot)
    bot_watcher = Watcher(node, bot)
    await bot_watcher.peer.identify(bot.token, intents=1)
    for watcher in (bot_watcher, await Watcher(node, stranger).connect()):
        watcher.subscribe(guild, {guild.general: [[0, 99]]})
        await asyncio.sleep(0.1)
        assert "GUILD_MEMBER_LIST_UPDATE" not in await watcher.read()


async def test_a_channel_that_shares_a_list_is_sent_when_it_is_opened(platform: Platform, node: GatewayNode) -> None:
    owner = await platform.person("owner")
    guild = await platform.guild(owner)
    second = await guild.channel(name="second")
    watcher = await Watcher(node, owner).connect()
    for channel_id in (guild.general, second, guild.general):
        watcher.lists.rows.clear()
        watcher.subscribe(guild, {channel_id: [[0, 99]]})
        await watcher.wait_for(lambda: watcher.lists.shown() == ["[online]", "owner online"])
    watcher.subscribe(guild, {})
    await asyncio.sleep(0.05)
    assert node.subscriptions.member_lists._guilds == {}


async def test_a_list_that_could_not_be_sent_whole_is_sent_whole_before_its_changes(
    platform: Platform, node: GatewayNode, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lists_module, "_RETRY_SECONDS", 0.005)
    owner, zoe = [await platform.person(name) for name in ("owner", "zoe")]
    guild = await platform.guild(owner)
    await guild.join(zoe)
    first, second = [await Watcher(node, owner).connect() for _ in range(2)]
    first.subscribe(guild, {guild.general: [[0, 99]]})
    await first.wait_for(lambda: bool(first.lists.rows))
    source = node.subscriptions.member_lists._source
    members_by_id = source.members_by_id

    async def failing(*_: Any) -> Any:
        monkeypatch.setattr(source, "members_by_id", members_by_id)
        await Watcher(node, zoe).connect()
        raise StorageUnavailable("the database is away")

    monkeypatch.setattr(source, "members_by_id", failing)
    second.subscribe(guild, {guild.general: [[0, 99]]})
    await second.wait_for(lambda: second.lists.shown() == ["[online]", "owner online", "zoe online"])
    assert second.lists.ops[0] == "SYNC"


async def test_a_deleted_guild_and_a_session_that_ends_leave_nothing_behind(
    platform: Platform, node: GatewayNode
) -> None:
    owner = await platform.person("owner")
    first, second = await platform.guild(owner), await platform.guild(owner)
    watcher = await Watcher(node, owner).connect()
    for guild in (first, second):
        watcher.subscribe(guild, {guild.general: [[0, 99]]})
    await watcher.wait_for(lambda: watcher.lists.ops.count("SYNC") == 2)
    assert (await owner.delete(f"/guilds/{first.id}")).status == 204
    await watcher.read()
    assert set(node.subscriptions.member_lists._guilds) == {second.id}
    await watcher.peer.disconnect(1000)
    assert node.subscriptions.member_lists._guilds == {}
    assert node.subscriptions.member_lists._guilds_by_session == {}


async def act(
    node: GatewayNode,
    owner: Caller,
    guild: Guild,
    person: Caller,
    role: int,
    online: dict[int, Watcher],
    chance: random.Random,
) -> None:
    """Change something that lists show."""
    where = f"/guilds/{guild.id}/members/{person.id}"
    action = chance.randrange(7)
    if action < 2 and person.id not in online:
        online[person.id] = await Watcher(node, person).connect()
    elif action < 2:
        await online.pop(person.id).peer.disconnect(1000)
    elif action == 2:
        await owner.patch(where, {"nick": chance.choice(["Aaron", "Mona", "Zed", None])})
    elif action == 3:
        await owner.put(f"{where}/roles/{role}")
    elif action == 4:
        await owner.delete(f"{where}/roles/{role}")
    elif action == 5 and person.id in online:
        status = chance.choice(["idle", "dnd", "online", "invisible"])
        online[person.id].peer.send({"op": 3, "d": {"status": status, "activities": [], "since": 0, "afk": False}})
    elif action == 6 and chance.random() < 0.4:
        await owner.patch(f"/guilds/{guild.id}/roles/{role}", {"hoist": chance.random() < 0.7})


@pytest.mark.parametrize("seed", range(4))
async def test_a_list_with_its_operations_is_a_new_subscribers_list(
    platform: Platform, node: GatewayNode, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    monkeypatch.setattr(lists_module, "MAX_MEMBERS_WITH_OFFLINE", (1000, 5)[seed % 2])
    chance = random.Random(seed)
    owner = await platform.person("owner")
    people = [await platform.person(f"person{chance.randrange(10**6)}") for _ in range(14)]
    guild = await platform.guild(owner)
    captain, elder = [await guild.role(name=name, hoist=True) for name in ("Captain", "Elder")]
    crypt = await guild.channel(name="crypt", overwrites=[(guild.id, 0, 0, VIEW), (captain, 0, VIEW, 0)])
    for person in people:
        await guild.join(person)
    ranges = {guild.general: [[0, 4], [5, 9], [10, 109]], crypt: [[0, 99]]}
    watcher = await Watcher(node, owner).connect()
    watcher.subscribe(guild, ranges)
    await watcher.wait_for(lambda: bool(watcher.lists.rows))
    online: dict[int, Watcher] = {}
    for _ in range(40):
        await act(node, owner, guild, chance.choice(people), chance.choice((captain, elder)), online, chance)
        await asyncio.sleep(chance.choice([0, 0, 0.01]))
    await asyncio.sleep(0.2)
    await watcher.read()
    fresh = await Watcher(node, owner).connect()
    fresh.subscribe(guild, ranges)
    await fresh.wait_for(lambda: len(fresh.lists.rows) == 2)
    await asyncio.sleep(0.05)
    await watcher.read()
    await fresh.read()
    for list_id in fresh.lists.rows:
        assert watcher.lists.shown(list_id) == fresh.lists.shown(list_id)
        assert watcher.lists.summaries[list_id] == fresh.lists.summaries[list_id]
    assert {"DELETE", "INSERT"} <= set(watcher.lists.ops)
