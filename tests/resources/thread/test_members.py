"""Members of threads (resources: channel, thread members)."""

from sqlalchemy import insert

from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import thread_members
from tests.resources.thread.thread_guild import PRIVATE, content_of, id_of, thread_guild
from tests.support.harness import Platform

_insert_member = Query(insert(thread_members))
ME = "thread-members/@me"


async def test_joining_and_leaving_is_announced(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.owner)
    with platform.listening() as heard:
        for _ in range(2):
            assert (await at.bob.put(f"{thread}/{ME}")).status == 204
    assert heard == ["THREAD_MEMBERS_UPDATE", "THREAD_CREATE"]
    event = platform.heard_data("THREAD_MEMBERS_UPDATE")[-1]
    assert (event["id"], event["guild_id"], event["member_count"]) == (id_of(thread), str(at.guild.id), 2)
    assert [m["user_id"] for m in event["added_members"]] == [str(at.bob.id)]
    assert event["added_members"][0]["member"]["user"]["id"] == str(at.bob.id)
    assert event["added_members"][0]["presence"] is None
    assert "pending" not in event["added_members"][0]["member"]
    joined = platform.heard_data("THREAD_CREATE")[-1]
    assert (joined["member"]["flags"], "newly_created" in joined) == (0, False)
    assert (await at.bob.get(thread)).json["member"]["user_id"] == str(at.bob.id)
    with platform.listening() as heard:
        for _ in range(2):
            assert (await at.bob.delete(f"{thread}/{ME}")).status == 204
    assert heard == ["THREAD_MEMBERS_UPDATE"]
    event = platform.heard_data("THREAD_MEMBERS_UPDATE")[-1]
    assert (event["member_count"], event["removed_member_ids"]) == (1, [str(at.bob.id)])
    assert "member" not in (await at.bob.get(thread)).json


async def test_adding_or_removing_another_member_sends_a_system_message(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread, carol = await at.thread(at.owner), await at.newcomer()
    with platform.listening() as heard:
        for _ in range(2):
            assert (await at.bob.put(f"{thread}/thread-members/{carol.id}")).status == 204
    assert heard == ["THREAD_MEMBERS_UPDATE", "THREAD_CREATE", "MESSAGE_CREATE"]
    with platform.listening() as heard:
        assert (await at.owner.delete(f"{thread}/thread-members/{carol.id}")).status == 204
    assert heard == ["THREAD_MEMBERS_UPDATE", "MESSAGE_CREATE"]
    messages = (await at.bob.get(f"{thread}/messages")).json
    assert content_of(messages) == [(1, ""), (2, "")]
    assert [m["mentions"][0]["id"] for m in messages] == [str(carol.id)] * 2
    assert (await at.owner.delete(f"{thread}/thread-members/{carol.id}")).code == 10007


async def test_removing_a_member_requires_manage_threads_or_owning_the_private_thread(platform: Platform) -> None:
    at = await thread_guild(platform)
    carol = await at.newcomer()
    steward = await at.guild.member_with(Permissions.MANAGE_THREADS)
    public, private = await at.thread(at.bob), await at.thread(at.bob, PRIVATE)
    for thread in (public, private):
        assert (await at.bob.put(f"{thread}/thread-members/{carol.id}")).status == 204
    path = f"thread-members/{carol.id}"
    assert (await at.bob.delete(f"{public}/{path}")).code == 50013
    assert (await carol.delete(f"{private}/thread-members/{at.bob.id}")).code == 50013
    assert (await steward.delete(f"{public}/{path}")).status == 204
    assert (await at.bob.delete(f"{private}/{path}")).status == 204
    assert (await carol.get(private)).code == 50001
    assert (await carol.delete(f"{public}/thread-members/{carol.id}")).status == 204


async def test_only_the_owner_adds_members_to_a_private_thread_that_is_not_invitable(platform: Platform) -> None:
    at = await thread_guild(platform)
    carol, dave = await at.newcomer(), await at.newcomer()
    thread = await at.thread(at.bob, PRIVATE, invitable=False)
    assert (await carol.put(f"{thread}/{ME}")).code == 50001
    assert (await at.bob.put(f"{thread}/thread-members/{carol.id}")).status == 204
    assert (await carol.put(f"{thread}/thread-members/{dave.id}")).code == 50013
    assert (await carol.post(f"{thread}/messages", {"content": f"<@{dave.id}>"})).status == 200
    assert (await dave.get(thread)).code == 50001
    assert (await at.owner.put(f"{thread}/thread-members/{dave.id}")).status == 204
    assert (await dave.get(thread)).status == 200


async def test_adding_a_user_who_is_no_member_or_cannot_view_the_parent_is_refused(platform: Platform) -> None:
    at = await thread_guild(platform)
    stranger, carol = await platform.person(), await at.newcomer()
    hidden = await at.guild.channel(overwrites=[(carol.id, 1, 0, Permissions.VIEW_CHANNEL)])
    thread = (await at.bob.post(f"/channels/{hidden}/threads", {"name": "x", "type": 11})).json["id"]
    platform.heard.clear()
    path = f"/channels/{thread}/thread-members"
    assert (await at.bob.put(f"{path}/{stranger.id}")).code == 10007
    assert (await at.bob.put(f"{path}/{carol.id}")).code == 50001
    assert platform.heard == []
    await at.bob.post(f"/channels/{thread}/messages", {"content": f"<@{carol.id}> <@{stranger.id}>"})
    assert [m["user_id"] for m in (await at.bob.get(path)).json] == [str(at.bob.id)]


async def test_members_of_an_archived_thread_do_not_change(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob)
    await at.bob.patch(thread, {"archived": True})
    platform.heard.clear()
    for method, who in (("PUT", "@me"), ("DELETE", "@me"), ("PUT", at.owner.id), ("DELETE", at.bob.id)):
        reply = await at.owner.request(method, f"{thread}/thread-members/{who}")
        assert (reply.status, reply.code) == (400, 50083)
    assert platform.heard == []


async def test_the_author_of_a_message_and_mentioned_users_are_added(platform: Platform) -> None:
    at = await thread_guild(platform)
    carol, thread = await at.newcomer(), await at.thread(at.owner)
    with platform.listening() as heard:
        assert (await at.bob.post(f"{thread}/messages", {"content": f"<@{carol.id}>"})).status == 200
    assert heard == ["THREAD_MEMBERS_UPDATE", "THREAD_CREATE"] * 2 + ["MESSAGE_CREATE"]
    ids = {m["user_id"] for m in (await at.bob.get(f"{thread}/thread-members")).json}
    assert ids == {str(at.owner.id), str(at.bob.id), str(carol.id)}
    with platform.listening() as heard:
        await at.bob.post(f"{thread}/messages", {"content": f"<@{carol.id}>"})
    assert heard == ["MESSAGE_CREATE"]
    dave = await at.newcomer()
    silent = {"content": f"<@{dave.id}>", "allowed_mentions": {"parse": []}}
    assert (await at.bob.post(f"{thread}/messages", silent)).status == 200
    assert str(dave.id) not in str((await at.bob.get(f"{thread}/thread-members")).json)


async def test_a_user_whom_a_message_adds_to_a_private_thread_receives_that_message(platform: Platform) -> None:
    at = await thread_guild(platform)
    carol, thread = await at.newcomer(), await at.thread(at.bob, PRIVATE)
    platform.heard.clear()
    await at.bob.post(f"{thread}/messages", {"content": f"<@{carol.id}>"})
    event = next(e for e in platform.heard if e.name == "MESSAGE_CREATE")
    assert set(event.user_ids) == {int(at.bob.id), int(carol.id)}
    typing = await carol.post(f"{thread}/typing")
    assert typing.status == 204
    assert set(platform.heard[-1].user_ids) == {int(at.bob.id), int(carol.id)}


async def test_events_of_a_private_thread_without_members_go_only_to_those_who_manage_threads(
    platform: Platform,
) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob, PRIVATE)
    await at.bob.delete(f"{thread}/{ME}")
    platform.heard.clear()
    assert (await at.owner.patch(thread, {"name": "left"})).status == 200
    assert [list(e.user_ids) for e in platform.heard if e.name == "THREAD_UPDATE"] == [[0]]


async def test_members_are_listed_by_user_id_completely_or_in_pages(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.owner)
    people = sorted([at.owner, at.bob, await at.newcomer()], key=lambda who: who.id)
    for person in people:
        await person.put(f"{thread}/{ME}")
    ids = [str(person.id) for person in people]
    path = f"{thread}/thread-members"
    whole = (await at.bob.get(path)).json
    assert [m["user_id"] for m in whole] == ids
    assert set(whole[0]) == {"id", "user_id", "join_timestamp", "flags"}
    page = (await at.bob.get(path, with_member=True, limit=2)).json
    assert [m["member"]["user"]["id"] for m in page] == ids[:2]
    assert [m["user_id"] for m in (await at.bob.get(path, with_member=True, after=ids[1])).json] == ids[2:]
    assert [m["user_id"] for m in (await at.bob.get(path, after=ids[0])).json] == ids[1:]
    assert (await at.bob.get(path, limit=101)).errors_at("limit")
    one = (await at.bob.get(f"{path}/{ids[0]}", with_member=True)).json
    assert (one["user_id"], one["member"]["user"]["id"]) == (ids[0], ids[0])
    assert (await at.bob.get(f"{path}/{(await platform.person()).id}")).code == 10007


async def test_a_full_thread_adds_no_member_but_takes_messages(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.owner)
    rows = [
        {"thread_id": int(id_of(thread)), "user_id": number, "join_timestamp": Timestamp.now()}
        for number in range(1, 1000)
    ]
    async with platform.database.transaction() as tx:
        await tx.execute_many(_insert_member, rows)
    platform.heard.clear()
    assert (await at.bob.put(f"{thread}/{ME}")).code == 30033
    assert (await at.owner.put(f"{thread}/thread-members/{at.bob.id}")).code == 30033
    assert platform.heard == []
    assert (await at.bob.post(f"{thread}/messages", {"content": "x"})).status == 200
    assert (await at.bob.get(thread)).json["member_count"] == 50


async def test_only_threads_have_members(platform: Platform) -> None:
    at = await thread_guild(platform)
    for method, path in (
        ("PUT", ME),
        ("DELETE", ME),
        ("PUT", f"thread-members/{at.bob.id}"),
        ("DELETE", f"thread-members/{at.bob.id}"),
        ("GET", f"thread-members/{at.bob.id}"),
        ("GET", "thread-members"),
    ):
        assert (await at.owner.request(method, f"{at.general}/{path}")).code == 50024


async def test_a_member_who_leaves_the_guild_leaves_its_threads(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.owner)
    await at.bob.put(f"{thread}/{ME}")
    assert (await at.bob.delete(f"/users/@me/guilds/{at.guild.id}")).status == 204
    assert [m["user_id"] for m in (await at.owner.get(f"{thread}/thread-members")).json] == [str(at.owner.id)]
    assert (await at.owner.get(thread)).json["member_count"] == 1


async def test_clients_of_people_join_with_post(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.owner)
    with platform.listening() as heard:
        assert (await at.bob.post(f"{thread}/{ME}", location="Sidebar Overflow")).status == 204
    assert heard[:2] == ["THREAD_MEMBERS_UPDATE", "THREAD_CREATE"]
    assert (await at.bob.get(f"{thread}/thread-members/{at.bob.id}")).json["user_id"] == str(at.bob.id)


async def test_a_member_mutes_a_thread_for_themselves(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.owner)
    settings = f"{thread}/{ME}/settings"
    assert (await at.bob.patch(settings, {"muted": True})).code == 10007
    assert (await at.bob.put(f"{thread}/{ME}")).status == 204
    end = "2100-01-01T00:00:00+00:00"
    body = {"muted": True, "mute_config": {"end_time": end, "selected_time_window": 3600}, "flags": 1 | 4}
    with platform.listening() as heard:
        changed = await at.bob.patch(settings, body)
        assert (await at.bob.patch(settings, body)).status == 204
    assert heard == ["THREAD_MEMBER_UPDATE"]
    event = platform.heard[-1]
    assert [int(user_id) for user_id in event.user_ids] == [int(at.bob.id)]
    member = changed.json
    assert (changed.status, member["muted"], member["flags"]) == (200, True, 4)
    assert member["mute_config"]["selected_time_window"] == 3600
    assert member["mute_config"]["end_time"].startswith("2100-01-01")
    assert platform.heard_data("THREAD_MEMBER_UPDATE")[-1] == {**member, "guild_id": str(at.guild.id)}
    # Their own requests show it, also in threads, and those of others do not.
    assert (await at.bob.get(f"{thread}/thread-members/{at.bob.id}")).json == member
    assert (await at.bob.get(thread)).json["member"] == member
    assert (await at.bob.get(f"/guilds/{at.guild.id}/threads/active")).json["members"] == [member]
    for shown in (await at.owner.get(f"{thread}/thread-members")).json:
        assert ("muted" in shown, "mute_config" in shown) == (shown["user_id"] == str(at.owner.id),) * 2
    unmuted = (await at.bob.patch(settings, {"muted": False})).json
    assert (unmuted["muted"], unmuted["mute_config"], unmuted["flags"]) == (False, None, 4)


async def test_a_thread_has_one_notification_level_and_bots_have_none(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob)
    settings = f"{thread}/{ME}/settings"
    assert (await at.bob.patch(settings, {"flags": 2 | 8})).code == 50084
    assert (await at.bob.patch(settings, {"flags": 16})).errors_at("flags")
    assert (await at.bob.patch(settings, {"flags": 8})).json["flags"] == 8
    assert (await at.bob.patch(f"{at.general}/{ME}/settings", {"flags": 8})).status == 400
    bot = await platform.bot(at.owner)
    await at.guild.join(bot)
    assert (await bot.patch(settings, {"muted": True})).code == 20001
