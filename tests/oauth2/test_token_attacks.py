"""Attacks with stolen refresh tokens, codes and client ids (RFC 9700, sections 4.5 to 4.14)."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import jwt
import pytest
from sqlalchemy import bindparam, select, update

from moothall.api.authenticate import TokenKind
from moothall.gateway.snapshot.database_source import DatabaseSource
from moothall.objects.ids import ApplicationId, AuthorizationId, Snowflake
from moothall.objects.wire import Timestamp
from moothall.resources.application.authorization.queries import (
    TokenRow,
    delete_grant,
    delete_oauth2_tokens,
    insert_token,
    replace_refresh_token,
)
from moothall.resources.application.queries import delete_tokens
from moothall.runtime.secrets import hash_token, new_token
from moothall.storage.database import Query, Transaction
from moothall.storage.schema import tokens
from tests.oauth2.flow import (
    CALLBACK,
    CHALLENGE,
    VERIFIER,
    App,
    answer_of,
    application,
    bearer,
    consent,
    post_form,
    tokens_of,
)
from tests.support.harness import Caller, Platform, Reply

_REFRESH = tokens.c.kind == int(TokenKind.REFRESH)
_DAY_MS = 86_400_000
_families = Query(select(tokens.c.created_at, tokens.c.expires_at).where(_REFRESH))
_of_person = Query(
    select(tokens.c.kind).where(
        tokens.c.user_id == bindparam("user_id"), tokens.c.kind.in_((int(TokenKind.BEARER), int(TokenKind.REFRESH)))
    )
)
_begin_at = Query(update(tokens).where(_REFRESH).values(created_at=bindparam("moment")))
_as_stored_before = Query(update(tokens).where(_REFRESH).values(hash=bindparam("old_hash"), current_hash=None))


async def refresh(app: App, token: str, **form: str) -> Reply:
    return await app.token(grant_type="refresh_token", refresh_token=token, **form)


async def refreshed(app: App, token: str) -> Any:
    reply = await refresh(app, token)
    assert reply.status == 200, reply.body
    return reply.json


def is_refused(reply: Reply) -> bool:
    return (reply.status, reply.json["error"]) == (400, "invalid_grant")


async def is_accepted(platform: Platform, person: Caller, access_token: str) -> bool:
    return (await bearer(platform, person, access_token).get("/users/@me")).status == 200


async def test_a_stolen_refresh_token_that_its_application_has_used_ends_the_whole_family(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    first = await tokens_of(person, app, "identify")
    second = await refreshed(app, first["refresh_token"])
    assert is_refused(await refresh(app, first["refresh_token"]))
    assert is_refused(await refresh(app, second["refresh_token"]))
    for issued in (first, second):
        assert not await is_accepted(platform, person, issued["access_token"])


async def test_a_thief_who_refreshes_first_loses_everything_when_the_application_refreshes(platform: Platform) -> None:
    app, person = await application(platform, public_client=True), await platform.person()
    pkce: dict[str, Any] = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
    code = answer_of(await consent(person, app, "identify", **pkce))["code"]
    owned = (await app.exchange(code, code_verifier=VERIFIER)).json
    stolen: Any = owned
    for _ in range(5):
        reply = await app.token(None, grant_type="refresh_token", refresh_token=stolen["refresh_token"])
        assert reply.status == 200
        stolen = reply.json
    assert await is_accepted(platform, person, stolen["access_token"])
    assert is_refused(await app.token(None, grant_type="refresh_token", refresh_token=owned["refresh_token"]))
    assert not await is_accepted(platform, person, stolen["access_token"])
    assert is_refused(await app.token(None, grant_type="refresh_token", refresh_token=stolen["refresh_token"]))


async def test_of_two_who_refresh_at_once_one_wins_and_the_other_ends_the_family(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    first = await tokens_of(person, app, "identify")
    replies = await asyncio.gather(*(refresh(app, first["refresh_token"]) for _ in range(2)))
    assert sorted(reply.status for reply in replies) == [200, 400]
    winner = next(reply.json for reply in replies if reply.status == 200)
    assert not await is_accepted(platform, person, winner["access_token"])
    assert is_refused(await refresh(app, winner["refresh_token"]))


async def test_a_refresh_token_used_again_ends_nothing_of_other_consents(platform: Platform) -> None:
    app, person, other = await application(platform), await platform.person(), await platform.person()
    attacked = await tokens_of(person, app, "identify")
    again, of_other = await tokens_of(person, app, "identify"), await tokens_of(other, app, "identify")
    await refreshed(app, attacked["refresh_token"])
    assert is_refused(await refresh(app, attacked["refresh_token"]))
    assert not await is_accepted(platform, person, attacked["access_token"])
    assert await is_accepted(platform, person, again["access_token"])
    assert await is_accepted(platform, other, of_other["access_token"])
    await refreshed(app, again["refresh_token"])
    await refreshed(app, of_other["refresh_token"])


async def test_a_used_refresh_token_without_the_applications_secret_ends_nothing(platform: Platform) -> None:
    app, other, person = await application(platform), await application(platform), await platform.person()
    first = await tokens_of(person, app, "identify")
    second = await refreshed(app, first["refresh_token"])
    form = {"grant_type": "refresh_token", "refresh_token": first["refresh_token"]}
    assert is_refused(await other.token(**form))
    assert (await app.token("wrong", **form)).status == 401
    assert (await app.token(None, **form)).status == 401
    assert await is_accepted(platform, person, second["access_token"])


async def test_a_second_use_is_detected_also_if_more_scopes_are_requested(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    first = await tokens_of(person, app, "identify")
    second = await refreshed(app, first["refresh_token"])
    assert is_refused(await refresh(app, first["refresh_token"], scope="identify email"))
    assert not await is_accepted(platform, person, second["access_token"])


async def test_a_refused_scope_uses_no_refresh_token_up(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    first = await tokens_of(person, app, "identify")
    for _ in range(2):
        reply = await refresh(app, first["refresh_token"], scope="identify guilds")
        assert (reply.status, reply.json["error"]) == (400, "invalid_scope")
    await refreshed(app, first["refresh_token"])


async def test_a_refresh_that_asks_for_less_narrows_its_access_token_alone(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    first = await tokens_of(person, app, "identify guilds")
    narrow = (await refresh(app, first["refresh_token"], scope="identify")).json
    assert narrow["scope"] == "identify"
    assert (await bearer(platform, person, narrow["access_token"]).get("/users/@me/guilds")).status == 403
    whole = await refreshed(app, narrow["refresh_token"])
    assert whole["scope"] == "identify guilds"


async def test_refresh_tokens_of_an_older_version_are_known_again_when_they_are_used_twice(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    await tokens_of(person, app, "identify")
    old = new_token(30)
    async with platform.database.transaction() as tx:
        await tx.execute(_as_stored_before, old_hash=hash_token(old))
    second = await refreshed(app, old)
    third = await refreshed(app, second["refresh_token"])
    assert is_refused(await refresh(app, old))
    assert not await is_accepted(platform, person, third["access_token"])
    assert is_refused(await refresh(app, third["refresh_token"]))


async def test_used_refresh_tokens_are_remembered_without_a_row_for_each(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    issued = await tokens_of(person, app, "identify")
    for _ in range(4):
        issued = await refreshed(app, issued["refresh_token"])
    async with platform.database.read() as reader:
        assert len(await reader.all(_families)) == 1


async def test_no_chain_of_refreshes_lasts_longer_than_a_year(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    issued = await tokens_of(person, app, "identify")
    began = Timestamp(Timestamp.now() - 364 * _DAY_MS)
    async with platform.database.transaction() as tx:
        await tx.execute(_begin_at, moment=began)
    issued = await refreshed(app, issued["refresh_token"])
    async with platform.database.read() as reader:
        ((created_at, expires_at),) = await reader.all(_families)
    assert (created_at, expires_at) == (began, began + 365 * _DAY_MS)
    async with platform.database.transaction() as tx:
        await tx.execute(_begin_at, moment=Timestamp(began - 2 * _DAY_MS))
    issued = await refreshed(app, issued["refresh_token"])
    assert is_refused(await refresh(app, issued["refresh_token"]))


async def test_the_shared_part_of_refresh_tokens_is_refused_and_counts_as_a_second_use(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    first = await tokens_of(person, app, "identify")
    shared, _, own = first["refresh_token"].partition(".")
    second = await refreshed(app, first["refresh_token"])
    assert second["refresh_token"].startswith(f"{shared}.")
    assert min(len(shared), len(own)) * 6 >= 128
    assert not await is_accepted(platform, person, shared)
    assert is_refused(await refresh(app, shared))
    assert not await is_accepted(platform, person, second["access_token"])


async def test_no_token_of_an_application_opens_a_gateway_session(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    issued = await tokens_of(person, app, "identify guilds")
    source = DatabaseSource(platform.database, platform.services.states)
    assert await source.identity(person.token) is not None
    for token in (issued["access_token"], issued["refresh_token"], issued["refresh_token"].partition(".")[0]):
        assert await source.identity(token) is None


async def test_an_id_token_has_no_auth_time(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    issued = await tokens_of(person, app, "openid")
    for each in (issued, await refreshed(app, issued["refresh_token"])):
        claims = jwt.decode(each["id_token"], options={"verify_signature": False})
        # The time of the exchange is not the time of the login, so it would mislead clients that use `max_age`.
        assert "auth_time" not in claims


async def test_a_request_is_not_authorized_if_another_program_can_impersonate_the_client(
    platform: Platform,
) -> None:
    uris = [CALLBACK, "herald:/done", "https://herald.example/done"]
    app, person = await application(platform, redirect_uris=uris), await platform.person()
    link = {"client_id": app.id, "scope": "identify", "response_type": "code"}
    for uri in uris:
        await consent(person, app, "identify", redirect_uri=uri)

    async def authorized(**query: str) -> list[bool]:
        shown = [await person.get("/oauth2/authorize", **(link | {"redirect_uri": uri} | query)) for uri in uris]
        return [reply.json["authorized"] for reply in shown]

    assert await authorized() == [True, False, True]
    assert await authorized(response_type="token") == [False, False, False]
    await app.owner.patch(f"/applications/{app.id}", {"public_client": True})
    assert await authorized(code_challenge=CHALLENGE, code_challenge_method="S256") == [False, False, True]


async def test_a_used_refresh_token_can_be_revoked_with_its_family(platform: Platform) -> None:
    app, other, person = await application(platform), await application(platform), await platform.person()
    first = await tokens_of(person, app, "identify")
    second = await refreshed(app, first["refresh_token"])
    assert (await other.revoke(first["refresh_token"])).status == 200
    assert await is_accepted(platform, person, second["access_token"])
    assert (await app.revoke(first["refresh_token"])).status == 200
    assert not await is_accepted(platform, person, second["access_token"])
    assert is_refused(await refresh(app, second["refresh_token"]))


async def test_a_stolen_code_used_again_ends_the_tokens_that_were_refreshed_since(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    code = answer_of(await consent(person, app, "identify"))["code"]
    second = await refreshed(app, (await app.exchange(code)).json["refresh_token"])
    assert is_refused(await app.exchange(code))
    assert not await is_accepted(platform, person, second["access_token"])
    assert is_refused(await refresh(app, second["refresh_token"]))


End = Callable[[Transaction, TokenRow], Awaitable[None]]


async def _end_family(tx: Transaction, row: TokenRow) -> None:
    await delete_grant(tx, row.user_id, row.grant_id)


async def _revoke(tx: Transaction, row: TokenRow) -> None:
    await delete_oauth2_tokens(tx, row.user_id, ApplicationId(row.application_id or Snowflake(0)))


async def _end_application(tx: Transaction, row: TokenRow) -> None:
    await delete_tokens(tx, ApplicationId(row.application_id or Snowflake(0)))


@pytest.mark.parametrize("end", [_end_family, _revoke, _end_application])
async def test_a_concurrent_refresh_leaves_no_access_token_after_a_revocation(platform: Platform, end: End) -> None:
    person, grant_id = await platform.person(), AuthorizationId(platform.ids.next())
    family = TokenRow(
        hash=hash_token("family"),
        kind=int(TokenKind.REFRESH),
        user_id=person.id,
        application_id=ApplicationId(platform.ids.next()),
        scopes="identify",
        created_at=Timestamp.now(),
        expires_at=None,
        grant_id=grant_id,
        current_hash=hash_token("first"),
    )
    async with platform.database.transaction() as tx:
        await insert_token(tx, family)

    async def end_all() -> None:
        async with platform.database.transaction() as tx:
            await end(tx, family)

    async with platform.database.transaction() as tx:
        moment = Timestamp(Timestamp.now() + _DAY_MS)
        assert await replace_refresh_token(
            tx, family.hash, hash_token("first"), new_hash=hash_token("second"), expires_at=moment
        )
        ending = asyncio.create_task(end_all())
        await asyncio.sleep(0.2)
        access = TokenRow(
            hash=hash_token("access"),
            kind=int(TokenKind.BEARER),
            user_id=person.id,
            application_id=family.application_id,
            scopes="identify",
            created_at=family.created_at,
            expires_at=moment,
            grant_id=grant_id,
        )
        await insert_token(tx, access)
    await ending
    async with platform.database.read() as reader:
        assert await reader.all(_of_person, user_id=person.id) == []


async def test_a_request_whose_challenge_was_removed_is_refused(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    for challenge in (None, ""):
        reply = await consent(person, app, "identify", code_challenge=challenge, code_challenge_method="S256")
        assert reply.errors_at("code_challenge") == ["BASE_TYPE_REQUIRED"]
    # Where the method is gone with it, the verifier tells.
    code = answer_of(await consent(person, app, "identify"))["code"]
    assert is_refused(await app.exchange(code, code_verifier=VERIFIER))


async def test_a_stolen_code_is_refused_without_its_verifier(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    pkce: dict[str, Any] = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
    code = answer_of(await consent(person, app, "identify", **pkce))["code"]
    for form in ({}, {"code_verifier": ""}, {"code_verifier": CHALLENGE}, {"code_verifier": VERIFIER[:-1]}):
        assert is_refused(await app.exchange(code, **form))
    assert (await app.exchange(code, code_verifier=VERIFIER)).status == 200


async def test_a_code_injected_into_another_session_fails_at_that_sessions_verifier(platform: Platform) -> None:
    app, victim = await application(platform), await platform.person()
    pkce: dict[str, Any] = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
    stolen = answer_of(await consent(victim, app, "identify", **pkce))["code"]
    # The attacker's own session at the application has another verifier, which it sends along with the stolen code.
    assert is_refused(await app.exchange(stolen, code_verifier=VERIFIER.replace("a", "b")))


async def test_an_access_token_in_a_url_is_not_accepted(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    issued = await tokens_of(person, app, "identify openid")
    for path in ("/users/@me", "/oauth2/@me", "/oauth2/userinfo"):
        assert (await platform.anonymous.get(path, access_token=issued["access_token"])).status == 401


@pytest.mark.parametrize("client_id", ["99999999999999999999", "-1", "0x10", "١٢٣", "1e3", " 1", "1\n"])
async def test_a_client_id_that_no_application_has_fails_like_a_wrong_secret(
    platform: Platform, client_id: str
) -> None:
    form = {"grant_type": "client_credentials", "scope": "identify", "client_id": client_id, "client_secret": "x"}
    reply = await post_form(platform, "/oauth2/token", form)
    assert (reply.status, reply.json["error"]) == (401, "invalid_client")


async def test_the_password_grant_is_unsupported(platform: Platform) -> None:
    app = await application(platform)
    reply = await app.token(grant_type="password", username="wanda", password="correct horse battery")
    assert (reply.status, reply.json["error"]) == (400, "unsupported_grant_type")


async def test_a_token_never_goes_into_the_query_whatever_mode_the_link_asks_for(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    for mode in ("query", "form_post", "fragment"):
        reply = await consent(person, app, "identify", response_type="token", response_mode=mode)
        address, _, fragment = reply.json["location"].partition("#")
        assert (address, "access_token=" in fragment) == (CALLBACK, True)
