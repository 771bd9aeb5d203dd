"""Attacks with links to the consent page (RFC 8252, section 8.6; RFC 9700, sections 4.1, 4.11 and 4.12)."""

from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from sqlalchemy import bindparam, update

from moothall.storage.database import Query
from moothall.storage.schema import applications
from tests.oauth2.flow import CALLBACK, CHALLENGE, VERIFIER, App, application
from tests.pages.browser import ORIGIN, PASSWORD, Browser, Page, registered
from tests.support.harness import Platform

LINK = "/oauth2/authorize"
PKCE = {"code_challenge": CHALLENGE, "code_challenge_method": "S256"}
SITE = "https://herald.example/callback"
SCHEME = "herald:/done"
_register = Query(
    update(applications)
    .where(applications.c.id == bindparam("application_id"))
    .values(redirect_uris=bindparam("uris", type_=applications.c.redirect_uris.type))
)


async def ask(person: Browser, app: App, uri: str, **query: Any) -> Page:
    link = {"client_id": app.id, "scope": "identify", "response_type": "code", "redirect_uri": uri, "state": "s1"}
    return await person.visit(LINK, **(link | query))


async def allow(person: Browser, app: App, uri: str, **query: Any) -> Page:
    shown = await person.press(await ask(person, app, uri, **query), "Allow")
    assert shown.status == 303
    return shown


IMPERSONATED: list[tuple[bool, str, dict[str, Any]]] = [
    (True, SCHEME, PKCE),
    (True, "org.example.herald:/done", PKCE),
    (True, "http://127.0.0.1:8000/callback", PKCE),
    (True, "http://[::1]:8000/callback", PKCE),
    (True, CALLBACK, PKCE),
    (True, "http://herald.example/callback", PKCE),
    # A program on people's devices keeps no secret, whatever its developer says.
    (False, SCHEME, {}),
    (False, SITE, {"response_type": "token"}),
    (False, CALLBACK, {"response_type": "token"}),
    (True, SITE, {"response_type": "token"}),
]


@pytest.mark.parametrize(
    ("public", "uri", "query"),
    IMPERSONATED,
    ids=[
        f"{'public' if public else 'secret'} {uri} {query.get('response_type', 'code')}"
        for public, uri, query in IMPERSONATED
    ],
)
async def test_a_program_that_impersonates_a_client_gets_no_code_without_a_prompt(
    platform: Platform, public: bool, uri: str, query: dict[str, Any]
) -> None:
    app = await application(platform, redirect_uris=[uri], public_client=public)
    person = Browser(platform, await platform.person())
    await allow(person, app, uri, **query)
    silent = await ask(person, app, uri, prompt="none", **query)
    assert silent.status == 303
    assert silent.location.startswith(uri)
    assert (silent.redirect_params["error"], silent.redirect_params["state"]) == ("consent_required", "s1")
    assert not {"code", "access_token"} & silent.redirect_params.keys()
    # Asked, the person may well allow it again.
    page = await ask(person, app, uri, **query)
    assert "You have allowed all of this before." in page.text
    assert (await person.press(page, "Allow")).redirect_params.keys() & {"code", "access_token"}


async def test_prompt_none_skips_the_page_for_https_even_without_a_secret(platform: Platform) -> None:
    app = await application(platform, redirect_uris=[SITE], public_client=True)
    person = Browser(platform, await platform.person())
    await allow(person, app, SITE, **PKCE)
    silent = await ask(person, app, SITE, prompt="none", **PKCE)
    form = {"grant_type": "authorization_code", "redirect_uri": SITE, "code_verifier": VERIFIER}
    assert (await app.token(None, code=silent.redirect_params["code"], **form)).status == 200


@pytest.mark.parametrize("uri", ["file:///etc/passwd", "https://*.example", "https://good.example@evil.example/"])
async def test_an_invalid_redirect_uri_registered_by_an_older_version_is_not_redirected_to(
    platform: Platform, uri: str
) -> None:
    app, person = await application(platform), Browser(platform, await platform.person())
    async with platform.database.transaction() as tx:
        await tx.execute(_register, application_id=int(app.id), uris=[uri])
    for query in ({"redirect_uri": uri}, {"redirect_uri": None}, {"redirect_uri": uri, "prompt": "none"}):
        page = await ask(person, app, CALLBACK, **query)
        assert (page.status, "location" in page.headers) == (400, False)


ALMOST = [
    "HTTPS://herald.example/callback",
    "https://HERALD.example/callback",
    "https://herald.example:443/callback",
    "https://herald.example./callback",
    "https://herald.example/callback/",
    "https://herald.example/callback?",
    "https://herald.example/callback#",
    "https://herald.example/callback/../callback",
    "https://herald.example/%63allback",
    "https://herald.example\\@evil.example/callback",
    "https://herald.example@evil.example/callback",
    "https://herald.example.evil.example/callback",
    "https://herald.example\uff0fcallback",
    "https://h\u0435rald.example/callback",
    " https://herald.example/callback",
    "https://herald.example/callback\t",
    "//herald.example/callback",
]


@pytest.mark.parametrize("uri", ALMOST)
async def test_a_uri_that_differs_from_the_registered_one_is_not_redirected_to(platform: Platform, uri: str) -> None:
    app, person = await application(platform, redirect_uris=[SITE]), Browser(platform, await platform.person())
    for query in ({}, {"prompt": "none"}, {"scope": "everything"}):
        page = await ask(person, app, uri, **query)
        assert (page.status, "location" in page.headers) == (400, False)
        assert "Allow" not in [button for form in page.forms for button in form.buttons()]


async def test_a_repeated_redirect_uri_does_not_replace_the_registered_one(platform: Platform) -> None:
    app, person = await application(platform, redirect_uris=[SITE]), Browser(platform, await platform.person())
    link = f"{LINK}?client_id={app.id}&scope=identify&response_type=code"
    page = await person.visit(f"{link}&redirect_uri={SITE}&redirect_uri=https://evil.example")
    assert (page.status, "location" in page.headers) == (400, False)
    page = await person.visit(f"{link}&redirect_uri=https://evil.example&redirect_uri={SITE}")
    assert (await person.press(page, "Allow")).location.startswith(f"{SITE}?")


async def test_a_form_is_never_sent_on_with_its_body(platform: Platform) -> None:
    app, person = await application(platform), await registered(platform)
    login = await person.press(await person.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    answer = await allow(person, app, CALLBACK)
    # 307 and 308 would have the browser send the password along (RFC 9700, section 4.12).
    assert (login.status, answer.status) == (303, 303)


async def test_scripts_of_other_sites_do_not_read_the_consent_page(platform: Platform) -> None:
    app, person = await application(platform), Browser(platform, await platform.person())
    url = f"{LINK}?client_id={app.id}&scope=identify&response_type=code&redirect_uri={CALLBACK}"
    for method in ("GET", "OPTIONS"):
        shown = await person.ask(method, url, headers=(("origin", "https://evil.example"),))
        assert not [name for name in shown.headers if name.startswith("access-control-")]


@pytest.mark.parametrize("path", ["/login", "/register"])
@pytest.mark.parametrize(
    "target", ["//evil.example", "/\\evil.example", "\uff0f\uff0fevil.example", "/\u2044evil.example"]
)
async def test_no_page_has_another_sites_url_in_its_links(platform: Platform, path: str, target: str) -> None:
    page = await Browser(platform).visit(path, next=target)
    for name in ("href", "action"):
        for _, attributes in page.tags:
            if (address := attributes.get(name)) is not None:
                assert urlsplit(urljoin(ORIGIN + path, address)).netloc == urlsplit(ORIGIN).netloc
                assert "//evil" not in address


async def test_a_request_that_changed_since_the_page_was_shown_is_shown_again(platform: Platform) -> None:
    def params(*scopes: str) -> dict[str, Any]:
        return {"install_params": {"scopes": list(scopes), "permissions": "8"}}

    app, owner = await application(platform, **params("applications.commands")), await platform.person()
    guild = await platform.guild(owner)
    person = Browser(platform, owner)
    read = await person.visit(LINK, client_id=app.id)
    await app.owner.patch(f"/applications/{app.id}", params("applications.commands", "bot"))
    page = await person.press(read, "Allow", guild_id=int(guild.id))
    assert (page.status, "Add a bot" in page.text) == (200, True)
    assert (await owner.get(f"/guilds/{guild.id}/integrations")).json == []
    assert (await person.press(page, "Allow", guild_id=int(guild.id))).status == 303


async def test_the_page_says_how_long_the_access_lasts(platform: Platform) -> None:
    app, owner = await application(platform), await platform.person()
    await platform.guild(owner)
    person = Browser(platform, owner)
    assert "lasts 365 days at most" in (await ask(person, app, CALLBACK)).text
    assert "lasts 7 days at most" in (await ask(person, app, CALLBACK, response_type="token")).text
    assert "at most" not in (await ask(person, app, CALLBACK, scope="bot")).text
