"""The device authorization grant: codes, the page where users enter them, polling."""

from typing import Any

from sqlalchemy import select, update

from moothall.oauth2.token_exchange import DEVICE_GRANT
from moothall.runtime.secrets import hash_token
from moothall.storage.database import Query
from moothall.storage.schema import device_codes
from tests.oauth2.flow import App, application, basic, bearer, post_form
from tests.pages.browser import PASSWORD, Browser, registered
from tests.support.harness import Caller, Platform, Reply

_end_codes = Query(update(device_codes).values(expires_at=1))
_poll_earlier = Query(update(device_codes).values(polled_at=1))
_all_rows = Query(select(device_codes.c.hash, device_codes.c.user_code_hash))


async def begin(app: App, scope: str = "identify guilds") -> Any:
    headers = [("authorization", basic(app.id, app.secret))]
    reply = await post_form(app.platform, "/oauth2/device/authorize", {"scope": scope}, headers)
    assert reply.status == 200, reply.body
    assert reply.headers["cache-control"] == "no-store"
    return reply.json


async def poll(app: App, codes: Any) -> Reply:
    return await app.token(grant_type=DEVICE_GRANT, device_code=codes["device_code"])


async def answer(person: Caller, codes: Any, result: str) -> Reply:
    return await person.post("/oauth2/device/finish", {"user_code": codes["user_code"], "result": result})


async def test_a_device_gets_tokens_once_its_user_has_granted_them_on_the_page(platform: Platform) -> None:
    app, person = await application(platform), await registered(platform)
    codes = await begin(app)
    assert (codes["expires_in"], codes["interval"]) == (900, 5)
    assert codes["verification_uri_complete"] == f"{codes['verification_uri']}?user_code={codes['user_code']}"
    assert (await poll(app, codes)).json["error"] == "authorization_pending"
    page = await person.follow(await person.visit("/activate"))
    page = await person.follow(await person.press(page, "Log in", login="wanda", password=PASSWORD))
    shown = await person.press(page, "Go on", user_code=codes["user_code"].replace("-", " ").lower())
    for words in ("Herald", "See your username", "See which servers you are in", "wanda"):
        assert words in shown.text
    assert "The device is connected" in (await person.press(shown, "Allow")).text
    issued = (await poll(app, codes)).json
    assert issued["scope"] == "identify guilds"
    assert person.caller is not None
    caller = bearer(platform, person.caller, issued["access_token"])
    assert (await caller.get("/users/@me")).json["username"] == "wanda"
    renewed = await app.token(grant_type="refresh_token", refresh_token=issued["refresh_token"])
    assert renewed.status == 200
    assert (await poll(app, codes)).json["error"] == "invalid_grant"
    listed = (await person.caller.get("/oauth2/tokens")).json
    assert [each["application"]["id"] for each in listed] == [app.id]


async def test_who_polls_too_soon_is_slowed_down_and_waits_longer_each_time(platform: Platform) -> None:
    app = await application(platform)
    codes = await begin(app)
    answers = [(await poll(app, codes)).json["error"] for _ in range(3)]
    assert answers == ["authorization_pending", "slow_down", "slow_down"]
    async with platform.database.transaction() as tx:
        row = await tx.one(Query(select(device_codes.c.interval)))
        await tx.execute(_poll_earlier)
    assert row is not None
    assert row[0] == 15
    assert (await poll(app, codes)).json["error"] == "authorization_pending"


async def test_a_denial_gives_no_tokens_and_a_code_is_answered_once(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    codes = await begin(app)
    body = {"user_code": codes["user_code"]}
    flow = (await person.post("/oauth2/device/verify", body)).json
    assert flow == {
        "client_id": app.id,
        "scopes": ["identify", "guilds"],
        "type": "pending",
        "two_way_link_code": None,
    }
    assert (await answer(person, codes, "denied")).status == 204
    assert (await person.post("/oauth2/device/verify", body)).json["type"] == "denied"
    assert (await answer(person, codes, "granted")).errors_at("user_code") == ["BASE_TYPE_CHOICES"]
    refused = await poll(app, codes)
    assert (refused.status, refused.json["error"]) == (400, "access_denied")
    assert (await person.get("/oauth2/tokens")).json == []


async def test_codes_end_after_a_quarter_of_an_hour(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    codes = await begin(app)
    async with platform.database.transaction() as tx:
        await tx.execute(_end_codes)
    assert (await answer(person, codes, "granted")).errors_at("user_code") == ["BASE_TYPE_CHOICES"]
    assert (await poll(app, codes)).json["error"] == "expired_token"
    page = await Browser(platform, person).visit("/activate", user_code=codes["user_code"])
    assert (page.status, "not valid any more" in page.text) == (400, True)
    await begin(app)
    async with platform.database.read() as reader:
        assert len(await reader.all(_all_rows)) == 1


async def test_codes_are_stored_as_hashes_only(platform: Platform) -> None:
    codes = await begin(await application(platform))
    async with platform.database.read() as reader:
        (row,) = await reader.all(_all_rows)
    assert [bytes(each) for each in row] == [
        hash_token(codes["device_code"]),
        hash_token(codes["user_code"].replace("-", "")),
    ]


async def test_only_the_application_that_body_gets_the_tokens(platform: Platform) -> None:
    app, other, person = await application(platform), await application(platform), await platform.person()
    codes = await begin(app)
    await answer(person, codes, "granted")
    assert (await poll(other, codes)).json["error"] == "invalid_grant"
    assert (await poll(app, codes)).status == 200


async def test_who_takes_an_authorization_back_takes_granted_codes_back(platform: Platform) -> None:
    app, person = await application(platform), await platform.person()
    codes = await begin(app)
    await answer(person, codes, "granted")
    (authorization,) = (await person.get("/oauth2/tokens")).json
    assert (await person.delete(f"/oauth2/tokens/{authorization['id']}")).status == 204
    assert (await poll(app, codes)).json["error"] == "invalid_grant"


async def test_a_device_cannot_ask_for_what_needs_a_choice(platform: Platform) -> None:
    app = await application(platform)
    headers = [("authorization", basic(app.id, app.secret))]
    for scope in ("", "bot", "identify webhook.incoming", "applications.commands", "nonsense"):
        reply = await post_form(platform, "/oauth2/device/authorize", {"scope": scope}, headers)
        assert (reply.status, reply.json["error"]) == (400, "invalid_scope")


async def test_an_application_without_its_secret_gets_no_codes(platform: Platform) -> None:
    app = await application(platform)
    form = {"scope": "identify", "client_id": app.id}
    assert (await post_form(platform, "/oauth2/device/authorize", form)).status == 401
    public = await application(platform, public_client=True)
    reply = await post_form(platform, "/oauth2/device/authorize", {"scope": "identify", "client_id": public.id})
    assert reply.status == 200
    person = await platform.person()
    await answer(person, reply.json, "granted")
    polled = await public.token(None, grant_type=DEVICE_GRANT, device_code=reply.json["device_code"])
    assert polled.status == 200
