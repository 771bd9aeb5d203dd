"""Starting threads (resources: channel, start thread from message and without)."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import bindparam, insert, update

from moothall.objects.permissions import Permissions
from moothall.storage.database import Query
from moothall.storage.schema import channels, guilds
from tests.resources.thread.thread_guild import ANNOUNCED, PRIVATE, PUBLIC, content_of, id_of, thread_guild
from tests.support.harness import ANNOUNCEMENT, FORUM, VOICE, Platform

_insert_channel = Query(insert(channels))
_set_mfa = Query(update(guilds).where(guilds.c.id == bindparam("guild_id")).values(verification_level=4))


async def test_a_thread_from_a_message_has_its_id_and_is_a_field_of_it(platform: Platform) -> None:
    at = await thread_guild(platform)
    said = (await at.owner.post(f"{at.general}/messages", {"content": "hear"})).json
    with platform.listening() as heard:
        reply = await at.bob.post(f"{at.general}/messages/{said['id']}/threads", {"name": " the  moot "}, reason="long")
    thread = reply.json
    assert reply.status == 201
    assert (thread["id"], thread["type"], thread["parent_id"]) == (said["id"], PUBLIC, said["channel_id"])
    assert (thread["owner_id"], thread["name"], thread["member"]["user_id"]) == (
        str(at.bob.id),
        "the moot",
        str(at.bob.id),
    )
    assert (thread["message_count"], thread["total_message_sent"], thread["member_count"]) == (0, 0, 1)
    metadata = thread["thread_metadata"]
    assert (metadata["archived"], metadata["locked"], metadata["auto_archive_duration"]) == (False, False, 4320)
    assert metadata["create_timestamp"] == metadata["archive_timestamp"]
    assert heard == [
        "GUILD_AUDIT_LOG_ENTRY_CREATE",
        "THREAD_CREATE",
        "THREAD_MEMBERS_UPDATE",
        "MESSAGE_CREATE",
        "MESSAGE_UPDATE",
    ]
    assert await at.guild.audit_log() == [(110, int(said["id"]), "long")]
    shown = (await at.bob.get(f"{at.general}/messages/{said['id']}")).json
    assert (shown["flags"], shown["thread"]["id"]) == (1 << 5, said["id"])
    event = platform.heard_data("MESSAGE_UPDATE")[0]
    assert (event["flags"], event["thread"]["id"]) == (1 << 5, said["id"])
    assert platform.heard_data("THREAD_CREATE")[0]["newly_created"] is True
    assert (await at.owner.get(f"/channels/{said['id']}")).json["name"] == "the moot"
    assert "member" not in (await at.owner.get(f"/channels/{said['id']}")).json


async def test_the_starter_message_of_a_thread_refers_to_the_message_that_it_was_started_from(
    platform: Platform,
) -> None:
    at = await thread_guild(platform)
    said = (await at.owner.post(f"{at.general}/messages", {"content": "hear"})).json
    thread = (await at.bob.post(f"{at.general}/messages/{said['id']}/threads", {"name": "moot"})).json
    starter = (await at.bob.get(f"/channels/{thread['id']}/messages")).json[0]
    assert (starter["type"], starter["content"], starter["position"]) == (21, "", 0)
    assert starter["message_reference"]["message_id"] == said["id"]
    assert starter["message_reference"]["channel_id"] == said["channel_id"]
    assert starter["referenced_message"]["content"] == "hear"
    assert platform.heard_data("MESSAGE_CREATE")[-1]["referenced_message"]["content"] == "hear"
    assert (await at.owner.delete(f"/channels/{thread['id']}/messages/{starter['id']}")).code == 50021
    assert (await at.owner.delete(f"{at.general}/messages/{said['id']}")).status == 204
    left = (await at.bob.get(f"/channels/{thread['id']}/messages")).json[0]
    assert left["referenced_message"] is None


async def test_a_bot_without_message_content_does_not_see_that_of_a_starter_message(platform: Platform) -> None:
    at = await thread_guild(platform)
    said = (await at.owner.post(f"{at.general}/messages", {"content": "hear"})).json
    bot = await platform.bot(at.owner)
    await at.guild.join(bot)
    thread = (await at.bob.post(f"{at.general}/messages/{said['id']}/threads", {"name": "moot"})).json
    starter = (await bot.get(f"/channels/{thread['id']}/messages")).json[0]
    assert "hear" not in str(starter)
    envelope = next(e for e in reversed(platform.heard) if e.name == "MESSAGE_CREATE")
    assert envelope.stripped is not None
    assert b"hear" in bytes(envelope.data)
    assert b"hear" not in bytes(envelope.stripped)


async def test_a_message_has_one_thread_until_that_is_deleted(platform: Platform) -> None:
    at = await thread_guild(platform)
    said = (await at.owner.post(f"{at.general}/messages", {"content": "hear"})).json
    path = f"{at.general}/messages/{said['id']}/threads"
    assert (await at.bob.post(path, {"name": "one"})).status == 201
    platform.heard.clear()
    assert (await at.bob.post(path, {"name": "two"})).code == 160004
    assert platform.heard == []
    with platform.listening() as heard:
        assert (await at.owner.delete(f"/channels/{said['id']}", reason="over")).status == 200
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "THREAD_DELETE", "MESSAGE_UPDATE"]
    shown = (await at.bob.get(f"{at.general}/messages/{said['id']}")).json
    assert shown["flags"] == 0
    assert "thread" not in shown
    assert (await at.bob.post(path, {"name": "two"})).status == 201


async def test_of_two_concurrent_requests_to_start_a_thread_from_one_message_one_succeeds(platform: Platform) -> None:
    at = await thread_guild(platform)
    said = (await at.owner.post(f"{at.general}/messages", {"content": "hear"})).json
    path = f"{at.general}/messages/{said['id']}/threads"
    replies = await asyncio.gather(*(who.post(path, {"name": "x"}) for who in (at.bob, at.owner)))
    assert sorted(reply.status for reply in replies) == [201, 400]
    assert [reply.code for reply in replies if reply.status == 400] == [160004]
    assert platform.heard_names.count("THREAD_CREATE") == 1


async def test_editing_a_message_keeps_its_thread(platform: Platform) -> None:
    at = await thread_guild(platform)
    said = (await at.owner.post(f"{at.general}/messages", {"content": "hear"})).json
    path = f"{at.general}/messages/{said['id']}"
    await at.bob.post(f"{path}/threads", {"name": "x"})
    edited = (await at.owner.patch(path, {"content": "hear!"})).json
    assert (edited["flags"], edited["thread"]["name"]) == (1 << 5, "x")


async def test_a_thread_from_an_older_message_sends_a_system_message_in_its_channel(platform: Platform) -> None:
    at = await thread_guild(platform)
    old = (await at.owner.post(f"{at.general}/messages", {"content": "old"})).json
    await at.owner.post(f"{at.general}/messages", {"content": "new"})
    thread = (await at.bob.post(f"{at.general}/messages/{old['id']}/threads", {"name": "moot"})).json
    event = (await at.bob.get(f"{at.general}/messages")).json[0]
    assert (event["type"], event["content"], event["author"]["id"]) == (18, "moot", str(at.bob.id))
    assert event["message_reference"] == {"type": 0, "channel_id": thread["id"], "guild_id": str(at.guild.id)}


async def test_a_public_thread_without_a_message_sends_a_system_message_in_its_channel_and_a_private_one_not(
    platform: Platform,
) -> None:
    at = await thread_guild(platform)
    public = await at.thread(at.bob, PUBLIC, name="open")
    await at.thread(at.bob, PRIVATE, name="closed")
    messages = (await at.bob.get(f"{at.general}/messages")).json
    assert content_of(messages) == [(18, "open")]
    assert messages[0]["message_reference"]["channel_id"] == id_of(public)
    assert (await at.bob.get(f"{public}/messages")).json == []


async def test_without_a_type_a_thread_is_private_and_its_members_may_invite(platform: Platform) -> None:
    at = await thread_guild(platform)
    made = (await at.bob.post(f"{at.general}/threads", {"name": "closed"})).json
    assert (made["type"], made["thread_metadata"]["invitable"]) == (PRIVATE, True)
    made = (await at.bob.post(f"{at.general}/threads", {"name": "closed", "invitable": False})).json
    assert made["thread_metadata"]["invitable"] is False
    made = (await at.bob.post(f"{at.general}/threads", {"name": "open", "type": PUBLIC, "invitable": False})).json
    assert "invitable" not in made["thread_metadata"]


async def test_announcement_channels_have_announcement_threads_only(platform: Platform) -> None:
    at = await thread_guild(platform)
    news = await at.guild.channel(type=ANNOUNCEMENT)
    for kind in (None, PUBLIC, PRIVATE):
        reply = await at.owner.post(f"/channels/{news}/threads", {"name": "x", "type": kind})
        assert reply.errors_at("type") == ["BASE_TYPE_CHOICES"]
    assert (await at.owner.post(f"/channels/{news}/threads", {"name": "x", "type": ANNOUNCED})).json[
        "type"
    ] == ANNOUNCED
    said = (await at.owner.post(f"/channels/{news}/messages", {"content": "x"})).json
    made = await at.owner.post(f"/channels/{news}/messages/{said['id']}/threads", {"name": "x"})
    assert made.json["type"] == ANNOUNCED
    assert (await at.owner.post(f"{at.general}/threads", {"name": "x", "type": ANNOUNCED})).errors_at("type")


async def test_a_thread_has_the_defaults_of_its_channel_unless_requested_otherwise(platform: Platform) -> None:
    at = await thread_guild(platform)
    path = f"/channels/{at.guild.general}"
    settings = {"default_auto_archive_duration": 60, "default_thread_rate_limit_per_user": 7}
    assert (await at.owner.patch(path, settings)).status == 200
    made = (await at.owner.post(f"{path}/threads", {"name": "x", "type": PUBLIC})).json
    assert (made["thread_metadata"]["auto_archive_duration"], made["rate_limit_per_user"]) == (60, 7)
    body = {"name": "x", "type": PUBLIC, "auto_archive_duration": 10080, "rate_limit_per_user": 0}
    made = (await at.owner.post(f"{path}/threads", body)).json
    assert (made["thread_metadata"]["auto_archive_duration"], made["rate_limit_per_user"]) == (10080, 0)
    said = (await at.owner.post(f"{path}/messages", {"content": "x"})).json
    made = (await at.owner.post(f"{path}/messages/{said['id']}/threads", {"name": "x"})).json
    assert (made["thread_metadata"]["auto_archive_duration"], made["rate_limit_per_user"]) == (60, 7)


async def test_an_invalid_thread_is_refused_at_its_field_and_not_created(platform: Platform) -> None:
    at = await thread_guild(platform)
    said = (await at.owner.post(f"{at.general}/messages", {"content": "x"})).json
    platform.heard.clear()
    cases: list[tuple[dict[str, Any], str]] = [
        ({}, "name"),
        ({"name": ""}, "name"),
        ({"name": "   "}, "name"),
        ({"name": "x" * 101}, "name"),
        ({"name": "x", "auto_archive_duration": 61}, "auto_archive_duration"),
        ({"name": "x", "rate_limit_per_user": 21601}, "rate_limit_per_user"),
    ]
    for body, field in cases:
        for path in (f"{at.general}/threads", f"{at.general}/messages/{said['id']}/threads"):
            assert (await at.owner.post(path, body)).errors_at(field), (path, body)
    for body, field in (({"name": "x", "type": 5}, "type"), ({"name": "x", "applied_tags": ["1"] * 6}, "applied_tags")):
        assert (await at.owner.post(f"{at.general}/threads", body)).errors_at(field)
    assert platform.heard == []
    assert (await at.owner.get(f"/guilds/{at.guild.id}/threads/active")).json["threads"] == []
    assert await at.guild.audit_log() == []


async def test_threads_are_started_only_in_channels_that_have_threads(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.owner)
    said = (await at.owner.post(f"{thread}/messages", {"content": "x"})).json
    voice = await at.guild.channel(type=VOICE)
    forum = await at.guild.channel(type=FORUM)
    platform.heard.clear()
    for path in (f"{thread}/threads", f"/channels/{voice}/threads", f"{thread}/messages/{said['id']}/threads"):
        assert (await at.owner.post(path, {"name": "x", "type": PUBLIC})).code == 50024
    assert (await at.owner.post(f"/channels/{forum}/messages/1/threads", {"name": "x"})).code == 50024
    assert (await at.owner.post(f"{at.general}/messages/1/threads", {"name": "x"})).code == 10008
    system = (await at.owner.get(f"{at.general}/messages")).json[0]
    assert (await at.owner.post(f"{at.general}/messages/{system['id']}/threads", {"name": "x"})).code == 50068
    assert platform.heard == []


@pytest.mark.parametrize(
    ("kind", "needed"),
    [(PUBLIC, Permissions.CREATE_PUBLIC_THREADS), (PRIVATE, Permissions.CREATE_PRIVATE_THREADS)],
)
async def test_each_type_of_thread_requires_its_permission(platform: Platform, kind: int, needed: int) -> None:
    at = await thread_guild(platform, everyone=Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY)
    both = Permissions.CREATE_PUBLIC_THREADS | Permissions.CREATE_PRIVATE_THREADS
    able, unable = await at.guild.member_with(needed), await at.guild.member_with(both & ~needed)
    body = {"name": "x", "type": kind}
    assert (await unable.post(f"{at.general}/threads", body)).code == 50013
    assert (await able.post(f"{at.general}/threads", body)).status == 201


async def test_at_the_limit_of_active_threads_none_is_started_until_one_is_archived(platform: Platform) -> None:
    at = await thread_guild(platform)
    rows = [
        {"id": platform.ids.next(), "guild_id": at.guild.id, "type": PUBLIC, "parent_id": at.guild.general, "name": "x"}
        for _ in range(999)
    ]
    async with platform.database.transaction() as tx:
        await tx.execute_many(_insert_channel, rows)
    last = await at.thread(at.owner)
    platform.heard.clear()
    assert (await at.owner.post(f"{at.general}/threads", {"name": "x", "type": PUBLIC})).code == 160006
    said = (await at.owner.post(f"{at.general}/messages", {"content": "x"})).json
    assert (await at.owner.post(f"{at.general}/messages/{said['id']}/threads", {"name": "x"})).code == 160006
    assert (await at.owner.patch(last, {"archived": True})).status == 200
    other = await at.thread(at.owner)
    assert (await at.owner.patch(last, {"archived": False})).code == 160006
    assert (await at.owner.post(f"{last}/messages", {"content": "x"})).code == 160006
    assert (await at.owner.delete(other)).status == 200
    assert (await at.owner.post(f"{last}/messages", {"content": "x"})).status == 200


async def test_slowmode_permits_one_new_thread_and_one_message(platform: Platform) -> None:
    at = await thread_guild(platform)
    assert (await at.owner.patch(at.general, {"rate_limit_per_user": 600})).status == 200
    assert (await at.bob.post(f"{at.general}/threads", {"name": "x"})).status == 201
    assert (await at.bob.post(f"{at.general}/messages", {"content": "x"})).status == 200
    again = await at.bob.post(f"{at.general}/threads", {"name": "x"})
    assert (again.status, again.code, again.json["retry_after"] > 590) == (429, 20016, True)
    for _ in range(2):
        assert (await at.owner.post(f"{at.general}/threads", {"name": "x"})).status == 201


async def test_a_member_below_the_verification_level_starts_no_threads(platform: Platform) -> None:
    at = await thread_guild(platform)
    await at.guild.set(verification_level=4)
    assert (await at.bob.post(f"{at.general}/threads", {"name": "x"})).code == 50009


async def test_a_private_thread_is_announced_only_to_those_who_may_view_it(platform: Platform) -> None:
    at = await thread_guild(platform)
    await at.thread(at.bob, PRIVATE)
    for name in ("THREAD_CREATE", "THREAD_MEMBERS_UPDATE"):
        envelope = next(e for e in platform.heard if e.name == name)
        assert (envelope.channel_id, list(envelope.user_ids)) == (int(at.guild.general), [int(at.bob.id)])
