"""Friends, friend requests, blocked and ignored users."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from moothall.objects import limits
from moothall.objects.wire import Timestamp
from moothall.resources.user.relationship.queries import RelationshipRow, upsert_relationships
from tests.gateway.peer import Peer
from tests.support.gateway_nodes import node_over
from tests.support.harness import Caller, Platform
from tests.support.read_states import mentions_of, say
from tests.support.relationships import WHERE, befriend

THUMB = "%F0%9F%91%8D"


@pytest.fixture
async def alice(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def bob(platform: Platform) -> Caller:
    return await platform.person("bob")


async def types_of(caller: Caller) -> dict[str, int]:
    """The type of each relationship, by the other user's name."""
    return {each["user"]["username"]: each["type"] for each in (await caller.get(WHERE)).json}


def announced(platform: Platform, name: str) -> list[tuple[int, str, int]]:
    """The user who received each event of a name, the other user and the type."""
    events = [envelope for envelope in platform.heard if envelope.name == name]
    return [
        (envelope.user_ids[0], data["id"], data["type"])
        for envelope, data in zip(events, platform.heard_data(name), strict=True)
    ]


async def direct_message(one: Caller, other: Caller) -> Any:
    """Open a direct message; the reply."""
    return await one.post("/users/@me/channels", {"recipient_id": str(other.id)})


async def test_a_friend_request_by_name_is_accepted_by_the_other_user(
    platform: Platform, alice: Caller, bob: Caller
) -> None:
    request = {"username": "BOB", "discriminator": None, "note": "met at the moot"}
    assert (await alice.post(WHERE, request)).status == 204
    assert (await types_of(alice), await types_of(bob)) == ({"bob": 4}, {"alice": 3})
    (incoming,) = (await bob.get(WHERE)).json
    assert incoming.pop("since").endswith("+00:00")
    assert incoming.pop("user")["id"] == str(alice.id)
    assert incoming == {
        "id": str(alice.id), "type": 3, "nickname": None, "user_ignored": False, "stranger_request": True,
        "is_spam_request": False, "note": "met at the moot",
    }  # fmt: skip
    assert announced(platform, "RELATIONSHIP_ADD") == [(alice.id, str(bob.id), 4), (bob.id, str(alice.id), 3)]
    assert [data.get("should_notify") for data in platform.heard_data("RELATIONSHIP_ADD")] == [None, True]
    with platform.listening() as heard:
        assert (await alice.post(WHERE, {"username": "bob"})).status == 204
    assert heard == [], "the request is sent once"
    assert (await bob.put(f"{WHERE}/{alice.id}", {"type": 1, "confirm_stranger_request": True})).status == 204
    assert (await types_of(alice), await types_of(bob)) == ({"bob": 1}, {"alice": 1})
    added = announced(platform, "RELATIONSHIP_ADD")[2:]
    assert added == [(bob.id, str(alice.id), 1), (alice.id, str(bob.id), 1)]
    assert (await alice.put(f"{WHERE}/{bob.id}", {})).code == 80007


async def test_requests_of_both_users_make_them_friends(alice: Caller, bob: Caller) -> None:
    await alice.put(f"{WHERE}/{bob.id}", {})
    await bob.post(WHERE, {"username": "alice"})
    assert await types_of(alice) == {"bob": 1}


async def test_friend_requests_that_cannot_be_sent_say_why(platform: Platform, alice: Caller, bob: Caller) -> None:
    bot = await platform.bot(alice, "robot")
    with platform.listening() as heard:
        assert (await alice.post(WHERE, {"username": "nemo"})).code == 80004
        assert (await alice.post(WHERE, {"username": "robot"})).code == 80004
        assert (await alice.post(WHERE, {"username": "alice"})).code == 80003
        assert (await alice.put(f"{WHERE}/{bot.id}", {})).code == 80002
        assert (await alice.put(f"{WHERE}/{bob.id}", {"type": 1})).code == 80005
        assert (await alice.put(f"{WHERE}/{bob.id}", {"type": 5})).errors_at("type")
        assert (await alice.put(f"{WHERE}/1", {})).code == 10013
        assert (await alice.put(f"{WHERE}/{bob.id}", {"note": "x" * 121})).errors_at("note")
        assert (await alice.patch(f"{WHERE}/{bob.id}", {"nickname": "bobby"})).code == 80006
        assert (await alice.delete(f"{WHERE}/{bob.id}")).code == 10013
    assert heard == []
    assert (await bot.get(WHERE)).code == 20001


async def test_a_user_has_at_most_a_thousand_friends(platform: Platform, alice: Caller, bob: Caller) -> None:
    async def fill(caller: Caller, kind: int, maximum: int) -> None:
        now = Timestamp.now()
        rows = [
            RelationshipRow(caller.id, platform.ids.next(), kind, None, False, False, None, now)  # type: ignore[arg-type]
            for _ in range(maximum)
        ]
        async with platform.database.transaction() as tx:
            await upsert_relationships(tx, *rows)

    await fill(alice, 1, limits.FRIENDS_MAX)
    assert (await alice.put(f"{WHERE}/{bob.id}", {})).code == 30002
    await fill(bob, 3, limits.FRIENDS_MAX)
    carol = await platform.person("carol")
    assert (await carol.put(f"{WHERE}/{bob.id}", {})).code == 80000
    await fill(carol, 2, limits.BLOCKED_USERS_MAX)
    assert (await carol.put(f"{WHERE}/{bob.id}", {"type": 2})).code == 30002


async def test_ending_a_friendship_or_request_ends_it_for_both(platform: Platform, alice: Caller, bob: Caller) -> None:
    for accept in (True, False):
        await (befriend(alice, bob) if accept else alice.put(f"{WHERE}/{bob.id}", {}))
        platform.heard.clear()
        assert (await bob.delete(f"{WHERE}/{alice.id}")).status == 204
        assert (await types_of(alice), await types_of(bob)) == ({}, {})
        kinds = (1, 1) if accept else (3, 4)
        assert announced(platform, "RELATIONSHIP_REMOVE") == [
            (bob.id, str(alice.id), kinds[0]),
            (alice.id, str(bob.id), kinds[1]),
        ]


async def test_a_friends_nickname_is_seen_by_its_author_only(platform: Platform, alice: Caller, bob: Caller) -> None:
    await befriend(alice, bob)
    platform.heard.clear()
    assert (await alice.patch(f"{WHERE}/{bob.id}", {"nickname": " Bobby "})).status == 204
    assert announced(platform, "RELATIONSHIP_UPDATE") == [(alice.id, str(bob.id), 1)]
    assert [each["nickname"] for each in (await alice.get(WHERE)).json] == ["Bobby"]
    assert [each["nickname"] for each in (await bob.get(WHERE)).json] == [None]
    assert (await alice.patch(f"{WHERE}/{bob.id}", {"nickname": "x" * 33})).errors_at("nickname")
    await alice.patch(f"{WHERE}/{bob.id}", {})
    await alice.patch(f"{WHERE}/{bob.id}", {"nickname": None})
    assert [each["nickname"] for each in (await alice.get(WHERE)).json] == [None]
    assert len(announced(platform, "RELATIONSHIP_UPDATE")) == 2


async def test_blocking_ends_a_friendship_and_cannot_be_seen(platform: Platform, alice: Caller, bob: Caller) -> None:
    await befriend(alice, bob)
    platform.heard.clear()
    assert (await alice.put(f"{WHERE}/{bob.id}", {"type": 2})).status == 204
    assert (await types_of(alice), await types_of(bob)) == ({"bob": 2}, {})
    assert announced(platform, "RELATIONSHIP_REMOVE") == [(bob.id, str(alice.id), 1)]
    assert announced(platform, "RELATIONSHIP_ADD") == [(alice.id, str(bob.id), 2)]
    with platform.listening() as heard:
        await alice.put(f"{WHERE}/{bob.id}", {"type": 2})
        assert (await bob.put(f"{WHERE}/{alice.id}", {})).code == 80001
        assert (await bob.post(WHERE, {"username": "alice"})).code == 80001
    assert heard == []
    assert (await bob.put(f"{WHERE}/{alice.id}", {"type": 2})).status == 204
    assert (await alice.delete(f"{WHERE}/{bob.id}")).status == 204
    assert (await types_of(alice), await types_of(bob)) == ({}, {"alice": 2}), "either has a block of their own"
    assert (await bob.put(f"{WHERE}/{alice.id}", {})).status == 204, "a request replaces one's own block"
    assert await types_of(bob) == {"alice": 4}


@pytest.mark.parametrize("blocker", ["sender", "recipient"])
async def test_no_direct_message_passes_a_block(alice: Caller, bob: Caller, blocker: str) -> None:
    channel_id = (await direct_message(alice, bob)).json["id"]
    assert (await alice.post(f"/channels/{channel_id}/messages", {"content": "x"})).status == 200
    one, other = (alice, bob) if blocker == "sender" else (bob, alice)
    await one.put(f"{WHERE}/{other.id}", {"type": 2})
    assert (await alice.post(f"/channels/{channel_id}/messages", {"content": "x"})).code == 50007
    await one.delete(f"{WHERE}/{other.id}")
    assert (await alice.post(f"/channels/{channel_id}/messages", {"content": "x"})).status == 200


@pytest.mark.parametrize("blocker", ["sender", "recipient"])
async def test_no_direct_message_is_opened_past_a_block(alice: Caller, bob: Caller, blocker: str) -> None:
    one, other = (alice, bob) if blocker == "sender" else (bob, alice)
    await one.put(f"{WHERE}/{other.id}", {"type": 2})
    assert (await direct_message(alice, bob)).code == 50007


async def test_a_blocked_bot_writes_no_direct_messages(platform: Platform, alice: Caller, bob: Caller) -> None:
    bot = await platform.bot(bob)
    channel_id = (await direct_message(bot, alice)).json["id"]
    await alice.put(f"{WHERE}/{bot.id}", {"type": 2})
    assert (await bot.post(f"/channels/{channel_id}/messages", {"content": "x"})).code == 50007


async def test_blocked_users_neither_react_to_messages_nor_mention_their_author(
    platform: Platform, alice: Caller, bob: Caller
) -> None:
    guild = await platform.guild(alice)
    await guild.join(bob)
    message = await say(alice, guild.general, "hello")
    reaction = f"/channels/{guild.general}/messages/{message['id']}/reactions/{THUMB}/@me"
    await say(bob, guild.general, f"<@{alice.id}>")
    assert await mentions_of(alice) == {str(guild.general): 1}
    await alice.put(f"{WHERE}/{bob.id}", {"type": 2})
    assert (await bob.put(reaction)).code == 90001
    assert await mentions_of(alice) == {}
    await alice.delete(f"{WHERE}/{bob.id}")
    assert (await bob.put(reaction)).status == 204
    assert await mentions_of(alice) == {str(guild.general): 1}


async def test_friends_write_to_each_other_while_their_guilds_have_paused_direct_messages(
    platform: Platform, alice: Caller, bob: Caller
) -> None:
    guild = await platform.guild(alice)
    carol = await platform.person("carol")
    await guild.join(bob, carol)
    until = {"dms_disabled_until": (datetime.now(UTC) + timedelta(hours=1)).isoformat()}
    assert (await alice.put(f"/guilds/{guild.id}/incident-actions", until)).status == 200
    await befriend(alice, bob)
    assert (await direct_message(alice, bob)).status == 200
    assert (await direct_message(alice, carol)).code == 50007


async def test_friends_are_added_to_groups_and_blocked_users_are_not(
    platform: Platform, alice: Caller, bob: Caller
) -> None:
    carol, dave = await platform.person("carol"), await platform.person("dave")
    await befriend(alice, bob)
    guild = await platform.guild(alice)
    await guild.join(carol, dave)
    recipients = [str(person.id) for person in (bob, carol, dave)]
    assert (await alice.post("/users/@me/channels", {"recipients": recipients})).status == 200
    await dave.put(f"{WHERE}/{alice.id}", {"type": 2})
    assert (await alice.post("/users/@me/channels", {"recipients": recipients})).code == 50033


async def test_ignored_users_send_requests_but_count_as_no_mention(
    platform: Platform, alice: Caller, bob: Caller
) -> None:
    guild = await platform.guild(alice)
    await guild.join(bob)
    platform.heard.clear()
    for _ in range(2):
        assert (await alice.put(f"{WHERE}/{bob.id}/ignore")).status == 204
    assert announced(platform, "RELATIONSHIP_ADD") == [(alice.id, str(bob.id), 0)]
    await say(bob, guild.general, f"<@{alice.id}>")
    assert await mentions_of(alice) == {}
    await bob.put(f"{WHERE}/{alice.id}", {})
    (relationship,) = (await alice.get(WHERE)).json
    assert (relationship["type"], relationship["user_ignored"], relationship["stranger_request"]) == (3, True, False)
    assert (await alice.delete(f"{WHERE}/{bob.id}/ignore")).status == 204
    assert announced(platform, "RELATIONSHIP_UPDATE") == [(alice.id, str(bob.id), 3)]
    assert await mentions_of(alice) == {str(guild.general): 1}
    await alice.put(f"{WHERE}/{bob.id}/ignore")
    await bob.delete(f"{WHERE}/{alice.id}")
    assert await types_of(alice) == {"bob": 0}, "the user stays ignored"
    await alice.delete(f"{WHERE}/{bob.id}/ignore")
    assert await types_of(alice) == {}
    assert (await alice.put(f"{WHERE}/1/ignore")).code == 10013


async def test_all_requests_are_declined_at_once(platform: Platform, alice: Caller, bob: Caller) -> None:
    people = [await platform.person(f"other{n}") for n in range(3)]
    for person in people:
        await person.put(f"{WHERE}/{alice.id}", {})
    await befriend(alice, bob)
    await alice.put(f"{WHERE}/{people[0].id}/ignore")
    assert (await alice.delete(WHERE, body={"filters": [1]})).status == 204
    assert len(await types_of(alice)) == 4
    assert (await alice.delete(WHERE, body={"filters": [2]})).status == 204
    assert set(await types_of(alice)) == {"other1", "other2", "bob"}
    platform.heard.clear()
    assert (await alice.delete(WHERE)).status == 204
    assert await types_of(alice) == {"bob": 1}
    assert [await types_of(person) for person in people] == [{}, {}, {}]
    assert sorted(kind for _, _, kind in announced(platform, "RELATIONSHIP_REMOVE")) == [3, 3, 4, 4]
    assert (await alice.delete(WHERE, body={}, relationship_type=1)).status == 400


async def test_ready_has_relationships_notes_and_direct_messages_with_users_once_if_asked_for(
    platform: Platform, alice: Caller, bob: Caller
) -> None:
    await befriend(alice, bob)
    await alice.put(f"/users/@me/notes/{bob.id}", {"note": "owes me a drink"})
    channel_id = (await direct_message(alice, bob)).json["id"]
    node = node_over(platform)
    ready = await Peer(node).identify(alice.token)
    assert [(each["id"], each["type"], each["user"]["username"]) for each in ready["relationships"]] == [
        (str(bob.id), 1, "bob")
    ]
    assert ready["notes"] == {str(bob.id): "owes me a drink"}
    (channel,) = ready["private_channels"]
    assert (channel["id"], [user["id"] for user in channel["recipients"]]) == (channel_id, [str(bob.id)])
    assert (ready["users"], ready["presences"]) == ([], [])
    properties = {"os": "Mac OS X", "browser": "Moot"}
    ready = await Peer(node).identify(alice.token, capabilities=1 << 0 | 1 << 4, properties=properties)
    (channel,) = ready["private_channels"]
    assert (channel["recipient_ids"], "recipients" in channel) == ([str(bob.id)], False)
    assert [user["id"] for user in ready["users"]] == [str(bob.id)]
    assert "user" not in ready["relationships"][0]
    assert ready["merged_presences"] == {"friends": [], "guilds": []}
    assert not {"notes", "presences"} & ready.keys()
    assert [(s["client_info"]["client"], s["client_info"]["os"]) for s in ready["sessions"]] == [
        ("desktop", "unknown"),
        ("desktop", "osx"),
        ("unknown", "unknown"),
    ]
    assert ready["sessions"][2]["session_id"] == "all", "with the presence that others see"
    assert ready["sessions"][1]["session_id"] == ready["session_id"]


async def test_friends_receive_each_others_presence_without_a_common_guild(
    platform: Platform, alice: Caller, bob: Caller
) -> None:
    await befriend(alice, bob)
    carol = await platform.person("carol")
    node = node_over(platform)
    watching, elsewhere, online = Peer(node), Peer(node), Peer(node)
    assert (await watching.identify(alice.token))["presences"] == []
    await elsewhere.identify(carol.token)
    ready = await online.identify(bob.token)
    assert [(each["user"]["id"], each["status"]) for each in ready["presences"]] == [(str(alice.id), "online")]
    payload = await watching.receive()
    presence = payload["d"]
    assert (payload["t"], presence["user"]["id"], presence["status"]) == ("PRESENCE_UPDATE", str(bob.id), "online")
    assert "guild_id" not in presence
    online.send({"op": 3, "d": {"status": "dnd", "activities": [], "since": None, "afk": False}})
    payload = await watching.receive()
    assert (payload["t"], payload["d"]["status"]) == ("PRESENCE_UPDATE", "dnd")
    assert await elsewhere.names() == []
    await befriend(alice, carol)
    names = await watching.names()
    assert names == ["RELATIONSHIP_ADD", "RELATIONSHIP_ADD", "PRESENCE_UPDATE"]
    ready = await Peer(node).identify(carol.token, capabilities=1 << 4)
    assert [(each["user_id"], each["status"]) for each in ready["merged_presences"]["friends"]] == [
        (str(alice.id), "online")
    ]
    await alice.put(f"{WHERE}/{bob.id}", {"type": 2})
    await watching.dispatches()
    await online.dispatches()
    online.send({"op": 3, "d": {"status": "idle", "activities": [], "since": None, "afk": False}})
    watching.send({"op": 3, "d": {"status": "idle", "activities": [], "since": None, "afk": False}})
    for peer in (watching, online):
        assert (await peer.receive())["t"] == "SESSIONS_REPLACE"
    assert (await watching.names(), await online.names()) == ([], [])
