"""Direct messages: one for each pair of users, which can be closed."""

from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from tests.support.harness import CATEGORY, Platform


async def test_two_users_have_one_direct_message_no_matter_which_of_them_opens_it(platform: Platform) -> None:
    alice, bob = await platform.person("alice"), await platform.person("bob")
    opened = await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})
    assert opened.status == 200
    assert (opened.json["type"], opened.json["last_message_id"]) == (1, None)
    assert [user["id"] for user in opened.json["recipients"]] == [str(bob.id)]
    again = await bob.post("/users/@me/channels", {"recipient_id": str(alice.id)})
    assert again.json["id"] == opened.json["id"]
    assert [user["id"] for user in again.json["recipients"]] == [str(alice.id)]
    assert (await alice.get(f"/channels/{opened.json['id']}")).json == opened.json


async def test_it_is_in_the_list_of_the_user_who_opened_it_until_closed(platform: Platform) -> None:
    alice, bob = await platform.person(), await platform.person()
    opened = (await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})).json
    assert (await alice.get("/users/@me/channels")).json == [opened]
    assert (await bob.get("/users/@me/channels")).json == []
    assert platform.heard_data("CHANNEL_CREATE") == [opened]
    assert [e.user_ids for e in platform.heard] == [[alice.id]]
    closed = await alice.delete(f"/channels/{opened['id']}")
    assert (closed.status, closed.json) == (200, opened)
    assert (await alice.get("/users/@me/channels")).json == []
    await alice.delete(f"/channels/{opened['id']}")
    await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})
    await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})
    assert platform.heard_names == ["CHANNEL_CREATE", "CHANNEL_DELETE", "CHANNEL_CREATE"]


async def test_bots_open_them_and_receive_no_event(platform: Platform) -> None:
    alice = await platform.person()
    bot, other = await platform.bot(alice), await platform.bot(alice)
    assert (await bot.post("/users/@me/channels", {"recipient_id": str(alice.id)})).status == 200
    assert platform.heard_names == []
    assert (await bot.post("/users/@me/channels", {"recipient_id": str(other.id)})).code == 50007
    assert (await bot.get("/users/@me/channels")).code == 20001


async def test_there_is_none_with_the_caller_or_an_unknown_user(platform: Platform) -> None:
    alice = await platform.person()
    for body in (
        {"recipient_id": str(alice.id)},
        {"recipient_id": "5"},
        {"recipients": [str(alice.id)]},
        {"recipients": ["5", "6"]},
    ):
        reply = await alice.post("/users/@me/channels", body)
        assert (reply.status, reply.code) == (400, 50033)
    assert (await alice.post("/users/@me/channels", {})).errors_at("recipient_id") == ["BASE_TYPE_REQUIRED"]


async def test_none_opens_if_every_shared_guild_has_disabled_direct_messages(platform: Platform) -> None:
    alice, bob, carol = await platform.person(), await platform.person(), await platform.person()
    guild = await platform.guild(alice)
    await guild.join(bob, carol)
    soon = Timestamp(Timestamp.now() + 60_000).wire()
    await guild.set(incidents_data={"dms_disabled_until": soon})
    refused = await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})
    assert (refused.status, refused.code) == (403, 50007)
    second = await platform.guild(carol)
    await second.join(alice)
    assert (await alice.post("/users/@me/channels", {"recipient_id": str(carol.id)})).status == 200
    await guild.set(incidents_data={"dms_disabled_until": "2020-01-01T00:00:00+00:00"})
    assert (await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})).status == 200


async def test_only_its_recipients_may_view_it_and_no_user_can_modify_it(platform: Platform) -> None:
    alice, bob, eve = await platform.person(), await platform.person(), await platform.person()
    channel = (await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})).json["id"]
    assert (await eve.get(f"/channels/{channel}")).code == 50001
    assert (await alice.patch(f"/channels/{channel}", {"name": "x"})).code == 50003


async def test_a_typing_event_in_a_guild_has_the_member(platform: Platform) -> None:
    alice = await platform.person()
    guild = await platform.guild(alice)
    assert (await alice.post(f"/channels/{guild.general}/typing")).status == 204
    [envelope] = platform.heard
    assert (envelope.name, envelope.channel_id, envelope.guild_id) == ("TYPING_START", guild.general, guild.id)
    assert (int(envelope.audience), envelope.intent) == (2, 1 << 11)
    [data] = platform.heard_data("TYPING_START")
    member = data.pop("member")
    assert (member["user"]["id"], "pending" in member) == (str(alice.id), False)
    assert abs(data.pop("timestamp") - Timestamp.now() // 1000) <= 2
    assert data == {"guild_id": str(guild.id), "channel_id": str(guild.general), "user_id": str(alice.id)}


async def test_a_typing_event_in_a_direct_message_goes_to_both_recipients(platform: Platform) -> None:
    alice, bob = await platform.person(), await platform.person()
    channel = (await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})).json["id"]
    platform.heard.clear()
    assert (await bob.post(f"/channels/{channel}/typing")).status == 204
    [envelope] = platform.heard
    assert (int(envelope.audience), sorted(envelope.user_ids), envelope.intent) == (
        3,
        sorted((alice.id, bob.id)),
        1 << 14,
    )
    assert set(platform.heard_data("TYPING_START")[0]) == {"channel_id", "user_id", "timestamp"}


async def test_typing_is_refused_in_channels_without_messages(platform: Platform) -> None:
    alice = await platform.person()
    guild = await platform.guild(alice)
    bob = await guild.member_with(0)
    category = await guild.channel(type=CATEGORY)
    silent = await guild.channel(overwrites=[(guild.id, 0, 0, Permissions.SEND_MESSAGES)])
    assert (await alice.post(f"/channels/{category}/typing")).code == 50008
    assert (await bob.post(f"/channels/{silent}/typing")).code == 50013
