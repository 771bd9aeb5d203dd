"""Creating and modifying applications, their secrets, and access to them."""

import asyncio
from typing import Any

import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from sqlalchemy import bindparam, select

from moothall.objects import limits
from moothall.objects.application import ApplicationFlags
from moothall.runtime.secrets import hash_token
from moothall.storage.database import Query
from moothall.storage.schema import applications
from tests.support.harness import Caller, Platform

PNG = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)

_select_secrets = Query(
    select(applications.c.private_key, applications.c.secret_hash, applications.c.verify_key).where(
        applications.c.id == bindparam("application_id")
    )
)


async def create_app(platform: Platform, owner: Caller | None = None, **settings: Any) -> tuple[Caller, Any, Caller]:
    """A user, the application that they create, and its bot."""
    owner = owner or await platform.person()
    reply = await owner.post("/applications", {"name": "Town Crier", **settings})
    assert reply.status == 201
    app = reply.json
    bot = Caller(platform, app["id"], f"Bot {app['bot']['token']}", name=app["bot"]["username"])
    return owner, app, bot


async def test_a_new_application_has_a_bot_of_its_own_id_that_can_log_in(platform: Platform) -> None:
    owner, app, bot = await create_app(platform)
    assert app["bot"]["id"] == app["id"]
    assert app["owner"]["id"] == str(owner.id)
    assert app["integration_types_config"] == {"0": {}, "1": {}}
    me = (await bot.get("/users/@me")).json
    assert (me["id"], me["username"], me["bot"]) == (app["id"], "Town Crier", True)
    shown = (await bot.get("/oauth2/applications/@me")).json
    assert shown["bot"] == {key: value for key, value in app["bot"].items() if key != "token"}
    for key in ("name", "description", "bot_public", "bot_require_code_grant", "verify_key", "owner", "icon"):
        assert shown[key] == app[key]
    assert (await bot.get("/applications/@me")).json == shown
    assert (await bot.get(f"/applications/{app['id']}")).json == shown


async def test_the_signing_key_is_stored_encrypted_and_the_secret_hashed(platform: Platform) -> None:
    _, app, _ = await create_app(platform)
    async with platform.database.read() as reader:
        row = await reader.one(_select_secrets, application_id=int(app["id"]))
    assert row is not None
    private, secret_hash, verify_key = row
    raw = platform.services.box.decrypt(bytes(private), about=f"application {app['id']}".encode())
    assert Ed25519PrivateKey.from_private_bytes(raw).public_key().public_bytes_raw().hex() == verify_key
    assert app["verify_key"] == verify_key
    assert bytes(secret_hash) == hash_token(app["secret"])


async def test_secrets_are_returned_when_they_are_created_and_never_again(platform: Platform) -> None:
    owner, app, bot = await create_app(platform)
    for reply in (
        await owner.get(f"/applications/{app['id']}"),
        await owner.get("/applications"),
        await bot.get("/applications/@me"),
        await owner.patch(f"/applications/{app['id']}", {"description": "x"}),
    ):
        assert app["bot"]["token"].encode() not in reply.body
        assert app["secret"].encode() not in reply.body


async def test_users_list_their_own_applications_only(platform: Platform) -> None:
    owner, app, bot = await create_app(platform)
    _, second, _ = await create_app(platform, owner)
    await create_app(platform)
    assert [item["id"] for item in (await owner.get("/applications")).json] == [app["id"], second["id"]]
    assert (await bot.get("/applications")).code == 20001
    assert (await bot.post("/applications", {"name": "x"})).code == 20001
    assert (await owner.get("/applications/@me")).code == 20002
    assert (await owner.get("/oauth2/applications/@me")).code == 20002


async def test_a_new_bot_token_revokes_the_old_one_and_closes_its_sessions(platform: Platform) -> None:
    owner, app, bot = await create_app(platform)
    reply = await owner.post(f"/applications/{app['id']}/bot/reset")
    assert reply.status == 200
    assert (await bot.get("/users/@me")).status == 401
    assert (await Caller(platform, bot.id, f"Bot {reply.json['token']}").get("/users/@me")).status == 200
    assert [envelope.name for envelope in platform.heard] == ["SESSIONS_CLOSE"]


async def test_a_new_secret_revokes_the_old_one(platform: Platform) -> None:
    owner, app, _ = await create_app(platform)
    secret = (await owner.post(f"/applications/{app['id']}/reset")).json["secret"]
    assert secret != app["secret"]
    async with platform.database.read() as reader:
        row = await reader.one(_select_secrets, application_id=int(app["id"]))
    assert row is not None
    assert bytes(row[1]) == hash_token(secret)


async def test_only_the_owner_reads_an_application_and_resets_its_secrets(platform: Platform) -> None:
    _, app, bot = await create_app(platform)
    stranger, _, other = await create_app(platform)
    path = f"/applications/{app['id']}"
    for caller in (stranger, other):
        assert (await caller.get(path)).code == 20012
        assert (await caller.patch(path, {"description": "x"})).code == 20012
    for caller in (stranger, other, bot):
        assert (await caller.post(f"{path}/bot/reset")).code == 20012
        assert (await caller.post(f"{path}/reset")).code == 20012
    assert (await stranger.get("/applications/1")).code == 10002
    assert (await bot.get("/users/@me")).status == 200


async def test_the_owner_changes_everything_and_null_clears(platform: Platform) -> None:
    owner, app, _ = await create_app(platform)
    path = f"/applications/{app['id']}"
    body: dict[str, Any] = {
        "name": "Herald",
        "description": "Tells the news.",
        "tags": ["news", "town"],
        "bot_public": False,
        "bot_require_code_grant": True,
        "redirect_uris": ["https://example.org/callback", "com.example.app:/back"],
        "install_params": {"scopes": ["bot", "applications.commands"], "permissions": "2048"},
        "integration_types_config": {"0": {"oauth2_install_params": {"scopes": ["bot"], "permissions": "8"}}},
        "custom_install_url": "https://example.org/install",
        "role_connections_verification_url": "https://example.org/verify",
        "terms_of_service_url": "https://example.org/terms",
        "privacy_policy_url": "https://example.org/privacy",
    }
    changed = (await owner.patch(path, body)).json
    assert {key: changed[key] for key in body} == body
    assert (await owner.get(path)).json == changed
    pictured = (await owner.patch(path, {"icon": PNG, "cover_image": PNG})).json
    assert await platform.services.blobs.exists(f"images/{pictured['icon']}")
    assert pictured["cover_image"] == pictured["icon"]
    cleared = (await owner.patch(path, {"icon": None, "tags": None, "install_params": None, "description": None})).json
    assert (cleared["icon"], cleared["description"]) == (None, "")
    assert not {"tags", "install_params"} & cleared.keys()
    assert (await owner.patch(path, {})).json == cleared


async def test_settings_can_be_set_on_creation(platform: Platform) -> None:
    _, app, _ = await create_app(platform, description="News", bot_public=False, redirect_uris=["http://localhost/x"])
    assert (app["description"], app["bot_public"], app["redirect_uris"]) == ("News", False, ["http://localhost/x"])


async def test_a_bot_changes_only_what_is_not_reserved_for_its_owner(platform: Platform) -> None:
    _, app, bot = await create_app(platform)
    assert (await bot.patch("/applications/@me", {"description": "x"})).json["description"] == "x"
    assert (await bot.patch(f"/applications/{app['id']}", {"tags": ["y"]})).json["tags"] == ["y"]
    bodies: list[dict[str, Any]] = [{"name": "z"}, {"redirect_uris": []}, {"bot_public": False}]
    for body in bodies:
        assert (await bot.patch(f"/applications/{app['id']}", body)).code == 20001
        assert (await bot.patch("/applications/@me", body)).status == 200
    shown = (await bot.get("/applications/@me")).json
    assert (shown["name"], shown["bot_public"]) == ("Town Crier", True)


async def test_only_the_flags_of_limited_intents_and_embedding_can_be_set(platform: Platform) -> None:
    owner, app, _ = await create_app(platform)
    settable = (
        ApplicationFlags.GATEWAY_MESSAGE_CONTENT_LIMITED
        | ApplicationFlags.GATEWAY_GUILD_MEMBERS_LIMITED
        | ApplicationFlags.GATEWAY_PRESENCE_LIMITED
    )
    every = (1 << 30) - 1
    path = f"/applications/{app['id']}"
    assert (await owner.patch(path, {"flags": settable})).json["flags"] == settable
    changed = (await owner.patch(path, {"flags": every})).json
    assert changed["flags"] == settable | ApplicationFlags.EMBEDDED
    assert changed["flags_new"] == str(changed["flags"])
    assert (await owner.patch(path, {"flags": 0})).json["flags"] == 0


BAD: list[tuple[dict[str, Any], str]] = [
    ({"name": ""}, "name"),
    ({"name": "x" * 33}, "name"),
    ({"name": None}, "name"),
    ({"description": "x" * 401}, "description"),
    ({"tags": ["x"] * 6}, "tags"),
    ({"tags": ["x" * 21]}, "tags.0"),
    ({"tags": ["x", "x"]}, "tags.1"),
    ({"redirect_uris": ["/relative"]}, "redirect_uris.0"),
    ({"redirect_uris": ["javascript:alert(1)"]}, "redirect_uris.0"),
    ({"redirect_uris": ["https://example.org/#part"]}, "redirect_uris.0"),
    ({"redirect_uris": ["https://a b"]}, "redirect_uris.0"),
    ({"redirect_uris": ["https://[x"]}, "redirect_uris.0"),
    ({"custom_install_url": "ftp://example.org"}, "custom_install_url"),
    ({"install_params": {"scopes": ["bot", "everything"]}}, "install_params.scopes.1"),
    ({"install_params": {"scopes": ["bot", "bot"]}}, "install_params.scopes.1"),
    ({"integration_types_config": {"7": {}}}, "integration_types_config.7"),
    (
        {"integration_types_config": {"0": {"oauth2_install_params": {"scopes": ["x"], "permissions": "0"}}}},
        "integration_types_config.0.oauth2_install_params.scopes.0",
    ),
    ({"icon": "data:image/png;base64,AAAA"}, "icon"),
    ({"interactions_endpoint_url": "https://127.0.0.1/"}, "interactions_endpoint_url"),
    ({"event_webhooks_url": "https://example.org"}, "event_webhooks_url"),
    ({"event_webhooks_status": 2}, "event_webhooks_status"),
]


@pytest.mark.parametrize(("body", "path"), BAD, ids=[f"{path}-{index}" for index, (_, path) in enumerate(BAD)])
async def test_invalid_fields_are_refused_at_their_paths_and_change_nothing(
    platform: Platform, body: dict[str, Any], path: str
) -> None:
    owner, app, _ = await create_app(platform)
    before = (await owner.get(f"/applications/{app['id']}")).json
    refused = await owner.patch(f"/applications/{app['id']}", {"description": "new", **body})
    assert (refused.status, refused.code, bool(refused.errors_at(path))) == (400, 50035, True)
    assert (await owner.get(f"/applications/{app['id']}")).json == before


async def test_the_number_of_applications_per_owner_is_limited(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "APPLICATIONS_PER_OWNER", 1)
    owner, _, _ = await create_app(platform)
    refused = await owner.post("/applications", {"name": "One more"})
    assert (refused.status, refused.code) == (400, 50011)


async def test_simultaneous_requests_do_not_exceed_the_limit_of_applications(
    platform: Platform, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(limits, "APPLICATIONS_PER_OWNER", 2)
    alice = await platform.person()
    made = await asyncio.gather(*(alice.post("/applications", {"name": f"App {n}"}) for n in range(5)))
    assert sorted(reply.status for reply in made) == [201, 201, 400, 400, 400]
