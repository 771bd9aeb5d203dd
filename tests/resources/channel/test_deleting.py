"""Deleting a channel, and everything that depends on it."""

from typing import Any

from sqlalchemy import bindparam, func, insert, select

from moothall.objects.permissions import Permissions
from moothall.storage.database import Query
from moothall.storage.schema import channel_activity, channels, jobs, messages, voice_states, webhooks
from tests.support.harness import CATEGORY, VOICE, Caller, Guild, Platform

P = Permissions

_insert_message = Query(insert(messages))
_insert_activity = Query(insert(channel_activity))
_insert_webhook = Query(insert(webhooks))
_insert_channel = Query(insert(channels))
_insert_voice_state = Query(insert(voice_states))
_count_messages = Query(select(func.count()).select_from(messages))
_count_channels = Query(select(func.count()).select_from(channels).where(channels.c.guild_id == bindparam("guild_id")))
_count_activity = Query(select(func.count()).select_from(channel_activity))
_count_webhooks = Query(select(func.count()).select_from(webhooks))
_count_states = Query(select(func.count()).select_from(voice_states))
_count_jobs = Query(select(func.count()).select_from(jobs))


async def _guild(platform: Platform, **values: Any) -> tuple[Caller, Guild]:
    owner = await platform.person()
    return owner, await platform.guild(owner, **values)


async def _count(platform: Platform, query: Query[Any], **values: Any) -> int:
    async with platform.database.read() as reader:
        return int(await reader.scalar(query, **values))


async def test_deleting_a_channel_is_audited_and_announced(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    bob = await guild.member_with(0)
    channel = await guild.channel(name="doomed")
    before = (await owner.get(f"/channels/{channel}")).json
    assert (await bob.delete(f"/channels/{channel}")).code == 50013
    with platform.listening() as heard:
        reply = await owner.delete(f"/channels/{channel}", reason="over")
    assert (reply.status, reply.json) == (200, before)
    assert sorted(heard) == ["CHANNEL_DELETE", "GUILD_AUDIT_LOG_ENTRY_CREATE"]
    assert platform.heard_data("CHANNEL_DELETE") == [before]
    assert await guild.audit_log() == [(12, channel, "over")]
    [entry] = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")
    assert {"key": "name", "old_value": "doomed"} in entry["changes"]
    assert (await owner.get(f"/channels/{channel}")).code == 10003
    assert (await owner.delete(f"/channels/{channel}")).code == 10003


async def test_the_channels_of_a_deleted_category_stay_without_a_category(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    category = await guild.channel(type=CATEGORY)
    inside = [await guild.channel(parent_id=category) for _ in range(2)]
    with platform.listening() as heard:
        await owner.delete(f"/channels/{category}")
    assert [name for name in heard if name.startswith("CHANNEL")] == [
        "CHANNEL_UPDATE",
        "CHANNEL_UPDATE",
        "CHANNEL_DELETE",
    ]
    assert [(c["id"], c["parent_id"]) for c in platform.heard_data("CHANNEL_UPDATE")] == [
        (str(channel), None) for channel in inside
    ]
    shown = {c["id"]: c["parent_id"] for c in (await owner.get(f"/guilds/{guild.id}/channels")).json}
    assert shown == {str(guild.general): None, str(inside[0]): None, str(inside[1]): None}


async def test_a_community_keeps_its_rules_and_its_updates_channel(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    rules, updates = await guild.channel(), await guild.channel()
    await guild.set(features=["COMMUNITY"], rules_channel_id=rules, public_updates_channel_id=updates)
    for channel in (rules, updates):
        reply = await owner.delete(f"/channels/{channel}")
        assert (reply.status, reply.code) == (400, 50074)
    assert platform.heard_names == []
    await guild.set(features=[])
    assert (await owner.delete(f"/channels/{rules}")).status == 200


async def test_the_guild_settings_no_longer_refer_to_a_deleted_channel(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    await guild.set(system_channel_id=guild.general, rules_channel_id=guild.general, widget_channel_id=guild.general)
    await owner.delete(f"/channels/{guild.general}")
    [data] = platform.heard_data("GUILD_UPDATE")
    assert (data["system_channel_id"], data["rules_channel_id"], data["widget_channel_id"]) == (None, None, None)
    assert platform.heard_names.index("CHANNEL_DELETE") < platform.heard_names.index("GUILD_UPDATE")
    async with platform.database.read() as reader:
        state = await platform.services.states.state(reader, guild.id)
    assert state is not None
    assert state.row.system_channel_id is None


async def test_its_invites_and_webhooks_are_deleted(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    channel = await guild.channel()
    code = (await owner.post(f"/channels/{channel}/invites", {})).json["code"]
    kept = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    async with platform.database.transaction() as tx:
        await tx.execute(_insert_webhook, id=platform.ids.next(), guild_id=guild.id, channel_id=channel)
    with platform.listening() as heard:
        await owner.delete(f"/channels/{channel}")
    # Told first: whether someone may hear of an invite is a question of its channel.
    assert heard.index("INVITE_DELETE") < heard.index("CHANNEL_DELETE")
    assert [data["code"] for data in platform.heard_data("INVITE_DELETE")] == [code]
    assert (await owner.get(f"/invites/{code}")).code == 10006
    assert (await owner.get(f"/invites/{kept}")).status == 200
    assert await _count(platform, _count_webhooks) == 0


async def test_members_of_a_deleted_voice_channel_are_disconnected(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    voice = await guild.channel(type=VOICE)
    async with platform.database.transaction() as tx:
        await tx.execute(
            _insert_voice_state, guild_id=guild.id, user_id=owner.id, channel_id=voice, session_id="s", node="n"
        )
    with platform.listening() as heard:
        await owner.delete(f"/channels/{voice}")
    assert heard.index("VOICE_STATE_UPDATE") < heard.index("CHANNEL_DELETE")
    assert platform.heard_data("VOICE_STATE_UPDATE")[0]["channel_id"] is None
    assert await _count(platform, _count_states) == 0


async def test_its_messages_and_those_of_its_threads_are_removed_afterwards(platform: Platform) -> None:
    owner, guild = await _guild(platform)
    channel = await guild.channel()
    thread = platform.ids.next()
    async with platform.database.transaction() as tx:
        await tx.execute(
            _insert_channel,
            id=thread,
            guild_id=guild.id,
            type=11,
            name="thread",
            parent_id=channel,
            owner_id=owner.id,
            thread_metadata={
                "archived": False,
                "auto_archive_duration": 60,
                "archive_timestamp": "2026-01-01T00:00:00+00:00",
                "locked": False,
                "create_timestamp": "2026-01-01T00:00:00+00:00",
            },
        )
        for where in (channel, thread, guild.general):
            said = platform.ids.next()
            await tx.execute(_insert_message, channel_id=where, id=said, author_id=owner.id, body=b"{}")
            await tx.execute(_insert_activity, channel_id=where, last_message_id=said)
    assert (await owner.get(f"/channels/{thread}")).status == 200
    await owner.delete(f"/channels/{channel}")
    assert (await owner.get(f"/channels/{thread}")).code == 10003
    await platform.run_due_jobs()
    assert await _count(platform, _count_messages) == 1
    assert await _count(platform, _count_activity) == 1
    assert await _count(platform, _count_channels, guild_id=guild.id) == 1
    assert await _count(platform, _count_jobs) == 0
