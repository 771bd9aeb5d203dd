"""Read states: how far a user has read, and the mentions since."""

import pytest

from moothall.objects.permissions import Permissions
from tests.gateway.peer import Peer
from tests.oauth2.flow import application, bearer, tokens_of
from tests.support.gateway_nodes import node_over
from tests.support.harness import FORUM, Caller, Guild, Platform
from tests.support.read_states import EVERYTHING, mentions_of, ready_of, say

VIEW = int(Permissions.VIEW_CHANNEL)


@pytest.fixture
async def owner(platform: Platform) -> Caller:
    return await platform.person("owner")


@pytest.fixture
async def guild(platform: Platform, owner: Caller) -> Guild:
    return await platform.guild(owner)


@pytest.fixture
async def bob(guild: Guild) -> Caller:
    return await guild.member_with(0, name="bob")


async def test_an_acknowledged_message_is_in_ready_and_announced_to_the_users_sessions(
    platform: Platform, guild: Guild, owner: Caller, bob: Caller
) -> None:
    message = await say(owner, guild.general, "hello")
    where = f"/channels/{guild.general}/messages/{message['id']}/ack"
    reply = await bob.post(where, {"token": None, "last_viewed": 3000})
    assert (reply.status, reply.json) == (200, {"token": None})
    (envelope,) = [e for e in platform.heard if e.name == "MESSAGE_ACK"]
    assert envelope.user_ids == [bob.id]
    (ack,) = platform.heard_data("MESSAGE_ACK")
    version = ack.pop("version")
    assert ack == {
        "ack_type": 0, "channel_id": str(guild.general), "message_id": message["id"], "mention_count": 0, "flags": 1,
        "last_viewed": 3000,
    }  # fmt: skip
    (entry,) = (await ready_of(bob))["read_state"]
    assert entry == {
        "id": str(guild.general), "last_message_id": message["id"], "mention_count": 0, "last_pin_timestamp": None,
        "flags": 1, "last_viewed": 3000,
    }  # fmt: skip
    versioned = (await ready_of(bob, EVERYTHING))["read_state"]
    assert versioned == {"entries": [entry], "partial": False, "version": version}


async def test_users_roles_everyone_and_replies_are_counted_until_they_are_acknowledged(
    guild: Guild, owner: Caller, bob: Caller, platform: Platform
) -> None:
    role, other = await guild.role(), await guild.role()
    carol = await platform.person("carol")
    await guild.join(carol, roles=[role])
    first = await say(bob, guild.general, "mine")
    await say(owner, guild.general, f"<@{carol.id}> and <@{carol.id}>")
    await say(owner, guild.general, f"<@&{role}> <@{carol.id}>")
    await say(owner, guild.general, f"<@&{other}>")
    await say(owner, guild.general, "@everyone")
    await say(owner, guild.general, "reply", message_reference={"message_id": first["id"]})
    last = await say(owner, guild.general, "@everyone", allowed_mentions={"parse": []})
    assert await mentions_of(carol) == {str(guild.general): 3}
    assert await mentions_of(bob) == {str(guild.general): 2}
    assert await mentions_of(owner) == {}
    await bob.post(f"/channels/{guild.general}/messages/{last['id']}/ack", {})
    assert await mentions_of(bob) == {}


async def test_a_user_has_read_the_channel_up_to_their_own_message(guild: Guild, owner: Caller, bob: Caller) -> None:
    await say(owner, guild.general, "@everyone")
    message = await say(bob, guild.general, "here")
    (entry,) = (await ready_of(bob))["read_state"]
    assert (entry["last_message_id"], entry["mention_count"], entry["flags"]) == (message["id"], 0, 1)
    await say(owner, guild.general, f"<@{bob.id}>")
    assert await mentions_of(bob) == {str(guild.general): 1}


async def test_mentions_in_deleted_messages_and_hidden_channels_do_not_count(
    guild: Guild, owner: Caller, bob: Caller
) -> None:
    hidden = await guild.channel(name="hidden", overwrites=[(guild.id, 0, 0, VIEW)])
    await say(owner, hidden, f"<@{bob.id}> @everyone")
    deleted = await say(owner, guild.general, f"<@{bob.id}>")
    several = [await say(owner, guild.general, "@everyone") for _ in range(2)]
    assert await mentions_of(bob) == {str(guild.general): 3}
    await owner.delete(f"/channels/{guild.general}/messages/{deleted['id']}")
    await owner.post(f"/channels/{guild.general}/messages/bulk-delete", {"messages": [m["id"] for m in several]})
    assert await mentions_of(bob) == {}


async def test_mentions_count_since_the_user_joined_and_not_after_they_left(
    platform: Platform, guild: Guild, owner: Caller
) -> None:
    await say(owner, guild.general, "@everyone")
    dave = await platform.person("dave")
    await guild.join(dave)
    assert await mentions_of(dave) == {}
    await say(owner, guild.general, "@everyone")
    assert await mentions_of(dave) == {str(guild.general): 1}
    await owner.delete(f"/guilds/{guild.id}/members/{dave.id}")
    assert await mentions_of(dave) == {}


async def test_threads_count_for_those_who_may_view_them(guild: Guild, owner: Caller, bob: Caller) -> None:
    public = (await owner.post(f"/channels/{guild.general}/threads", {"name": "public", "type": 11})).json["id"]
    private = (await owner.post(f"/channels/{guild.general}/threads", {"name": "private", "type": 12})).json["id"]
    await say(owner, public, "@everyone")
    await say(owner, private, "@everyone")
    assert await mentions_of(bob) == {public: 1}
    await owner.put(f"/channels/{private}/thread-members/{bob.id}")
    # The system message about the new member mentions them too.
    assert await mentions_of(bob) == {public: 1, private: 2}
    message = await say(bob, private, "read")
    entries = {entry["id"]: entry for entry in (await ready_of(bob))["read_state"]}
    assert (entries[private]["last_message_id"], entries[private]["flags"]) == (message["id"], 3)


async def test_every_message_of_a_direct_message_counts(owner: Caller, bob: Caller) -> None:
    channel_id = (await owner.post("/users/@me/channels", {"recipient_id": str(bob.id)})).json["id"]
    messages = [await say(owner, channel_id, f"{n}") for n in range(3)]
    assert await mentions_of(bob) == {channel_id: 3}
    assert await mentions_of(owner) == {}
    await bob.post(f"/channels/{channel_id}/messages/{messages[1]['id']}/ack", {})
    assert await mentions_of(bob) == {channel_id: 1}
    (ack,) = bob.platform.heard_data("MESSAGE_ACK")
    assert (ack["mention_count"], ack["flags"]) == (1, 0)


async def test_a_manual_acknowledgement_states_the_number_of_mentions(guild: Guild, owner: Caller, bob: Caller) -> None:
    messages = [await say(owner, guild.general, f"<@{bob.id}>") for _ in range(3)]
    where = f"/channels/{guild.general}/messages"
    await bob.post(f"{where}/{messages[2]['id']}/ack", {})
    await bob.post(f"{where}/{messages[0]['id']}/ack", {"mention_count": 9})
    assert await mentions_of(bob) == {}, "an older message is acknowledged manually only"
    await bob.post(f"{where}/{messages[0]['id']}/ack", {"manual": True, "mention_count": 7, "flags": 5})
    assert await mentions_of(bob) == {str(guild.general): 7}
    ack = bob.platform.heard_data("MESSAGE_ACK")[-1]
    assert (ack["manual"], ack["mention_count"], ack["flags"]) == (True, 7, 5)
    await say(owner, guild.general, "@everyone")
    assert await mentions_of(bob) == {str(guild.general): 8}
    await bob.post(f"{where}/{messages[0]['id']}/ack", {"manual": True})
    assert await mentions_of(bob) == {str(guild.general): 3}


async def test_the_newest_pin_is_acknowledged(guild: Guild, owner: Caller, bob: Caller) -> None:
    message = await say(owner, guild.general, "pin")
    await owner.put(f"/channels/{guild.general}/pins/{message['id']}")
    pinned_at = (await bob.get(f"/channels/{guild.general}")).json["last_pin_timestamp"]
    assert (await bob.post(f"/channels/{guild.general}/pins/ack")).status == 204
    (ack,) = bob.platform.heard_data("CHANNEL_PINS_ACK")
    assert (ack["channel_id"], ack["timestamp"]) == (str(guild.general), pinned_at)
    (entry,) = (await ready_of(bob))["read_state"]
    assert (entry["last_pin_timestamp"], entry["last_message_id"]) == (pinned_at, "0")


async def test_a_guild_is_acknowledged_in_every_channel_that_the_user_may_view(
    guild: Guild, owner: Caller, bob: Caller
) -> None:
    hidden = await guild.channel(name="hidden", overwrites=[(guild.id, 0, 0, VIEW)])
    second = await guild.channel(name="second")
    newest = {str(c): (await say(owner, c, "@everyone"))["id"] for c in (guild.general, second, hidden)}
    event = await owner.post(
        f"/guilds/{guild.id}/scheduled-events",
        {"name": "party", "privacy_level": 2, "entity_type": 3, "entity_metadata": {"location": "here"}}
        | {"scheduled_start_time": "2099-01-01T00:00:00Z", "scheduled_end_time": "2099-01-02T00:00:00Z"},
    )
    badges = [e for e in (await ready_of(bob, EVERYTHING))["read_state"]["entries"] if "badge_count" in e]
    assert badges == [{"id": str(guild.id), "read_state_type": 1, "last_acked_id": "0", "badge_count": 1}]
    with bob.platform.listening() as heard:
        assert (await bob.post(f"/guilds/{guild.id}/ack")).status == 204
    assert sorted(name for name in heard if "ACK" in name) == ["GUILD_FEATURE_ACK", "MESSAGE_ACK", "MESSAGE_ACK"]
    entries = (await ready_of(bob, EVERYTHING))["read_state"]["entries"]
    assert {e["id"]: e["last_message_id"] for e in entries if "mention_count" in e} == {
        str(c): newest[str(c)] for c in (guild.general, second)
    }
    (seen,) = [entry for entry in entries if "badge_count" in entry]
    assert (seen["last_acked_id"], seen["badge_count"]) == (event.json["id"], 0)
    with bob.platform.listening() as heard:
        await bob.post(f"/guilds/{guild.id}/ack")
    assert [name for name in heard if "ACK" in name] == ["GUILD_FEATURE_ACK"]


async def test_features_are_acknowledged_by_their_type(guild: Guild, bob: Caller) -> None:
    assert (await bob.post(f"/guilds/{guild.id}/ack/4/55", {})).json == {"token": None}
    assert (await bob.post("/users/@me/2/56/ack", {})).json == {"token": None}
    assert [(await bob.post(f"/guilds/{guild.id}/ack/{n}/55", {})).status for n in (0, 2, 6, "x")] == [404] * 4
    assert [(await bob.post(f"/users/@me/{n}/55/ack", {})).status for n in (0, 1)] == [404] * 2
    (guild_ack,) = bob.platform.heard_data("GUILD_FEATURE_ACK")
    assert (guild_ack["ack_type"], guild_ack["resource_id"], guild_ack["entity_id"]) == (4, str(guild.id), "55")
    (user_ack,) = bob.platform.heard_data("USER_NON_CHANNEL_ACK")
    assert (user_ack["ack_type"], user_ack["resource_id"], user_ack["entity_id"]) == (2, str(bob.id), "56")
    assert len((await ready_of(bob, EVERYTHING))["read_state"]["entries"]) == 2
    assert (await ready_of(bob))["read_state"] == []


async def test_a_bulk_update_takes_what_the_user_may_view(platform: Platform, guild: Guild, bob: Caller) -> None:
    hidden = await guild.channel(name="hidden", overwrites=[(guild.id, 0, 0, VIEW)])
    elsewhere = await platform.guild(await platform.person())
    updates = [
        {"channel_id": str(guild.general), "message_id": "70"},
        {"channel_id": str(hidden), "message_id": "71"},
        {"channel_id": str(elsewhere.general), "message_id": "72"},
        {"channel_id": "1", "message_id": "73"},
        {"channel_id": str(guild.id), "message_id": "74", "read_state_type": 3},
        {"channel_id": str(elsewhere.id), "message_id": "75", "read_state_type": 3},
        {"channel_id": str(bob.id), "message_id": "76", "read_state_type": 5},
        {"channel_id": str(guild.owner.id), "message_id": "77", "read_state_type": 5},
    ]
    with platform.listening() as heard:
        assert (await bob.post("/read-states/ack-bulk", {"read_states": updates})).status == 204
    assert sorted(heard) == ["GUILD_FEATURE_ACK", "MESSAGE_ACK", "USER_NON_CHANNEL_ACK"]
    entries = (await ready_of(bob, EVERYTHING))["read_state"]["entries"]
    assert sorted(e.get("last_message_id") or e["last_acked_id"] for e in entries) == ["70", "74", "76"]
    refused = await bob.post("/read-states/ack-bulk", {"read_states": updates[:1] * 101})
    assert refused.errors_at("read_states")
    zero = [{"channel_id": str(guild.general), "message_id": "0"}]
    await bob.post("/read-states/ack-bulk", {"read_states": zero})
    assert len(platform.heard_data("MESSAGE_ACK")) == 1


async def test_a_read_state_is_deleted_also_if_its_channel_is_not_there(
    guild: Guild, bob: Caller, owner: Caller
) -> None:
    channel_id = await guild.channel(name="short")
    await bob.post(f"/channels/{channel_id}/messages/5/ack", {})
    await owner.delete(f"/channels/{channel_id}")
    assert [e["id"] for e in (await ready_of(bob))["read_state"]] == [str(channel_id)]
    where = f"/channels/{channel_id}/messages/ack"
    assert (await bob.delete(where, body={"read_state_type": 0, "version": 2})).status == 204
    assert (await bob.delete(where, body={})).status == 204
    assert (await ready_of(bob))["read_state"] == []


async def test_a_forum_is_read_up_to_ones_own_thread(guild: Guild, owner: Caller) -> None:
    forum = await guild.channel(type=FORUM, name="forum")
    started = await owner.post(f"/channels/{forum}/threads", {"name": "post", "message": {"content": "x"}})
    entries = {entry["id"]: entry["last_message_id"] for entry in (await ready_of(owner))["read_state"]}
    assert entries == {str(forum): started.json["id"], started.json["id"]: started.json["id"]}


async def test_messages_before_a_user_was_added_to_a_group_are_read(platform: Platform, owner: Caller) -> None:
    people = [await platform.person() for _ in range(3)]
    await (await platform.guild(owner)).join(*people)
    body = {"recipients": [str(person.id) for person in people[:2]]}
    group = (await owner.post("/users/@me/channels", body)).json["id"]
    await say(owner, group, "before")
    assert (await owner.put(f"/channels/{group}/recipients/{people[2].id}")).status == 204
    await say(owner, group, "after")
    # The system message about the new recipient counts too.
    assert (await mentions_of(people[2]))[group] == 2
    assert (await mentions_of(people[0]))[group] == 3


async def test_bots_and_applications_have_no_read_states(platform: Platform, guild: Guild, owner: Caller) -> None:
    bot = await platform.bot(owner)
    await guild.join(bot)
    app = await application(platform)
    reader = bearer(platform, owner, (await tokens_of(owner, app, "identify"))["access_token"])
    for path in (f"/channels/{guild.general}/messages/1/ack", f"/guilds/{guild.id}/ack", "/users/@me/2/1/ack"):
        assert (await bot.post(path, {})).code == 20001
        assert (await reader.post(path, {})).status == 403
    assert "read_state" not in await Peer(node_over(platform)).identify(bot.token, intents=1)
