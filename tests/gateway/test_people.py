"""What sessions of people are sent about their own account: READY_SUPPLEMENTAL and SESSIONS_REPLACE."""

from typing import Any

from tests.gateway.peer import Peer
from tests.support.gateway_nodes import node_over
from tests.support.harness import Platform
from tests.support.relationships import befriend

DEDUPE, PRIORITIZED = 1 << 4, 1 << 5


async def announced(peer: Peer) -> list[dict[str, Any]]:
    """The sessions of the next SESSIONS_REPLACE."""
    while True:
        payload = await peer.receive()
        if payload["t"] == "SESSIONS_REPLACE":
            sessions: list[dict[str, Any]] = payload["d"]
            return sessions


async def test_members_and_presences_follow_ready_where_the_client_asks_for_it(platform: Platform) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    await befriend(alice, bob)
    guild = await platform.guild(alice)
    node = node_over(platform)
    await Peer(node).identify(bob.token)
    peer = Peer(node)
    ready = await peer.identify(alice.token, capabilities=DEDUPE | PRIORITIZED)
    assert not {"merged_presences", "presences"} & ready.keys()
    ((own,),) = ready["merged_members"]
    assert (own["user_id"], own["roles"], "user" in own) == (str(alice.id), [], False)
    payload = await peer.receive()
    assert payload["t"] == "READY_SUPPLEMENTAL"
    data = payload["d"]
    assert data["guilds"] == [{"id": str(guild.id), "voice_states": [], "activity_instances": []}]
    assert data["merged_members"] == [[]]
    (friend,) = data["merged_presences"].pop("friends")
    assert (friend["user_id"], friend["status"]) == (str(bob.id), "online")
    assert data["merged_presences"] == {"guilds": [[]]}
    assert data["lazy_private_channels"] == []
    for capabilities in (0, PRIORITIZED, DEDUPE):
        other = Peer(node)
        await other.identify(alice.token, capabilities=capabilities)
        assert "READY_SUPPLEMENTAL" not in await other.names()


async def test_the_sessions_of_a_user_are_announced_to_each_other(platform: Platform) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    node = node_over(platform)
    first, stranger = Peer(node), Peer(node)
    await first.identify(alice.token)
    await stranger.identify(bob.token)
    assert "SESSIONS_REPLACE" not in await first.names()
    second = Peer(node)
    properties = {"os": "Linux", "browser": "Discord Android"}
    ready = await second.identify(alice.token, properties=properties)
    assert "SESSIONS_REPLACE" not in await second.names(), "READY has them"
    sessions = await announced(first)
    assert sessions == ready["sessions"]
    assert [each["session_id"] == "all" for each in sessions] == [False, False, True]
    assert sessions[-1]["client_info"] == {"client": "unknown", "os": "unknown", "version": 0}
    second.send({"op": 3, "d": {"status": "dnd", "activities": [], "since": 0, "afk": False}})
    for peer in (first, second):
        assert [each["status"] for each in await announced(peer)] == ["online", "dnd", "online"]
    for peer, statuses in ((first, ["invisible", "dnd", "dnd"]), (second, ["invisible"] * 3)):
        peer.send({"op": 3, "d": {"status": "invisible", "activities": [], "since": 0, "afk": False}})
        assert [each["status"] for each in await announced(first)] == statuses
    await second.disconnect(1000)
    assert [each["status"] for each in await announced(first)] == ["invisible"]
    assert "SESSIONS_REPLACE" not in await stranger.names()
    bot = await platform.bot(alice)
    bots = [Peer(node), Peer(node)]
    for peer in bots:
        await peer.identify(bot.token, intents=0)
    assert [await peer.names() for peer in bots] == [[], []]


async def test_an_unknown_status_is_that_of_the_users_settings(platform: Platform) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    await befriend(alice, bob)
    node = node_over(platform)
    assert (await alice.patch("/users/@me/settings", {"status": "invisible"})).status == 200
    assert (await bob.patch("/users/@me/settings", {"status": "idle"})).status == 200
    presence = {"status": "unknown", "since": 0, "activities": [], "afk": False}
    for caller, status in ((alice, "invisible"), (bob, "idle")):
        ready = await Peer(node).identify(caller.token, presence=presence)
        assert [each["status"] for each in ready["sessions"]] == [status]
    ready = await Peer(node).identify(alice.token)
    assert [each["status"] for each in ready["presences"]] == ["idle"]
    assert [each["status"] for each in (await Peer(node).identify(bob.token))["presences"]] == ["online"]


async def test_clients_with_capabilities_know_their_own_presence_from_their_sessions_alone(platform: Platform) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    guild = await platform.guild(alice)
    await guild.join(bob)
    node = node_over(platform)
    plain, modern, other = Peer(node), Peer(node), Peer(node)
    await plain.identify(alice.token)
    await modern.identify(alice.token, capabilities=DEDUPE)
    await other.identify(bob.token, capabilities=DEDUPE)
    while (await plain.receive())["t"] != "GUILD_CREATE":
        pass
    for peer in (modern, plain):
        peer.send({"op": 3, "d": {"status": "dnd", "activities": [], "since": 0, "afk": False}})
        while [each["status"] for each in await announced(peer)][-1] != ("dnd" if peer is plain else "online"):
            pass
    assert "PRESENCE_UPDATE" in await plain.names()
    assert "PRESENCE_UPDATE" in await other.names()
    names = await modern.names()
    assert "SESSIONS_REPLACE" in names
    assert "PRESENCE_UPDATE" not in names
