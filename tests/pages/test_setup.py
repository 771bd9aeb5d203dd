"""The page of the first operator, in a browser without scripts."""

from tests.pages.browser import PASSWORD, Browser
from tests.support.harness import Platform
from tests.support.operators import acts, claim_token, make_operator


async def test_the_first_operator_is_made_in_the_browser(platform: Platform) -> None:
    token = await claim_token(platform)
    browser = Browser(platform)
    page = await browser.visit(f"/setup?token={token}")
    weak = await browser.press(page, "Set up the server", username="olga", password="password")
    assert weak.status == 400
    done = await browser.press(
        weak, "Set up the server", username="olga", password=PASSWORD, instance_name="The Hall", registration="closed"
    )
    assert done.status == 200
    assert "olga is the operator of this server" in done.text
    assert (await browser.visit("/developers")).status == 200
    assert "Registration is closed" in (await Browser(platform).visit("/register")).text
    assert "The Hall" in (await Browser(platform).visit("/login")).text
    assert "not valid any more" in (await Browser(platform).visit(f"/setup?token={token}")).text
    assert await acts(platform) == ["operator.claim", "setting.change"]


async def test_without_the_link_the_page_has_no_form(platform: Platform) -> None:
    token = await claim_token(platform)
    for wrong in ("", "x", "x" * 5_000, "%00", "%F0%9F%98%80"):
        page = await Browser(platform).visit(f"/setup?token={wrong}")
        assert page.forms == []
    browser = Browser(platform)
    form = (await browser.visit(f"/setup?token={token}")).form_with("Set up the server")
    values = [(name, {"username": "eve", "password": PASSWORD}.get(name, value)) for name, value in form.values()]
    assert (await browser.post("/setup", values, origin="https://evil.example")).status == 403
    assert (await browser.post("/setup", [pair for pair in values if pair[0] != "csrf"])).status == 403
    await make_operator(platform)
    late = await browser.post("/setup", values)
    assert late.status == 400
    assert "not valid any more" in late.text
