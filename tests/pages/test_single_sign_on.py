"""Logging in with an identity provider: accounts, links, groups, and what lies or tricks must not reach."""

import time
from collections.abc import AsyncIterator
from typing import Any
from urllib.parse import urlencode, urlsplit

import msgspec
import pytest

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects.clock import CLOCK
from moothall.resources.identity_provider.provider_client import ProviderClient
from moothall.resources.user.queries import select_user, update_user
from tests.pages.browser import PASSWORD, Browser, registered
from tests.resources.user.mfa.totp import careful
from tests.support.harness import Caller, Platform
from tests.support.identity_providers import ProviderServer, SingleSignOn, session_of, single_sign_on
from tests.support.operators import acts


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let tests wait."""
    monkeypatch.setattr(CLOCK, "_offset_ns", 0)  # restored after the test


@pytest.fixture
async def server() -> AsyncIterator[ProviderServer]:
    """A provider."""
    async with ProviderServer().serving() as running:
        yield running


@pytest.fixture
async def sso(platform: Platform, server: ProviderServer) -> SingleSignOn:
    """A platform that people log in to with the provider."""
    return await single_sign_on(platform, server)


async def set_columns(platform: Platform, user_id: int, **columns: Any) -> None:
    async def work(ctx: Context) -> None:
        row = await select_user(ctx.tx, user_id)  # type: ignore[arg-type]
        assert row is not None
        await update_user(ctx.tx, row.id, **columns)

    await unit_of_work.run(platform.services, ANONYMOUS, work, fires=())


def switch_passwords_off(platform: Platform) -> None:
    platform.services.limits = msgspec.structs.replace(platform.services.limits, password_login=False)


async def test_who_logs_in_for_the_first_time_gets_an_account_and_has_it_the_next_time(sso: SingleSignOn) -> None:
    sso.server.person |= {"email": "anna@corp.example", "email_verified": True}
    browser = Browser(sso.platform)
    done = await sso.log_in(browser, next="/settings/sessions")
    assert (done.status, done.location) == (303, "/settings/sessions")
    me = await sso.me(browser)
    assert (me["username"], me["global_name"]) == ("anna", "Anna Arendt")
    assert (me["email"], me["verified"]) == ("anna@corp.example", True)
    other = Browser(sso.platform)
    sso.server.person["preferred_username"] = "anna.new"
    await sso.log_in(other)
    assert (await sso.me(other))["id"] == me["id"]


async def test_the_login_page_and_the_api_name_the_providers(sso: SingleSignOn) -> None:
    page = await Browser(sso.platform).visit("/login", next="/developers")
    assert "Log in with Corp" in page.text
    assert "/login/with/corp?next=/developers" in [attrs.get("href") for _, attrs in page.tags]
    methods = (await sso.platform.anonymous.get("/auth/methods")).json
    assert methods["passwords"] is True
    assert methods["providers"] == [{"name": "corp", "label": "Corp", "url": "/login/with/corp"}]
    await sso.change(enabled=False)
    assert (await sso.platform.anonymous.get("/auth/methods")).json["providers"] == []
    assert (await sso.begin(Browser(sso.platform))).status == 404


@pytest.mark.parametrize(
    ("claims", "username"),
    [
        ({"preferred_username": "Zoë Müller"}, "zoe_muller"),
        ({"preferred_username": "zoe@corp.example"}, "zoe"),
        ({"preferred_username": None, "nickname": "Z"}, "user_z"),
        ({"preferred_username": "x" * 200}, "x" * 32),
        ({"preferred_username": "a..b"}, "a.b"),
    ],
)
async def test_usernames_follow_from_what_the_provider_says(
    sso: SingleSignOn, claims: dict[str, Any], username: str
) -> None:
    sso.server.claims = claims
    browser = Browser(sso.platform)
    await sso.log_in(browser)
    assert (await sso.me(browser))["username"] == username


async def test_a_taken_username_gets_a_number_and_no_account_of_another(sso: SingleSignOn) -> None:
    holder = await registered(sso.platform, "anna")
    browser = Browser(sso.platform)
    await sso.log_in(browser)
    me = await sso.me(browser)
    assert holder.caller is not None
    assert me["username"] == "anna2"
    assert me["id"] != str(int(holder.caller.id))


LIES: list[tuple[str, dict[str, Any]]] = [
    ("issuer", {"iss": "https://other.example"}),
    ("audience", {"aud": "another-client"}),
    ("audiences", {"aud": ["hall", "another-client"], "azp": "another-client"}),
    ("nonce", {"nonce": "of another request"}),
    ("no nonce", {"nonce": None}),
    ("expired", {"exp": int(time.time()) - 3600}),
    ("no end", {"exp": None}),
    ("future", {"iat": int(time.time()) + 3600}),
    ("no subject", {"sub": None}),
    ("a subject of another kind", {"sub": 17}),
    ("a long subject", {"sub": "x" * 256}),
]


@pytest.mark.parametrize("claims", [lie for _, lie in LIES], ids=[name for name, _ in LIES])
async def test_a_provider_that_lies_logs_no_one_in(sso: SingleSignOn, claims: dict[str, Any]) -> None:
    sso.server.claims = claims
    browser = Browser(sso.platform)
    refused = await sso.log_in(browser)
    assert refused.status == 503
    assert "It is not possible to log in with Corp now" in refused.text
    assert ("/login", "moothall_session") not in browser.jar


@pytest.mark.parametrize("algorithm", ["none", "HS256"])
async def test_a_token_that_anybody_could_have_made_logs_no_one_in(sso: SingleSignOn, algorithm: str) -> None:
    sso.server.algorithm = algorithm
    if algorithm == "HS256":
        # The classical trick: the published set has this very key.
        sso.server.signing_key, sso.server.key_id = b"secret", "oct"
    with pytest.warns() if algorithm == "HS256" else _nothing():
        assert (await sso.log_in(Browser(sso.platform))).status == 503


class _nothing:  # noqa: N801 a context manager
    def __enter__(self) -> None: ...
    def __exit__(self, *_: object) -> None: ...


async def test_a_provider_that_replaces_its_keys_logs_people_in_at_once(sso: SingleSignOn) -> None:
    await sso.log_in(Browser(sso.platform))
    sso.server.rotate()
    browser = Browser(sso.platform)
    assert (await sso.log_in(browser)).status == 303
    assert (await sso.me(browser))["username"] == "anna"


async def test_tokens_of_unknown_keys_let_a_server_ask_for_keys_seldom(sso: SingleSignOn) -> None:
    await sso.log_in(Browser(sso.platform))
    sso.server.signing_key, sso.server.key_id = sso.server.signing_key, "unknown"
    for _ in range(5):
        assert (await sso.log_in(Browser(sso.platform))).status == 503
    assert sso.server.requests.count("/keys") <= 2


async def test_while_the_provider_is_down_passwords_go_on(sso: SingleSignOn) -> None:
    person = await registered(sso.platform)
    sso.server.down = True
    refused = await sso.begin(person)
    assert refused.status == 503
    assert "Try again later, or in another way." in refused.text
    done = await person.press(refused, "Log in", login="wanda", password=PASSWORD)
    assert done.status == 303


async def test_what_a_provider_said_before_is_used_while_it_does_not_answer(sso: SingleSignOn) -> None:
    await sso.log_in(Browser(sso.platform))
    known = sso.platform.services.resources[ProviderClient]._known[(await sso.row()).id]
    known.read_at -= 3700
    sso.server.down = True
    assert (await sso.begin(Browser(sso.platform))).status == 303
    known.read_at -= 86_400
    assert (await sso.begin(Browser(sso.platform))).status == 503


@pytest.mark.parametrize(
    "metadata",
    [
        {"issuer": "https://other.example"},
        {"token_endpoint": "ftp://127.0.0.1/token"},
        {"authorization_endpoint": "javascript:alert(1)"},
        {"id_token_signing_alg_values_supported": ["HS256", "none"]},
        {"jwks_uri": None},
    ],
)
async def test_a_provider_that_describes_itself_wrongly_is_not_used(
    sso: SingleSignOn, metadata: dict[str, Any]
) -> None:
    sso.server.metadata = metadata
    assert (await sso.begin(Browser(sso.platform))).status == 503
    check = await sso.operator.post(f"/admin/v1/identity-providers/{sso.provider_id}/check")
    assert not check.json["ok"]
    assert check.json["problem"]


async def test_an_answer_counts_only_in_the_browser_that_has_asked(sso: SingleSignOn) -> None:
    mallory, victim = Browser(sso.platform), Browser(sso.platform)
    sent = await sso.begin(mallory)
    stolen = urlsplit(sso.server.authorize(sent.location))
    for browser in (victim, Browser(sso.platform)):
        refused = await browser.visit(f"{stolen.path}?{stolen.query}")
        assert refused.status == 400
        assert "begun in another browser" in refused.text
    # Nor with a request of the victim's own under way.
    await sso.begin(victim)
    assert (await victim.visit(f"{stolen.path}?{stolen.query}")).status == 400
    assert ("/login", "moothall_session") not in victim.jar


async def test_an_answer_counts_once_and_in_time(sso: SingleSignOn) -> None:
    browser = Browser(sso.platform)
    sent = await sso.begin(browser)
    answer = urlsplit(sso.server.authorize(sent.location))
    CLOCK.advance(901)
    assert (await browser.visit(f"{answer.path}?{answer.query}")).status == 400
    done = await sso.log_in(browser)
    assert done.status == 303
    assert (await browser.visit(f"{answer.path}?{answer.query}")).status == 400


async def test_an_answer_of_another_issuer_is_refused(sso: SingleSignOn) -> None:
    browser = Browser(sso.platform)
    answer = urlsplit(sso.server.authorize((await sso.begin(browser)).location))
    mixed = f"{answer.path}?{answer.query}&{urlencode({'iss': 'https://other.example'})}"
    assert (await browser.visit(mixed)).status == 503


async def test_a_person_who_does_not_agree_is_told_so(sso: SingleSignOn) -> None:
    browser = Browser(sso.platform)
    sent = await sso.begin(browser)
    state = sent.redirect_params["state"]
    refused = await browser.visit("/login/callback/corp", error="access_denied", state=state)
    assert refused.status == 403
    assert "Corp has not let you log in." in refused.text


async def test_private_addresses_are_asked_only_where_their_host_is_named(sso: SingleSignOn) -> None:
    sso.platform.allow_private_addresses(False)
    sso.platform.services.resources[ProviderClient].forget((await sso.row()).id)
    assert (await sso.begin(Browser(sso.platform))).status == 503
    limits = sso.platform.services.limits
    sso.platform.services.limits = msgspec.structs.replace(limits, private_provider_hosts=("127.0.0.1",))
    assert (await sso.begin(Browser(sso.platform))).status == 303
    # A named host cannot let the server ask others.
    sso.server.metadata = {"jwks_uri": sso.server.url.replace("127.0.0.1", "localhost") + "/keys"}
    sso.platform.services.resources[ProviderClient].forget((await sso.row()).id)
    assert (await sso.log_in(Browser(sso.platform))).status == 503


async def test_a_known_address_links_nothing_until_the_owner_proves_the_account(sso: SingleSignOn) -> None:
    holder = await registered(sso.platform, "bob")
    assert holder.caller is not None
    await set_columns(
        sso.platform, holder.caller.id, email="bob@corp.example", email_key="bob@corp.example", verified=True
    )
    sso.server.person |= {"email": "bob@corp.example", "email_verified": True}
    browser = Browser(sso.platform)
    form = await sso.log_in(browser)
    assert (form.status, "Is this your account?" in form.text) == (200, True)
    assert ("/login", "moothall_session") not in browser.jar
    wrong = await browser.press(form, "Link and log in", password="wrong horse battery")
    assert wrong.status == 400
    done = await browser.press(wrong, "Link and log in", password=PASSWORD)
    assert done.status == 303
    assert (await sso.me(browser))["username"] == "bob"
    again = Browser(sso.platform)
    assert (await sso.log_in(again)).status == 303
    assert (await sso.me(again))["username"] == "bob"


async def test_an_address_that_the_provider_has_not_verified_reaches_no_account(sso: SingleSignOn) -> None:
    holder = await registered(sso.platform, "bob")
    assert holder.caller is not None
    await set_columns(
        sso.platform, holder.caller.id, email="bob@corp.example", email_key="bob@corp.example", verified=True
    )
    sso.server.person |= {"email": "bob@corp.example", "email_verified": False}
    browser = Browser(sso.platform)
    await sso.log_in(browser)
    me = await sso.me(browser)
    assert (me["username"], me["email"]) == ("anna", None)


async def linked(sso: SingleSignOn, name: str = "wanda") -> Browser:
    """A browser of a user who has a password, and has linked the provider in the settings."""
    browser = await registered(sso.platform, name)
    await browser.press(await browser.visit("/login"), "Log in", login=name, password=PASSWORD)
    page = await browser.visit("/settings/login-providers")
    sent = await browser.press(page, "Link Corp", password=PASSWORD)
    assert sent.status == 303, sent.text
    answer = urlsplit(sso.server.authorize(sent.location))
    done = await browser.visit(f"{answer.path}?{answer.query}")
    assert (done.status, done.location) == (303, "/settings/login-providers")
    return browser


async def test_a_provider_is_linked_in_the_settings_with_the_password_alone_and_unlinked(sso: SingleSignOn) -> None:
    browser = await linked(sso)
    page = await browser.visit("/settings/login-providers")
    assert "You are Anna there." in page.text
    other = Browser(sso.platform)
    await sso.log_in(other)
    assert (await sso.me(other))["username"] == "wanda"
    for password in ("", "wrong horse battery"):
        refused = await browser.press(page, "Unlink Corp", password=password)
        assert refused.status == 400
    done = await browser.press(page, "Unlink Corp", password=PASSWORD)
    assert done.status == 303
    # The login by the provider has ended; this one has not.
    assert (await other.visit("/settings/sessions")).status == 303
    assert (await browser.visit("/settings/sessions")).status == 200


async def test_an_unlinked_identity_gives_no_second_account(sso: SingleSignOn) -> None:
    browser = await linked(sso)
    await browser.press(await browser.visit("/settings/login-providers"), "Unlink Corp", password=PASSWORD)
    stranger = Browser(sso.platform)
    form = await sso.log_in(stranger)
    assert "Is this your account?" in form.text
    done = await stranger.press(form, "Link and log in", password=PASSWORD)
    assert done.status == 303
    assert (await sso.me(stranger))["username"] == "wanda"


async def test_a_link_of_one_account_is_not_taken_by_another(sso: SingleSignOn) -> None:
    await linked(sso)
    thief = await registered(sso.platform, "thief")
    await thief.press(await thief.visit("/login"), "Log in", login="thief", password=PASSWORD)
    sent = await thief.press(await thief.visit("/settings/login-providers"), "Link Corp", password=PASSWORD)
    answer = urlsplit(sso.server.authorize(sent.location))
    refused = await thief.visit(f"{answer.path}?{answer.query}")
    assert refused.status == 400
    assert "Another account logs in with this" in refused.text
    await sso.log_in(other := Browser(sso.platform))
    assert (await sso.me(other))["username"] == "wanda"


async def test_a_link_is_for_the_account_that_has_proved_it(sso: SingleSignOn) -> None:
    victim = await registered(sso.platform, "wanda")
    await victim.press(await victim.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    sent = await victim.press(await victim.visit("/settings/login-providers"), "Link Corp", password=PASSWORD)
    answer = urlsplit(sso.server.authorize(sent.location))
    # Meanwhile another user logs in with that browser.
    await registered(sso.platform, "other")
    await victim.press(await victim.visit("/login"), "Log in", login="other", password=PASSWORD)
    refused = await victim.visit(f"{answer.path}?{answer.query}")
    assert refused.status == 400
    await sso.log_in(browser := Browser(sso.platform))
    assert (await sso.me(browser))["username"] == "anna"


async def test_a_second_factor_is_asked_for_after_the_provider_too(sso: SingleSignOn) -> None:
    alice = await careful(sso.platform)
    reply = await sso.operator.post(
        f"/admin/v1/users/{alice.caller.id}/identities/{sso.provider_id}", {"subject": "anna-1"}
    )
    assert reply.status == 204, reply.body
    browser = Browser(sso.platform)
    form = await sso.log_in(browser, next="/developers")
    assert "Two-factor authentication" in form.text
    assert ("/login", "moothall_session") not in browser.jar
    done = await browser.press(form, "Log in", code=alice.phone.next_code())
    assert (done.status, done.location) == (303, "/developers")
    # The login counts as one by the provider, which can end it.
    await log_out_by_provider(sso, sub="anna-1")
    assert (await browser.visit("/settings/sessions")).status == 303


async def log_out_by_provider(sso: SingleSignOn, status: int = 200, **claims: Any) -> None:
    reply = await sso.platform.anonymous.request(
        "POST",
        "/auth/back-channel-logout/corp",
        raw=urlencode({"logout_token": sso.server.logout_token(**claims)}).encode(),
        content_type="application/x-www-form-urlencoded",
    )
    assert reply.status == status, reply.body


async def test_the_provider_ends_the_logins_of_its_session_or_its_person(sso: SingleSignOn) -> None:
    sso.server.claims = {"sid": "s1"}
    first, second = Browser(sso.platform), Browser(sso.platform)
    await sso.log_in(first)
    sso.server.claims = {"sid": "s2"}
    await sso.log_in(second)
    await log_out_by_provider(sso, sid="s1")
    assert (await first.visit("/settings/sessions")).status == 303
    assert (await second.visit("/settings/sessions")).status == 200
    assert any(envelope.name == "SESSIONS_CLOSE" or envelope.audience == 4 for envelope in sso.platform.heard)
    await log_out_by_provider(sso, sub="anna-1")
    assert (await second.visit("/settings/sessions")).status == 303


@pytest.mark.parametrize(
    "claims",
    [
        {"aud": "another-client"},
        {"iss": "https://other.example"},
        {"events": {}},
        {"events": None},
        {"nonce": "n"},
        {"iat": int(time.time()) - 3600, "exp": None},
        {"iat": int(time.time()) + 3600},
        {"exp": int(time.time()) - 3600},
        {"sub": None, "sid": None},
        {"jti": None},
    ],
)
async def test_a_logout_token_that_is_not_good_ends_nothing(sso: SingleSignOn, claims: dict[str, Any]) -> None:
    browser = Browser(sso.platform)
    await sso.log_in(browser)
    await log_out_by_provider(sso, 400, **{"sub": "anna-1"} | claims)
    assert (await browser.visit("/settings/sessions")).status == 200


async def test_a_logout_token_that_is_sent_again_ends_no_later_login(sso: SingleSignOn) -> None:
    token = sso.server.logout_token(sub="anna-1")
    CLOCK.advance(120)
    browser = Browser(sso.platform)
    await sso.log_in(browser)
    reply = await sso.platform.anonymous.request(
        "POST",
        "/auth/back-channel-logout/corp",
        raw=urlencode({"logout_token": token}).encode(),
        content_type="application/x-www-form-urlencoded",
    )
    assert reply.status in {200, 400}
    assert (await browser.visit("/settings/sessions")).status == 200


async def test_a_suspended_person_does_not_come_back_with_the_provider(sso: SingleSignOn) -> None:
    browser = Browser(sso.platform)
    await sso.log_in(browser)
    me = await sso.me(browser)
    assert (await sso.operator.post(f"/admin/v1/users/{me['id']}/suspend")).status == 200
    refused = await sso.log_in(Browser(sso.platform))
    assert refused.status == 403
    assert "has disabled this account" in refused.text
    # Nor by the deletion of the account.
    assert (await sso.operator.delete(f"/admin/v1/users/{me['id']}", days=0)).status == 200
    await sso.platform.run_due_jobs()
    closed = await sso.log_in(Browser(sso.platform))
    assert closed.status == 403
    assert "was closed" in closed.text
    # Only an operator lets them begin again.
    reply = await sso.operator.post(f"/admin/v1/identity-providers/{sso.provider_id}/release", {"subject": "anna-1"})
    assert reply.status == 204, reply.body
    assert (await sso.log_in(Browser(sso.platform))).status == 303
    assert "identity.release" in await acts(sso.platform)


async def test_who_is_banned_from_a_guild_gets_no_new_account_by_deleting_the_old_one(sso: SingleSignOn) -> None:
    browser = Browser(sso.platform)
    await sso.log_in(browser)
    me = await sso.me(browser)
    guild = await sso.platform.guild(await sso.platform.person())
    assert (await guild.owner.put(f"/guilds/{guild.id}/bans/{me['id']}")).status == 204
    caller = Caller(sso.platform, int(me["id"]), session_of(browser))  # type: ignore[arg-type]
    # An account without a password is proved by a new login.
    assert (await caller.post("/users/@me/delete", {})).status == 204
    CLOCK.advance(15 * 86_400)
    await sso.platform.run_due_jobs()
    assert (await sso.log_in(Browser(sso.platform))).status == 403


async def test_who_was_not_banned_begins_anew_after_the_deletion(sso: SingleSignOn) -> None:
    browser = Browser(sso.platform)
    await sso.log_in(browser)
    me = await sso.me(browser)
    caller = Caller(sso.platform, int(me["id"]), session_of(browser))  # type: ignore[arg-type]
    assert (await caller.post("/users/@me/delete", {})).status == 204
    # Until then it can be restored with the provider.
    refused = await sso.log_in(Browser(sso.platform))
    assert (refused.status, "Restore my account" in refused.text) == (403, True)
    restored = Browser(sso.platform)
    assert (await sso.log_in(restored, undelete="on")).status == 303
    assert (await sso.me(restored))["id"] == me["id"]
    caller = Caller(sso.platform, int(me["id"]), session_of(restored))  # type: ignore[arg-type]
    assert (await caller.post("/users/@me/delete", {})).status == 204
    CLOCK.advance(15 * 86_400)
    await sso.platform.run_due_jobs()
    fresh = Browser(sso.platform)
    assert (await sso.log_in(fresh)).status == 303
    assert (await sso.me(fresh))["id"] != me["id"]


async def test_an_account_without_a_password_needs_a_new_login_for_dangerous_acts(sso: SingleSignOn) -> None:
    browser = Browser(sso.platform)
    await sso.log_in(browser)
    caller = Caller(sso.platform, int((await sso.me(browser))["id"]), session_of(browser))  # type: ignore[arg-type]
    CLOCK.advance(601)
    assert (await caller.post("/users/@me/delete", {})).status == 400
    assert (await caller.patch("/users/@me", {"username": "anna.two"})).status == 400
    await sso.log_in(browser)
    caller = Caller(sso.platform, caller.id, session_of(browser))
    assert (await caller.patch("/users/@me", {"username": "anna.two"})).status == 200


async def test_the_only_way_into_an_account_is_not_unlinked(sso: SingleSignOn) -> None:
    browser = Browser(sso.platform)
    await sso.log_in(browser)
    page = await browser.visit("/settings/login-providers")
    refused = await browser.press(page, "Unlink Corp")
    assert refused.status == 400
    assert "You could not log in any more" in refused.text


async def test_groups_give_memberships_and_roles_and_take_them_again(sso: SingleSignOn) -> None:
    platform = sso.platform
    guild = await platform.guild(await platform.person())
    staff, admins, own = [await guild.role(name=name) for name in ("staff", "admins", "own")]
    await sso.map_group("staff", guild.id, staff)
    await sso.map_group("admins", guild.id, admins)
    sso.server.claims = {"groups": ["staff", "admins", "elsewhere"]}
    browser = Browser(platform)
    await sso.log_in(browser)
    user_id = (await sso.me(browser))["id"]

    async def roles() -> set[str] | None:
        reply = await guild.owner.get(f"/guilds/{guild.id}/members/{user_id}")
        return set(reply.json["roles"]) if reply.status == 200 else None

    def ids(*role_ids: int) -> set[str]:
        return {str(int(each)) for each in role_ids}

    assert await roles() == ids(staff, admins)
    # A role of the guild's own stays, one of a group that the person has left goes.
    assert (await guild.owner.put(f"/guilds/{guild.id}/members/{user_id}/roles/{own}")).status == 204
    sso.server.claims = {"groups": ["staff"]}
    await sso.log_in(Browser(platform))
    assert await roles() == ids(staff, own)
    # So does a role of a group that a moderator gave by hand.
    assert (await guild.owner.put(f"/guilds/{guild.id}/members/{user_id}/roles/{admins}")).status == 204
    await sso.log_in(Browser(platform))
    assert await roles() == ids(staff, own)
    # Without any group of the guild, the membership that a group has given ends.
    sso.server.claims = {"groups": []}
    await sso.log_in(Browser(platform))
    assert await roles() is None
    assert "GUILD_MEMBER_REMOVE" in platform.heard_names
    assert any(reason == "Groups of Corp" for _, _, reason in await guild.audit_log())


async def test_groups_give_nothing_before_the_second_factor(sso: SingleSignOn) -> None:
    platform = sso.platform
    guild = await platform.guild(await platform.person())
    staff = await guild.role(name="staff")
    await sso.map_group("staff", guild.id, staff)
    alice = await careful(platform)
    reply = await sso.operator.post(
        f"/admin/v1/users/{alice.caller.id}/identities/{sso.provider_id}", {"subject": "anna-1"}
    )
    assert reply.status == 204, reply.body
    sso.server.claims = {"groups": ["elsewhere", "staff"]}
    member = f"/guilds/{guild.id}/members/{alice.caller.id}"
    browser = Browser(platform)
    form = await sso.log_in(browser)
    assert (await guild.owner.get(member)).status == 404
    wrong = await browser.press(form, "Log in", code="000000")
    assert (await guild.owner.get(member)).status == 404
    assert (await browser.press(wrong, "Log in", code=alice.phone.next_code())).status == 303
    assert (await guild.owner.get(member)).json["roles"] == [str(int(staff))]
    # Nor do they take anything before it.
    sso.server.claims = {"groups": []}
    form = await sso.log_in(browser)
    assert (await guild.owner.get(member)).status == 200
    assert (await browser.press(form, "Log in", code=alice.phone.next_code())).status == 303
    assert (await guild.owner.get(member)).status == 404


async def test_an_account_that_may_not_log_in_is_not_linked(sso: SingleSignOn) -> None:
    holder = await registered(sso.platform, "bob")
    assert holder.caller is not None
    await set_columns(
        sso.platform, holder.caller.id, email="bob@corp.example", email_key="bob@corp.example", verified=True
    )
    sso.server.person |= {"email": "bob@corp.example", "email_verified": True}
    browser = Browser(sso.platform)
    form = await sso.log_in(browser)
    # Suspended while its owner types the password.
    assert (await sso.operator.post(f"/admin/v1/users/{holder.caller.id}/suspend")).status == 200
    refused = await browser.press(form, "Link and log in", password=PASSWORD)
    assert (refused.status, "has disabled this account" in refused.text) == (403, True)
    url = f"/admin/v1/users/{holder.caller.id}/identities"
    assert (await sso.operator.get(url)).json == []
    assert (await sso.operator.post(f"/admin/v1/users/{holder.caller.id}/restore")).status == 200
    assert (await browser.press(form, "Link and log in", password=PASSWORD)).status == 303
    assert [each["subject"] for each in (await sso.operator.get(url)).json] == ["anna-1"]


async def test_a_membership_that_no_group_has_given_stays_without_the_roles(sso: SingleSignOn) -> None:
    platform = sso.platform
    guild = await platform.guild(await platform.person())
    staff = await guild.role(name="staff")
    browser = Browser(platform)
    await sso.log_in(browser)
    member = Caller(platform, int((await sso.me(browser))["id"]), session_of(browser), name="anna")  # type: ignore[arg-type]
    await guild.join(member)
    await sso.map_group("staff", guild.id, staff)
    sso.server.claims = {"groups": "staff"}
    await sso.log_in(Browser(platform))
    sso.server.claims = {}
    await sso.log_in(Browser(platform))
    reply = await guild.owner.get(f"/guilds/{guild.id}/members/{member.id}")
    assert (reply.status, reply.json["roles"]) == (200, [])


async def test_a_ban_is_stronger_than_a_group_and_the_login_goes_on(sso: SingleSignOn) -> None:
    platform = sso.platform
    guild = await platform.guild(await platform.person())
    await sso.map_group("staff", guild.id)
    sso.server.claims = {"groups": ["staff"]}
    browser = Browser(platform)
    await sso.log_in(browser)
    user_id = (await sso.me(browser))["id"]
    assert (await guild.owner.put(f"/guilds/{guild.id}/bans/{user_id}")).status == 204
    assert (await sso.log_in(Browser(platform))).status == 303
    assert (await guild.owner.get(f"/guilds/{guild.id}/members/{user_id}")).status == 404


async def test_claims_of_the_userinfo_count_if_they_are_about_the_same_person(sso: SingleSignOn) -> None:
    sso.server.userinfo = {"email": "anna@corp.example", "email_verified": True}
    browser = Browser(sso.platform)
    await sso.log_in(browser)
    assert (await sso.me(browser))["email"] == "anna@corp.example"
    sso.server.userinfo = {"sub": "somebody-else"}
    assert (await sso.log_in(Browser(sso.platform))).status == 503


async def test_a_provider_that_makes_no_accounts_lets_in_only_those_who_have_one(sso: SingleSignOn) -> None:
    await sso.change(creates_accounts=False)
    refused = await sso.log_in(Browser(sso.platform))
    assert refused.status == 403
    assert "There is no account for you here." in refused.text
    person = await sso.platform.person("anna")
    url = f"/admin/v1/users/{person.id}/identities/{sso.provider_id}"
    assert (await sso.operator.post(url, {"subject": "anna-1"})).status == 204
    browser = Browser(sso.platform)
    assert (await sso.log_in(browser)).status == 303
    listed = (await sso.operator.get(f"/admin/v1/users/{person.id}/identities")).json
    assert [(each["provider"], each["subject"]) for each in listed] == [("corp", "anna-1")]


async def test_without_passwords_only_the_other_ways_in_are_left(sso: SingleSignOn) -> None:
    person = await registered(sso.platform)
    switch_passwords_off(sso.platform)
    anonymous = sso.platform.anonymous
    assert (await anonymous.post("/auth/login", {"login": "wanda", "password": PASSWORD})).code == 40006
    assert (await anonymous.post("/auth/register", {"username": "new", "password": PASSWORD})).code == 40006
    assert (await anonymous.post("/auth/forgot", {"login": "wanda"})).code == 40006
    page = await person.visit("/login")
    assert "Password" not in page.text
    assert not (await anonymous.get("/auth/methods")).json["passwords"]
    # The password still proves the account, once, to link it.
    assert person.caller is not None
    await set_columns(sso.platform, person.caller.id, email="w@corp.example", email_key="w@corp.example", verified=True)
    sso.server.person |= {"email": "w@corp.example", "email_verified": True}
    form = await sso.log_in(person)
    assert (await person.press(form, "Link and log in", password=PASSWORD)).status == 303


async def test_the_end_of_a_provider_ends_its_logins_and_leaves_the_accounts(sso: SingleSignOn) -> None:
    browser = Browser(sso.platform)
    await sso.log_in(browser)
    me = await sso.me(browser)
    assert (await sso.operator.delete(f"/admin/v1/identity-providers/{sso.provider_id}")).status == 204
    assert (await browser.visit("/settings/sessions")).status == 303
    assert (await sso.operator.get(f"/admin/v1/users/{me['id']}")).status == 200
    assert await acts(sso.platform) == ["operator.add", "provider.add", "provider.remove"]
