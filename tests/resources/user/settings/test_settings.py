"""Settings of users, and their notification settings in guilds."""

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from tests.gateway.peer import Peer
from tests.support.gateway_nodes import node_over
from tests.support.harness import Caller, Guild, Platform
from tests.support.read_states import EVERYTHING, mentions_of, ready_of, say

WHERE = "/users/@me/settings"


@pytest.fixture
async def alice(platform: Platform) -> Caller:
    return await platform.person("alice")


@pytest.fixture
async def bob(platform: Platform) -> Caller:
    return await platform.person("bob")


@pytest.fixture
async def guild(platform: Platform, alice: Caller, bob: Caller) -> Guild:
    guild = await platform.guild(alice)
    await guild.join(bob)
    return guild


async def change_guild(caller: Caller, guild_id: object, body: dict[str, Any]) -> dict[str, Any]:
    """Change the notification settings of a guild and return them."""
    reply = await caller.patch(f"/users/@me/guilds/{guild_id}/settings", body)
    assert reply.status == 200, reply.json
    settings: dict[str, Any] = reply.json
    return settings


async def test_settings_have_defaults_and_changes_are_stored_and_announced(platform: Platform, alice: Caller) -> None:
    defaults = (await alice.get(WHERE)).json
    assert (defaults["theme"], defaults["status"], defaults["restricted_guilds"]) == ("dark", "online", [])
    changes = {"theme": "light", "status": "dnd", "locale": "de", "guild_folders": [{"guild_ids": ["7"], "name": "x"}]}
    changed = await alice.patch(WHERE, changes | {"developer_mode": False})
    assert changed.status == 200
    folder = {"guild_ids": ["7"], "id": None, "name": "x", "color": None}
    assert changed.json == defaults | changes | {"guild_folders": [folder]}
    assert (await alice.get(WHERE)).json == changed.json
    assert platform.heard_data("USER_SETTINGS_UPDATE") == [changes | {"guild_folders": [folder]}]
    assert (await alice.get("/users/@me")).json["locale"] == "de"
    assert [user["locale"] for user in platform.heard_data("USER_UPDATE")] == ["de"]
    with platform.listening() as heard:
        await alice.patch(WHERE, {"theme": "light"})
    assert heard == []
    await alice.patch(WHERE, {"theme": "midnight"})
    assert (await alice.get(WHERE)).json == changed.json | {"theme": "midnight"}


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("theme", "pink"),
        ("status", "away"),
        ("locale", "xx"),
        ("afk_timeout", 601),
        ("custom_status", {"text": "x" * 129}),
        ("custom_status", {"emoji_id": "1", "emoji_name": "x"}),
        ("restricted_guilds", ["x"]),
    ],
)
async def test_settings_that_are_refused_change_nothing(alice: Caller, field: str, value: Any) -> None:
    before = (await alice.get(WHERE)).json
    reply = await alice.patch(WHERE, {"developer_mode": True, field: value})
    assert (reply.status, reply.code) == (400, 50035)
    assert field in reply.json["errors"]
    assert (await alice.get(WHERE)).json == before


async def test_a_custom_status_ends_when_it_expires(alice: Caller) -> None:
    ahead = (datetime.now(UTC) + timedelta(hours=1)).isoformat()
    await alice.patch(WHERE, {"custom_status": {"text": "at lunch", "expires_at": ahead}})
    assert (await alice.get(WHERE)).json["custom_status"]["text"] == "at lunch"
    await alice.patch(WHERE, {"custom_status": {"text": "at lunch", "expires_at": "2020-01-01T00:00:00+00:00"}})
    assert (await alice.get(WHERE)).json["custom_status"] is None


async def test_restricted_guilds_close_direct_messages_to_all_but_friends(
    platform: Platform, guild: Guild, alice: Caller, bob: Caller
) -> None:
    bot = await platform.bot(alice)
    await guild.join(bot)
    opening = {"recipient_id": str(bob.id)}
    await bob.patch(WHERE, {"restricted_guilds": [str(guild.id)]})
    assert [(await caller.post("/users/@me/channels", opening)).code for caller in (alice, bot)] == [50007, 50007]
    stranger = await platform.person()
    assert (await stranger.post("/users/@me/channels", opening)).status == 200
    other = await platform.guild(alice)
    await other.join(bob)
    assert (await alice.post("/users/@me/channels", opening)).status == 200
    await bob.patch(WHERE, {"restricted_guilds": [str(guild.id), str(other.id)]})
    channel_id = (await alice.post("/users/@me/channels", opening)).json["id"]
    assert (await alice.post(f"/channels/{channel_id}/messages", {"content": "x"})).code == 50007
    await alice.put(f"/users/@me/relationships/{bob.id}", {})
    await bob.put(f"/users/@me/relationships/{alice.id}", {})
    assert (await alice.post(f"/channels/{channel_id}/messages", {"content": "x"})).status == 200


async def test_new_guilds_are_restricted_for_users_who_set_that(platform: Platform, guild: Guild) -> None:
    carol = await platform.person("carol")
    await carol.patch(WHERE, {"default_guilds_restricted": True})
    code = (await guild.owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    platform.heard.clear()
    assert (await carol.post(f"/invites/{code}", {})).status == 200
    assert platform.heard_data("USER_SETTINGS_UPDATE") == [{"restricted_guilds": [str(guild.id)]}]
    assert (await carol.get(WHERE)).json["restricted_guilds"] == [str(guild.id)]


async def test_friend_source_flags_say_who_may_send_requests(
    platform: Platform, guild: Guild, alice: Caller, bob: Caller
) -> None:
    assert guild.owner is alice
    stranger = await platform.person()
    await bob.patch(WHERE, {"friend_source_flags": {"mutual_guilds": True}})
    assert (await stranger.put(f"/users/@me/relationships/{bob.id}", {})).code == 80000
    assert (await alice.put(f"/users/@me/relationships/{bob.id}", {})).status == 204
    await bob.put(f"/users/@me/relationships/{alice.id}", {})
    await alice.put(f"/users/@me/relationships/{stranger.id}", {})
    await stranger.put(f"/users/@me/relationships/{alice.id}", {})
    assert (await stranger.put(f"/users/@me/relationships/{bob.id}", {})).code == 80000
    await bob.patch(WHERE, {"friend_source_flags": {"mutual_friends": True}})
    assert (await stranger.put(f"/users/@me/relationships/{bob.id}", {})).status == 204


async def test_guild_settings_are_stored_announced_and_in_ready(platform: Platform, guild: Guild, bob: Caller) -> None:
    body = {"muted": True, "mute_config": {"end_time": None, "selected_time_window": -1}, "message_notifications": 1}
    overrides = {str(guild.general): {"muted": True, "message_notifications": 2}}
    settings = await change_guild(bob, guild.id, body | {"channel_overrides": overrides})
    assert settings | body == settings
    assert settings["guild_id"] == str(guild.id)
    assert settings["channel_overrides"] == [
        {"channel_id": str(guild.general), "collapsed": False, "flags": 0, "message_notifications": 2, "muted": True}
        | {"mute_config": None}
    ]
    assert platform.heard_data("USER_GUILD_SETTINGS_UPDATE") == [settings]
    changed = await change_guild(bob, guild.id, {"channel_overrides": {str(guild.general): {"muted": False}}})
    assert [(each["muted"], each["message_notifications"]) for each in changed["channel_overrides"]] == [(False, 2)]
    assert changed["muted"] is True
    ready = await Peer(node_over(platform)).identify(bob.token)
    assert ready["user_guild_settings"] == [changed]
    assert ready["user_settings"] == (await bob.get(WHERE)).json
    ready = await Peer(node_over(platform)).identify(bob.token, capabilities=1 << 3 | 1 << 9)
    assert ready["user_guild_settings"] == {"entries": [changed], "partial": False, "version": changed["version"]}
    assert "user_settings" not in ready


async def test_guild_settings_name_ones_own_guilds_and_channels_only(
    platform: Platform, guild: Guild, bob: Caller
) -> None:
    other = await platform.guild(await platform.person())
    assert (await bob.patch(f"/users/@me/guilds/{other.id}/settings", {})).code == 10004
    for key in (str(other.general), "x"):
        body = {"channel_overrides": {key: {"muted": True}}}
        assert (await bob.patch(f"/users/@me/guilds/{guild.id}/settings", body)).code == 50035
        assert (await bob.patch("/users/@me/guilds/@me/settings", body)).code == 50035
    bulk = {"guilds": {str(guild.id): {"muted": True}, str(other.id): {"muted": True}}}
    assert (await bob.patch("/users/@me/guilds/settings", bulk)).code == 50035
    del bulk["guilds"][str(other.id)]
    reply = await bob.patch("/users/@me/guilds/settings", bulk)
    assert [(each["guild_id"], each["muted"]) for each in reply.json] == [(str(guild.id), True)]


async def test_suppressed_mentions_and_muted_events_are_not_counted(guild: Guild, alice: Caller, bob: Caller) -> None:
    role = await guild.role()
    await alice.put(f"/guilds/{guild.id}/members/{bob.id}/roles/{role}")
    await say(alice, guild.general, "@everyone")
    await say(alice, guild.general, f"<@&{role}>")
    await say(alice, guild.general, f"<@{bob.id}>")
    event = {"name": "party", "privacy_level": 2, "entity_type": 3, "entity_metadata": {"location": "here"}}
    times = {"scheduled_start_time": "2099-01-01T00:00:00Z", "scheduled_end_time": "2099-01-02T00:00:00Z"}
    assert (await alice.post(f"/guilds/{guild.id}/scheduled-events", event | times)).status == 200
    assert await mentions_of(bob) == {str(guild.general): 3}
    await change_guild(bob, guild.id, {"suppress_everyone": True})
    assert await mentions_of(bob) == {str(guild.general): 2}
    await change_guild(bob, guild.id, {"suppress_roles": True})
    assert await mentions_of(bob) == {str(guild.general): 1}
    assert [e["badge_count"] for e in (await ready_of(bob, EVERYTHING))["read_state"]["entries"] if "badge_count" in e]
    await change_guild(bob, guild.id, {"mute_scheduled_events": True})
    entries = (await ready_of(bob, EVERYTHING))["read_state"]["entries"]
    assert not [entry for entry in entries if "badge_count" in entry]


async def test_a_muted_direct_message_counts_mentions_only(platform: Platform, alice: Caller, bob: Caller) -> None:
    await (await platform.guild(alice)).join(bob)
    channel_id = (await alice.post("/users/@me/channels", {"recipient_id": str(bob.id)})).json["id"]
    await say(alice, channel_id, "hello")
    await say(alice, channel_id, f"<@{bob.id}>")
    assert await mentions_of(bob) == {channel_id: 2}
    settings = await change_guild(bob, "@me", {"channel_overrides": {channel_id: {"muted": True}}})
    assert settings["guild_id"] is None
    assert await mentions_of(bob) == {channel_id: 1}
    expired = {"end_time": "2020-01-01T00:00:00+00:00", "selected_time_window": 60}
    await change_guild(bob, "@me", {"channel_overrides": {channel_id: {"mute_config": expired}}})
    assert await mentions_of(bob) == {channel_id: 2}


async def test_bots_have_no_settings(platform: Platform, guild: Guild, alice: Caller) -> None:
    bot = await platform.bot(alice)
    await guild.join(bot)
    assert [
        (await bot.get(WHERE)).code,
        (await bot.patch(WHERE, {})).code,
        (await bot.patch(f"/users/@me/guilds/{guild.id}/settings", {})).code,
    ] == [20001] * 3
