"""The page of an invite, and browsers at the API's path of the consent page."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from moothall.app.application import App
from moothall.settings import load
from tests.pages.browser import Browser
from tests.support.harness import Platform


async def test_an_invite_shows_its_guild_and_lets_a_logged_in_user_join(platform: Platform) -> None:
    owner = await platform.person("ada")
    guild = await platform.guild(owner, name="The <b>Moot</b>")
    code = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    stranger = Browser(platform)
    page = await stranger.visit(f"/invite/{code}")
    assert (page.status, "<b>Moot" in page.body) == (200, False)
    for words in ("You are invited to The <b>Moot</b>", "Invited by ada", "#general", "1 member", "Log in to join"):
        assert words in page.text
    assert f'href="/login?next=/invite/{code}"' in page.body
    guest = await platform.person()
    person = Browser(platform, guest)
    page = await person.press(await person.visit(f"/invite/{code}"), "Join")
    assert (page.status, "You are in" in page.text) == (200, True)
    assert [each["id"] for each in (await guest.get("/users/@me/guilds")).json] == [str(int(guild.id))]


async def test_an_invalid_invite_or_one_the_user_may_not_use_has_an_error_page(platform: Platform) -> None:
    owner, banned = await platform.person(), await platform.person()
    guild = await platform.guild(owner)
    code = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    await owner.put(f"/guilds/{guild.id}/bans/{banned.id}")
    person = Browser(platform, banned)
    assert (await person.visit("/invite/nothing")).status == 404
    page = await person.press(await person.visit(f"/invite/{code}"), "Join")
    assert (page.status, "You cannot come in" in page.text) == (403, True)


async def test_another_sites_form_does_not_join(platform: Platform) -> None:
    owner, guest = await platform.person(), await platform.person()
    guild = await platform.guild(owner)
    code = (await owner.post(f"/channels/{guild.general}/invites", {})).json["code"]
    person = Browser(platform, guest)
    page = await person.visit(f"/invite/{code}")
    token = dict(page.form_with("Join").values())["csrf"]
    assert (await person.post(f"/invite/{code}", [])).status == 403
    assert (await person.post(f"/invite/{code}", [("csrf", token)], origin="https://evil.example")).status == 403
    assert (await guest.get("/users/@me/guilds")).json == []


@pytest.fixture
async def app(tmp_path: Path) -> AsyncIterator[App]:
    made = App(load(environ={"MOOTHALL_DATA": str(tmp_path), "MOOTHALL_DEMO": "false"}))
    await made.start()
    yield made
    await made.stop()


async def get(app: App, path: str, query: str = "", **headers: str) -> tuple[int, dict[str, str]]:
    sent: list[Any] = []

    async def receive() -> Any:
        return {"type": "http.request", "body": b""}

    async def send(message: Any) -> None:
        sent.append(message)

    scope = {
        "type": "http",
        "method": "GET",
        "path": path,
        "query_string": query.encode(),
        "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        "client": ("127.0.0.1", 1),
    }
    await app(scope, receive, send)
    return sent[0]["status"], {name.decode(): value.decode() for name, value in sent[0]["headers"]}


@pytest.mark.parametrize("prefix", ["/api", "/api/v10", "/api/v9"])
async def test_a_browser_at_the_apis_path_is_redirected_to_the_page(app: App, prefix: str) -> None:
    path, query = f"{prefix}/oauth2/authorize", "client_id=1&scope=identify%20email"
    status, headers = await get(app, path, query, accept="text/html,*/*")
    assert (status, headers["location"]) == (302, f"/oauth2/authorize?{query}")
    assert (await get(app, path, query, accept="application/json"))[0] == 401
    assert (await get(app, path, query, accept="text/html", authorization="Bot x"))[0] == 401
    status, headers = await get(app, "/oauth2/authorize", query, accept="text/html")
    assert (status, headers["content-type"]) == (404, "text/html; charset=utf-8")
