"""Message requests: direct messages of strangers, and how many of them an account may contact."""

from typing import Any

import pytest
from msgspec import structs

from moothall.api.ratelimit import RateLimiter
from moothall.objects.wire import Timestamp
from tests.support.harness import Caller, Platform
from tests.support.read_states import mentions_of

DIRECT = "/users/@me/channels"
RELATIONSHIPS = "/users/@me/relationships"


@pytest.fixture
async def alice(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def bob(platform: Platform) -> Caller:
    return await platform.person("bob")


async def open_with(caller: Caller, other: Caller) -> Any:
    """Open a direct message; the reply."""
    return await caller.post(DIRECT, {"recipient_id": str(other.id)})


async def write(caller: Caller, other: Caller, content: str = "hello") -> str:
    """Write to another user; the id of the direct message."""
    channel_id = str((await open_with(caller, other)).json["id"])
    assert (await caller.post(f"/channels/{channel_id}/messages", {"content": content})).status == 200
    return channel_id


async def befriend(one: Caller, other: Caller) -> None:
    assert (await one.put(f"{RELATIONSHIPS}/{other.id}", {})).status == 204
    assert (await other.put(f"{RELATIONSHIPS}/{one.id}", {"type": 1})).status == 204


async def is_request(caller: Caller, channel_id: str) -> bool | None:
    """Whether a direct message in the list of a user is a message request; None if it is not in the list."""
    listed = {each["id"]: each for each in (await caller.get(DIRECT)).json}
    return listed[channel_id].get("is_message_request", False) if channel_id in listed else None


async def test_the_first_message_of_a_stranger_is_a_message_request(
    platform: Platform, alice: Caller, bob: Caller
) -> None:
    before = Timestamp.now()
    channel_id = await write(alice, bob)
    [own, theirs] = platform.heard_data("CHANNEL_CREATE")
    assert "is_message_request" not in own
    assert (theirs["id"], theirs["is_message_request"], theirs["is_spam"]) == (channel_id, True, False)
    assert Timestamp.from_wire(theirs["is_message_request_timestamp"]) >= before
    assert "is_message_request" not in (await alice.get(DIRECT)).json[0]
    assert await is_request(bob, channel_id) is True
    await write(alice, bob, "again")
    assert platform.heard_names.count("CHANNEL_CREATE") == 2


async def test_members_of_a_guild_and_friends_write_without_one(platform: Platform, alice: Caller, bob: Caller) -> None:
    carol = await platform.person("carol")
    guild = await platform.guild(alice)
    await guild.join(bob)
    await befriend(alice, carol)
    assert await is_request(bob, await write(alice, bob)) is False
    assert await is_request(carol, await write(alice, carol)) is False


async def test_members_of_guilds_that_a_user_distrusts_are_strangers(
    platform: Platform, alice: Caller, bob: Caller
) -> None:
    guild = await platform.guild(alice)
    await guild.join(bob)
    changed = await bob.patch("/users/@me/settings", {"message_request_guilds": [str(guild.id)]})
    assert changed.json["message_request_guilds"] == [str(guild.id)]
    assert await is_request(bob, await write(alice, bob)) is True


async def test_the_bot_of_an_application_that_a_user_has_not_authorized_is_a_stranger(
    platform: Platform, alice: Caller, bob: Caller
) -> None:
    bot = await platform.bot(alice)
    assert await is_request(bob, await write(bot, bob)) is True
    guild = await platform.guild(alice)
    await guild.join(bot)
    assert await is_request(alice, await write(bot, alice)) is False


async def test_accepting_is_announced_and_makes_it_a_direct_message(
    platform: Platform, alice: Caller, bob: Caller
) -> None:
    channel_id = await write(alice, bob)
    path = f"/channels/{channel_id}/recipients/@me"
    assert (await bob.put(path, {"consent_status": 3})).errors_at("consent_status") == ["BASE_TYPE_CHOICES"]
    platform.heard.clear()
    accepted = await bob.put(path, {"consent_status": 2})
    assert (accepted.status, accepted.json["is_message_request"]) == (200, False)
    assert [(e.name, e.user_ids) for e in platform.heard] == [("CHANNEL_UPDATE", [bob.id])]
    assert platform.heard_data("CHANNEL_UPDATE") == [accepted.json]
    assert (await bob.put(path, {"consent_status": 2})).json == accepted.json
    assert len(platform.heard) == 1
    assert await is_request(bob, channel_id) is False


async def test_a_reply_accepts(platform: Platform, alice: Caller, bob: Caller) -> None:
    channel_id = await write(alice, bob)
    with platform.listening() as heard:
        assert (await bob.post(f"/channels/{channel_id}/messages", {"content": "hi"})).status == 200
    assert sorted(heard) == ["CHANNEL_UPDATE", "MESSAGE_CREATE"]
    assert await is_request(bob, channel_id) is False


async def test_becoming_friends_accepts(platform: Platform, alice: Caller, bob: Caller) -> None:
    channel_id = await write(alice, bob)
    assert (await alice.post(RELATIONSHIPS, {"username": "bob"})).status == 204
    with platform.listening() as heard:
        assert (await bob.post(RELATIONSHIPS, {"username": "alice"})).status == 204
    assert sorted(heard) == ["CHANNEL_UPDATE", "RELATIONSHIP_ADD", "RELATIONSHIP_ADD"]
    assert await is_request(bob, channel_id) is False
    carol = await platform.person("carol")
    other_id = await write(carol, bob)
    with platform.listening() as heard:
        await befriend(carol, bob)
    assert heard.count("CHANNEL_UPDATE") == 1
    assert await is_request(bob, other_id) is False


async def test_a_message_after_joining_a_guild_together_accepts(platform: Platform, alice: Caller, bob: Caller) -> None:
    channel_id = await write(alice, bob)
    await (await platform.guild(alice)).join(bob)
    with platform.listening() as heard:
        await alice.post(f"/channels/{channel_id}/messages", {"content": "now"})
    assert sorted(heard) == ["CHANNEL_UPDATE", "MESSAGE_CREATE"]
    assert await is_request(bob, channel_id) is False


async def test_a_rejected_request_is_closed_and_its_sender_writes_no_more(
    platform: Platform, alice: Caller, bob: Caller
) -> None:
    channel_id = await write(alice, bob)
    platform.heard.clear()
    rejected = await bob.delete(f"/channels/{channel_id}/recipients/@me")
    assert (rejected.status, rejected.json["is_message_request"]) == (200, False)
    assert sorted(platform.heard_names) == ["CHANNEL_DELETE", "CHANNEL_UPDATE", "MESSAGE_ACK"]
    assert {tuple(e.user_ids) for e in platform.heard} == {(bob.id,)}
    assert await is_request(bob, channel_id) is None
    url = f"/channels/{channel_id}/messages"
    assert (await alice.post(url, {"content": "please"})).code == 50007
    assert (await open_with(alice, bob)).json["id"] == channel_id
    assert (await alice.post(url, {"content": "please"})).code == 50007
    assert (await bob.delete(f"/channels/{channel_id}/recipients/@me")).code == 10003
    await befriend(alice, bob)
    assert (await alice.post(url, {"content": "thanks"})).status == 200
    assert await is_request(bob, channel_id) is False


async def test_one_who_rejected_may_write_and_is_answered(alice: Caller, bob: Caller) -> None:
    channel_id = await write(alice, bob)
    await bob.delete(f"/channels/{channel_id}/recipients/@me")
    assert await write(bob, alice) == channel_id
    assert (await alice.post(f"/channels/{channel_id}/messages", {"content": "hi"})).status == 200
    assert await is_request(bob, channel_id) is False


async def test_several_are_rejected_at_once_or_none(platform: Platform, alice: Caller, bob: Caller) -> None:
    carol = await platform.person("carol")
    first, second = await write(alice, bob), await write(carol, bob)
    own = await write(bob, await platform.person())
    path = "/channels/recipients/@me/batch-reject"
    assert (await bob.put(path, {"channel_ids": [first, own]})).code == 10003
    assert await is_request(bob, first) is True
    assert (await alice.put(path, {"channel_ids": [first]})).code == 10003
    platform.heard.clear()
    reply = await bob.put(path, {"channel_ids": [first, second, first]})
    assert [each["id"] for each in reply.json] == [first, second]
    assert sorted(platform.heard_names) == [*["CHANNEL_DELETE"] * 2, *["CHANNEL_UPDATE"] * 2, *["MESSAGE_ACK"] * 2]


async def test_the_first_message_of_a_request_is_previewed_to_its_recipient(alice: Caller, bob: Caller) -> None:
    channel_id = await write(alice, bob, "first")
    await write(alice, bob, "second")
    path = "/users/@me/message-requests/supplemental-data"
    [preview] = (await bob.get(path, channel_ids=[channel_id])).json
    assert (preview["channel_id"], preview["message_preview"]["content"]) == (channel_id, "first")
    assert preview["message_preview"]["author"]["id"] == str(alice.id)
    assert (await alice.get(path, channel_ids=[channel_id])).json == []
    await bob.put(f"/channels/{channel_id}/recipients/@me", {"consent_status": 2})
    assert (await bob.get(path, channel_ids=[channel_id])).json == []
    assert (await bob.get(path)).status == 400


async def test_only_its_recipient_accepts_or_rejects_one(platform: Platform, alice: Caller, bob: Caller) -> None:
    channel_id = await write(alice, bob)
    eve = await platform.person("eve")
    path = f"/channels/{channel_id}/recipients/@me"
    assert (await eve.put(path, {"consent_status": 2})).code == 50001
    assert (await eve.delete(path)).code == 50001
    assert (await alice.put(path, {"consent_status": 2})).status == 200
    assert (await alice.delete(path)).code == 10003
    assert await is_request(bob, channel_id) is True
    guild = await platform.guild(alice)
    assert (await alice.put(f"/channels/{guild.general}/recipients/@me", {"consent_status": 2})).code == 50024


async def test_it_counts_no_mentions_until_it_is_accepted(alice: Caller, bob: Caller) -> None:
    channel_id = await write(alice, bob)
    assert await mentions_of(bob) == {}
    await bob.put(f"/channels/{channel_id}/recipients/@me", {"consent_status": 2})
    assert await mentions_of(bob) == {channel_id: 1}


async def test_a_user_may_take_none(platform: Platform, alice: Caller, bob: Caller) -> None:
    channel_id = await write(alice, bob)
    await bob.patch("/users/@me/settings", {"allow_message_requests": False})
    assert (await alice.post(f"/channels/{channel_id}/messages", {"content": "x"})).code == 50007
    carol = await platform.person("carol")
    assert (await open_with(carol, bob)).code == 50007
    bot = await platform.bot(alice)
    assert (await open_with(bot, bob)).code == 50007
    await (await platform.guild(carol)).join(bob)
    assert (await open_with(carol, bob)).status == 200
    assert (await bob.post(f"/channels/{channel_id}/messages", {"content": "x"})).status == 200
    assert (await alice.post(f"/channels/{channel_id}/messages", {"content": "x"})).status == 200


async def test_an_operator_may_refuse_them_all(platform: Platform, alice: Caller, bob: Caller) -> None:
    platform.services.limits = structs.replace(platform.services.limits, message_requests=False)
    assert (await open_with(alice, bob)).code == 50007
    await befriend(alice, bob)
    assert (await open_with(alice, bob)).status == 200


async def test_a_stranger_adds_no_one_to_a_group_by_a_message_request(
    platform: Platform, alice: Caller, bob: Caller
) -> None:
    friend = await platform.person("friend")
    await befriend(alice, friend)
    channel_id = await write(alice, bob)
    group = {"recipients": [str(bob.id), str(friend.id)]}
    assert (await alice.post(DIRECT, group)).code == 50033
    await bob.put(f"/channels/{channel_id}/recipients/@me", {"consent_status": 2})
    assert (await alice.post(DIRECT, group)).status == 200


@pytest.mark.parametrize("bot", [False, True])
async def test_an_account_opens_few_direct_messages_to_strangers_at_a_time(
    platform: Platform, alice: Caller, *, bot: bool
) -> None:
    platform.services.limiter = RateLimiter(loopback_multiplier=1)
    platform.services.limits = structs.replace(platform.services.limits, new_contacts=2, opened_direct_messages=4)
    caller = await platform.bot(alice) if bot else alice
    others = [await platform.person() for _ in range(3)]
    assert [(await open_with(caller, each)).status for each in others] == [200, 200, 429]
    refused = await open_with(caller, others[2])
    assert (refused.code, refused.json["global"]) == (40003, False)
    assert 0 < refused.json["retry_after"] <= 600
    assert int(refused.headers["retry-after"]) >= refused.json["retry_after"]
    assert refused.headers["via"]
    assert (await open_with(caller, others[0])).status == 200
    members = [await platform.person() for _ in range(3)]
    guild = await platform.guild(await platform.person())
    await guild.join(caller, *members)
    assert [(await open_with(caller, each)).status for each in members] == [200, 200, 429]


async def test_friend_requests_to_strangers_count_as_well(platform: Platform, alice: Caller, bob: Caller) -> None:
    platform.services.limiter = RateLimiter(loopback_multiplier=1)
    platform.services.limits = structs.replace(platform.services.limits, new_contacts=2)
    carol, dave = await platform.person("carol"), await platform.person("dave")
    assert (await alice.put(f"{RELATIONSHIPS}/{bob.id}", {})).status == 204
    assert (await alice.delete(f"{RELATIONSHIPS}/{bob.id}")).status == 204
    assert (await open_with(alice, carol)).status == 200
    refused = await alice.post(RELATIONSHIPS, {"username": "dave"})
    assert (refused.status, refused.code) == (429, 40062)
    assert (await dave.put(f"{RELATIONSHIPS}/{alice.id}", {})).status == 204
    assert (await alice.put(f"{RELATIONSHIPS}/{dave.id}", {})).status == 204
    await (await platform.guild(alice)).join(bob)
    assert (await alice.put(f"{RELATIONSHIPS}/{bob.id}", {})).status == 204
