"""The developers' pages: applications and teams."""

import base64

import pytest

from moothall.objects.application import ApplicationFlags
from tests.pages.browser import Browser, Page
from tests.resources.application.endpoint_server import endpoint
from tests.support.harness import Caller, Platform

PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
)


def shown_once(page: Page, name: str) -> str:
    """A secret on a page."""
    return next(attrs["value"] or "" for tag, attrs in page.tags if tag == "input" and attrs.get("id") == name)


async def made(platform: Platform, name: str = "Herald") -> tuple[Browser, Page, str]:
    """A browser, the page of its new application, and the application's id."""
    person = Browser(platform, await platform.person())
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


async def test_a_new_secret_or_token_invalidates_the_old_one(platform: Platform) -> None:
    person, page, _ = await made(platform)
    old = shown_once(page, "new-token")
    page = await person.press(page, "New bot token")
    bots = [Caller(platform, platform.ids.next(), f"Bot {token}") for token in (old, shown_once(page, "new-token"))]
    assert [(await bot.get("/applications/@me")).status for bot in bots] == [401, 200]
    page = await person.press(page, "New client secret")
    assert len(shown_once(page, "new-secret")) == 32


async def test_all_settings_are_saved_together(platform: Platform) -> None:
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


async def test_errors_are_shown_at_their_fields_and_entered_values_stay(platform: Platform) -> None:
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
        assert f"{field}-error" in {attrs.get("id") for _, attrs in wrong.tags}
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

    async def upload(file: bytes) -> Page:
        url = f"/developers/applications/{app_id}"
        return await person.ask(
            "POST", url, multipart(form.values(), file), f"multipart/form-data; boundary={boundary}"
        )

    assert person.caller is not None
    refused = await upload(b"not a picture")
    assert (refused.status, "icon-error" in {attrs.get("id") for _, attrs in refused.tags}) == (400, True)
    assert (await upload(PIXEL)).status == 303
    icon = (await person.caller.get(f"/applications/{app_id}")).json["icon"]
    page = await person.visit(f"/developers/applications/{app_id}")
    assert f"/app-icons/{app_id}/{icon}.png" in page.body
    # A form without a new file leaves the icon alone.
    await person.press(page, "Save")
    assert (await person.caller.get(f"/applications/{app_id}")).json["icon"] == icon
    await person.press(page, "Save", remove_icon="on")
    assert (await person.caller.get(f"/applications/{app_id}")).json["icon"] is None


async def test_an_interactions_endpoint_is_verified_before_it_is_saved(platform: Platform) -> None:
    platform.allow_private_addresses()
    person, page, app_id = await made(platform)
    assert person.caller is not None
    key = (await person.caller.get(f"/applications/{app_id}")).json["verify_key"]
    async with endpoint(key, "believes anything") as careless:
        wrong = await person.press(page, "Save", interactions_endpoint_url=careless.url)
        assert (wrong.status, "could not be verified" in wrong.text) == (400, True)
    async with endpoint(key) as server:
        assert (await person.press(page, "Save", interactions_endpoint_url=server.url)).status == 303
    assert (await person.caller.get(f"/applications/{app_id}")).json["interactions_endpoint_url"] == server.url


async def test_another_users_application_is_neither_shown_nor_changed(platform: Platform) -> None:
    person, page, app_id = await made(platform)
    stranger = Browser(platform, await platform.person())
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


async def test_after_logging_in_the_user_returns_to_the_requested_page(platform: Platform) -> None:
    stranger = Browser(platform)
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


async def test_a_team_is_created_has_members_and_owns_an_application(platform: Platform) -> None:
    owner, guest = Browser(platform, await platform.person("ada")), Browser(platform, await platform.person("bob"))
    shown = await owner.press(await owner.visit("/developers"), "Make the team", team_name="Crew")
    team = shown.location
    page = await owner.follow(shown)
    wrong = await owner.press(page, "Invite", username="nobody", role="developer")
    assert (wrong.status, "No user has this username." in wrong.text) == (400, True)
    page = await owner.follow(await owner.press(wrong, "Invite", username="bob", role="developer"))
    assert "bob, invited" in page.text
    assert "you are invited" in (await guest.visit("/developers")).text
    theirs = await guest.visit(team)
    assert "Invite a user" not in theirs.text
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


async def test_offers_are_added_and_listed(platform: Platform) -> None:
    person, page, app_id = await made(platform)
    assert person.caller is not None
    options = page.form_with("Add the offer").options("sku_type")
    for number, value in enumerate(options):
        shown = await person.press(page, "Add the offer", sku_name=f"Offer {number}", sku_type=value)
        assert (shown.status, shown.location) == (303, f"/developers/applications/{app_id}?saved=1#skus")
    skus = (await person.caller.get(f"/applications/{app_id}/skus")).json
    made_skus = [(sku["name"], sku["type"], sku["flags"]) for sku in skus if sku["type"] != 6]
    available = 1 << 2
    assert made_skus == [
        ("Offer 0", 5, available | 1 << 8),
        ("Offer 1", 5, available | 1 << 7),
        ("Offer 2", 2, available),
        ("Offer 3", 3, available),
    ]
    page = await person.visit(f"/developers/applications/{app_id}")
    for sku in skus:
        assert (sku["id"] in page.text) == (sku["type"] != 6)
    refused = await person.press(page, "Add the offer", sku_name=" ", sku_type=options[2])
    assert (refused.status, 'id="sku_name-error"' in refused.body) == (400, True)
    refused = await person.press(page, "Add the offer", sku_name="Mine", sku_type="x")
    assert (refused.status, 'id="sku_type-error"' in refused.body) == (400, True)
    stranger = Browser(platform, await platform.person())
    other = await stranger.press(await stranger.visit("/developers"), "Make the app", name="Other")
    token = dict(other.form_with("Add the offer").values())["csrf"]
    fields = [("csrf", token), ("sku_name", "Mine"), ("sku_type", "2")]
    assert (await stranger.post(f"/developers/applications/{app_id}/skus", fields)).status == 403
    assert len((await person.caller.get(f"/applications/{app_id}/skus")).json) == len(skus)


async def test_webhook_events_are_subscribed_to_on_the_page(platform: Platform) -> None:
    person, page, app_id = await made(platform)
    assert person.caller is not None
    kinds = ["APPLICATION_AUTHORIZED", "ENTITLEMENT_CREATE"]
    shown = await person.press(page, "Save", event_webhooks_types=kinds)
    assert shown.status == 303
    app = (await person.caller.get(f"/applications/{app_id}")).json
    assert (app["event_webhooks_types"], app["event_webhooks_status"]) == (kinds, 1)
    # Types that the page does not show stay.
    more = [*kinds, "LOBBY_MESSAGE_CREATE"]
    await person.caller.patch(f"/applications/{app_id}", {"event_webhooks_types": more})
    page = await person.visit(f"/developers/applications/{app_id}")
    assert (await person.press(page, "Save")).status == 303
    assert (await person.caller.get(f"/applications/{app_id}")).json["event_webhooks_types"] == more
    refused = await person.press(page, "Save", event_webhooks="on")
    assert (refused.status, 'id="event_webhooks_status-error"' in refused.body) == (400, True)
    refused = await person.press(page, "Save", event_webhooks_url="http://127.0.0.1:1/events")
    assert (refused.status, 'id="event_webhooks_url-error"' in refused.body) == (400, True)


async def test_the_settings_of_an_activity_are_saved_together(platform: Platform) -> None:
    person, page, app_id = await made(platform)
    assert "Save the Activity" not in page.text
    page = await person.follow(await person.press(page, "Save", activities="on"))
    assert person.caller is not None
    saved = await person.press(
        page,
        "Save the Activity",
        url_map="/ game.example.com\r\n/api   api.example.com:8443/v1\r\n",
        platforms=["web", "ios"],
        released=["web"],
        orientation="3",
        tablet_orientation="2",
        requires_age_gate="on",
        supported_locales="de, FR",
        shelf_rank="4",
    )
    assert (saved.status, saved.location) == (303, f"/developers/applications/{app_id}?saved=1#activity")
    path = f"/applications/{app_id}"
    config = (await person.caller.get(f"{path}/embedded-activity-config")).json
    assert config["supported_platforms"] == ["web", "ios"]
    assert config["client_platform_config"]["web"]["release_phase"] == "global_launch"
    assert (config["default_orientation_lock_state"], config["tablet_default_orientation_lock_state"]) == (3, 2)
    assert (config["requires_age_gate"], config["shelf_rank"]) == (True, 4)
    assert (config["supported_locales"], config["blocked_locales"]) == (["DE", "FR"], [])
    mappings = (await person.caller.get(f"{path}/proxy-config")).json["url_map"]
    assert [each["target"] for each in mappings] == ["game.example.com", "api.example.com:8443/v1"]
    # What the form shows is what it saves: sent as it is, it changes nothing.
    page = await person.follow(saved)
    assert (await person.press(page, "Save the Activity")).status == 303
    assert (await person.caller.get(f"{path}/embedded-activity-config")).json == config
    assert (await person.caller.get(f"{path}/proxy-config")).json["url_map"] == mappings


async def test_a_refused_activity_form_changes_nothing_and_keeps_what_was_entered(platform: Platform) -> None:
    person, page, app_id = await made(platform)
    page = await person.follow(await person.press(page, "Save", activities="on"))
    wrong = await person.press(
        page,
        "Save the Activity",
        url_map="/ https://game.example.com",
        supported_locales="Germany",
        shelf_rank="first",
    )
    assert wrong.status == 400
    for field in ("supported_locales", "shelf_rank"):
        assert f"{field}-error" in {attrs.get("id") for _, attrs in wrong.tags}
    assert dict(wrong.form_with("Save the Activity").values())["supported_locales"] == "Germany"
    wrong = await person.press(page, "Save the Activity", url_map="/ https://game.example.com", shelf_rank="9")
    assert (wrong.status, 'id="url_map-error"' in wrong.body) == (400, True)
    assert person.caller is not None
    config = (await person.caller.get(f"/applications/{app_id}/embedded-activity-config")).json
    assert config["shelf_rank"] == 0
    stranger = Browser(platform, await platform.person())
    other = await stranger.press(await stranger.visit("/developers"), "Make the app", name="Other")
    token = dict(other.form_with("Save").values())["csrf"]
    fields = [("csrf", token), ("url_map", "/ evil.example.com")]
    assert (await stranger.post(f"/developers/applications/{app_id}/activity", fields)).status == 403
