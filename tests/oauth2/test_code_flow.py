"""The authorization code flow: consent, exchange, refresh, revocation."""

import asyncio
from typing import Any
from urllib.parse import parse_qs, urlsplit

import jwt
from sqlalchemy import select, update

from moothall.objects.permissions import Permissions
from moothall.runtime.secrets import hash_token
from moothall.storage.database import Query
from moothall.storage.schema import authorization_codes, tokens
from tests.oauth2.flow import (
    CALLBACK,
    CHALLENGE,
    VERIFIER,
    answer_of,
    application,
    basic,
    bearer,
    consent,
    post_form,
    tokens_of,
)
from tests.support.harness import Platform

_all_hashes = Query(select(tokens.c.hash, tokens.c.current_hash))
_end_codes = Query(update(authorization_codes).values(expires_at=1))
_end_tokens = Query(update(tokens).values(expires_at=1))


async def test_a_code_is_exchanged_for_tokens_of_the_scopes_consented_to(platform: Platform) -> None:
    app, person = await application(platform), await platform.person("wanda", email="wanda@example.org")
    back = answer_of(await consent(person, app, "identify guilds"))
    assert back["state"] == "s1"
    reply = await app.exchange(back["code"])
    issued = reply.json
    assert (issued["token_type"], issued["expires_in"], issued["scope"]) == ("Bearer", 604_800, "identify guilds")
    assert reply.headers["cache-control"] == "no-store"
    caller = bearer(platform, person, issued["access_token"])
    me = await caller.get("/users/@me")
    assert (me.json["username"], "email" in me.json) == ("wanda", False)
    assert (await caller.get("/users/@me/guilds")).json == []
    about = (await caller.get("/oauth2/@me")).json
    assert (about["application"]["id"], about["scopes"], about["user"]["id"]) == (
        app.id,
        ["guilds", "identify"],
        str(person.id),
    )


async def test_the_kind_of_subscription_needs_its_scope(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    without = await tokens_of(person, app, "identify email")
    assert "premium_type" not in (await bearer(platform, person, without["access_token"]).get("/users/@me")).json
    granted = await tokens_of(person, app, "identify identify.premium")
    assert (await bearer(platform, person, granted["access_token"]).get("/users/@me")).json["premium_type"] == 0


async def test_tokens_and_codes_are_stored_as_hashes_only(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    issued = await tokens_of(person, app, "identify")
    async with platform.database.read() as reader:
        stored = {bytes(value) for row in await reader.all(_all_hashes) for value in row if value is not None}
    for token in (issued["access_token"], issued["refresh_token"]):
        assert hash_token(token) in stored
        assert not {part.encode() for part in (token, *token.split("."))} & stored


async def test_a_code_is_valid_once_and_its_second_use_revokes_its_tokens(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    code = answer_of(await consent(person, app, "identify"))["code"]
    first = (await app.exchange(code)).json
    again = await app.exchange(code)
    assert (again.status, again.json["error"]) == (400, "invalid_grant")
    assert (await bearer(platform, person, first["access_token"]).get("/users/@me")).status == 401
    refused = await app.token(grant_type="refresh_token", refresh_token=first["refresh_token"])
    assert refused.json["error"] == "invalid_grant"


async def test_two_concurrent_exchanges_of_a_code_leave_no_token(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    code = answer_of(await consent(person, app, "identify"))["code"]
    replies = await asyncio.gather(app.exchange(code), app.exchange(code))
    assert sorted(reply.status for reply in replies) == [200, 400]
    token = next(reply.json["access_token"] for reply in replies if reply.status == 200)
    assert (await bearer(platform, person, token).get("/users/@me")).status == 401


async def test_a_code_expires_after_ten_minutes(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    code = answer_of(await consent(person, app, "identify"))["code"]
    async with platform.database.transaction() as tx:
        await tx.execute(_end_codes)
    assert (await app.exchange(code)).json["error"] == "invalid_grant"


async def test_a_code_is_for_its_application_and_its_redirect_uri(platform: Platform) -> None:
    app, other, person = await application(platform), await application(platform), await platform.person()
    code = answer_of(await consent(person, app, "identify"))["code"]
    assert (await other.exchange(code)).json["error"] == "invalid_grant"
    assert (await app.exchange(code, redirect_uri=CALLBACK + "/")).json["error"] == "invalid_grant"
    missing = await app.token(grant_type="authorization_code", code=code)
    assert missing.json["error"] == "invalid_grant"
    assert (await app.exchange(code)).status == 200


async def test_an_unregistered_redirect_uri_is_refused_and_never_sent_to(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    for uri in (CALLBACK + "/", CALLBACK + "?x=1", "http://localhost:8000", "https://evil.example"):
        reply = await consent(person, app, "identify", redirect_uri=uri)
        assert reply.errors_at("redirect_uri") == ["BASE_TYPE_CHOICES"]
        denied = await consent(person, app, "identify", {"authorize": False}, redirect_uri=uri)
        assert denied.status == 400


async def test_without_a_redirect_uri_the_first_registered_one_is_used(platform: Platform) -> None:
    app, person = await application(platform, redirect_uris=[CALLBACK, "app://there"]), await platform.person()
    reply = await consent(person, app, "identify guilds applications.commands", redirect_uri=None)
    assert reply.json["location"].startswith(CALLBACK + "?")
    code = answer_of(reply)["code"]
    elsewhere = await app.exchange(code, redirect_uri="http://localhost:9")
    assert elsewhere.json["error"] == "invalid_grant"
    assert (await app.token(grant_type="authorization_code", code=code)).status == 200


async def test_a_denial_redirects_with_the_state(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    back = answer_of(await consent(person, app, "identify", {"authorize": False}))
    assert (back["error"], back["state"], "code" in back) == ("access_denied", "s1", False)
    assert (await person.get("/oauth2/tokens")).json == []


async def test_pkce_binds_a_code_to_its_verifier(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    pkce: dict[str, Any] = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
    code = answer_of(await consent(person, app, "identify", **pkce))["code"]
    assert (await app.exchange(code)).json["error"] == "invalid_grant"
    assert (await app.exchange(code, code_verifier=VERIFIER + "x")).json["error"] == "invalid_grant"
    assert (await app.exchange(code, code_verifier=VERIFIER)).status == 200
    plain = await consent(person, app, "identify", code_challenge=VERIFIER, code_challenge_method="plain")
    assert plain.errors_at("code_challenge_method") == ["BASE_TYPE_CHOICES"]
    # A verifier for a code without a challenge is a sign that an attacker removed the challenge.
    bare = answer_of(await consent(person, app, "identify"))["code"]
    assert (await app.exchange(bare, code_verifier=VERIFIER)).json["error"] == "invalid_grant"


async def test_a_public_client_needs_pkce_and_no_secret(platform: Platform) -> None:
    app, person = await application(platform, public_client=True), await platform.person()
    assert (await consent(person, app, "identify")).errors_at("code_challenge") == ["BASE_TYPE_REQUIRED"]
    pkce: dict[str, Any] = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
    code = answer_of(await consent(person, app, "identify", **pkce))["code"]
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CALLBACK}
    reply = await app.token(None, **form, code_verifier=VERIFIER)
    assert reply.status == 200
    assert (await app.token(None, grant_type="refresh_token", refresh_token=reply.json["refresh_token"])).status == 200
    own = await app.token(None, grant_type="client_credentials", scope="identify")
    assert own.json["error"] == "unauthorized_client"


async def test_refresh_tokens_rotate_and_keep_to_their_scopes(platform: Platform) -> None:
    app, other, person = await application(platform), await application(platform), await platform.person()
    first = await tokens_of(person, app, "identify guilds")
    refresh = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    assert (await other.token(**refresh)).json["error"] == "invalid_grant"
    assert (await app.token(**refresh, scope="identify email")).json["error"] == "invalid_scope"
    second = (await app.token(**refresh)).json
    assert second["scope"] == "identify guilds"
    assert len({first["access_token"], first["refresh_token"], second["access_token"], second["refresh_token"]}) == 4
    assert (await bearer(platform, person, second["access_token"]).get("/users/@me")).status == 200
    assert (await app.token(grant_type="refresh_token", refresh_token=second["access_token"])).status == 400
    # A refresh token opens nothing itself.
    assert (await bearer(platform, person, second["refresh_token"]).get("/users/@me")).status == 401
    assert (await app.token(**refresh)).json["error"] == "invalid_grant"


async def test_tokens_expire(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    issued = await tokens_of(person, app, "identify")
    async with platform.database.transaction() as tx:
        await tx.execute(_end_tokens)
    assert (await bearer(platform, person, issued["access_token"]).get("/users/@me")).status == 401
    refused = await app.token(grant_type="refresh_token", refresh_token=issued["refresh_token"])
    assert refused.json["error"] == "invalid_grant"


async def test_revoking_a_token_revokes_all_of_the_user_and_the_application(platform: Platform) -> None:
    app, other, person = await application(platform), await application(platform), await platform.person()
    first, second = await tokens_of(person, app, "identify"), await tokens_of(person, app, "guilds")
    elsewhere = await tokens_of(person, other, "identify")
    assert (await other.revoke(first["access_token"])).status == 200
    assert (await bearer(platform, person, first["access_token"]).get("/users/@me")).status == 200
    assert (await app.revoke(second["refresh_token"])).json == {}
    assert (await app.revoke("never-issued")).status == 200
    assert (await bearer(platform, person, first["access_token"]).get("/users/@me")).status == 401
    assert (await app.token(grant_type="refresh_token", refresh_token=first["refresh_token"])).status == 400
    assert (await bearer(platform, person, elsewhere["access_token"]).get("/users/@me")).status == 200


async def test_an_application_gets_a_token_of_its_owner_by_its_secret_alone(platform: Platform) -> None:
    app = await application(platform)
    reply = await app.token(grant_type="client_credentials", scope="identify applications.commands.update")
    assert (reply.status, "refresh_token" in reply.json) == (200, False)
    me = await bearer(platform, app.owner, reply.json["access_token"]).get("/users/@me")
    assert me.json["id"] == str(app.owner.id)
    for scope in ("", "bot", "webhook.incoming", "rpc", "everything"):
        assert (await app.token(grant_type="client_credentials", scope=scope)).json["error"] == "invalid_scope"


async def test_clients_authenticate_by_header_or_body(platform: Platform) -> None:
    app = await application(platform)
    form = {"grant_type": "client_credentials", "scope": "identify"}
    body = await post_form(platform, "/oauth2/token", form | {"client_id": app.id, "client_secret": app.secret})
    assert body.status == 200
    for headers, status, error in (
        ([("authorization", basic(app.id, "wrong"))], 401, "invalid_client"),
        ([("authorization", basic("1", app.secret))], 401, "invalid_client"),
        ([("authorization", "Basic !!!")], 401, "invalid_client"),
        ([("authorization", f"Bearer {app.secret}")], 401, "invalid_client"),
        ([], 401, "invalid_client"),
    ):
        reply = await post_form(platform, "/oauth2/token", form, headers)
        assert (reply.status, reply.json["error"]) == (status, error)
        assert bool(headers) == ("www-authenticate" in reply.headers)
    both = await post_form(
        platform,
        "/oauth2/token",
        form | {"client_id": app.id, "client_secret": "other"},
        [("authorization", basic(app.id, app.secret))],
    )
    assert both.json["error"] == "invalid_request"


async def test_wrong_secrets_are_throttled_where_they_come_from_only(platform: Platform) -> None:
    app = await application(platform)
    form = {"grant_type": "client_credentials", "scope": "identify", "client_id": app.id}
    statuses = [(await post_form(platform, "/oauth2/token", form | {"client_secret": "x"})).status for _ in range(12)]
    assert statuses[:10] == [401] * 10
    assert statuses[10:] == [429] * 2
    elsewhere = await platform.anonymous.request(
        "POST",
        "/oauth2/token",
        raw=f"grant_type=client_credentials&scope=identify&client_id={app.id}&client_secret={app.secret}".encode(),
        content_type="application/x-www-form-urlencoded",
        client="203.0.113.9",
    )
    assert elsewhere.status == 200


async def test_errors_of_the_token_endpoint_have_the_format_of_oauth2(platform: Platform) -> None:
    app = await application(platform)
    headers = [("authorization", basic(app.id, app.secret))]
    for form, error in (
        ({}, "invalid_request"),
        ({"grant_type": "password"}, "unsupported_grant_type"),
        ({"grant_type": "authorization_code"}, "invalid_request"),
        ({"grant_type": "refresh_token"}, "invalid_request"),
        ({"grant_type": "authorization_code", "code": "x" * 4000}, "invalid_grant"),
    ):
        reply = await post_form(platform, "/oauth2/token", form, headers)
        assert (reply.status, reply.json["error"]) == (400, error)
    for raw, kind in (
        (b"grant_type=a&grant_type=b", "application/x-www-form-urlencoded"),
        (b"grant_type=%ff", "application/x-www-form-urlencoded"),
        (b'{"grant_type":"client_credentials"}', "application/json"),
    ):
        reply = await platform.anonymous.request("POST", "/oauth2/token", raw=raw, content_type=kind, headers=headers)
        assert (reply.status, reply.json["error"]) == (400, "invalid_request")


async def test_a_fresh_secret_ends_the_old_one(platform: Platform) -> None:
    app = await application(platform)
    fresh = (await app.owner.post(f"/applications/{app.id}/reset")).json["secret"]
    form = {"grant_type": "client_credentials", "scope": "identify"}
    assert (await app.token(**form)).status == 401
    assert (await app.token(fresh, **form)).status == 200


async def test_without_a_code_a_browser_gets_a_token_in_the_fragment(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    reply = await consent(person, app, "identify", response_type="token")
    parts = urlsplit(reply.json["location"])
    fragment = {name: values[0] for name, values in parse_qs(parts.fragment).items()}
    assert (parts.query, fragment["token_type"], fragment["state"], "refresh_token" in fragment) == (
        "",
        "Bearer",
        "s1",
        False,
    )
    assert (await bearer(platform, person, fragment["access_token"]).get("/users/@me")).status == 200


async def test_users_list_and_revoke_their_authorizations(platform: Platform) -> None:
    app, person, other = await application(platform), await platform.person(), await platform.person()
    issued = await tokens_of(person, app, "identify")
    await tokens_of(person, app, "guilds")
    (authorization,) = (await person.get("/oauth2/tokens")).json
    assert (authorization["application"]["id"], authorization["scopes"]) == (app.id, ["identify", "guilds"])
    assert (await app.owner.get(f"/applications/{app.id}")).json["approximate_user_authorization_count"] == 1
    code = answer_of(await consent(person, app, "identify"))["code"]
    assert (await other.delete(f"/oauth2/tokens/{authorization['id']}")).code == 10012
    assert (await person.delete(f"/oauth2/tokens/{authorization['id']}")).status == 204
    assert (await person.get("/oauth2/tokens")).json == []
    assert (await bearer(platform, person, issued["access_token"]).get("/users/@me")).status == 401
    assert (await app.exchange(code)).json["error"] == "invalid_grant"


async def test_commands_are_installed_to_a_person_everywhere(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    plain: dict[str, Any] = {"response_type": None, "redirect_uri": None, "integration_type": 1}
    assert (await consent(person, app, "applications.commands", **plain)).status == 200
    (authorization,) = (await person.get("/oauth2/tokens")).json
    assert authorization["user_install"] is True
    assert (await app.owner.get(f"/applications/{app.id}")).json["approximate_user_install_count"] == 1
    assert (await consent(person, app, "bot", **plain)).errors_at("scope") == ["BASE_TYPE_CHOICES"]
    await app.owner.patch(f"/applications/{app.id}", {"integration_types_config": {"0": {}}})
    reply = await consent(person, app, "applications.commands", **plain)
    assert reply.errors_at("integration_type") == ["BASE_TYPE_CHOICES"]


async def test_commands_alone_are_installed_in_a_guild_without_a_bot(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    app = await application(platform)
    plain: dict[str, Any] = {"response_type": None, "redirect_uri": None}
    reply = await consent(guild.owner, app, "applications.commands", {"guild_id": str(guild.id)}, **plain)
    assert reply.status == 200
    (integration,) = (await guild.owner.get(f"/guilds/{guild.id}/integrations")).json
    assert (integration["application"]["id"], integration["scopes"]) == (app.id, ["applications.commands"])
    assert (await guild.owner.get(f"/guilds/{guild.id}/members/{app.id}")).code == 10007
    outsider = await platform.person()
    refused = await consent(outsider, app, "applications.commands", {"guild_id": str(guild.id)}, **plain)
    assert refused.code == 10004


async def test_a_link_without_scopes_asks_for_the_applications_defaults(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    params = {"scopes": ["bot", "applications.commands"], "permissions": "2048"}
    app = await application(platform, install_params=params)
    body = {"guild_id": str(guild.id)}
    reply = await guild.owner.post("/oauth2/authorize", body, client_id=app.id)
    assert reply.status == 200
    assert "permissions=2048" in reply.json["location"]


async def test_the_scope_webhook_incoming_creates_a_webhook(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    app = await application(platform)
    chosen = {"guild_id": str(guild.id), "webhook_channel_id": str(guild.general)}
    with platform.listening() as heard:
        issued = await tokens_of(guild.owner, app, "webhook.incoming identify", chosen)
    assert "WEBHOOKS_UPDATE" in heard
    hook = issued["webhook"]
    assert (hook["name"], hook["application_id"], hook["channel_id"]) == ("Herald", app.id, str(guild.general))
    assert hook["url"].endswith(f"/webhooks/{hook['id']}/{hook['token']}")
    posted = await platform.anonymous.post(f"/webhooks/{hook['id']}/{hook['token']}", {"content": "hello"}, wait=True)
    assert posted.json["content"] == "hello"
    missing = await consent(guild.owner, app, "webhook.incoming")
    assert missing.errors_at("webhook_channel_id") == ["BASE_TYPE_REQUIRED"]
    member = await guild.member_with(Permissions.VIEW_CHANNEL)
    assert (await consent(member, app, "webhook.incoming", chosen)).code == 50013
    other = await platform.guild(await platform.person())
    foreign = chosen | {"webhook_channel_id": str(other.general)}
    assert (await consent(guild.owner, app, "webhook.incoming", foreign)).status in {403, 404}


async def test_a_code_with_the_scope_bot_adds_the_bot_and_returns_the_guild(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    app = await application(platform, bot_require_code_grant=True)
    body = {"guild_id": str(guild.id), "permissions": "0"}
    issued = await tokens_of(guild.owner, app, "bot identify", body)
    assert issued["guild"]["id"] == str(guild.id)
    assert (await guild.owner.get(f"/guilds/{guild.id}/members/{app.id}")).status == 200


async def test_an_id_token_identifies_the_user_and_verifies_with_the_public_key(platform: Platform) -> None:
    app, person = await application(platform), await platform.person("wanda", email="w@example.org", verified=True)
    issued = await tokens_of(person, app, "openid email", nonce="n-1")
    (key,) = (await platform.anonymous.get("/oauth2/keys")).json["keys"]
    claims = jwt.decode(
        issued["id_token"], jwt.PyJWK(key).key, algorithms=["RS256"], audience=app.id, issuer="http://localhost:3333"
    )
    assert (claims["sub"], claims["nonce"], claims["email"]) == (str(person.id), "n-1", "w@example.org")
    claims = (await bearer(platform, person, issued["access_token"]).get("/oauth2/userinfo")).json
    assert (claims["sub"], claims["preferred_username"], claims["email_verified"]) == (str(person.id), "wanda", True)
    without = await tokens_of(person, app, "openid")
    assert "email" not in (await bearer(platform, person, without["access_token"]).get("/oauth2/userinfo")).json
    assert "id_token" not in await tokens_of(person, app, "identify")


async def test_scopes_that_cannot_be_granted_are_known_and_refused(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    for scope in ("rpc", "rpc.video.read", "messages.read", "applications.commands.update"):
        assert (await consent(person, app, f"identify {scope}")).errors_at("scope") == ["BASE_TYPE_CHOICES"]


async def test_deleting_an_application_deletes_its_authorizations_and_tokens(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    issued = await tokens_of(person, app, "identify")
    assert (await app.owner.delete(f"/applications/{app.id}")).status == 204
    assert (await person.get("/oauth2/tokens")).json == []
    assert (await bearer(platform, person, issued["access_token"]).get("/users/@me")).status == 401
