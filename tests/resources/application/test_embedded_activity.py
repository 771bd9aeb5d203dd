"""The Activity of an application: enabling it, its settings and URL mappings."""

from typing import Any

import pytest

from moothall.objects import limits
from tests.support.harness import Caller, Platform

EMBEDDED, RELEASED = 1 << 17, 1 << 1


async def application(platform: Platform) -> tuple[Caller, Caller, str]:
    """An owner, their application's bot, and the path of the application."""
    owner = await platform.person()
    bot = await platform.bot(owner)
    return owner, bot, f"/applications/{bot.id}"


async def test_enabling_activities_makes_the_command_launch(platform: Platform) -> None:
    owner, bot, path = await application(platform)
    assert "embedded_activity_config" not in (await owner.get(path)).json
    assert (await owner.post(f"{path}/set-embedded", {"embedded": True})).status == 204
    assert (await owner.post(f"{path}/set-embedded", {"embedded": True})).status == 204
    (command,) = (await bot.get(f"{path}/commands")).json
    assert (command["name"], command["type"], command["handler"]) == ("Launch", 4, 2)
    changed = (await bot.get(path)).json
    assert changed["flags"] & EMBEDDED
    assert changed["max_participants"] == -1
    assert changed["embedded_activity_config"]["supported_platforms"] == ["web"]
    await owner.post(f"{path}/set-embedded", {"embedded": False})
    assert not (await owner.get(path)).json["flags"] & EMBEDDED


async def test_settings_are_kept_and_a_release_sets_the_flag(platform: Platform) -> None:
    owner, _, path = await application(platform)
    await owner.post(f"{path}/set-embedded", {"embedded": True})
    first = (await owner.get(f"{path}/embedded-activity-config")).json
    assert first["application_id"] == path.rpartition("/")[2]
    assert first["client_platform_config"] == {}
    body = {
        "supported_platforms": ["web", "ios"],
        "default_orientation_lock_state": 3,
        "tablet_default_orientation_lock_state": 2,
        "requires_age_gate": True,
        "shelf_rank": 7,
        "supported_locales": ["DE", "FR"],
        "blocked_locales": ["FR"],
        "client_platform_config": {"web": {"label_type": 1, "release_phase": "global_launch"}},
    }
    changed = (await owner.patch(f"{path}/embedded-activity-config", body)).json
    web: dict[str, Any] = {
        "label_type": 1,
        "label_until": None,
        "release_phase": "global_launch",
        "omit_badge_from_surfaces": [],
    }
    assert changed == first | body | {"client_platform_config": {"web": web}}
    assert (await owner.get(f"{path}/embedded-activity-config")).json == changed
    shown = (await owner.get(path)).json
    assert shown["embedded_activity_config"] == {k: v for k, v in changed.items() if k != "application_id"}
    assert shown["flags"] & RELEASED
    await owner.patch(path, {"flags": EMBEDDED})
    assert (await owner.get(path)).json["flags"] & RELEASED
    withdrawn = {"client_platform_config": {"web": {"release_phase": "in_development"}}}
    await owner.patch(f"{path}/embedded-activity-config", withdrawn)
    shown = (await owner.get(path)).json
    assert not shown["flags"] & RELEASED
    assert shown["embedded_activity_config"]["shelf_rank"] == 7


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"supported_platforms": ["web", "web"]}, "supported_platforms.1"),
        ({"supported_platforms": ["toaster"]}, "supported_platforms.0"),
        ({"default_orientation_lock_state": 4}, "default_orientation_lock_state"),
        ({"shelf_rank": -1}, "shelf_rank"),
        ({"supported_locales": ["de"]}, "supported_locales.0"),
        (
            {"client_platform_config": {"web": {"release_phase": "soft_launch"}}},
            "client_platform_config.web.release_phase",
        ),
    ],
)
async def test_invalid_settings_are_refused_at_their_field(
    platform: Platform, body: dict[str, Any], field: str
) -> None:
    owner, _, path = await application(platform)
    reply = await owner.patch(f"{path}/embedded-activity-config", body)
    assert reply.code == 50035, reply.body
    assert reply.errors_at(field), reply.body


async def test_url_mappings_are_replaced_as_a_whole(platform: Platform) -> None:
    owner, _, path = await application(platform)
    mappings = [{"prefix": "/", "target": "a.example.com"}, {"prefix": "/api/", "target": "b.example.com:8443/x"}]
    stored = [mappings[0], {"prefix": "/api", "target": "b.example.com:8443/x"}]
    assert (await owner.post(f"{path}/proxy-config", {"url_map": mappings})).json == {"url_map": stored}
    assert (await owner.get(f"{path}/proxy-config")).json == {"url_map": stored}
    assert (await owner.post(f"{path}/proxy-config", {"url_map": []})).json == {"url_map": []}
    assert (await owner.get(f"{path}/proxy-config")).json == {"url_map": []}


@pytest.mark.parametrize(
    ("mappings", "field"),
    [
        ([("/api", "a.com")], "url_map"),
        ([("/", "a.com"), ("api", "a.com")], "url_map.1.prefix"),
        ([("/", "a.com"), ("/x", "b.com"), ("/x/", "c.com")], "url_map.2.prefix"),
        ([("/", "https://a.com")], "url_map.0.target"),
        ([("/", "a.com:25")], "url_map.0.target"),
        ([("/", "localhost:5173")], "url_map.0.target"),
        ([("/", "127.0.0.1")], "url_map.0.target"),
        ([("/", "[::1]:8080")], "url_map.0.target"),
        ([("/", "169.254.169.254")], "url_map.0.target"),
    ],
)
async def test_invalid_mappings_are_refused(platform: Platform, mappings: list[tuple[str, str]], field: str) -> None:
    owner, _, path = await application(platform)
    body = {"url_map": [{"prefix": prefix, "target": target} for prefix, target in mappings]}
    reply = await owner.post(f"{path}/proxy-config", body)
    assert reply.errors_at(field), reply.body
    assert (await owner.get(f"{path}/proxy-config")).json == {"url_map": []}


async def test_private_targets_are_accepted_if_the_operator_allows_them(platform: Platform) -> None:
    owner, _, path = await application(platform)
    platform.allow_private_addresses()
    body = {"url_map": [{"prefix": "/", "target": "localhost:5173"}]}
    assert (await owner.post(f"{path}/proxy-config", body)).status == 200


async def test_the_number_of_mappings_is_limited(platform: Platform) -> None:
    owner, _, path = await application(platform)
    many = [{"prefix": "/", "target": "a.com"}]
    many += [{"prefix": f"/{n}", "target": "a.com"} for n in range(limits.ACTIVITY_URL_MAPPINGS_MAX)]
    assert (await owner.post(f"{path}/proxy-config", {"url_map": many[:-1]})).status == 200
    assert (await owner.post(f"{path}/proxy-config", {"url_map": many})).errors_at("url_map")


async def test_only_developers_change_an_activity_and_readers_see_it(platform: Platform) -> None:
    owner, bot, path = await application(platform)
    stranger, reader = await platform.person(), await platform.person("reader")
    team = (await owner.post("/teams", {"name": "Team"})).json["id"]
    await owner.patch(path, {"team_id": team})
    assert (await owner.post(f"/teams/{team}/members", {"username": "reader"})).status == 200
    await owner.patch(f"/teams/{team}/members/{reader.id}", {"role": "read_only"})
    invited = await reader.get(f"{path}/proxy-config")
    assert invited.code == 20012
    for who in (stranger, bot):
        assert (await who.get(f"{path}/proxy-config")).code == 20012
        assert (await who.get(f"{path}/embedded-activity-config")).code == 20012
        assert (await who.post(f"{path}/set-embedded", {"embedded": True})).code == 20012
        assert (await who.patch(f"{path}/embedded-activity-config", {"shelf_rank": 1})).code == 20012
        assert (await who.post(f"{path}/proxy-config", {"url_map": []})).code == 20012
