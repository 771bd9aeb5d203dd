"""Modifying and deleting threads, and what archived and locked threads permit."""

from typing import Any

from sqlalchemy import bindparam, delete, insert, select, update

from moothall.api.jobs import JobRunner
from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp, to_plain
from moothall.resources.channel.thread_activity.operations import ArchiveThread
from moothall.storage.database import Query
from moothall.storage.schema import channels, jobs, messages, thread_members, thread_tags
from tests.resources.thread.thread_guild import PRIVATE, content_of, id_of, tag, thread_guild
from tests.support.harness import Platform

THUMB = "%F0%9F%91%8D"
_forget_jobs = Query(delete(jobs))
_insert_job = Query(insert(jobs))
_hurry_jobs = Query(update(jobs).values(not_before=0))
_make_quiet = Query(
    update(channels).where(channels.c.id == bindparam("thread_id")).values(thread_metadata=bindparam("metadata"))
)


async def test_the_owner_renames_archives_and_unarchives_a_thread(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob)
    before = (await at.bob.get(thread)).json["thread_metadata"]
    with platform.listening() as heard:
        reply = await at.bob.patch(thread, {"name": "ting", "archived": True}, reason="done")
    metadata = reply.json["thread_metadata"]
    assert (reply.json["name"], metadata["archived"]) == ("ting", True)
    assert metadata["archive_timestamp"] > before["archive_timestamp"]
    assert metadata["create_timestamp"] == before["create_timestamp"]
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "THREAD_UPDATE", "MESSAGE_CREATE"]
    assert content_of((await at.bob.get(f"{thread}/messages")).json) == [(4, "ting")]
    log = (await at.owner.get(f"/guilds/{at.guild.id}/audit-logs", action_type=111)).json
    assert {(c["key"], c["old_value"], c["new_value"]) for c in log["audit_log_entries"][0]["changes"]} == {
        ("name", "moot", "ting"),
        ("archived", False, True),
    }
    assert log["threads"][0]["id"] == id_of(thread)
    with platform.listening() as heard:
        reply = await at.bob.patch(thread, {"archived": False})
    assert reply.json["thread_metadata"]["archived"] is False
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "THREAD_UPDATE", "THREAD_MEMBER_UPDATE"]
    own = platform.heard_data("THREAD_MEMBER_UPDATE")[0]
    assert (own["id"], own["user_id"], own["guild_id"]) == (id_of(thread), str(at.bob.id), str(at.guild.id))


async def test_a_request_that_changes_nothing_is_neither_audited_nor_announced(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob)
    logged = await at.guild.audit_log()
    same: list[dict[str, Any]] = [
        {},
        {"name": "moot"},
        {"archived": False, "name": None},
        {"flags": 2, "applied_tags": ["1"]},
    ]
    with platform.listening() as heard:
        for body in same:
            assert (await at.owner.patch(thread, body)).status == 200, body
    assert heard == []
    assert await at.guild.audit_log() == logged


async def test_each_field_of_a_thread_requires_its_permission(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread, carol = await at.thread(at.bob), await at.newcomer()
    steward = await at.guild.member_with(Permissions.MANAGE_THREADS)
    logged = await at.guild.audit_log()
    platform.heard.clear()
    for body in ({"name": "x"}, {"archived": True}, {"auto_archive_duration": 60}, {"locked": True}):
        assert (await carol.patch(thread, body)).code == 50013
    not_its_starters: list[dict[str, Any]] = [
        {"locked": True},
        {"rate_limit_per_user": 5},
        {"name": "x", "locked": True},
    ]
    for body in not_its_starters:
        assert (await at.bob.patch(thread, body)).code == 50013
    assert (await at.bob.delete(thread)).code == 50013
    assert platform.heard == []
    assert await at.guild.audit_log() == logged
    reply = await steward.patch(thread, {"rate_limit_per_user": 5, "auto_archive_duration": 60, "locked": True})
    metadata = reply.json["thread_metadata"]
    assert (reply.json["rate_limit_per_user"], metadata["auto_archive_duration"], metadata["locked"]) == (5, 60, True)


async def test_invalid_values_are_refused_at_their_fields(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.owner)
    platform.heard.clear()
    cases: list[tuple[str, Any]] = [
        ("name", ""),
        ("name", "x" * 101),
        ("auto_archive_duration", 5),
        ("rate_limit_per_user", 99_999),
        ("archived", "yes"),
        ("applied_tags", ["1", "2", "3", "4", "5", "6"]),
    ]
    for field, value in cases:
        assert (await at.owner.patch(thread, {field: value})).errors_at(field), field
    assert platform.heard == []


async def test_a_locked_thread_requires_manage_threads(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob)
    said = (await at.bob.post(f"{thread}/messages", {"content": "x"})).json["id"]
    assert (await at.owner.patch(thread, {"locked": True})).status == 200
    platform.heard.clear()
    refused = [
        await at.bob.post(f"{thread}/messages", {"content": "y"}),
        await at.bob.patch(f"{thread}/messages/{said}", {"content": "y"}),
        await at.bob.patch(thread, {"name": "y"}),
        await at.bob.put(f"{thread}/thread-members/{at.owner.id}"),
    ]
    assert [(reply.status, reply.code) for reply in refused] == [(403, 160005)] * 4
    assert platform.heard == []
    assert (await at.bob.put(f"{thread}/messages/{said}/reactions/{THUMB}/@me")).status == 204
    assert (await at.owner.post(f"{thread}/messages", {"content": "y"})).status == 200
    await at.owner.patch(thread, {"archived": True})
    assert (await at.bob.patch(thread, {"archived": False})).code == 160005
    assert (await at.bob.post(f"{thread}/messages", {"content": "y"})).code == 160005
    assert (await at.bob.delete(f"{thread}/messages/{said}")).code == 50083
    assert (await at.owner.patch(thread, {"locked": False})).code == 50083
    assert (await at.owner.patch(thread, {"archived": False, "locked": False})).status == 200
    assert (await at.bob.delete(f"{thread}/messages/{said}")).status == 204


async def test_in_an_archived_thread_messages_are_only_deleted(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob)
    said = (await at.bob.post(f"{thread}/messages", {"content": "x"})).json["id"]
    await at.bob.put(f"{thread}/messages/{said}/reactions/{THUMB}/@me")
    await at.bob.patch(thread, {"archived": True})
    platform.heard.clear()
    path = f"{thread}/messages/{said}"
    refused = [
        await at.owner.patch(path, {"flags": 4}),
        await at.bob.patch(path, {"content": "y"}),
        await at.owner.put(f"{path}/reactions/{THUMB}/@me"),
        await at.bob.delete(f"{path}/reactions/{THUMB}/@me"),
        await at.owner.delete(f"{path}/reactions"),
        await at.owner.delete(f"{path}/reactions/{THUMB}"),
        await at.owner.put(f"{thread}/messages/pins/{said}"),
        await at.owner.delete(f"{thread}/messages/pins/{said}"),
        await at.owner.patch(thread, {"name": "y"}),
    ]
    assert [(reply.status, reply.code) for reply in refused] == [(400, 50083)] * len(refused)
    assert platform.heard == []
    assert (await at.bob.delete(path)).status == 204
    assert (await at.bob.get(thread)).json["thread_metadata"]["archived"] is True


async def test_in_an_archived_thread_votes_are_refused(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob)
    poll = {"question": {"text": "tea?"}, "answers": [{"poll_media": {"text": "yes"}}]}
    message = (await at.bob.post(f"{thread}/messages", {"poll": poll})).json["id"]
    await at.bob.patch(thread, {"archived": True})
    platform.heard.clear()
    assert (await at.owner.put(f"{thread}/polls/{message}/answers/@me", {"answer_ids": ["1"]})).code == 50083
    assert (await at.bob.post(f"{thread}/polls/{message}/expire")).code == 50083
    assert platform.heard == []


async def test_a_member_who_may_send_messages_unarchives_a_thread_by_modifying_it_or_sending_one(
    platform: Platform,
) -> None:
    at = await thread_guild(platform)
    carol, mute = await at.newcomer(), await at.newcomer()
    thread = await at.thread(at.bob)
    overwrite = {"type": 1, "deny": str(int(Permissions.SEND_MESSAGES_IN_THREADS))}
    await at.owner.put(f"{at.general}/permissions/{mute.id}", overwrite)
    await at.bob.patch(thread, {"archived": True})
    assert (await mute.patch(thread, {"archived": False})).code == 50013
    assert (await carol.patch(thread, {"archived": False, "name": "y"})).code == 50013
    assert (await carol.patch(thread, {"archived": False})).status == 200
    await at.bob.patch(thread, {"archived": True})
    with platform.listening() as heard:
        assert (await at.bob.post(f"{thread}/messages", {"content": "x"})).status == 200
    assert heard == ["THREAD_UPDATE", "THREAD_MEMBER_UPDATE", "MESSAGE_CREATE"]
    assert (await at.bob.get(thread)).json["thread_metadata"]["archived"] is False


async def test_a_refused_message_does_not_unarchive_a_thread(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob)
    await at.bob.patch(thread, {"archived": True})
    platform.heard.clear()
    assert (await at.owner.post(f"{thread}/messages", {"content": " "})).code == 50006
    assert platform.heard == []
    assert (await at.bob.get(thread)).json["thread_metadata"]["archived"] is True


async def test_messages_except_the_first_are_counted_and_deleting_them_decrements_the_count(platform: Platform) -> None:
    at = await thread_guild(platform)
    said = (await at.owner.post(f"{at.general}/messages", {"content": "x"})).json
    thread = f"/channels/{said['id']}"
    assert (await at.bob.post(f"{at.general}/messages/{said['id']}/threads", {"name": "x"})).status == 201
    sent = [(await at.bob.post(f"{thread}/messages", {"content": str(n)})).json for n in range(4)]
    assert [message["position"] for message in sent] == [1, 2, 3, 4]

    async def counts() -> tuple[int, int, str]:
        result = (await at.bob.get(thread)).json
        return result["message_count"], result["total_message_sent"], result["last_message_id"]

    assert await counts() == (4, 4, sent[3]["id"])
    assert (await at.bob.delete(f"{thread}/messages/{sent[0]['id']}")).status == 204
    assert await counts() == (3, 4, sent[3]["id"])
    ids = [message["id"] for message in sent[1:3]]
    assert (await at.owner.post(f"{thread}/messages/bulk-delete", {"messages": ids})).status == 204
    assert await counts() == (1, 4, sent[3]["id"])
    assert (
        await at.owner.put(f"/guilds/{at.guild.id}/bans/{at.bob.id}", {"delete_message_seconds": 600})
    ).status == 204
    result = (await at.owner.get(thread)).json
    assert (result["message_count"], result["total_message_sent"], result["member_count"]) == (0, 4, 0)
    listed = (await at.owner.get(f"/channels/{said['channel_id']}/messages")).json
    assert listed[0]["thread"]["total_message_sent"] == 4


async def test_deletions_by_a_ban_in_private_threads_are_announced_only_to_their_members(platform: Platform) -> None:
    at = await thread_guild(platform)
    carol, thread = await at.newcomer(), await at.thread(at.owner, PRIVATE)
    for person in (at.bob, carol):
        await at.owner.put(f"{thread}/thread-members/{person.id}")
    await at.bob.post(f"{thread}/messages", {"content": "x"})
    platform.heard.clear()
    await at.owner.put(f"/guilds/{at.guild.id}/bans/{at.bob.id}", {"delete_message_seconds": 600})
    events = next(e for e in platform.heard if e.name == "MESSAGE_DELETE_BULK")
    assert set(events.user_ids) == {int(at.owner.id), int(carol.id)}


async def age(platform: Platform, *threads: str) -> None:
    """Let threads have been active since long ago, and their time have come."""
    long_ago = Timestamp.from_wire("2026-01-01T00:00:00+00:00")
    metadata = {
        "auto_archive_duration": 60,
        "locked": False,
        "archive_timestamp": long_ago.wire(),
        "create_timestamp": long_ago.wire(),
    }
    async with platform.database.transaction() as tx:
        await tx.execute(_forget_jobs)
        for thread in threads:
            thread_id = ChannelId(Snowflake(int(id_of(thread))))
            await tx.execute(_make_quiet, thread_id=thread_id, metadata=metadata)
            job = ArchiveThread(thread_id=thread_id, since=int(long_ago))
            await tx.execute(
                _insert_job, id=platform.ids.next(), kind=job.kind, state=to_plain(job), created_at=long_ago
            )


async def test_a_thread_without_new_messages_is_archived_after_its_duration(platform: Platform) -> None:
    at = await thread_guild(platform)
    runner = JobRunner(platform.services)
    quiet, private, busy = await at.thread(at.bob), await at.thread(at.bob, PRIVATE), await at.thread(at.bob)
    await at.bob.post(f"{busy}/messages", {"content": "x"})
    await age(platform, quiet, private, busy)
    with platform.listening() as heard:
        await runner.drain()
        await runner.drain()
    assert heard == ["THREAD_UPDATE"] * 2
    events = [e for e in platform.heard if e.name == "THREAD_UPDATE"]
    assert [list(e.user_ids) for e in events] == [[], [int(at.bob.id)]]
    archived = [(await at.bob.get(thread)).json["thread_metadata"]["archived"] for thread in (quiet, private, busy)]
    assert archived == [True, True, False]
    result = (await at.bob.get(f"{at.general}/threads/archived/public")).json["threads"]
    assert [thread["id"] for thread in result] == [id_of(quiet)]


async def test_an_enqueued_archiving_ends_once_the_thread_was_unarchived(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob)
    await age(platform, thread)
    await at.bob.patch(thread, {"archived": True})
    await at.bob.patch(thread, {"archived": False})
    with platform.listening() as heard:
        await JobRunner(platform.services).drain()
    assert heard == []
    async with platform.database.read() as reader:
        assert len(await reader.all(Query(select(jobs.c.id).where(jobs.c.kind == ArchiveThread.kind)))) == 1
    await at.owner.delete(thread)
    async with platform.database.transaction() as tx:
        await tx.execute(_hurry_jobs)
    await JobRunner(platform.services).drain()
    async with platform.database.read() as reader:
        assert await reader.all(Query(select(jobs.c.id))) == []


async def test_a_pinned_post_stays_active_until_it_is_archived_by_request_which_unpins_it(platform: Platform) -> None:
    at = await thread_guild(platform)
    forum = await at.forum()
    thread = await at.post(at.bob, forum)
    assert (await at.bob.patch(thread, {"flags": 2})).code == 50013
    assert (await at.owner.patch(thread, {"flags": 2})).json["flags"] == 2
    assert (await at.owner.patch(await at.post(at.bob, forum), {"flags": 2})).code == 30047
    await age(platform, thread)
    with platform.listening() as heard:
        await JobRunner(platform.services).drain()
    assert heard == []
    archived = (await at.bob.patch(thread, {"archived": True})).json
    assert (archived["thread_metadata"]["archived"], archived["flags"]) == (True, 0)


async def test_deleting_a_thread_removes_its_messages(platform: Platform) -> None:
    at = await thread_guild(platform)
    tagged = tag(platform.ids.next(), "a")
    forum = await at.forum(available_tags=[tagged])
    thread = await at.post(at.bob, forum, applied_tags=[tagged["id"]])
    await at.owner.post(f"{thread}/messages", {"content": "x"})
    with platform.listening() as heard:
        reply = await at.owner.delete(thread, reason="off")
    assert (reply.status, reply.json["id"]) == (200, id_of(thread))
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "THREAD_DELETE"]
    assert platform.heard_data("THREAD_DELETE") == [
        {"id": id_of(thread), "guild_id": str(at.guild.id), "parent_id": str(forum), "type": 11}
    ]
    assert (await at.guild.audit_log())[-1] == (112, int(id_of(thread)), "off")
    assert (await at.owner.get(thread)).code == 10003
    await JobRunner(platform.services).drain()
    async with platform.database.read() as reader:
        for table, column in (
            (messages, messages.c.channel_id),
            (thread_members, thread_members.c.thread_id),
            (thread_tags, thread_tags.c.thread_id),
        ):
            assert await reader.all(Query(select(column).select_from(table))) == []


async def test_deleting_a_channel_deletes_its_threads(platform: Platform) -> None:
    at = await thread_guild(platform)
    channel = await at.guild.channel()
    made = (await at.bob.post(f"/channels/{channel}/threads", {"name": "x", "type": 11})).json["id"]
    await at.bob.post(f"/channels/{made}/messages", {"content": "x"})
    assert (await at.owner.delete(f"/channels/{channel}")).status == 200
    assert (await at.bob.get(f"/channels/{made}")).code == 10003
    await platform.run_due_jobs()
    async with platform.database.read() as reader:
        assert await reader.all(Query(select(thread_members.c.user_id))) == []


async def test_only_a_private_thread_is_invitable_or_not(platform: Platform) -> None:
    at = await thread_guild(platform)
    private, public = await at.thread(at.bob, PRIVATE), await at.thread(at.bob)
    changed = (await at.bob.patch(private, {"invitable": False})).json
    assert changed["thread_metadata"]["invitable"] is False
    assert "invitable" not in (await at.bob.patch(public, {"invitable": False})).json["thread_metadata"]


async def test_a_guild_with_an_mfa_level_requires_two_factors_of_thread_moderators(platform: Platform) -> None:
    at = await thread_guild(platform)
    thread = await at.thread(at.bob)
    steward = await at.guild.member_with(Permissions.MANAGE_THREADS)
    await at.guild.set(mfa_level=1)
    assert (await steward.patch(thread, {"locked": True})).code == 60003
    assert (await steward.delete(thread)).code == 60003
    assert (await at.bob.patch(thread, {"name": "y"})).status == 200
