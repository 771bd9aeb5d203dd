"""The frame of an Activity and what it asks, by axe: in both themes, at a desk, on a phone, and zoomed to 400 %."""

from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import expect

from tests.clients.activity_page import SHARED, ActivityPage, Api, brag
from tests.clients.client_pages import AXE
from tests.support.suites import leave_out
from tests.support.web_client import CUT_OFF

ICON: Final = Path(__file__).with_name("icon.png")
WINDOWS: Final = ((1280, 800), (390, 844), (320, 256))
"""A desk, a phone, and a window of 1280 x 1024 pixels zoomed to 400 %."""
_RUN: Final = """options => axe.run(document, { ...options, iframes: false, resultTypes: ["violations"] }).then(
    ({ violations: all }) => all.flatMap(({ id, nodes }) => nodes.map(({ html }) => `${id}: ${html.slice(0, 160)}`)))"""
_HIDDEN_PAGE: Final = {rule: {"enabled": False} for rule in ("landmark-one-main", "page-has-heading-one")}
"""What a page has while no dialog hides it from assistive technology."""
_QUESTIONS: Final[dict[str, Any]] = {
    "initiateImageUpload": None,
    "openExternalLink": {"url": "https://example.com/a/page/with/a/rather/long/address/that/has/to/be/broken"},
    "openInviteDialog": None,
    "shareInteraction": {"command": "brag", "options": SHARED, "content": "Level 7!"},
    "shareLink": {"message": "Play!"},
}
"""Commands of the SDK that open a dialog."""


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false", "allow_private_addresses": "true"}


async def check(activity: ActivityPage, name: str) -> None:
    """Expect no violation in either theme, and nothing beyond the edges of any window."""
    page = activity.client.page
    for width, height in WINDOWS:
        await page.set_viewport_size({"width": width, "height": height})
        await page.wait_for_function("width => innerWidth === width", arg=width)
        # What stands under the pointer now shows no tooltip, which is outside all regions of the page.
        await page.mouse.move(0, 0)
        await expect(page.get_by_role("tooltip")).to_have_count(0)
        assert await page.evaluate(CUT_OFF) == [], (name, width)
        for theme in ("light", "dark"):
            await page.emulate_media(color_scheme=theme)
            only = (
                {"rules": _HIDDEN_PAGE}
                if theme == "light"
                else {"runOnly": {"type": "rule", "values": ["color-contrast"]}}
            )
            assert await page.evaluate(_RUN, only) == [], (name, theme, width)


async def test_no_dialog_of_an_activity_violates_a_rule_of_accessibility(activity: ActivityPage, api: Api) -> None:
    if not AXE.exists():
        leave_out("web-client", "axe-core is not installed: make test installs it where there is npm")
    page = activity.client.page
    dialog = page.get_by_role("dialog")
    await brag(activity, api)
    await page.evaluate(AXE.read_text(encoding="utf-8") + "; undefined")
    await check(activity, "the bar")
    params = {"client_id": activity.application["id"], "response_type": "code", "state": "", "scope": ["identify"]}
    for command, args in {"authorize": params, **_QUESTIONS}.items():
        asking = activity.start(command, args)
        await expect(dialog).to_be_visible()
        await check(activity, command)
        await page.keyboard.press("Escape")
        await expect(dialog).to_have_count(0)
        await asking
    await page.get_by_role("button", name="Make small").click()
    await expect(page.locator(".activity-pip")).to_be_visible()
    await check(activity, "small")
    await page.set_viewport_size({"width": 1280, "height": 800})
    await page.get_by_role("button", name="Leave the Activity").click()
    await expect(page.locator(".activity")).to_have_count(0)
    await page.get_by_role("button", name="Activities").click()
    shelf = page.get_by_role("complementary", name="Activities")
    await expect(shelf.get_by_role("button", name="Launch", exact=True)).to_be_visible()
    await check(activity, "the shelf")
    assert activity.client.errors == []
