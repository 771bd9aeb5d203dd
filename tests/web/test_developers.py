"""The developers' corner: applications and teams, with nothing but forms."""

import base64

import pytest

from moothall.objects.application import ApplicationFlags
from tests.harness import Caller, Platform
from tests.resources.application.endpoint_server import endpoint
from tests.web.browser import Person, Shown

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


def shown_once(page: Shown, name: str) -> str:
    """A secret that stands on a page."""
    return next(given["value"] or "" for tag, given in page.tags if tag == "input" and given.get("id") == name)


async def made(platform: Platform, name: str = "Herald") -> tuple[Person, Shown, str]:
    """A person at the page of the application that they have just made, and its id."""
    person = Person(platform, await platform.person())
    page = await person.press(await person.visit("/developers"), "Make the app", name=name)
    assert page.status == 200, page.text
    action = page.form_with("Save").action
    return person, page, action.rpartition("/")[2]


async def test_a_new_applications_secrets_are_shown_once_and_work(platform: Platform) -> None:
    person, page, app_id = await made(platform)
    token, secret = shown_once(page, "new-token"), shown_once(page, "new-secret")
    bot = Caller(platform, platform.ids.next(), f"Bot {token}")
    assert (await bot.get("/applications/@me")).json["name"] == "Herald"
    again = await person.visit(f"/developers/applications/{app_id}")
    assert (token in again.body, secret in again.body, app_id in again.text) == (False, False, True)
    assert "Herald" in (await person.visit("/developers")).text


async def test_a_new_secret_or_token_ends_the_old_one(platform: Platform) -> None:
    person, page, _ = await made(platform)
    old = shown_once(page, "new-token")
    page = await person.press(page, "New bot token")
    bots = [Caller(platform, platform.ids.next(), f"Bot {token}") for token in (old, shown_once(page, "new-token"))]
    assert [(await bot.get("/applications/@me")).status for bot in bots] == [401, 200]
    page = await person.press(page, "New client secret")
    assert len(shown_once(page, "new-secret")) == 32


async def test_everything_is_saved_at_once(platform: Platform) -> None:
    person, page, app_id = await made(platform)
    shown = await person.press(
        page,
        "Save",
        name="Town Crier",
        description="Tells the news.\r\nLoudly.",
        tags="news, , loud",
        redirect_uris="http://localhost:8000/callback\r\n\r\ncrier:/done\r\n",
        public_client="on",
        members="on",
        content="on",
        activities="on",
        guild_bot="on",
        guild_commands="on",
        user_commands="on",
        permission=[1 << 11, 1 << 13],
        without=("bot_public",),
    )
    assert (shown.status, shown.location) == (303, f"/developers/applications/{app_id}?saved=1")
    after = await person.follow(shown)
    assert "Saved." in after.text
    assert f"/oauth2/authorize?client_id={app_id}" in after.text
    assert person.caller is not None
    app = (await person.caller.get(f"/applications/{app_id}")).json
    assert (app["name"], app["description"], app["tags"]) == (
        "Town Crier",
        "Tells the news.\nLoudly.",
        ["news", "loud"],
    )
    assert app["redirect_uris"] == ["http://localhost:8000/callback", "crier:/done"]
    assert (app["public_client"], app["bot_public"], app["bot_require_code_grant"]) == (True, False, False)
    assert app["flags"] == (
        ApplicationFlags.GATEWAY_GUILD_MEMBERS_LIMITED
        | ApplicationFlags.GATEWAY_MESSAGE_CONTENT_LIMITED
        | ApplicationFlags.EMBEDDED
    )
    params = app["integration_types_config"]["0"]["oauth2_install_params"]
    assert (sorted(params["scopes"]), params["permissions"]) == (["applications.commands", "bot"], "10240")
    assert app["integration_types_config"]["1"]["oauth2_install_params"]["scopes"] == ["applications.commands"]
    # What the form shows is what it saves: sent as it is, it changes nothing.
    assert (await person.press(after, "Save")).status == 303
    assert (await person.caller.get(f"/applications/{app_id}")).json == app


async def test_every_rule_is_told_at_its_field_and_what_was_written_stays(platform: Platform) -> None:
    person, page, app_id = await made(platform)
    wrong = await person.press(
        page,
        "Save",
        name="x" * 33,
        redirect_uris="javascript:alert(1)\r\nhttps://ok.example/",
        tags="a,b,c,d,e,f",
        terms_of_service_url="ftp://x",
        description="kept",
        without=("bot_public",),
    )
    assert wrong.status == 400
    for field in ("name", "redirect_uris", "tags", "terms_of_service_url"):
        assert f"{field}-error" in {given.get("id") for _, given in wrong.tags}
    assert '1: Scheme "javascript" is not supported.' in wrong.text
    form = dict(wrong.form_with("Save").values())
    assert (form["description"], form["redirect_uris"].splitlines()[0]) == ("kept", "javascript:alert(1)")
    assert "bot_public" not in form
    assert person.caller is not None
    assert (await person.caller.get(f"/applications/{app_id}")).json["name"] == "Herald"


async def test_an_icon_is_uploaded_and_removed(platform: Platform) -> None:
    person, page, app_id = await made(platform)
    form = page.form_with("Save")
    boundary = "boundary"

    def multipart(values: list[tuple[str, str]], file: bytes) -> bytes:
        parts = [
            f'--{boundary}\r\ncontent-disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode()
            for name, value in values
        ]
        head = f'--{boundary}\r\ncontent-disposition: form-data; name="icon"; filename="i.png"\r\n\r\n'
        return b"".join([*parts, head.encode(), file, f"\r\n--{boundary}--\r\n".encode()])

    async def upload(file: bytes) -> Shown:
        url = f"/developers/applications/{app_id}"
        return await person.ask(
            "POST", url, multipart(form.values(), file), f"multipart/form-data; boundary={boundary}"
        )

    assert person.caller is not None
    refused = await upload(b"not a picture")
    assert (refused.status, "icon-error" in {given.get("id") for _, given in refused.tags}) == (400, True)
    assert (await upload(PIXEL)).status == 303
    icon = (await person.caller.get(f"/applications/{app_id}")).json["icon"]
    page = await person.visit(f"/developers/applications/{app_id}")
    assert f"/app-icons/{app_id}/{icon}.png" in page.body
    # A form without a new file leaves the icon alone.
    await person.press(page, "Save")
    assert (await person.caller.get(f"/applications/{app_id}")).json["icon"] == icon
    await person.press(page, "Save", remove_icon="on")
    assert (await person.caller.get(f"/applications/{app_id}")).json["icon"] is None


async def test_an_endpoint_is_asked_before_it_is_saved(platform: Platform) -> None:
    limits = platform.services.limits
    given = {name: getattr(limits, name) for name in limits.__struct_fields__} | {"allow_private_addresses": True}
    platform.services.limits = type(limits)(**given)
    person, page, app_id = await made(platform)
    assert person.caller is not None
    key = (await person.caller.get(f"/applications/{app_id}")).json["verify_key"]
    async with endpoint(key, "believes anything") as careless:
        wrong = await person.press(page, "Save", interactions_endpoint_url=careless.url)
        assert (wrong.status, "could not be verified" in wrong.text) == (400, True)
    async with endpoint(key) as server:
        assert (await person.press(page, "Save", interactions_endpoint_url=server.url)).status == 303
    assert (await person.caller.get(f"/applications/{app_id}")).json["interactions_endpoint_url"] == server.url


async def test_what_is_anothers_is_neither_shown_nor_changed(platform: Platform) -> None:
    person, page, app_id = await made(platform)
    stranger = Person(platform, await platform.person())
    url = f"/developers/applications/{app_id}"
    assert (await stranger.visit(url)).status == 403
    own = await stranger.visit("/developers")
    token = dict(own.form_with("Make the app").values())["csrf"]
    for path in (url, f"{url}/secret", f"{url}/token"):
        assert (await stranger.post(path, [("csrf", token), ("name", "Mine")])).status == 403
    assert (await stranger.visit("/developers/applications/1")).status == 404
    assert (await person.visit(url)).status == 200
    del page


@pytest.mark.parametrize("path", ["", "/secret", "/token"])
async def test_another_sites_form_changes_nothing(platform: Platform, path: str) -> None:
    person, page, app_id = await made(platform)
    url = f"/developers/applications/{app_id}{path}"
    token = dict(page.form_with("Save").values())["csrf"]
    assert (await person.post(url, [("name", "x")])).status == 403
    assert (await person.post(url, [("name", "x"), ("csrf", token)], origin="https://evil.example")).status == 403
    assert (await person.ask("GET", f"{url}?csrf={token}&name=x")).status == (200 if not path else 405)


async def test_who_has_not_logged_in_comes_back_to_the_page_they_wanted(platform: Platform) -> None:
    stranger = Person(platform)
    for method, path, back in (
        ("GET", "/developers", "/developers"),
        ("GET", "/developers/applications/5", "/developers/applications/5"),
        ("POST", "/developers/applications/5/secret", "/developers/applications/5"),
        ("POST", "/developers/teams", "/developers"),
        ("GET", "/developers/teams/5", "/developers/teams/5"),
        ("POST", "/settings/authorized-apps/5/revoke", "/settings/authorized-apps"),
    ):
        page = await stranger.ask(method, path)
        assert (page.status, page.location) == (303, f"/login?next={back}")


async def test_a_team_is_made_filled_and_owns_an_application(platform: Platform) -> None:
    owner, guest = Person(platform, await platform.person("ada")), Person(platform, await platform.person("bob"))
    shown = await owner.press(await owner.visit("/developers"), "Make the team", team_name="Crew")
    team = shown.location
    page = await owner.follow(shown)
    wrong = await owner.press(page, "Invite", username="nobody", role="developer")
    assert (wrong.status, "No user has this username." in wrong.text) == (400, True)
    page = await owner.follow(await owner.press(wrong, "Invite", username="bob", role="developer"))
    assert "bob, invited" in page.text
    assert "you are invited" in (await guest.visit("/developers")).text
    theirs = await guest.visit(team)
    assert "Invite somebody" not in theirs.text
    theirs = await guest.follow(await guest.press(theirs, "Join the team"))
    assert "Leave the team" in theirs.text
    made_app = await owner.press(
        await owner.visit("/developers"), "Make the app", name="Ours", team_id=team.rpartition("/")[2]
    )
    assert "Crew" in made_app.text
    app = made_app.form_with("Save").action
    page = await guest.visit(app)
    assert (await guest.press(page, "Save", description="by bob")).status == 303
    page = await owner.follow(await owner.press(await owner.visit(team), "Change", role="read_only"))
    page = await guest.visit(app)
    assert "You may look at this app, but not change it." in page.text
    assert [form for form in page.forms if "Save" in form.buttons()] == []
    page = await owner.follow(await owner.press(await owner.visit(team), "Remove"))
    assert (await guest.visit(team)).status == 404
    refused = await owner.press(await owner.visit(team), "End the team")
    assert (refused.status, "still owns applications" in refused.text) == (400, True)
    renamed = await owner.follow(await owner.press(refused, "Rename", name="Company"))
    assert "Company" in renamed.text
