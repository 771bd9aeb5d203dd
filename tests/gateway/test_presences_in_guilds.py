"""A user is online in a guild as long as one of their sessions receives its events, and every client knows it."""

import asyncio
from typing import Any

import pytest
from msgspec.structs import replace

from moothall.bus.local import LocalBus
from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.guild_snapshot import GuildSnapshot
from moothall.objects.intents import ALL
from tests.gateway.peer import ALICE, BOB, BOT, GUILD, Peer, create_node, run_pending
from tests.support.gateway_peers import identified
from tests.support.member_events import added, removed
from tests.support.suspending_worlds import SuspendingWorld


class ListingWorld(SuspendingWorld):
    """A source whose GUILD_CREATE lists presences."""

    async def guild_snapshot(self, view: Any, member: Any, visible: Any, session: Any, online: Any) -> Any:
        """The guild with the presences of its members."""
        snapshot = await super().guild_snapshot(view, member, visible, session, online)
        assert snapshot is not None
        fields = replace(snapshot.fields, presences=online(self.members))
        return GuildSnapshot(snapshot.id, snapshot.guild, fields, snapshot.state_version)


class SharedBus(LocalBus):
    """A bus of several nodes in one process."""

    shared = True


@pytest.fixture(params=("one node", "two nodes"))
def pair(request: pytest.FixtureRequest) -> tuple[ListingWorld, GatewayNode, GatewayNode]:
    """A source, and the nodes that two sessions connect to."""
    world = ListingWorld()
    if request.param == "one node":
        node, _ = create_node(world)
        return world, node, node
    bus = SharedBus()
    first, second = (GatewayNode(GatewaySettings(), bus, world, name=name) for name in ("first", "second"))
    return world, first, second


async def statuses(peer: Peer, user_id: int = ALICE) -> list[str]:
    """The statuses of a user that a client was sent for the guild."""
    dispatches = await peer.dispatches()
    return [d["status"] for name, d in dispatches if name == "PRESENCE_UPDATE" and d["user"]["id"] == str(user_id)]


async def joining(world: ListingWorld, node: GatewayNode, token: str) -> Peer:
    """A client whose session has READY, and has not received the guild yet."""
    world.pause = asyncio.Event()
    peer = Peer(node)
    await peer.identify(token)
    await run_pending()
    return peer


async def test_who_ends_their_only_session_in_a_guild_is_offline_there_though_another_is_joining(
    pair: tuple[ListingWorld, GatewayNode, GatewayNode],
) -> None:
    world, first, second = pair
    bob, _ = await identified(first, "bob")
    alice = Peer(first)
    await alice.identify("alice")
    assert await statuses(bob) == ["online"]
    other = await joining(world, second, "alice")
    await alice.disconnect(1000)
    assert await statuses(bob) == ["offline"]
    assert first.presences.online_ids(GUILD) == [BOB]
    await second.ends.end(second.hub.sessions_by_user[ALICE][-1])
    assert await statuses(bob) == []
    other.drop()
    assert world.pause is not None
    world.pause.set()
    await other.task


async def test_who_is_still_joining_a_guild_is_online_there_once_they_have_joined(
    pair: tuple[ListingWorld, GatewayNode, GatewayNode],
) -> None:
    world, first, second = pair
    await Peer(first).identify("bot", intents=ALL)
    await run_pending()
    other = await joining(world, second, "alice")
    assert world.pause is not None
    pause, world.pause = world.pause, None
    bob = Peer(first)
    await bob.identify("bob")
    created = next(data for name, data in await bob.dispatches() if name == "GUILD_CREATE")
    assert [presence["user"]["id"] for presence in created["presences"]] == [str(BOB), str(BOT)]
    pause.set()
    assert await statuses(bob) == ["online"]
    assert "GUILD_CREATE" in await other.names()


async def test_a_client_forgets_the_presence_of_one_whose_leave_its_guild_create_has() -> None:
    world = ListingWorld()
    world.state_version = 5
    node, bus = create_node(world)
    early, _ = await identified(node, "bob")
    bot = Peer(node)
    await bot.identify("bot", intents=ALL)
    # The bot has left, which the node hears later.
    world.state_version = 6
    alice, _ = await identified(node)
    await statuses(early)
    bot.send({"op": 3, "d": {"status": "dnd", "activities": [], "since": None, "afk": False}})
    assert await statuses(alice, BOT) == ["dnd"]
    bus.publish([removed(BOT, 6)])
    assert await statuses(alice, BOT) == ["offline"]
    assert [name for name, _ in await early.dispatches()] == ["PRESENCE_UPDATE", "GUILD_MEMBER_REMOVE"]


async def test_who_left_and_joined_again_stays_online_for_all(
    pair: tuple[ListingWorld, GatewayNode, GatewayNode],
) -> None:
    world, first, second = pair
    world.state_version = 5
    bob, _ = await identified(first, "bob")
    bot = Peer(second)
    await bot.identify("bot", intents=ALL)
    await statuses(bob)
    # Alice has left and joined again, which the nodes hear later.
    world.state_version = 7
    await identified(second)
    assert await statuses(bob) == ["online"]
    first._bus.publish([removed(ALICE, 6), added(ALICE, 7)])
    assert await statuses(bob) == ["online"]
    assert ALICE in first.presences.online_ids(GUILD)
    assert await statuses(bot) == ["online", "online"]


class LateBus(SharedBus):
    """A shared bus on which messages of one node about presences are on their way for some time."""

    def __init__(self) -> None:
        super().__init__()
        self.late: list[Any] | None = None

    def publish(self, envelopes: Any) -> None:
        """Publish, or keep what is published, if it is late."""
        if self.late is None:
            super().publish(envelopes)
        else:
            self.late += envelopes


async def test_who_has_left_a_guild_is_offline_there_though_their_presence_was_on_its_way() -> None:
    world, bus = ListingWorld(), LateBus()
    world.state_version = 5
    node = GatewayNode(GatewaySettings(), bus, world, name="node")
    bob, _ = await identified(node, "bob")
    alice = Peer(node)
    await alice.identify("alice")
    await run_pending()
    bus.late = []
    alice.send({"op": 3, "d": {"status": "dnd", "activities": [], "since": None, "afk": False}})
    await run_pending()
    on_its_way, bus.late = bus.late, None
    bus.publish([removed(ALICE, 6), *on_its_way])
    await run_pending()
    assert (await statuses(bob))[-1:] == ["offline"]
    assert node.presences.online_ids(GUILD) == [BOB]
