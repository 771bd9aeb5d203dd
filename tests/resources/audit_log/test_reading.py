"""Reading the audit log."""

import pytest
from sqlalchemy import insert

from moothall.api import unit_of_work
from moothall.api.authenticate import Actor, TokenKind
from moothall.api.context import Context
from moothall.objects.audit_log import AuditLogEvent, AuditLogOptions
from moothall.objects.ids import Snowflake
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import integrations, webhooks
from tests.support.harness import Caller, Guild, Platform, Reply

_insert_webhook = Query(insert(webhooks))
_insert_integration = Query(insert(integrations))

LISTS = {
    "audit_log_entries",
    "users",
    "webhooks",
    "threads",
    "integrations",
    "auto_moderation_rules",
    "application_commands",
    "guild_scheduled_events",
}


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person("owner"))


async def note(guild: Guild, by: Caller, action: AuditLogEvent, target: int | None = None) -> None:
    async def work(ctx: Context) -> None:
        await ctx.audit(
            action,
            target=None if target is None else Snowflake(target),
            options=AuditLogOptions(count="2"),
            guild_id=guild.id,
        )

    await unit_of_work.run(guild.platform.services, Actor(kind=TokenKind.SESSION, user_id=by.id), work, reason="why")


async def read(guild: Guild, **query: object) -> Reply:
    return await guild.owner.get(f"/guilds/{guild.id}/audit-logs", **query)


def ids(reply: Reply) -> list[int]:
    return [int(entry["id"]) for entry in reply.json["audit_log_entries"]]


async def test_an_empty_log_has_every_list(guild: Guild) -> None:
    reply = await read(guild)
    assert (reply.status, set(reply.json)) == (200, LISTS)
    assert all(item == [] for item in reply.json.values())


async def test_newest_first_but_oldest_first_after_an_id(guild: Guild) -> None:
    for _ in range(5):
        await note(guild, guild.owner, AuditLogEvent.GUILD_UPDATE)
    newest = ids(await read(guild))
    assert newest == sorted(newest, reverse=True)
    assert len(newest) == 5
    assert ids(await read(guild, limit=2)) == newest[:2]
    assert ids(await read(guild, before=newest[1], limit=2)) == newest[2:4]
    assert ids(await read(guild, after=0)) == newest[::-1]
    assert ids(await read(guild, after=newest[3], limit=2)) == [newest[2], newest[1]]
    for limit in (0, 101):
        assert (await read(guild, limit=limit)).errors_at("limit")


async def test_entries_are_filtered_by_actor_target_and_action_type(platform: Platform, guild: Guild) -> None:
    bob = await platform.person("bob")
    await note(guild, bob, AuditLogEvent.MEMBER_KICK, guild.owner.id)
    await note(guild, guild.owner, AuditLogEvent.MEMBER_KICK, bob.id)
    await note(guild, guild.owner, AuditLogEvent.GUILD_UPDATE, guild.id)
    by_bob = (await read(guild, user_id=bob.id)).json
    assert [entry["user_id"] for entry in by_bob["audit_log_entries"]] == [str(int(bob.id))]
    assert len(ids(await read(guild, action_type=20))) == 2
    assert len(ids(await read(guild, action_type=20, user_id=guild.owner.id))) == 1
    assert len(ids(await read(guild, target_id=bob.id))) == 1
    assert ids(await read(guild, action_type=30)) == []


async def test_entries_are_returned_with_the_objects_that_they_refer_to(platform: Platform, guild: Guild) -> None:
    bob = await platform.person("bob")
    webhook, integration, deleted = (platform.ids.next() for _ in range(3))
    async with platform.database.transaction() as tx:
        await tx.execute(
            _insert_webhook,
            id=webhook,
            guild_id=guild.id,
            channel_id=guild.general,
            name="hook",
            token=b"s",
            user_id=bob.id,
        )
        await tx.execute(
            _insert_integration, guild_id=guild.id, id=integration, name="app", type="discord", application_id=deleted
        )
    await note(guild, guild.owner, AuditLogEvent.MEMBER_UPDATE, bob.id)
    await note(guild, guild.owner, AuditLogEvent.WEBHOOK_CREATE, webhook)
    await note(guild, guild.owner, AuditLogEvent.WEBHOOK_DELETE, deleted)
    await note(guild, guild.owner, AuditLogEvent.INTEGRATION_CREATE, integration)
    log = (await read(guild)).json
    assert [user["username"] for user in log["users"]] == ["owner", "bob"]
    assert [(hook["id"], hook["user"]["username"]) for hook in log["webhooks"]] == [(str(int(webhook)), "bob")]
    assert "token" not in log["webhooks"][0]
    assert [item["id"] for item in log["integrations"]] == [str(int(integration))]
    entry = log["audit_log_entries"][-1]
    assert entry["reason"] == "why"
    assert entry["options"] == {"count": "2"}
    assert entry["target_id"] == str(int(bob.id))


async def test_the_log_contains_only_threads_that_the_caller_can_view(guild: Guild) -> None:
    hidden = await guild.channel(overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    now = Timestamp.now().wire()
    metadata = {
        "archived": False,
        "auto_archive_duration": 60,
        "archive_timestamp": now,
        "locked": False,
        "create_timestamp": now,
    }
    threads = [
        await guild.channel(type=kind, parent_id=parent, owner_id=guild.owner.id, thread_metadata=metadata)
        for kind, parent in ((11, guild.general), (12, guild.general), (11, hidden))
    ]
    for thread_id in threads:
        await note(guild, guild.owner, AuditLogEvent.THREAD_CREATE, thread_id)
    reader = await guild.member_with(Permissions.VIEW_AUDIT_LOG)
    seen = (await reader.get(f"/guilds/{guild.id}/audit-logs")).json["threads"]
    assert [item["id"] for item in seen] == [str(int(threads[0]))]
    assert len((await read(guild)).json["threads"]) == 3


async def test_entries_of_another_guild_are_not_listed(platform: Platform, guild: Guild) -> None:
    other = await platform.guild(guild.owner)
    await note(other, guild.owner, AuditLogEvent.GUILD_UPDATE)
    assert ids(await read(guild)) == []
