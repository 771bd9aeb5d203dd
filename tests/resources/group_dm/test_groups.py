"""Group direct messages: creating them, their recipients and events (resources: channel, group DM)."""

from typing import Any

import pytest
from msgspec import Struct

from moothall.objects.wire import Timestamp
from tests.resources.guild.pictures import picture
from tests.support.harness import Caller, Guild, Platform


class Circle(Struct):
    """Alice's group with Bob and Carol; Dave shares a guild with them, Eve does not."""

    alice: Caller
    bob: Caller
    carol: Caller
    dave: Caller
    eve: Caller
    guild: Guild
    channel: dict[str, Any]

    @property
    def url(self) -> str:
        return f"/channels/{self.channel['id']}"


@pytest.fixture
async def circle(platform: Platform) -> Circle:
    people = [await platform.person(name) for name in ("alice", "bob", "carol", "dave", "eve")]
    alice, bob, carol, dave, eve = people
    guild = await platform.guild(alice)
    await guild.join(bob, carol, dave)
    made = await alice.post("/users/@me/channels", {"recipients": [str(bob.id), str(carol.id)]})
    assert made.status == 200, made.body
    return Circle(alice, bob, carol, dave, eve, guild, made.json)


def names(channel: dict[str, Any]) -> set[str]:
    return {user["username"] for user in channel["recipients"]}


async def test_a_group_is_in_the_list_of_each_recipient_without_themselves(platform: Platform, circle: Circle) -> None:
    assert (circle.channel["type"], circle.channel["owner_id"]) == (3, str(circle.alice.id))
    assert (circle.channel["name"], circle.channel["icon"]) == (None, None)
    assert names(circle.channel) == {"bob", "carol"}
    assert platform.heard_names == ["CHANNEL_CREATE"] * 3
    events = {
        tuple(e.user_ids): data for e, data in zip(platform.heard, platform.heard_data("CHANNEL_CREATE"), strict=True)
    }
    for caller in (circle.alice, circle.bob, circle.carol):
        listed = (await caller.get("/users/@me/channels")).json
        assert listed == [events[caller.id,]] == [(await caller.get(circle.url)).json]
        assert caller.name not in names(listed[0])
    assert (await circle.dave.get(circle.url)).code == 50001


async def test_a_group_with_one_other_is_a_group_beside_their_direct_message(circle: Circle) -> None:
    alice, bob = str(circle.alice.id), str(circle.bob.id)
    pair = (await circle.alice.post("/users/@me/channels", {"recipients": [bob]})).json
    group = (await circle.alice.post("/users/@me/channels", {"recipients": [alice, bob]})).json
    assert (pair["type"], group["type"], group["owner_id"], names(group)) == (1, 3, alice, {"bob"})
    assert {each["id"] for each in (await circle.bob.get("/users/@me/channels")).json} >= {group["id"]}
    body = {"recipients": [alice, str(circle.eve.id)]}
    assert (await circle.alice.post("/users/@me/channels", body)).code == 50033
    assert (await circle.alice.put(f"/channels/{group['id']}/recipients/{circle.carol.id}")).status == 204


async def test_messages_in_a_group_go_to_all_recipients(platform: Platform, circle: Circle) -> None:
    platform.heard.clear()
    assert (await circle.bob.post(f"{circle.url}/messages", {"content": "hi"})).status == 200
    (envelope,) = platform.heard
    assert set(envelope.user_ids) == {circle.alice.id, circle.bob.id, circle.carol.id}
    assert [m["content"] for m in (await circle.carol.get(f"{circle.url}/messages")).json] == ["hi"]
    assert (await circle.eve.post(f"{circle.url}/messages", {"content": "hi"})).code == 50001


async def test_any_recipient_adds_users_they_know_which_is_announced_to_all(platform: Platform, circle: Circle) -> None:
    platform.heard.clear()
    reply = await circle.bob.put(f"{circle.url}/recipients/{circle.dave.id}", {"nick": "D"})
    assert reply.status == 204
    assert platform.heard_names == ["CHANNEL_RECIPIENT_ADD", "CHANNEL_CREATE", "MESSAGE_CREATE"]
    assert set(platform.heard[0].user_ids) == {circle.alice.id, circle.bob.id, circle.carol.id}
    assert platform.heard[1].user_ids == [circle.dave.id]
    added = platform.heard_data("CHANNEL_RECIPIENT_ADD")[0]
    assert (added["channel_id"], added["user"]["id"], added["nick"]) == (circle.channel["id"], str(circle.dave.id), "D")
    message = platform.heard_data("MESSAGE_CREATE")[0]
    assert (message["type"], message["author"]["id"]) == (1, str(circle.bob.id))
    assert [user["id"] for user in message["mentions"]] == [str(circle.dave.id)]
    seen = (await circle.alice.get(circle.url)).json
    assert names(seen) == {"bob", "carol", "dave"}
    assert seen["nicks"] == [{"id": str(circle.dave.id), "nick": "D"}]
    with platform.listening() as heard:
        assert (await circle.bob.put(f"{circle.url}/recipients/{circle.dave.id}")).status == 204
    assert heard == []


async def test_strangers_and_bots_cannot_add_a_user_to_a_group(platform: Platform, circle: Circle) -> None:
    bot = await platform.bot(circle.alice)
    await circle.guild.join(bot)
    platform.heard.clear()
    for target in (circle.eve.id, bot.id, 5):
        assert (await circle.alice.put(f"{circle.url}/recipients/{target}")).code == 50033
        body = {"recipients": [str(circle.bob.id), str(target)]}
        assert (await circle.alice.post("/users/@me/channels", body)).code == 50033
    body = {"recipients": [str(circle.bob.id), str(circle.carol.id)]}
    assert (await bot.post("/users/@me/channels", body)).code == 50033
    assert (await circle.dave.put(f"{circle.url}/recipients/{circle.dave.id}")).code == 50001
    assert (await circle.alice.put(f"/channels/{circle.guild.general}/recipients/{circle.bob.id}")).code == 50024
    until = {"dms_disabled_until": Timestamp(Timestamp.now() + 60_000).wire()}
    await circle.guild.set(incidents_data=until)
    assert (await circle.alice.put(f"{circle.url}/recipients/{circle.dave.id}")).code == 50033
    assert platform.heard == []
    assert names((await circle.alice.get(circle.url)).json) == {"bob", "carol"}


async def test_a_user_with_a_direct_message_may_be_added_to_a_group(circle: Circle) -> None:
    await circle.eve.post("/users/@me/channels", {"recipient_id": str(circle.alice.id)})
    assert (await circle.alice.put(f"{circle.url}/recipients/{circle.eve.id}")).status == 204


async def test_a_group_has_at_most_ten_recipients(platform: Platform, circle: Circle) -> None:
    more = [await platform.person() for _ in range(8)]
    await circle.guild.join(*more)
    for caller in more[:7]:
        assert (await circle.alice.put(f"{circle.url}/recipients/{caller.id}")).status == 204
    refused = await circle.alice.put(f"{circle.url}/recipients/{more[7].id}")
    assert (refused.status, refused.code) == (400, 30004)
    ten = [str(caller.id) for caller in (circle.bob, circle.carol, *more)]
    assert (await circle.alice.post("/users/@me/channels", {"recipients": ten})).errors_at("recipients")


async def test_adding_a_user_to_a_direct_message_creates_a_group(circle: Circle) -> None:
    pair = (await circle.alice.post("/users/@me/channels", {"recipients": [str(circle.bob.id)]})).json
    assert pair["type"] == 1
    reply = await circle.alice.put(f"/channels/{pair['id']}/recipients/{circle.dave.id}")
    assert (reply.status, reply.json["type"]) == (201, 3)
    assert names(reply.json) == {"bob", "dave"}
    assert (await circle.bob.get(f"/channels/{pair['id']}")).json["type"] == 1
    assert (await circle.alice.put(f"/channels/{pair['id']}/recipients/{circle.bob.id}")).code == 50033


async def test_the_owner_removes_other_recipients_and_others_only_themselves(
    platform: Platform, circle: Circle
) -> None:
    platform.heard.clear()
    assert (await circle.bob.delete(f"{circle.url}/recipients/{circle.carol.id}")).code == 50013
    assert (await circle.alice.delete(f"{circle.url}/recipients/{circle.dave.id}")).code == 10013
    assert platform.heard == []
    assert (await circle.alice.delete(f"{circle.url}/recipients/{circle.carol.id}")).status == 204
    assert platform.heard_names == ["CHANNEL_DELETE", "CHANNEL_RECIPIENT_REMOVE", "MESSAGE_CREATE"]
    assert platform.heard[0].user_ids == [circle.carol.id]
    assert set(platform.heard[1].user_ids) == {circle.alice.id, circle.bob.id}
    assert platform.heard_data("MESSAGE_CREATE")[0]["type"] == 2
    assert (await circle.carol.get(circle.url)).code == 50001
    assert (await circle.carol.get("/users/@me/channels")).json == []
    with platform.listening() as heard:
        assert (await circle.alice.delete(f"{circle.url}/recipients/{circle.alice.id}")).status == 204
    # Whose it was hands it on.
    assert heard == ["CHANNEL_DELETE", "CHANNEL_RECIPIENT_REMOVE", "CHANNEL_UPDATE", "MESSAGE_CREATE"]
    assert (await circle.bob.get(circle.url)).json["owner_id"] == str(circle.bob.id)
    assert (await circle.bob.delete(f"{circle.url}/recipients/{circle.bob.id}")).status == 204
    pair = (await circle.alice.post("/users/@me/channels", {"recipient_id": str(circle.bob.id)})).json
    assert (await circle.alice.delete(f"/channels/{pair['id']}/recipients/{circle.bob.id}")).code == 50024


async def test_a_group_gets_a_new_owner_when_its_owner_leaves_and_is_deleted_with_the_last_recipient(
    platform: Platform, circle: Circle
) -> None:
    platform.heard.clear()
    left = await circle.alice.delete(circle.url)
    assert (left.status, left.json) == (200, circle.channel)
    assert platform.heard_names == [
        "CHANNEL_DELETE",
        "CHANNEL_RECIPIENT_REMOVE",
        "CHANNEL_UPDATE",
        "CHANNEL_UPDATE",
        "MESSAGE_CREATE",
    ]
    assert (await circle.carol.get(circle.url)).json["owner_id"] == str(circle.bob.id)
    code = (await circle.carol.post(f"{circle.url}/invites", {})).json["code"]
    assert (await circle.bob.delete(circle.url)).status == 200
    assert (await circle.carol.delete(circle.url)).status == 200
    assert (await circle.carol.get(circle.url)).code == 10003
    assert (await circle.dave.get(f"/invites/{code}")).code == 10006


async def test_any_recipient_changes_its_name_and_icon(platform: Platform, circle: Circle) -> None:
    platform.heard.clear()
    reply = await circle.bob.patch(circle.url, {"name": " The  Circle ", "icon": picture()})
    assert reply.status == 200
    assert reply.json["name"] == "The Circle"
    assert len(reply.json["icon"]) == 32
    assert platform.heard_names == ["CHANNEL_UPDATE"] * 3 + ["MESSAGE_CREATE"] * 2
    events = {tuple(e.user_ids): e for e in platform.heard if e.name == "CHANNEL_UPDATE"}
    assert set(events) == {(c.id,) for c in (circle.alice, circle.bob, circle.carol)}
    messages = platform.heard_data("MESSAGE_CREATE")
    assert [(m["type"], m["content"]) for m in messages] == [(4, "The Circle"), (5, "")]
    assert (await circle.carol.get(circle.url)).json["name"] == "The Circle"
    with platform.listening() as heard:
        assert (await circle.bob.patch(circle.url, {"name": "The Circle"})).status == 200
    assert heard == []
    cleared = (await circle.bob.patch(circle.url, {"name": None, "icon": None})).json
    assert (cleared["name"], cleared["icon"]) == (None, None)


async def test_only_the_owner_transfers_a_group_and_only_to_a_recipient(circle: Circle) -> None:
    assert (await circle.bob.patch(circle.url, {"owner": str(circle.bob.id)})).code == 50013
    assert (await circle.alice.patch(circle.url, {"owner": str(circle.dave.id)})).errors_at("owner")
    assert (await circle.alice.patch(circle.url, {"owner": str(circle.bob.id)})).json["owner_id"] == str(circle.bob.id)


async def test_a_group_invite_has_its_type_and_admits_strangers(platform: Platform, circle: Circle) -> None:
    platform.heard.clear()
    made = await circle.bob.post(f"{circle.url}/invites", {"max_age": 600})
    assert made.status == 200
    invite = made.json
    assert (invite["type"], invite["max_age"], invite["inviter"]["id"]) == (1, 600, str(circle.bob.id))
    assert "guild" not in invite
    assert (invite["channel"]["id"], invite["channel"]["type"]) == (circle.channel["id"], 3)
    assert {user["username"] for user in invite["channel"]["recipients"]} == {"alice", "bob", "carol"}
    assert platform.heard == []
    assert (await circle.bob.post(f"{circle.url}/invites", {"max_age": 600})).json["code"] == invite["code"]
    shown = (await platform.anonymous.get(f"/invites/{invite['code']}", with_counts=True)).json
    assert (shown["type"], shown["approximate_member_count"]) == (1, 3)
    assert "uses" not in shown
    assert (await circle.eve.post(f"/invites/{invite['code']}")).status == 200
    assert platform.heard_names == ["CHANNEL_RECIPIENT_ADD", "CHANNEL_CREATE", "MESSAGE_CREATE"]
    assert names((await circle.eve.get(circle.url)).json) == {"alice", "bob", "carol"}
    with platform.listening() as heard:
        assert (await circle.eve.post(f"/invites/{invite['code']}")).status == 200
    assert heard == []
    bot = await platform.bot(circle.alice)
    assert (await bot.post(f"/invites/{invite['code']}")).code == 20001


async def test_a_group_invite_is_deleted_by_its_creator_or_the_owner_of_the_group(circle: Circle) -> None:
    first = (await circle.bob.post(f"{circle.url}/invites", {})).json["code"]
    second = (await circle.bob.post(f"{circle.url}/invites", {"unique": True})).json["code"]
    assert first != second
    assert (await circle.carol.delete(f"/invites/{first}")).code == 50013
    assert (await circle.eve.delete(f"/invites/{first}")).code == 50001
    assert (await circle.bob.delete(f"/invites/{first}")).json["code"] == first
    assert (await circle.alice.delete(f"/invites/{second}")).status == 200
    assert (await circle.eve.get(f"/invites/{second}")).code == 10006
    assert (await circle.eve.post(f"{circle.url}/invites", {})).code == 50001
    assert (await circle.alice.get(f"{circle.url}/invites")).code == 50013


async def test_an_application_creates_a_group_of_users_with_access_tokens(platform: Platform, circle: Circle) -> None:
    bot, other = await platform.bot(circle.alice), await platform.bot(circle.alice)
    assert bot.application_id is not None
    let = [await platform.bearer(c, bot.application_id, "gdm.join") for c in (circle.bob, circle.eve)]
    too_little = await platform.bearer(circle.bob, bot.application_id, "identify")
    elsewhere = await platform.bearer(circle.bob, other.application_id or 0, "gdm.join")
    for token in (too_little.token, elsewhere.token, circle.bob.token, "x"):
        assert (await bot.post("/users/@me/channels", {"access_tokens": [token]})).code == 50025
    assert (await circle.alice.post("/users/@me/channels", {"access_tokens": [let[0].token]})).code == 50025
    body = {"access_tokens": [caller.token for caller in let], "nicks": {str(circle.bob.id): "B"}}
    made = await bot.post("/users/@me/channels", body)
    assert made.status == 200, made.body
    group = made.json
    assert (group["application_id"], group["managed"], names(group)) == (str(bot.application_id), True, {"bob", "eve"})
    assert group["nicks"] == [{"id": str(circle.bob.id), "nick": "B"}]
    url = f"/channels/{group['id']}/recipients"
    carol = await platform.bearer(circle.carol, bot.application_id, "gdm.join")
    assert (await bot.put(f"{url}/{circle.carol.id}")).code == 50033
    assert (await bot.put(f"{url}/{circle.dave.id}", {"access_token": carol.token})).code == 50025
    assert (await bot.put(f"{url}/{circle.carol.id}", {"access_token": carol.token})).status == 204
    assert (await bot.delete(f"{url}/{circle.carol.id}")).status == 204
    for _ in range(9):
        assert (await bot.post("/users/@me/channels", body)).status == 200
    assert (await bot.post("/users/@me/channels", body)).code == 30011
