"""Limits of the pages, and their cost while they are unused."""

import codecs
import logging
import subprocess
import sys
from typing import Any

import pytest

from moothall.api.ratelimit import RateLimiter
from moothall.storage.database import Database
from tests.oauth2.flow import CALLBACK, application
from tests.pages.browser import PASSWORD, Browser, registered
from tests.support.harness import Platform


async def test_consenting_is_throttled(database: Database) -> None:
    platform = Platform(database, limiter=RateLimiter(loopback_multiplier=1, clock=lambda: 1_000_000.0))
    app, person = await application(platform), Browser(platform, await platform.person())
    link = f"/oauth2/authorize?client_id={app.id}&scope=identify&response_type=code"
    page = await person.visit(link)
    assert CALLBACK in page.text
    statuses = [(await person.press(page, "Allow")).status for _ in range(12)]
    assert (statuses[:10], set(statuses[10:])) == ([303] * 10, {429})
    refused = await person.press(page, "Allow")
    assert int(refused.headers["retry-after"]) > 0
    # Others are not held up by it.
    assert (await Browser(platform, await platform.person()).visit(link)).status == 200


async def test_logging_in_is_throttled_by_address_before_authentication(database: Database) -> None:
    platform = Platform(database, limiter=RateLimiter(loopback_multiplier=1, clock=lambda: 1_000_000.0))
    person = await registered(platform)
    page = await person.visit("/login")
    statuses = [(await person.press(page, "Log in", login="", password="x")).status for _ in range(12)]
    assert (set(statuses[:10]), set(statuses[10:])) == ({400}, {429})


async def test_a_form_that_is_too_large_is_not_read(platform: Platform) -> None:
    person = Browser(platform, await platform.person())
    page = await person.visit("/developers")
    assert (await person.press(page, "Make the app", name="x" * 70_000)).status == 413
    token = dict(page.form_with("Make the app").values())["csrf"]
    many = [("csrf", token), *((f"f{number}", "x") for number in range(300))]
    assert (await person.post("/developers", many)).status == 400


async def test_a_body_that_is_no_form_is_refused(platform: Platform) -> None:
    person = Browser(platform, await platform.person())
    for data, kind in (
        (b"\xff\xfe=%ff", "application/x-www-form-urlencoded"),
        (b"x", "multipart/form-data; boundary=b"),
    ):
        page = await person.ask("POST", "/developers", data, kind, (("origin", "http://localhost:3333"),))
        assert page.status in {400, 403}
    page = await person.ask("POST", "/developers", b'{"name": "x"}', "application/json")
    assert page.status == 403


MULTIPART = b'--b\r\nContent-Disposition: form-data; name="%s"%s\r\n\r\n%s\r\n'


async def test_a_form_with_a_character_encoding_of_its_own_is_not_decoded(platform: Platform) -> None:
    person = Browser(platform, await platform.person())
    slow = MULTIPART % (b"name", b"", b"a" * 30_000 + b"-" + b"a" * 30_000) + b"--b--\r\n"
    origin = (("origin", "http://localhost:3333"),)
    used: list[bool] = []

    def find(name: str) -> codecs.CodecInfo | None:
        def decode(data: Any, errors: str = "strict", /) -> tuple[str, int]:
            used.append(True)
            return codecs.latin_1_decode(data, errors)

        return codecs.CodecInfo(codecs.latin_1_encode, decode, name=name) if name == "slow" else None

    codecs.register(find)
    try:
        for charset in ("slow", "punycode", "UTF-8"):
            kind = f"multipart/form-data; boundary=b; charset={charset}"
            assert (await person.ask("POST", "/developers", slow, kind, origin)).status == 400
    finally:
        codecs.unregister(find)
    assert used == []


@pytest.mark.parametrize("path", ["/login", "/register", "/developers", "/developers/teams"])
async def test_only_the_settings_of_an_application_take_a_file(platform: Platform, path: str) -> None:
    person = Browser(platform, await platform.person())
    page = await person.visit("/developers")
    token = dict(page.form_with("Make the app").values())["csrf"].encode()
    fields = MULTIPART % (b"csrf", b"", token)
    origin = (("origin", "http://localhost:3333"),)
    small = fields + MULTIPART % (b"icon", b'; filename="x.png"', b"x") + b"--b--\r\n"
    assert (await person.ask("POST", path, small, "multipart/form-data; boundary=b", origin)).status == 400
    large = fields + MULTIPART % (b"icon", b'; filename="x.png"', b"x" * 70_000) + b"--b--\r\n"
    assert (await person.ask("POST", path, large, "multipart/form-data; boundary=b", origin)).status == 413


async def test_no_secret_gets_into_the_log(platform: Platform, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    person = await registered(platform)
    await person.press(await person.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    made = await person.press(await person.visit("/developers"), "Make the app", name="Herald")
    secrets = [attrs["value"] or "" for tag, attrs in made.tags if tag == "input" and "readonly" in attrs]
    await person.press(made, "Save", redirect_uris=CALLBACK)
    app_id = made.form_with("Save").action.rpartition("/")[2]
    page = await person.visit(f"/oauth2/authorize?client_id={app_id}&scope=identify&response_type=code&state=s3cr3t")
    shown = await person.press(page, "Allow")
    await person.visit("/oauth2/authorize?client_id=x&scope=identify&state=s3cr3t")
    secrets += [PASSWORD, shown.redirect_params["code"], "s3cr3t", *person.jar.values()]
    assert len(secrets) > 8
    assert [secret for secret in secrets if secret in caplog.text] == []


async def test_a_number_that_no_id_can_be_is_404(platform: Platform) -> None:
    person = Browser(platform, await platform.person())
    maximum = "9" * 19
    for path in (f"/developers/applications/{maximum}", f"/developers/teams/{maximum}", "/developers/applications/1"):
        assert (await person.visit(path)).status == 404
    page = await person.visit("/developers")
    token = dict(page.form_with("Make the app").values())["csrf"]
    assert (await person.post(f"/settings/authorized-apps/{maximum}/revoke", [("csrf", token)])).status == 404
    app = await application(platform, await platform.person())
    for query in (f"guild_id={maximum}", f"guild_id={maximum}&disable_guild_select=true"):
        page = await person.visit(f"/oauth2/authorize?client_id={app.id}&scope=bot&{query}")
        assert page.status == 400
    assert (await person.visit(f"/oauth2/authorize?client_id={maximum}&scope=bot")).status == 400


async def test_a_head_request_has_no_body(platform: Platform) -> None:
    page = await Browser(platform).ask("HEAD", "/login")
    assert (page.status, page.body) == (200, "")
    assert int(page.headers["content-length"]) > 0


async def test_a_wrong_method_is_405_with_the_allowed_ones(platform: Platform) -> None:
    person = Browser(platform, await platform.person())
    page = await person.visit("/logout")
    assert (page.status, page.headers["allow"]) == (405, "POST")


async def test_logging_out_leads_to_no_other_site(platform: Platform) -> None:
    person = await registered(platform)
    await person.press(await person.visit("/login"), "Log in", login="wanda", password=PASSWORD)
    page = await person.visit("/developers")
    shown = await person.press(page, "Log out", next="//evil.example")
    assert (shown.status, shown.location) == (303, "/login")


def test_a_server_without_page_requests_loads_no_template_engine() -> None:
    program = "import sys, moothall.app.server; print({'jinja2', 'aiohttp', 'starlette'} & set(sys.modules))"
    loaded = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert loaded.stdout.strip() == "set()"
