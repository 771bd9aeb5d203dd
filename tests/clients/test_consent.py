"""OAuth2 as websites use it: requests-oauthlib and Authlib, and people who consent with forms and with Chromium."""

import asyncio
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from authlib.integrations.requests_client import OAuth2Session as AuthlibSession  # type: ignore[import-untyped]  # no stubs
from requests_oauthlib import OAuth2Session as OauthlibSession  # type: ignore[import-untyped]  # no stubs
from selenium import webdriver
from selenium.webdriver.common.by import By

from tests.clients.browsers import ByChromium, ByForms, Callback, Walker, chromium, missing
from tests.clients.live import Person, World
from tests.suites import REQUIRED

VERIFIER = "a-verifier-of-at-least-forty-three-characters-1234"
needs_chromium = pytest.mark.skipif(missing() is not None and "chromium" not in REQUIRED, reason=missing() or "")

Flow = Callable[[str, Walker, str, dict[str, Any], Callback], dict[str, Any]]


@pytest.fixture(scope="module")
def driver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with chromium(tmp_path_factory.mktemp("profile")) as running:
        yield running


@pytest.fixture(
    params=["forms", pytest.param("chromium", marks=needs_chromium), pytest.param("keys", marks=needs_chromium)]
)
def walker(request: pytest.FixtureRequest) -> Iterator[Walker]:
    """A user at a browser who has not logged in."""
    if request.param == "forms":
        person = ByForms()
        with person.session:
            yield person
    else:
        running: webdriver.Chrome = request.getfixturevalue("driver")
        running.get("about:blank")
        running.execute_cdp_cmd("Network.clearBrowserCookies", {})
        yield ByChromium(running, keys=request.param == "keys")


@pytest.fixture
def callback() -> Iterator[Callback]:
    with Callback() as running:
        yield running


def by_oauthlib(base: str, walker: Walker, name: str, app: dict[str, Any], callback: Callback) -> dict[str, Any]:
    """The whole code flow with requests-oauthlib, and what the tokens say of the person."""
    os.environ["OAUTHLIB_INSECURE_TRANSPORT"] = "1"
    with OauthlibSession(app["id"], redirect_uri=callback.uri, scope=["identify", "guilds"]) as session:
        url, state = session.authorization_url(f"{base}/oauth2/authorize")
        walker.consent(url, name)
        token_url = f"{base}/api/v10/oauth2/token"
        session.fetch_token(token_url, authorization_response=callback.url, client_secret=app["secret"])
        assert f"state={state}" in callback.url
        me: dict[str, Any] = session.get(f"{base}/api/v10/users/@me").json()
        session.refresh_token(token_url, client_id=app["id"], client_secret=app["secret"])
        assert session.get(f"{base}/api/v10/users/@me/guilds").status_code == 200
        return me


def by_authlib(base: str, walker: Walker, name: str, app: dict[str, Any], callback: Callback) -> dict[str, Any]:
    """The same with Authlib, and with PKCE; the link is the API's address, where browsers are sent on."""
    with AuthlibSession(
        app["id"],
        app["secret"],
        scope="identify email",
        redirect_uri=callback.uri,
        code_challenge_method="S256",
    ) as session:
        url, _ = session.create_authorization_url(f"{base}/api/oauth2/authorize", code_verifier=VERIFIER)
        walker.consent(url, name)
        token_url = f"{base}/api/oauth2/token"
        token = session.fetch_token(token_url, authorization_response=callback.url, code_verifier=VERIFIER)
        me: dict[str, Any] = session.get(f"{base}/api/users/@me").json()
        session.refresh_token(token_url, refresh_token=token["refresh_token"])
        assert session.get(f"{base}/api/users/@me").status_code == 200
        session.revoke_token(f"{base}/api/oauth2/token/revoke", token=session.token["access_token"])
        assert session.get(f"{base}/api/users/@me").status_code == 401
        return me


async def app_of(owner: Person, callback: Callback) -> dict[str, Any]:
    made: dict[str, Any] = await owner.post("/applications", {"name": "Site", "redirect_uris": [callback.uri]})
    return made


@pytest.mark.parametrize("flow", [by_oauthlib, by_authlib], ids=["requests-oauthlib", "Authlib"])
async def test_a_website_logs_a_person_in(world: World, walker: Walker, callback: Callback, flow: Flow) -> None:
    owner, person = await world.resident(), await world.person()
    app = await app_of(owner, callback)
    me = await asyncio.to_thread(flow, world.server.url, walker, person.name, app, callback)
    assert (me["id"], me["username"]) == (str(person.id), person.name)


async def test_a_bot_is_added_with_a_link(world: World, walker: Walker, callback: Callback) -> None:
    person = await world.person()
    guild_id = await world.guild(person, "The Moot")
    await world.guild(person, "Another")
    app = await app_of(await world.resident(), callback)
    url = f"{world.server.url}/oauth2/authorize?client_id={app['id']}&scope=bot&permissions=2048&response_type=code"
    chosen = "The Moot" if isinstance(walker, ByChromium) else str(guild_id)

    def walk() -> None:
        walker.consent(url, person.name, guild_id=chosen)

    await asyncio.to_thread(walk)
    assert f"guild_id={guild_id}" in callback.url
    member = await person.get(f"/guilds/{guild_id}/members/{app['id']}")
    assert member["user"]["bot"] is True


@needs_chromium
async def test_a_developer_makes_an_application_and_their_site_works(
    world: World, driver: webdriver.Chrome, callback: Callback
) -> None:
    developer = await world.person()
    base = world.server.url

    def work() -> dict[str, Any]:
        driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        browser = ByChromium(driver)
        browser.open(f"{base}/developers")
        browser.log_in(developer.name)
        browser.wait("Developers")
        browser.fill(name="Shop")
        browser.press("Make the app")
        browser.wait("Shop")
        secret = driver.find_element(By.ID, "new-secret").get_attribute("value")
        client_id = driver.find_element(By.ID, "client-id").text
        browser.fill(redirect_uris=callback.uri, description="Sells things")
        browser.press("Save")
        browser.wait("Shop")
        assert "Saved." in browser.text()
        assert str(secret) not in driver.page_source
        # An icon goes through the browser's own form.
        picture = Path(__file__).parent / "icon.png"
        driver.find_element(By.ID, "icon").send_keys(str(picture))
        browser.press("Save")
        browser.wait("Shop")
        shown = driver.find_element(By.CSS_SELECTOR, ".app img")
        assert shown.get_property("naturalWidth") == 128
        return by_authlib(base, browser, developer.name, {"id": client_id, "secret": secret}, callback)

    me = await asyncio.to_thread(work)
    assert me["username"] == developer.name


@needs_chromium
@pytest.mark.parametrize("scheme", ["light", "dark"])
async def test_everything_on_a_page_can_be_read(
    world: World, driver: webdriver.Chrome, callback: Callback, scheme: str
) -> None:
    person = await world.person()
    await world.guild(person, "The Moot")
    app = await app_of(person, callback)
    base = world.server.url
    link = f"{base}/oauth2/authorize?client_id={app['id']}&scope=bot%20identify&permissions=8&response_type=code"

    def work() -> list[str]:
        driver.execute_cdp_cmd("Network.clearBrowserCookies", {})
        media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
        driver.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
        browser = ByChromium(driver)
        browser.open(link)
        words = faint(driver)
        browser.log_in(person.name)
        browser.wait("Authorize")
        words += faint(driver)
        browser.open(f"{base}/developers/applications/{app['id']}")
        return words + faint(driver)

    assert await asyncio.to_thread(work) == []


def faint(driver: webdriver.Chrome) -> list[str]:
    """The words of a page whose contrast is below 4.5 to 1 (WCAG 2.2, 1.4.3)."""
    words: list[str] = driver.execute_script(_CONTRAST)
    return words


_CONTRAST = """
const parse = text => text.match(/[\\d.]+/g).map(Number);
const light = rgb => {
  const [r, g, b] = rgb.map(v => { v /= 255; return v <= 0.03928 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4; });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
};
const ground = node => {
  for (; node; node = node.parentElement) {
    const [r, g, b, a = 1] = parse(getComputedStyle(node).backgroundColor);
    if (a > 0) return [r, g, b];
  }
  return [255, 255, 255];
};
const found = [];
for (const node of document.querySelectorAll('body *')) {
  const own = [...node.childNodes].some(each => each.nodeType === 3 && each.textContent.trim());
  if (!own || !node.offsetParent) continue;
  const [one, two] = [parse(getComputedStyle(node).color).slice(0, 3), ground(node)].map(light).sort((a, b) => b - a);
  if ((one + 0.05) / (two + 0.05) < 4.5) found.push(node.tagName + ': ' + node.textContent.trim().slice(0, 40));
}
return found;
"""
