"""A session receives an event only if its user may view the channel, and channels as they are revealed and hidden."""

import asyncio
import json
from typing import Any

from moothall.bus import Audience
from moothall.objects.ids import ChannelId, Snowflake
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
    create_node,
    event,
    message,
    run_pending,
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
    node, bus = create_node(world)
    alice, bob = Peer(node), Peer(node)
    await alice.identify("alice")
    await bob.identify("bob")
    await alice.receive_all()
    await bob.receive_all()
    await alice.receive_all()
    return bus, alice, bob


async def test_events_in_a_hidden_channel_reach_those_who_may_view_it() -> None:
    bus, alice, bob = await two(World())
    bus.publish([message("secret", CRYPT), message("open", TOWN)])
    assert [d["content"] for _, d in await alice.dispatches()] == ["secret", "open"]
    assert [d["content"] for _, d in await bob.dispatches()] == ["open"]


async def test_an_added_role_reveals_its_channels_after_the_member_update() -> None:
    bus, alice, bob = await two(World())
    bus.publish([member_event(BOB, [CAPTAIN]), message("welcome", CRYPT)])
    heard = await bob.dispatches()
    assert [name for name, _ in heard] == ["GUILD_MEMBER_UPDATE", "CHANNEL_CREATE", "MESSAGE_CREATE"]
    assert heard[1][1]["id"] == str(CRYPT)
    assert await alice.names() == ["GUILD_MEMBER_UPDATE", "MESSAGE_CREATE"]


async def test_a_removed_role_hides_its_channels() -> None:
    bus, alice, _ = await two(World())
    bus.publish([member_event(ALICE, []), message("without you", CRYPT)])
    heard = await alice.dispatches()
    assert [name for name, _ in heard] == ["GUILD_MEMBER_UPDATE", "CHANNEL_DELETE"]
    assert (heard[1][1]["id"], heard[1][1]["guild_id"], heard[1][1]["name"]) == (str(CRYPT), str(GUILD), "crypt")


async def test_changed_overwrites_reveal_and_hide_instead_of_the_channel_update() -> None:
    bus, alice, bob = await two(World())
    bus.publish([channel_event("CHANNEL_UPDATE", CRYPT, {CAPTAIN: (0, VIEW)})])
    assert [(n, d["name"]) for n, d in await alice.dispatches()] == [("CHANNEL_DELETE", "crypt")]
    assert [(n, d["name"]) for n, d in await bob.dispatches()] == [("CHANNEL_CREATE", "new name")]
    bus.publish([channel_event("CHANNEL_UPDATE", CRYPT, {})])
    assert await alice.names() == ["CHANNEL_CREATE"]
    assert await bob.names() == ["CHANNEL_UPDATE"]


async def test_an_overwrite_of_a_member_applies_to_them_only() -> None:
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


async def test_a_deleted_role_loses_its_overwrites() -> None:
    bus, alice, bob = await two(World())
    bus.publish([role_event("GUILD_ROLE_DELETE", CAPTAIN, 0)])
    assert await alice.names() == ["GUILD_ROLE_DELETE", "CHANNEL_DELETE"]
    assert await bob.names() == ["GUILD_ROLE_DELETE"]


async def test_a_new_owner_sees_everything() -> None:
    bus, alice, bob = await two(World())
    bus.publish([event("GUILD_UPDATE", {"id": str(GUILD), "owner_id": str(BOB)}, intent=GUILDS)])
    assert await bob.names() == ["GUILD_UPDATE", "CHANNEL_CREATE"]
    assert await alice.names() == ["GUILD_UPDATE"]


async def test_creating_and_deleting_a_channel_reaches_those_who_may_view_it() -> None:
    world = World()
    bus, alice, bob = await two(world)
    vault = ChannelId(Snowflake(GUILD + 12))
    hidden: dict[int, tuple[int, int]] = {GUILD: (0, VIEW), CAPTAIN: (VIEW, 0)}
    bus.publish([channel_event("CHANNEL_CREATE", vault, hidden), message("first", vault)])
    assert await alice.names() == ["CHANNEL_CREATE", "MESSAGE_CREATE"]
    assert await bob.names() == []
    bus.publish([channel_event("CHANNEL_DELETE", vault, hidden), message("too late", vault)])
    assert await alice.names() == ["CHANNEL_DELETE"]
    assert await bob.names() == []


async def test_events_that_need_a_permission_reach_those_who_have_it() -> None:
    world = World()
    world.roles[CAPTAIN] = int(Permissions.BAN_MEMBERS)
    bus, alice, bob = await two(world)
    ban = event("GUILD_BAN_ADD", intent=Intent.GUILD_MODERATION, permission=int(Permissions.BAN_MEMBERS))
    bus.publish([ban])
    assert await alice.names() == ["GUILD_BAN_ADD"]
    assert await bob.names() == []
    # A timeout leaves only the permissions to view and read.
    bus.publish([member_event(ALICE, [CAPTAIN], communication_disabled_until="2100-01-01T00:00:00+00:00"), ban])
    assert await alice.names() == ["GUILD_MEMBER_UPDATE"]


async def test_events_that_need_one_of_several_permissions_reach_those_who_have_any() -> None:
    world = World()
    world.roles[CAPTAIN] = int(Permissions.VIEW_AUDIT_LOG)
    bus, alice, bob = await two(world)
    either = int(Permissions.BAN_MEMBERS | Permissions.VIEW_AUDIT_LOG)
    bus.publish(
        [
            event("GUILD_BAN_ADD", permission=either),
            event("GUILD_BAN_REMOVE", permission=int(Permissions.BAN_MEMBERS)),
            event("IN_CHANNEL", audience=Audience.CHANNEL, channel_id=TOWN, permission=either),
            event("IN_HIDDEN", audience=Audience.CHANNEL, channel_id=CRYPT, permission=either),
        ]
    )
    assert await alice.names() == ["GUILD_BAN_ADD", "IN_CHANNEL", "IN_HIDDEN"]
    assert await bob.names() == []


async def test_events_of_a_private_thread_reach_its_members_and_those_who_manage_threads() -> None:
    world = World()
    world.roles[CAPTAIN] = int(Permissions.MANAGE_THREADS)
    bus, alice, bob = await two(world)
    for members, heard in (([BOB], True), ([999], False)):
        bus.publish(
            [event("MESSAGE_CREATE", audience=Audience.CHANNEL, channel_id=TOWN, thread_id=77, user_ids=members)]
        )
        assert await alice.names() == ["MESSAGE_CREATE"]
        assert await bob.names() == (["MESSAGE_CREATE"] if heard else [])


async def test_a_user_who_joins_receives_the_guild_and_others_the_member() -> None:
    world = World()
    del world.members[BOB]
    node, bus = create_node(world)
    alice, bob = Peer(node), Peer(node)
    await alice.identify("alice")
    assert (await bob.identify("bob"))["guilds"] == []
    await alice.receive_all()
    await bob.receive_all()
    world.members[BOB] = ()
    added = {"guild_id": str(GUILD), "user": {"id": str(BOB)}, "roles": []}
    bus.publish([event("GUILD_MEMBER_ADD", added, intent=Intent.GUILD_MEMBERS), message("hello bob")])
    heard = await bob.dispatches()
    assert [name for name, _ in heard] == ["GUILD_CREATE", "MESSAGE_CREATE", "PRESENCE_UPDATE"]
    assert "unavailable" not in heard[0][1]
    assert await alice.names() == ["GUILD_MEMBER_ADD", "MESSAGE_CREATE", "PRESENCE_UPDATE"]


async def test_a_user_who_leaves_receives_guild_delete_and_others_member_remove() -> None:
    bus, alice, bob = await two(World())
    removed = {"guild_id": str(GUILD), "user": {"id": str(BOB)}}
    bus.publish([event("GUILD_MEMBER_REMOVE", removed, intent=Intent.GUILD_MEMBERS), message("bob is gone")])
    assert await bob.dispatches() == [("GUILD_DELETE", {"id": str(GUILD)})]
    assert await alice.names() == ["GUILD_MEMBER_REMOVE", "MESSAGE_CREATE"]


async def test_a_deleted_guild_is_deleted_for_every_session() -> None:
    world = World()
    node, bus = create_node(world)
    alice = Peer(node)
    await alice.identify("alice")
    await alice.receive_all()
    bus.publish([event("GUILD_DELETE", {"id": str(GUILD)}, intent=GUILDS), message("no receiver")])
    assert await alice.dispatches() == [("GUILD_DELETE", {"id": str(GUILD)})]
    assert node.hub.views == {}
    assert next(iter(node.hub.sessions.values())).guild_ids == set()


async def test_the_creator_of_a_guild_receives_it_at_once() -> None:
    world = World()
    world.guilds = []
    node, bus = create_node(world)
    alice = Peer(node)
    await alice.identify("alice")
    await alice.receive_all()
    bus.publish([event("GUILD_OPEN", {"user_id": ALICE, "guild_id": GUILD}, audience=Audience.NODE), message("first")])
    assert (await alice.names())[:2] == ["GUILD_CREATE", "MESSAGE_CREATE"]


async def test_events_while_a_guild_is_read_are_received_after_it() -> None:
    """As on PostgreSQL, where reading waits."""
    world = World()
    world.embedded = False
    world.pause = asyncio.Event()
    node, bus = create_node(world)
    alice = Peer(node)
    await alice.identify("alice")
    await run_pending()
    bus.publish([message("while reading the view")])
    await run_pending()
    assert await alice.names() == []
    world.pause.set()
    assert await alice.names() == ["GUILD_CREATE", "MESSAGE_CREATE", "PRESENCE_UPDATE"]
    world.pause.clear()
    bob = Peer(node)
    await bob.identify("bob")
    await run_pending()
    bus.publish([message("while reading the member")])
    assert await alice.names() == ["MESSAGE_CREATE"]
    bus.publish([member_event(BOB, [CAPTAIN]), message("for captains", CRYPT)])
    await run_pending()
    world.pause.set()
    heard = await bob.dispatches()
    names = ["GUILD_CREATE", "MESSAGE_CREATE", "GUILD_MEMBER_UPDATE", "MESSAGE_CREATE"]
    assert [name for name, _ in heard][:4] == names
    assert {channel["id"] for channel in heard[0][1]["channels"]} == {str(TOWN), str(CRYPT)}


async def test_who_leaves_while_a_guild_is_read_is_counted_once() -> None:
    world = World()
    world.embedded = False
    world.state_version = 1
    node, bus = create_node(world)
    bob = Peer(node)
    await bob.identify("bob")
    await bob.receive_all()
    world.pause = asyncio.Event()
    alice = Peer(node)
    await alice.identify("alice")
    await run_pending()
    for version in (2, 3):  # her member is read, then the guild
        world.pause.set()
        world.pause.clear()
        await run_pending()
        removed = {"guild_id": str(GUILD), "user": {"id": str(world.members.popitem()[0])}}
        world.state_version = version
        bus.publish([event("GUILD_MEMBER_REMOVE", removed, intent=Intent.GUILD_MEMBERS, state_version=version)])
        await run_pending()
    world.pause.set()
    received = await alice.dispatches()
    guild = next(data for name, data in received if name == "GUILD_CREATE")
    removals = [name for name, _ in received if name == "GUILD_MEMBER_REMOVE"]
    assert guild["member_count"] - len(removals) == len(world.members)


async def test_a_revealed_channel_that_must_be_read_keeps_the_guilds_events_in_order() -> None:
    world = World()
    world.embedded = False
    bus, alice, bob = await two(world)
    world.pause = asyncio.Event()
    bus.publish([member_event(BOB, [CAPTAIN]), message("after", CRYPT), role_event("GUILD_ROLE_CREATE", 5, 0)])
    assert await bob.names() == ["GUILD_MEMBER_UPDATE"]
    world.pause.set()
    assert await bob.names() == ["CHANNEL_CREATE", "MESSAGE_CREATE", "GUILD_ROLE_CREATE"]
    assert await alice.names() == ["GUILD_MEMBER_UPDATE", "MESSAGE_CREATE", "GUILD_ROLE_CREATE"]


async def test_a_view_is_read_once_for_all_sessions_and_dropped_with_the_last() -> None:
    world = World()
    bus, alice, bob = await two(world)
    assert world.loads == 5  # the view once, each member and GUILD_CREATE
    del bus
    await alice.disconnect(1000)
    await bob.disconnect(1000)


async def test_the_deletion_that_hides_a_channel_has_no_new_values() -> None:
    bus, alice, _ = await two(World())
    secret = channel(CRYPT, {CAPTAIN: (0, VIEW)}) | {"topic": "the treasure is under the oak"}
    bus.publish([event("CHANNEL_UPDATE", secret, audience=Audience.CHANNEL, channel_id=CRYPT, intent=GUILDS)])
    assert "oak" not in json.dumps(await alice.dispatches())
