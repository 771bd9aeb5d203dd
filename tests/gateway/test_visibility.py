"""A session hears an event only if its user may see where it happens, and learns of channels as they appear to it."""

import asyncio
import json
from typing import Any

from moothall.bus import Audience
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from tests.gateway.peer import (
    ALICE,
    BOB,
    CAPTAIN,
    CRYPT,
    GUILD,
    TOWN,
    VIEW,
    Peer,
    World,
    event,
    message,
    node_of,
    settle,
)

GUILDS = Intent.GUILDS


def channel(channel_id: int, overwrites: dict[int, tuple[int, int]]) -> dict[str, Any]:
    """A channel of an event."""
    return {
        "id": str(channel_id),
        "type": 0,
        "guild_id": str(GUILD),
        "name": "new name",
        "permission_overwrites": [
            {"id": str(target), "type": 0, "allow": str(allow), "deny": str(deny)}
            for target, (allow, deny) in overwrites.items()
        ],
    }


def channel_event(name: str, channel_id: int, overwrites: dict[int, tuple[int, int]]) -> Any:
    return event(name, channel(channel_id, overwrites), audience=Audience.CHANNEL, channel_id=channel_id, intent=GUILDS)


def member_event(user_id: int, roles: list[int], **fields: Any) -> Any:
    data = {"guild_id": str(GUILD), "user": {"id": str(user_id)}, "roles": [str(r) for r in roles], **fields}
    return event("GUILD_MEMBER_UPDATE", data, intent=Intent.GUILD_MEMBERS)


def role_event(name: str, role_id: int, permissions: int) -> Any:
    data: dict[str, Any] = {"guild_id": str(GUILD)}
    if name == "GUILD_ROLE_DELETE":
        data["role_id"] = str(role_id)
    else:
        data["role"] = {"id": str(role_id), "permissions": str(permissions)}
    return event(name, data, intent=GUILDS)


async def two(world: World) -> tuple[Any, Peer, Peer]:
    """Alice is a captain, Bob is not; both are connected."""
    world.members[ALICE] = (CAPTAIN,)
    node, bus = node_of(world)
    alice, bob = Peer(node), Peer(node)
    await alice.identify("alice")
    await bob.identify("bob")
    await alice.all_heard()
    await bob.all_heard()
    await alice.all_heard()
    return bus, alice, bob


async def test_what_happens_in_a_hidden_channel_is_heard_by_those_who_see_it() -> None:
    bus, alice, bob = await two(World())
    bus.publish([message("secret", CRYPT), message("open", TOWN)])
    assert [d["content"] for _, d in await alice.dispatches()] == ["secret", "open"]
    assert [d["content"] for _, d in await bob.dispatches()] == ["open"]


async def test_a_role_given_reveals_its_channels_after_the_event_that_says_so() -> None:
    bus, alice, bob = await two(World())
    bus.publish([member_event(BOB, [CAPTAIN]), message("welcome", CRYPT)])
    heard = await bob.dispatches()
    assert [name for name, _ in heard] == ["GUILD_MEMBER_UPDATE", "CHANNEL_CREATE", "MESSAGE_CREATE"]
    assert heard[1][1]["id"] == str(CRYPT)
    assert await alice.names() == ["GUILD_MEMBER_UPDATE", "MESSAGE_CREATE"]


async def test_a_role_taken_hides_its_channels() -> None:
    bus, alice, _ = await two(World())
    bus.publish([member_event(ALICE, []), message("without you", CRYPT)])
    heard = await alice.dispatches()
    assert [name for name, _ in heard] == ["GUILD_MEMBER_UPDATE", "CHANNEL_DELETE"]
    assert (heard[1][1]["id"], heard[1][1]["guild_id"], heard[1][1]["name"]) == (str(CRYPT), str(GUILD), "crypt")


async def test_overwrites_changed_reveal_and_hide_in_place_of_the_update() -> None:
    bus, alice, bob = await two(World())
    bus.publish([channel_event("CHANNEL_UPDATE", CRYPT, {CAPTAIN: (0, VIEW)})])
    assert [(n, d["name"]) for n, d in await alice.dispatches()] == [("CHANNEL_DELETE", "crypt")]
    assert [(n, d["name"]) for n, d in await bob.dispatches()] == [("CHANNEL_CREATE", "new name")]
    bus.publish([channel_event("CHANNEL_UPDATE", CRYPT, {})])
    assert await alice.names() == ["CHANNEL_CREATE"]
    assert await bob.names() == ["CHANNEL_UPDATE"]


async def test_an_overwrite_for_one_member_counts_for_them_alone() -> None:
    bus, alice, bob = await two(World())
    bus.publish([channel_event("CHANNEL_UPDATE", CRYPT, {GUILD: (0, VIEW), CAPTAIN: (VIEW, 0), BOB: (VIEW, 0)})])
    assert await bob.names() == ["CHANNEL_CREATE"]
    assert await alice.names() == ["CHANNEL_UPDATE"]


async def test_permissions_of_a_role_reveal_and_hide() -> None:
    bus, alice, bob = await two(World())
    bus.publish([role_event("GUILD_ROLE_UPDATE", GUILD, 0)])
    assert await bob.names() == ["GUILD_ROLE_UPDATE", "CHANNEL_DELETE"]
    assert await alice.names() == ["GUILD_ROLE_UPDATE", "CHANNEL_DELETE"]
    bus.publish([role_event("GUILD_ROLE_UPDATE", GUILD, int(Permissions.ADMINISTRATOR))])
    assert await bob.names() == ["GUILD_ROLE_UPDATE", "CHANNEL_CREATE", "CHANNEL_CREATE"]
    assert await alice.names() == ["GUILD_ROLE_UPDATE", "CHANNEL_CREATE"]


async def test_a_role_deleted_takes_its_overwrites_along() -> None:
    bus, alice, bob = await two(World())
    bus.publish([role_event("GUILD_ROLE_DELETE", CAPTAIN, 0)])
    assert await alice.names() == ["GUILD_ROLE_DELETE", "CHANNEL_DELETE"]
    assert await bob.names() == ["GUILD_ROLE_DELETE"]


async def test_a_new_owner_sees_everything() -> None:
    bus, alice, bob = await two(World())
    bus.publish([event("GUILD_UPDATE", {"id": str(GUILD), "owner_id": str(BOB)}, intent=GUILDS)])
    assert await bob.names() == ["GUILD_UPDATE", "CHANNEL_CREATE"]
    assert await alice.names() == ["GUILD_UPDATE"]


async def test_a_channel_is_made_and_deleted_for_those_who_see_it() -> None:
    world = World()
    bus, alice, bob = await two(world)
    vault = GUILD + 12
    hidden = {GUILD: (0, VIEW), CAPTAIN: (VIEW, 0)}
    bus.publish([channel_event("CHANNEL_CREATE", vault, hidden), message("first", vault)])
    assert await alice.names() == ["CHANNEL_CREATE", "MESSAGE_CREATE"]
    assert await bob.names() == []
    bus.publish([channel_event("CHANNEL_DELETE", vault, hidden), message("too late", vault)])
    assert await alice.names() == ["CHANNEL_DELETE"]
    assert await bob.names() == []


async def test_events_that_need_a_permission_are_heard_by_those_who_have_it() -> None:
    world = World()
    world.roles[CAPTAIN] = int(Permissions.BAN_MEMBERS)
    bus, alice, bob = await two(world)
    ban = event("GUILD_BAN_ADD", intent=Intent.GUILD_MODERATION, permission=int(Permissions.BAN_MEMBERS))
    bus.publish([ban])
    assert await alice.names() == ["GUILD_BAN_ADD"]
    assert await bob.names() == []
    # A timeout leaves looking and reading only.
    bus.publish([member_event(ALICE, [CAPTAIN], communication_disabled_until="2100-01-01T00:00:00+00:00"), ban])
    assert await alice.names() == ["GUILD_MEMBER_UPDATE"]


async def test_a_private_thread_is_heard_by_its_members_and_those_who_manage_threads() -> None:
    world = World()
    world.roles[CAPTAIN] = int(Permissions.MANAGE_THREADS)
    bus, alice, bob = await two(world)
    for members, heard in (([BOB], True), ([999], False)):
        bus.publish(
            [event("MESSAGE_CREATE", audience=Audience.CHANNEL, channel_id=TOWN, thread_id=77, user_ids=members)]
        )
        assert await alice.names() == ["MESSAGE_CREATE"]
        assert await bob.names() == (["MESSAGE_CREATE"] if heard else [])


async def test_someone_who_joins_gets_the_guild_and_others_hear_of_the_member() -> None:
    world = World()
    del world.members[BOB]
    node, bus = node_of(world)
    alice, bob = Peer(node), Peer(node)
    await alice.identify("alice")
    assert (await bob.identify("bob"))["guilds"] == []
    await alice.all_heard()
    await bob.all_heard()
    world.members[BOB] = ()
    added = {"guild_id": str(GUILD), "user": {"id": str(BOB)}, "roles": []}
    bus.publish([event("GUILD_MEMBER_ADD", added, intent=Intent.GUILD_MEMBERS), message("hello bob")])
    heard = await bob.dispatches()
    assert [name for name, _ in heard] == ["GUILD_CREATE", "MESSAGE_CREATE", "PRESENCE_UPDATE"]
    assert "unavailable" not in heard[0][1]
    assert await alice.names() == ["GUILD_MEMBER_ADD", "MESSAGE_CREATE", "PRESENCE_UPDATE"]


async def test_someone_who_leaves_loses_the_guild_and_others_hear_of_it() -> None:
    bus, alice, bob = await two(World())
    removed = {"guild_id": str(GUILD), "user": {"id": str(BOB)}}
    bus.publish([event("GUILD_MEMBER_REMOVE", removed, intent=Intent.GUILD_MEMBERS), message("bob is gone")])
    assert await bob.dispatches() == [("GUILD_DELETE", {"id": str(GUILD)})]
    assert await alice.names() == ["GUILD_MEMBER_REMOVE", "MESSAGE_CREATE"]


async def test_a_deleted_guild_is_gone_for_everybody() -> None:
    world = World()
    node, bus = node_of(world)
    alice = Peer(node)
    await alice.identify("alice")
    await alice.all_heard()
    bus.publish([event("GUILD_DELETE", {"id": str(GUILD)}, intent=GUILDS), message("nobody there")])
    assert await alice.dispatches() == [("GUILD_DELETE", {"id": str(GUILD)})]
    assert node.hub.views == {}
    assert next(iter(node.hub.sessions.values())).guilds == set()


async def test_who_makes_a_guild_hears_it_at_once() -> None:
    world = World()
    world.guilds = []
    node, bus = node_of(world)
    alice = Peer(node)
    await alice.identify("alice")
    await alice.all_heard()
    bus.publish([event("GUILD_OPEN", {"user_id": ALICE, "guild_id": GUILD}, audience=Audience.NODE), message("first")])
    assert (await alice.names())[:2] == ["GUILD_CREATE", "MESSAGE_CREATE"]


async def test_what_happens_while_a_guild_is_read_is_heard_after_it() -> None:
    """As on PostgreSQL, where reading waits."""
    world = World()
    world.embedded = False
    world.pause = asyncio.Event()
    node, bus = node_of(world)
    alice = Peer(node)
    await alice.identify("alice")
    await settle()
    bus.publish([message("while reading the view")])
    await settle()
    assert await alice.names() == []
    world.pause.set()
    assert await alice.names() == ["GUILD_CREATE", "MESSAGE_CREATE", "PRESENCE_UPDATE"]
    world.pause.clear()
    bob = Peer(node)
    await bob.identify("bob")
    await settle()
    bus.publish([message("while reading the member")])
    assert await alice.names() == ["MESSAGE_CREATE"]
    bus.publish([member_event(BOB, [CAPTAIN]), message("for captains", CRYPT)])
    await settle()
    world.pause.set()
    heard = await bob.names()
    assert heard[:3] == ["GUILD_CREATE", "MESSAGE_CREATE", "GUILD_MEMBER_UPDATE"]
    assert "CHANNEL_CREATE" in heard


async def test_a_reveal_that_has_to_be_read_keeps_the_guilds_events_in_order() -> None:
    world = World()
    world.embedded = False
    bus, alice, bob = await two(world)
    world.pause = asyncio.Event()
    bus.publish([member_event(BOB, [CAPTAIN]), message("after", CRYPT), role_event("GUILD_ROLE_CREATE", 5, 0)])
    assert await bob.names() == ["GUILD_MEMBER_UPDATE"]
    world.pause.set()
    assert await bob.names() == ["CHANNEL_CREATE", "MESSAGE_CREATE", "GUILD_ROLE_CREATE"]
    assert await alice.names() == ["GUILD_MEMBER_UPDATE", "MESSAGE_CREATE", "GUILD_ROLE_CREATE"]


async def test_a_view_is_read_once_for_all_who_come_and_dropped_with_the_last() -> None:
    world = World()
    bus, alice, bob = await two(world)
    assert world.loads == 5  # the view once, each member and GUILD_CREATE
    del bus
    await alice.dropped(1000)
    await bob.dropped(1000)


async def test_a_hidden_channels_news_stay_hidden_in_its_deletion() -> None:
    bus, alice, _ = await two(World())
    secret = channel(CRYPT, {CAPTAIN: (0, VIEW)}) | {"topic": "the treasure is under the oak"}
    bus.publish([event("CHANNEL_UPDATE", secret, audience=Audience.CHANNEL, channel_id=CRYPT, intent=GUILDS)])
    assert "oak" not in json.dumps(await alice.dispatches())
