"""The audit log of every row of the spec that has an entry: its kind, target, options and the keys that changed."""

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from msgspec import Struct
from sqlalchemy import insert

from moothall.objects.features import Feature
from moothall.objects.ids import ChannelId, IntegrationId, Snowflake
from moothall.objects.wire import Timestamp
from moothall.resources.member.queries import write_last_seen
from moothall.resources.voice.operations.sessions import handle_voice_update
from moothall.storage.database import Query
from moothall.storage.schema import integrations
from tests.conformance.spec_rows import SPEC_ROWS
from tests.support.harness import VOICE, Caller, Guild, Platform, Reply


class World(Struct):
    """A guild with one of everything."""

    platform: Platform
    guild: Guild
    owner: Caller
    bob: Caller
    role: int
    voice: int
    second_voice: int
    webhook: dict[str, Any]
    code: str
    banned: Caller
    integration: int

    @property
    def url(self) -> str:
        return f"/guilds/{self.guild.id}"

    @property
    def hook(self) -> str:
        return f"/webhooks/{self.webhook['id']}"


class Recorded(Struct):
    """What an entry holds: `target` names a field of `World`, None for none."""

    row: str
    ask: Callable[[World], Awaitable[Reply]]
    action: int
    target: str | None
    keys: set[str] = set()
    options: dict[str, Any] = {}


async def _in_voice(at: World) -> None:
    await handle_voice_update(
        at.platform.services,
        user_id=at.bob.id,
        session_id="s",
        guild_id=at.guild.id,
        channel_id=ChannelId(Snowflake(at.voice)),
        self_mute=False,
        self_deaf=False,
        self_video=False,
    )


async def _move(at: World, channel: str | None) -> Reply:
    await _in_voice(at)
    at.platform.heard.clear()
    return await at.owner.patch(f"{at.url}/members/{at.bob.id}", {"channel_id": channel}, reason="why")


async def _take_role(at: World) -> Reply:
    await at.owner.put(f"{at.url}/members/{at.bob.id}/roles/{at.role}")
    at.platform.heard.clear()
    return await at.owner.delete(f"{at.url}/members/{at.bob.id}/roles/{at.role}", reason="why")


async def _prune(at: World) -> Reply:
    idle = await at.platform.person()
    await at.guild.join(idle)
    long_ago = Timestamp(Timestamp.now() - 10 * 86_400_000)
    async with at.platform.database.transaction() as tx:
        await write_last_seen(tx, at.guild.id, idle.id, long_ago)
    return await at.owner.post(f"{at.url}/prune", {"days": 3}, reason="why")


async def _onboarding(at: World) -> Reply:
    return await at.owner.put(f"{at.url}/onboarding", {"default_channel_ids": [str(at.guild.general)]}, reason="why")


TOMORROW = Timestamp(Timestamp.now() + 86_400_000).wire()
ROLE_KEYS = {"name", "permissions", "color", "hoist", "mentionable"}

TABLE = [
    Recorded(
        "PATCH /guilds/{guild_id}",
        lambda at: at.owner.patch(at.url, {"name": "New", "afk_timeout": 60}, reason="why"),
        1,
        "guild",
        {"name", "afk_timeout"},
    ),
    Recorded(
        "POST /guilds/{guild_id}/channels",
        lambda at: at.owner.post(f"{at.url}/channels", {"name": "new", "topic": "t"}, reason="why"),
        10,
        "made",
        {"name", "type", "topic"},
    ),
    Recorded(
        "PATCH /guilds/{guild_id}/members/{user_id}",
        lambda at: at.owner.patch(f"{at.url}/members/{at.bob.id}", {"nick": "B"}, reason="why"),
        24,
        "bob",
        {"nick"},
    ),
    Recorded(
        "PATCH /guilds/{guild_id}/members/{user_id}",
        lambda at: at.owner.patch(
            f"{at.url}/members/{at.bob.id}", {"communication_disabled_until": TOMORROW}, reason="why"
        ),
        24,
        "bob",
        {"communication_disabled_until"},
    ),
    Recorded(
        "PATCH /guilds/{guild_id}/members/{user_id}",
        lambda at: at.owner.patch(f"{at.url}/members/{at.bob.id}", {"roles": [str(at.role)]}, reason="why"),
        25,
        "bob",
        {"$add"},
    ),
    Recorded(
        "PATCH /guilds/{guild_id}/members/{user_id}",
        lambda at: _move(at, str(at.second_voice)),
        26,
        None,
        set(),
        {"count": "1", "channel_id": "second_voice"},
    ),
    Recorded("PATCH /guilds/{guild_id}/members/{user_id}", lambda at: _move(at, None), 27, None, set(), {"count": "1"}),
    Recorded(
        "PATCH /guilds/{guild_id}/members/@me",
        lambda at: at.bob.patch(f"{at.url}/members/@me", {"nick": "Me"}, reason="why"),
        24,
        "bob",
        {"nick"},
    ),
    Recorded(
        "PATCH /guilds/{guild_id}/members/@me/nick",
        lambda at: at.bob.patch(f"{at.url}/members/@me/nick", {"nick": "Me"}, reason="why"),
        24,
        "bob",
        {"nick"},
    ),
    Recorded(
        "PUT /guilds/{guild_id}/members/{user_id}/roles/{role_id}",
        lambda at: at.owner.put(f"{at.url}/members/{at.bob.id}/roles/{at.role}", reason="why"),
        25,
        "bob",
        {"$add"},
    ),
    Recorded("DELETE /guilds/{guild_id}/members/{user_id}/roles/{role_id}", _take_role, 25, "bob", {"$remove"}),
    Recorded(
        "DELETE /guilds/{guild_id}/members/{user_id}",
        lambda at: at.owner.delete(f"{at.url}/members/{at.bob.id}", reason="why"),
        20,
        "bob",
    ),
    Recorded(
        "PUT /guilds/{guild_id}/bans/{user_id}",
        lambda at: at.owner.put(f"{at.url}/bans/{at.bob.id}", {}, reason="why"),
        22,
        "bob",
    ),
    Recorded(
        "DELETE /guilds/{guild_id}/bans/{user_id}",
        lambda at: at.owner.delete(f"{at.url}/bans/{at.banned.id}", reason="why"),
        23,
        "banned",
    ),
    Recorded(
        "POST /guilds/{guild_id}/bulk-ban",
        lambda at: at.owner.post(f"{at.url}/bulk-ban", {"user_ids": [str(at.bob.id)]}, reason="why"),
        22,
        "bob",
    ),
    Recorded(
        "POST /guilds/{guild_id}/roles",
        lambda at: at.owner.post(f"{at.url}/roles", {"name": "New", "hoist": True, "color": 1}, reason="why"),
        30,
        "made",
        ROLE_KEYS,
    ),
    Recorded(
        "PATCH /guilds/{guild_id}/roles",
        lambda at: at.owner.patch(f"{at.url}/roles", [{"id": str(at.role), "position": 2}], reason="why"),
        31,
        None,
        {"position"},
    ),
    Recorded(
        "PATCH /guilds/{guild_id}/roles/{role_id}",
        lambda at: at.owner.patch(f"{at.url}/roles/{at.role}", {"name": "R", "permissions": "8"}, reason="why"),
        31,
        "role",
        {"name", "permissions"},
    ),
    Recorded(
        "DELETE /guilds/{guild_id}/roles/{role_id}",
        lambda at: at.owner.delete(f"{at.url}/roles/{at.role}", reason="why"),
        32,
        "role",
        {"name", "permissions"},
    ),
    Recorded(
        "POST /guilds/{guild_id}/prune", _prune, 21, None, set(), {"delete_member_days": "3", "members_removed": "1"}
    ),
    Recorded(
        "DELETE /guilds/{guild_id}/integrations/{integration_id}",
        lambda at: at.owner.delete(f"{at.url}/integrations/{at.integration}", reason="why"),
        82,
        "integration",
        {"name", "type"},
    ),
    Recorded(
        "PATCH /guilds/{guild_id}/widget",
        lambda at: at.owner.patch(
            f"{at.url}/widget", {"enabled": True, "channel_id": str(at.guild.general)}, reason="why"
        ),
        1,
        "guild",
        {"widget_enabled", "widget_channel_id"},
    ),
    Recorded(
        "PATCH /guilds/{guild_id}/welcome-screen",
        lambda at: at.owner.patch(f"{at.url}/welcome-screen", {"enabled": True, "description": "d"}, reason="why"),
        1,
        "guild",
        {"features"},
    ),
    Recorded("PUT /guilds/{guild_id}/onboarding", _onboarding, 166, "guild", {"default_channel_ids"}),
    Recorded(
        "DELETE /invites/{code}",
        lambda at: at.owner.delete(f"/invites/{at.code}", reason="why"),
        42,
        None,
        {"code", "channel_id", "inviter_id", "max_age"},
    ),
    Recorded(
        "POST /channels/{channel_id}/webhooks",
        lambda at: at.owner.post(f"/channels/{at.guild.general}/webhooks", {"name": "Hook"}, reason="why"),
        50,
        "made",
        {"name", "channel_id", "type"},
    ),
    Recorded(
        "PATCH /webhooks/{webhook_id}",
        lambda at: at.owner.patch(at.hook, {"name": "Other"}, reason="why"),
        51,
        "webhook",
        {"name"},
    ),
    Recorded(
        "PATCH /webhooks/{webhook_id}/{webhook_token}",
        lambda at: at.platform.anonymous.patch(f"{at.hook}/{at.webhook['token']}", {"name": "Other"}, reason="why"),
        51,
        "webhook",
        {"name"},
    ),
    Recorded(
        "DELETE /webhooks/{webhook_id}",
        lambda at: at.owner.delete(at.hook, reason="why"),
        52,
        "webhook",
        {"name", "channel_id", "type"},
    ),
    Recorded(
        "DELETE /webhooks/{webhook_id}/{webhook_token}",
        lambda at: at.platform.anonymous.delete(f"{at.hook}/{at.webhook['token']}", reason="why"),
        52,
        "webhook",
        {"name", "channel_id", "type"},
    ),
]


@pytest.fixture
async def world(platform: Platform) -> World:
    owner, bob, banned = await platform.person("alice"), await platform.person("bob"), await platform.person("eve")
    guild = await platform.guild(owner, features=[Feature.COMMUNITY])
    await guild.join(bob)
    role = await guild.role(name="one")
    await guild.role(name="two")
    voice = await guild.channel(type=VOICE)
    second = await guild.channel(type=VOICE)
    integration = IntegrationId(platform.ids.next())
    async with platform.database.transaction() as tx:
        values = {"guild_id": guild.id, "id": integration, "name": "App", "type": "discord", "account": {}}
        await tx.execute(Query(insert(integrations)), **values)
    webhook = (await owner.post(f"/channels/{guild.general}/webhooks", {"name": "First"})).json
    code = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    await owner.put(f"{guild_url(guild)}/bans/{banned.id}", {})
    platform.heard.clear()
    return World(platform, guild, owner, bob, role, voice, second, webhook, code, banned, integration)


def guild_url(guild: Guild) -> str:
    return f"/guilds/{guild.id}"


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
@pytest.mark.parametrize("entry", TABLE, ids=lambda entry: f"{entry.row} {entry.action} {','.join(sorted(entry.keys))}")
async def test_an_entry_says_what_was_done_to_what_and_why(world: World, entry: Recorded) -> None:
    reply = await entry.ask(world)
    assert reply.status < 300, reply.body
    announced = world.platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")
    entries = [one for one in announced if one["action_type"] == entry.action]
    assert entries, announced
    one = entries[0]
    assert one["reason"] == "why"
    changes = {change["key"]: change for change in one.get("changes", [])}
    assert entry.keys <= set(changes)
    assert bool(changes) == bool(entry.keys)
    for change in changes.values():
        assert "new_value" in change or "old_value" in change
        assert change.get("new_value") != change.get("old_value")
    if entry.action in {12, 32, 42, 52, 82}:
        assert not any("new_value" in change for change in changes.values())
    if entry.action in {10, 30, 50}:
        assert not any("old_value" in change for change in changes.values())
    if entry.target == "made":
        assert one["target_id"] == reply.json["id"]
    elif entry.target is not None:
        target = getattr(world, entry.target)
        target = target["id"] if isinstance(target, dict) else getattr(target, "id", target)
        assert int(one["target_id"]) == int(target)
    options = one.get("options", {})
    assert set(options) == set(entry.options)
    for key, value in entry.options.items():
        assert options[key] == (str(int(getattr(world, value))) if hasattr(world, value) else value)
    # Reading the log returns the same.
    read = (await world.owner.get(f"{world.url}/audit-logs", action_type=entry.action)).json
    stored = next(e for e in read["audit_log_entries"] if e["id"] == one["id"])
    assert stored == {key: value for key, value in one.items() if key != "guild_id"}
    assert world.webhook["token"] not in str(read)


def test_every_audited_row_of_the_spec_is_in_the_table() -> None:
    assert {key for key, row in SPEC_ROWS.items() if row.audit} == {entry.row for entry in TABLE}
