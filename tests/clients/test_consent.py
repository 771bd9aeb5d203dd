"""OAuth2 as websites use it: requests-oauthlib and Authlib, and people who consent with forms and with Chromium."""

import asyncio
import os
import re
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession  # type: ignore[import-untyped]  # no stubs
from playwright.async_api import Browser, Page, expect
from requests_oauthlib import OAuth2Session as OauthlibSession  # type: ignore[import-untyped]  # no stubs

from tests.clients.browsers import ByChromium, ByForms, Callback, Walker
from tests.clients.live import Person, World

VERIFIER = "a-verifier-of-at-least-forty-three-characters-1234"

Flow = Callable[[str, Walker, str, dict[str, Any], Callback], Awaitable[dict[str, Any]]]


@pytest.fixture
def by_forms() -> Iterator[ByForms]:
    """A user without a browser who has not logged in."""
    person = ByForms()
    with person.session:
        yield person


@pytest.fixture
async def page(pages_browser: Browser) -> Page:
    """A page that runs no script, in a profile of its own."""
    return await pages_browser.new_page(java_script_enabled=False)


@pytest.fixture(params=["forms", "chromium", "keys"])
def walker(request: pytest.FixtureRequest) -> Walker:
    """A user who has not logged in."""
    if request.param == "forms":
        forms: ByForms = request.getfixturevalue("by_forms")
        return forms
    return ByChromium(request.getfixturevalue("page"), keys=request.param == "keys")


@pytest.fixture
def callback() -> Iterator[Callback]:
    with Callback() as running:
        yield running


async def by_oauthlib(base: str, walker: Walker, name: str, app: dict[str, Any], callback: Callback) -> dict[str, Any]:
    """The whole code flow with requests-oauthlib, and what the tokens say of the person."""
    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
    with OauthlibSession(app["id"], redirect_uri=callback.uri, scope=["identify", "guilds"]) as session:
        url, state = session.authorization_url(f"{base}/oauth2/authorize")
        await walker.consent(url, name)

        def use_code() -> dict[str, Any]:
            token_url = f"{base}/api/v10/oauth2/token"
            session.fetch_token(token_url, authorization_response=callback.url, client_secret=app["secret"])
            assert f"state={state}" in callback.url
            me: dict[str, Any] = session.get(f"{base}/api/v10/users/@me").json()
            session.refresh_token(token_url, client_id=app["id"], client_secret=app["secret"])
            assert session.get(f"{base}/api/v10/users/@me/guilds").status_code == 200
            return me

        return await asyncio.to_thread(use_code)


async def by_authlib(base: str, walker: Walker, name: str, app: dict[str, Any], callback: Callback) -> dict[str, Any]:
    """The same with Authlib, and with PKCE; the link is the API's address, where browsers are sent on."""
    with AuthlibSession(
        app["id"],
        app["secret"],
        scope="identify email",
        redirect_uri=callback.uri,
        code_challenge_method="S256",
    ) as session:
        url, _ = session.create_authorization_url(f"{base}/api/oauth2/authorize", code_verifier=VERIFIER)
        await walker.consent(url, name)

        def use_code() -> dict[str, Any]:
            token_url = f"{base}/api/oauth2/token"
            token = session.fetch_token(token_url, authorization_response=callback.url, code_verifier=VERIFIER)
            me: dict[str, Any] = session.get(f"{base}/api/users/@me").json()
            session.refresh_token(token_url, refresh_token=token["refresh_token"])
            assert session.get(f"{base}/api/users/@me").status_code == 200
            session.revoke_token(f"{base}/api/oauth2/token/revoke", token=session.token["access_token"])
            assert session.get(f"{base}/api/users/@me").status_code == 401
            return me

        return await asyncio.to_thread(use_code)


async def app_of(owner: Person, callback: Callback) -> dict[str, Any]:
    made: dict[str, Any] = await owner.post("/applications", {"name": "Site", "redirect_uris": [callback.uri]})
    return made


@pytest.mark.parametrize("flow", [by_oauthlib, by_authlib], ids=["requests-oauthlib", "Authlib"])
async def test_a_website_logs_a_person_in(world: World, walker: Walker, callback: Callback, flow: Flow) -> None:
    owner, person = await world.resident(), await world.person()
    app = await app_of(owner, callback)
    me = await flow(world.server.url, walker, person.name, app, callback)
    assert (me["id"], me["username"]) == (str(person.id), person.name)


async def test_a_bot_is_added_with_a_link(world: World, walker: Walker, callback: Callback) -> None:
    person = await world.person()
    guild_id = await world.guild(person, "The Moot")
    await world.guild(person, "Another")
    app = await app_of(await world.resident(), callback)
    url = f"{world.server.url}/oauth2/authorize?client_id={app['id']}&scope=bot&permissions=2048&response_type=code"
    await walker.consent(url, person.name, guild_id="The Moot" if isinstance(walker, ByChromium) else str(guild_id))
    assert f"guild_id={guild_id}" in callback.url
    member = await person.get(f"/guilds/{guild_id}/members/{app['id']}")
    assert member["user"]["bot"] is True


async def test_a_developer_makes_an_application_and_their_site_works(
    world: World, page: Page, callback: Callback
) -> None:
    developer = await world.person()
    base = world.server.url
    walker = ByChromium(page)
    await walker.open(f"{base}/developers")
    await walker.log_in(developer.name)
    await expect(page).to_have_title(re.compile("^Developers"))
    await walker.fill(name="Shop")
    await walker.press("Make the app")
    await expect(page).to_have_title(re.compile("^Shop"))
    secret = await page.locator("#new-secret").input_value()
    client_id = await page.locator("#client-id").inner_text()
    await walker.fill(redirect_uris=callback.uri, description="Sells things")
    await walker.press("Save")
    await expect(page.locator("body")).to_contain_text("Saved.")
    assert secret not in await page.content()
    # An icon goes through the browser's own form.
    await page.locator("#icon").set_input_files(Path(__file__).parent / "icon.png")
    await walker.press("Save")
    await expect(page.locator(".app img")).to_have_js_property("naturalWidth", 128)

    me = await by_authlib(base, walker, developer.name, {"id": client_id, "secret": secret}, callback)
    assert me["username"] == developer.name
