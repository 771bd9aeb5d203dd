"""The consent page: prompts, decisions and redirects."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.oauth2.flow import CALLBACK, CHALLENGE, App, application
from tests.pages.browser import PASSWORD, Browser, Page, registered
from tests.support.harness import Platform

LINK = "/oauth2/authorize"
XSS = "<script>alert(1)</script>\"'><img src=x onerror=alert(1)>"


async def ask(person: Browser, app: App, scope: str | None = "identify guilds", **query: Any) -> Page:
    parameters = {"client_id": app.id, "scope": scope, "response_type": "code", "redirect_uri": CALLBACK, "state": "s1"}
    return await person.visit(LINK, **(parameters | query))


async def test_a_user_logs_in_sees_the_request_and_allows_it(platform: Platform) -> None:
    app, person = await application(platform), await registered(platform)
    page = await ask(person, app)
    assert page.status == 303
    page = await person.follow(page)
    shown = await person.press(page, "Log in", login="wanda", password=PASSWORD)
    page = await person.follow(shown)
    for words in ("Herald", "See your username", "See which servers you are in", "wanda", CALLBACK):
        assert words in page.text
    shown = await person.press(page, "Allow")
    assert (shown.status, shown.location.partition("?")[0]) == (303, CALLBACK)
    assert shown.redirect_params["state"] == "s1"
    exchanged = await app.exchange(shown.redirect_params["code"])
    assert (exchanged.status, exchanged.json["scope"]) == (200, "identify guilds")


async def test_a_denial_redirects_to_the_application_and_changes_nothing(platform: Platform) -> None:
    app, person = await application(platform), Browser(platform, await platform.person())
    shown = await person.press(await ask(person, app), "Deny")
    assert shown.location.startswith(CALLBACK)
    assert (shown.redirect_params["error"], shown.redirect_params["state"]) == ("access_denied", "s1")
    assert "take back" not in (await person.visit("/settings/authorized-apps")).text
    assert "You have not authorized any app." in (await person.visit("/settings/authorized-apps")).text


async def test_a_form_of_another_session_is_refused(platform: Platform) -> None:
    app, person = await application(platform), Browser(platform, await platform.person())
    page = await ask(person, app)
    form = page.form_with("Allow")
    token = dict(form.values())["csrf"]
    other = Browser(platform, await platform.person())
    theirs = dict((await ask(other, app)).form_with("Allow").values())["csrf"]
    allow = [("answer", "allow")]
    for values, origin in (
        (allow, "http://localhost:3333"),
        ([*allow, ("csrf", "")], "http://localhost:3333"),
        ([*allow, ("csrf", theirs)], "http://localhost:3333"),
        ([*allow, ("csrf", token[:-8] + "AAAAAAA=")], "http://localhost:3333"),
        ([*allow, ("csrf", token)], "https://evil.example"),
        ([*allow, ("csrf", token)], "null"),
    ):
        shown = await person.post(page.url, values, origin=origin)
        assert (shown.status, "location" in shown.headers) == (403, False)
    assert (await person.caller.get("/oauth2/tokens")).json == []  # type: ignore[union-attr]  # they have one
    assert (await person.post(page.url, [*allow, ("csrf", token)])).status == 303


async def test_a_form_from_before_the_last_login_is_refused(platform: Platform) -> None:
    app, person = await application(platform), await registered(platform)
    await person.press(await person.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    page = await ask(person, app)
    await person.press(await person.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    assert (await person.press(page, "Allow")).status == 403


WRONG: list[tuple[dict[str, Any], str]] = [
    ({"client_id": "1"}, "Unknown Application"),
    ({"client_id": "x"}, "The app"),
    ({"client_id": None}, "The app"),
    ({"redirect_uri": "https://evil.example/"}, "This redirect URI is not registered"),
    ({"redirect_uri": f"{CALLBACK}/"}, "This redirect URI is not registered"),
    ({"scope": "identify everything"}, "What it wants to do"),
    ({"scope": "rpc"}, "is not given to applications here"),
    ({"scope": ""}, "What it wants to do"),
    ({"response_type": "cookie"}, "The kind of answer"),
    ({"code_challenge": CHALLENGE, "code_challenge_method": "plain"}, "The kind of its proof"),
    ({"permissions": "many", "scope": "bot"}, "The permissions"),
]


@pytest.mark.parametrize("prompt", [None, "none"])
@pytest.mark.parametrize(("query", "words"), WRONG, ids=[str(query) for query, _ in WRONG])
async def test_errors_of_a_link_are_shown_to_the_user_and_never_redirected(
    platform: Platform, query: dict[str, Any], words: str, prompt: str | None
) -> None:
    app, person = await application(platform), Browser(platform, await platform.person())
    page = await ask(person, app, prompt=prompt, **query)
    assert page.status in {400, 404}
    assert words in page.text
    assert "location" not in page.headers
    assert "Allow" not in [button for form in page.forms for button in form.buttons()]


async def test_a_public_client_needs_pkce(platform: Platform) -> None:
    app, person = await application(platform, public_client=True), Browser(platform, await platform.person())
    page = await ask(person, app)
    assert (page.status, "Its proof (code_challenge)" in page.text) == (400, True)
    page = await ask(person, app, code_challenge=CHALLENGE, code_challenge_method="S256")
    assert (await person.press(page, "Allow")).status == 303


async def test_prompt_none_skips_the_page_after_an_earlier_consent(
    platform: Platform,
) -> None:
    app, person = await application(platform), Browser(platform, await platform.person())
    stranger = Browser(platform)
    silent = await ask(stranger, app, prompt="none")
    assert (silent.status, silent.location.partition("?")[0]) == (303, CALLBACK)
    assert (silent.redirect_params["error"], silent.redirect_params["state"]) == ("login_required", "s1")
    silent = await ask(person, app, prompt="none")
    assert silent.redirect_params["error"] == "consent_required"
    await person.press(await ask(person, app), "Allow")
    silent = await ask(person, app, prompt="none")
    assert (await app.exchange(silent.redirect_params["code"])).status == 200
    assert (await ask(person, app, "identify", prompt="none")).redirect_params.keys() == {"code", "state"}
    assert (await ask(person, app, "identify email", prompt="none")).redirect_params["error"] == "consent_required"
    for prompt in (None, "consent"):
        page = await ask(person, app, prompt=prompt)
        assert (page.status, "You have allowed all of this before." in page.text) == (200, True)


async def test_prompt_none_never_skips_the_page_of_an_installation(
    platform: Platform,
) -> None:
    app, owner = await application(platform), await platform.person()
    await platform.guild(owner)
    person = Browser(platform, owner)
    for scope in ("bot", "webhook.incoming"):
        assert (await ask(person, app, scope, prompt="none")).status == 200


async def test_prompt_none_installs_no_commands_in_a_guild(platform: Platform) -> None:
    app, owner = await application(platform), await platform.person()
    mine = await platform.guild(owner)
    person = Browser(platform, owner)
    await person.press(await ask(person, app, "identify applications.commands"), "Allow")
    page = await ask(person, app, "identify applications.commands", prompt="none", guild_id=int(mine.id))
    assert (page.status, "Allow" in page.form_with("Allow").buttons()) == (200, True)
    assert (await ask(person, app, "identify applications.commands", prompt="none")).redirect_params.keys() == {
        "code",
        "state",
    }
    assert (await owner.get(f"/guilds/{mine.id}/integrations")).json == []


async def test_a_bot_is_added_to_a_guild_that_the_user_manages_with_the_ticked_permissions(
    platform: Platform,
) -> None:
    app, owner = await application(platform), await platform.person()
    mine, other = await platform.guild(owner, name="Mine"), await platform.guild(await platform.person(), name="Theirs")
    second = await platform.guild(owner, name="Second")
    await other.join(owner)
    person = Browser(platform, owner)
    requested = Permissions.MANAGE_ROLES | Permissions.SEND_MESSAGES
    page = await ask(person, app, "bot", permissions=int(requested), response_type=None, redirect_uri=None, state=None)
    form = page.form_with("Allow")
    assert form.options("guild_id") == ["", str(int(mine.id)), str(int(second.id))]
    assert "Theirs" not in page.text
    assert "Manage roles" in page.text
    none = await person.press(page, "Allow", guild_id="")
    assert (none.status, "This field is required" in none.text) == (400, True)
    ticked = [int(Permissions.SEND_MESSAGES), int(Permissions.ADMINISTRATOR)]
    shown = await person.press(none, "Allow", guild_id=int(second.id), permission=ticked)
    assert (shown.status, shown.location.partition("?")[0]) == (303, "/oauth2/authorized")
    assert "It is added" in (await person.follow(shown)).text
    roles = (await owner.get(f"/guilds/{second.id}/roles")).json
    assert [role["permissions"] for role in roles if role["name"] == "Herald"] == [str(int(Permissions.SEND_MESSAGES))]
    refused = await person.press(page, "Allow", guild_id=int(other.id))
    assert (refused.status, "Missing Permissions" in refused.text) == (403, True)


async def test_a_link_can_preselect_or_fix_the_guild(platform: Platform) -> None:
    app, owner = await application(platform), await platform.person()
    mine, second = [await platform.guild(owner, name=name) for name in ("Mine", "Second")]
    stranger = await platform.guild(await platform.person(), name="Theirs")
    person = Browser(platform, owner)
    chosen = {"guild_id": int(second.id), "response_type": None, "redirect_uri": None}
    page = await ask(person, app, "bot", **chosen)
    assert dict(page.form_with("Allow").values())["guild_id"] == str(int(second.id))
    fixed = await ask(person, app, "bot", **chosen, disable_guild_select="true")
    assert [tag for tag, _ in fixed.tags if tag == "select"] == []
    shown = await person.press(fixed, "Allow", guild_id=int(mine.id))
    assert shown.redirect_params["guild_id"] == str(int(second.id))
    chosen["guild_id"] = int(stranger.id)
    fixed = await ask(person, app, "bot", **chosen, disable_guild_select="true")
    assert fixed.form_with("Deny").buttons() == ["Deny"]


async def test_the_page_says_that_the_user_manages_no_guild(platform: Platform) -> None:
    app, person = await application(platform), Browser(platform, await platform.person())
    page = await ask(person, app, "bot", response_type=None, redirect_uri=None)
    assert "There is no server here where you may do this" in page.text
    assert page.form_with("Deny").buttons() == ["Deny"]
    shown = await person.press(page, "Deny")
    assert "Nothing was added" in (await person.follow(shown)).text


async def test_a_webhook_is_created_in_the_chosen_channel(platform: Platform) -> None:
    app, owner = await application(platform), await platform.person()
    mine, second = [await platform.guild(owner, name=name) for name in ("Mine", "Second")]
    room = await second.channel(name="news", position=5)
    person = Browser(platform, owner)
    page = await ask(person, app, "webhook.incoming")
    page = await person.press(page, "Choose a channel", guild_id=int(second.id))
    form = page.form_with("Allow")
    assert form.options("webhook_channel_id") == [str(int(second.general)), str(int(room))]
    assert form.options("guild_id") == [str(int(second.id))]
    shown = await person.press(page, "Allow", webhook_channel_id=int(room))
    tokens = (await app.exchange(shown.redirect_params["code"])).json
    assert tokens["webhook"]["channel_id"] == str(int(room))
    link = next(attrs["href"] or "" for tag, attrs in page.tags if tag == "a" and "client_id" in (attrs["href"] or ""))
    assert "Choose a channel" in [button for form in (await person.visit(link)).forms for button in form.buttons()]
    refused = await person.press(page, "Allow", webhook_channel_id=int(mine.general))
    assert (refused.status, "This channel is not in the guild." in refused.text) == (400, True)


async def test_without_a_channel_for_webhooks_the_request_cannot_be_allowed(platform: Platform) -> None:
    app, guild = await application(platform), await platform.guild(await platform.person())
    member = await guild.member_with(Permissions.MANAGE_WEBHOOKS)
    denied = {"type": 1, "deny": str(int(Permissions.MANAGE_WEBHOOKS))}
    assert (await guild.owner.put(f"/channels/{guild.general}/permissions/{member.id}", denied)).status == 204
    page = await ask(Browser(platform, member), app, "webhook.incoming")
    assert "There is no channel where you may do this." in page.text
    assert page.form_with("Deny").buttons() == ["Deny"]


async def test_an_application_can_be_installed_to_ones_account(platform: Platform) -> None:
    params = {"oauth2_install_params": {"scopes": ["applications.commands"], "permissions": "0"}}
    app = await application(platform, integration_types_config={"0": params, "1": params})
    owner = await platform.person()
    person = Browser(platform, owner)
    page = await person.visit(LINK, client_id=app.id)
    assert "Add it to your own account instead" in page.text
    link = next(
        attrs["href"] for tag, attrs in page.tags if tag == "a" and "integration_type=1" in (attrs["href"] or "")
    )
    page = await person.visit(link or "")
    assert "Offer its commands to you, wherever you are" in page.text
    assert (await person.press(page, "Allow")).status == 303
    (authorization,) = (await owner.get("/oauth2/tokens")).json
    assert (authorization["user_install"], authorization["scopes"]) == (True, ["applications.commands"])


async def test_commands_with_a_code_are_installed_in_a_guild_only_if_one_is_chosen(platform: Platform) -> None:
    app, owner = await application(platform), await platform.person()
    mine = await platform.guild(owner, name="Mine")
    person = Browser(platform, owner)
    page = await ask(person, app, "identify applications.commands", guild_id=int(mine.id))
    assert dict(page.form_with("Allow").values())["guild_id"] == str(int(mine.id))
    await person.press(page, "Allow", guild_id="")
    assert (await owner.get(f"/guilds/{mine.id}/integrations")).json == []
    await person.press(page, "Allow")
    assert [each["application"]["id"] for each in (await owner.get(f"/guilds/{mine.id}/integrations")).json] == [app.id]


async def test_only_the_owner_installs_a_private_application(platform: Platform) -> None:
    app, person = await application(platform, bot_public=False), Browser(platform, await platform.person())
    page = await ask(person, app, "bot", response_type=None, redirect_uri=None)
    assert (page.status, page.forms[-1].buttons()) == (403, ["Log out"])


@pytest.mark.parametrize(
    "uri", ["herald:/done", "herald://done", "https://example.org/cb?x=1", "org.example.app:/oauth"]
)
async def test_native_applications_are_redirected_to_by_custom_schemes(platform: Platform, uri: str) -> None:
    app = await application(platform, redirect_uris=[uri])
    person = Browser(platform, await platform.person())
    shown = await person.press(await ask(person, app, redirect_uri=uri), "Allow")
    assert shown.status == 303
    assert shown.location.startswith(uri)
    assert "code=" in shown.location


async def test_texts_of_an_application_are_escaped_on_the_page(platform: Platform) -> None:
    app = await application(platform, name="<i>x</i>\"'><b>y", description=XSS)
    person = Browser(platform, await platform.person())
    for page in (
        await ask(person, app, state=XSS, nonce=XSS),
        await ask(person, app, state=XSS, redirect_uri=XSS),
        await ask(person, app, scope=XSS),
        await person.visit(LINK, client_id=XSS),
        await person.visit("/login", next=f"/{XSS}"),
    ):
        assert "<script" not in page.body
        assert "<img src=x" not in page.body
        assert "<i>" not in page.body
    shown = await person.press(await ask(person, app, state=XSS), "Allow")
    assert (shown.redirect_params["state"], "<" in shown.location) == (XSS, False)


async def test_an_odd_state_changes_no_redirect(platform: Platform) -> None:
    app, person = await application(platform), Browser(platform, await platform.person())
    shown = await person.press(await ask(person, app, state="a\r\nset-cookie: x=y"), "Allow")
    assert "\n" not in shown.location
    assert shown.redirect_params["state"] == "a\r\nset-cookie: x=y"


async def test_only_the_consent_form_may_redirect_to_the_application(platform: Platform) -> None:
    app, person = await application(platform), Browser(platform, await platform.person())
    # Browsers count the redirect to the application as sending the form there.
    assert "form-action" not in (await ask(person, app)).headers["content-security-policy"]
    assert "form-action 'self'" in (await person.visit("/developers")).headers["content-security-policy"]


async def test_every_field_has_a_label_and_every_image_an_alternative_text(platform: Platform) -> None:
    app, owner = await application(platform), await platform.person()
    for name in ("Mine", "Second"):
        await platform.guild(owner, name=name)
    person = Browser(platform, owner)
    for page in (
        await ask(person, app, "bot identify", permissions=8 | 1 << 11),
        await ask(person, app, "webhook.incoming"),
        await person.visit("/developers"),
        await Browser(platform, app.owner).visit(f"/developers/applications/{app.id}"),
        await Browser(platform).visit("/login"),
    ):
        assert page.status == 200
        labelled = {attrs.get("for") for tag, attrs in page.tags if tag == "label"}
        for tag, attrs in page.tags:
            if tag in {"input", "select", "textarea"} and attrs.get("type") != "hidden":
                assert attrs.get("id") in labelled or attrs.get("aria-label"), attrs
            if tag == "img":
                assert "alt" in attrs
        ids = [attrs["id"] for _, attrs in page.tags if "id" in attrs]
        assert len(ids) == len(set(ids))


async def test_a_user_can_switch_the_account_and_returns_to_the_page(platform: Platform) -> None:
    app, person = await application(platform), Browser(platform, await platform.person())
    page = await ask(person, app)
    shown = await person.press(page, "Not you?")
    again = await person.follow(shown)
    assert again.location.startswith("/login?next=/oauth2/authorize")


async def test_a_user_lists_and_revokes_authorizations(platform: Platform) -> None:
    app, owner = await application(platform), await platform.person()
    person = Browser(platform, owner)
    shown = await person.press(await ask(person, app), "Allow")
    token = (await app.exchange(shown.redirect_params["code"])).json["access_token"]
    page = await person.visit("/settings/authorized-apps")
    assert ("Herald" in page.text, "See which servers you are in" in page.text) == (True, True)
    page = await person.follow(await person.press(page, "Take it back"))
    assert "You have not authorized any app." in page.text
    refused = await platform.anonymous.get("/users/@me", headers=[("authorization", f"Bearer {token}")])
    assert refused.status == 401


async def test_an_applications_icon_is_shown(platform: Platform) -> None:
    pixel = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8BQDwAEhQGAhKmMIQAAAABJRU5ErkJggg=="
    app = await application(platform, icon=f"data:image/png;base64,{pixel}")
    person = Browser(platform, await platform.person())
    page = await ask(person, app)
    sources = [attrs["src"] for tag, attrs in page.tags if tag == "img"]
    assert sources == [
        "/icon.svg",
        f"/app-icons/{app.id}/{(await app.bot.get('/applications/@me')).json['icon']}.png?size=128",
    ]
