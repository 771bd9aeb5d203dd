"""The client's layout in Chromium: zoomed to 400 %, from right to left, with the device's colours, without motion."""

import json
from collections.abc import Iterable
from io import BytesIO
from typing import Any, Final, NamedTuple

import pytest
from PIL import Image, ImageChops
from playwright.async_api import Browser, Page, expect
from playwright.async_api import TimeoutError as PlaywrightTimeout

from tests.clients.client_pages import Account, ClientPage, becomes, call, select_button, sign_up
from tests.clients.live import Server
from tests.support.web_client import CUT_OFF

ZOOMED: Final[dict[str, Any]] = {"viewport": {"width": 320, "height": 256}, "device_scale_factor": 4}
"""A window of 1280 x 1024 pixels, zoomed to 400 %."""
_FOCUS_IN_SIGHT: Final = """() => {
    const focused = document.activeElement;
    if (focused === document.body) {
        return true;
    }
    // The switches' own inputs are hidden inside of their labels.
    const target = focused.closest("label") ?? focused;
    const { left, top, width, height } = target.getBoundingClientRect();
    return [0.1, 0.5, 0.9].some((x) => [0.1, 0.5, 0.9].some((y) => {
        const front = document.elementFromPoint(left + x * width, top + y * height);
        return target.contains(front) || (target.matches(".post-title") && front?.closest(".post"));
    }));
}"""
_BOXES: Final = """() => [...document.querySelectorAll(
    "nav, main, header, h1, .sidebar, .settings-body, .composer-row, .field, .switch-track, .user-panel .avatar"
)].filter(
    (each) => !each.closest(".content") && each.checkVisibility({ visibilityProperty: true })
).map((each) => {
    const { left, right, width } = each.getBoundingClientRect();
    const name = `${each.tagName} ${each.getAttribute("class") ?? ""}`;
    const isMirrored = document.documentElement.dir === "rtl";
    return isMirrored ? [name, innerWidth - right, innerWidth - left] : [name, left, right];
})"""
_MARKS: Final = """(each) => {
    const { backgroundColor, borderBlockEndColor, outlineColor, outlineStyle, boxShadow } = getComputedStyle(each);
    const isForced = matchMedia("(forced-colors: active)").matches;
    const outline = outlineStyle === "none" ? "" : outlineColor;
    return [backgroundColor, borderBlockEndColor, outline, isForced ? "" : boxShadow].join();
}"""
"""The colours that make a control differ from its neighbours."""
_FOCUSED: Final = "document.activeElement.outerHTML.slice(0, 160)"
_FOCUS_BOX: Final = """() => {
    const focused = document.activeElement;
    const target = focused.closest("label, .composer-row, .search-field, .post") ?? focused;
    const { left, top, right, bottom } = target.getBoundingClientRect();
    const x = Math.max(0, left - 6), y = Math.max(0, top - 6);
    return { x, y, width: Math.min(innerWidth, right + 6) - x, height: Math.min(innerHeight, bottom + 6) - y };
}"""
_WATCH_MOTION: Final = """() => {
    window.motions = [];
    // It shows a text later, and moves nothing.
    addEventListener("animationstart", ({ animationName }) => {
        if (animationName !== "message-sending") {
            window.motions.push(animationName);
        }
    }, true);
    addEventListener("transitionrun", () => window.motions.push("transition"), true);
}"""


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false"}


class Community(NamedTuple):
    """An account, and what its main screens show."""

    account: Account
    friend: Account
    guild_id: str
    channel_id: str
    screens: dict[str, tuple[str, str]]
    """The path of each screen, and what it shows once it is whole."""


async def make_friends(url: str, one: Account, other: Account) -> None:
    """Let one ask and the other accept."""
    await call(url, one, "PUT", f"/users/@me/relationships/{other.id}", {})
    await call(url, other, "PUT", f"/users/@me/relationships/{one.id}", {})


@pytest.fixture(scope="module")
async def community(server: Server) -> Community:
    """A guild in which two friends have talked."""
    url = server.url
    ada, ben = await sign_up(url, "ada_layout"), await sign_up(url, "ben_layout")
    await make_friends(url, ada, ben)
    guild = await call(url, ada, "POST", "/guilds", {"name": "The Moot by the river"})
    path = f"/guilds/{guild['id']}"
    channels = await call(url, ada, "GET", f"{path}/channels")
    channel = next(each["id"] for each in channels if each["type"] == 0)
    invite = await call(url, ada, "POST", f"/channels/{channel}/invites", {})
    await call(url, ben, "POST", f"/invites/{invite['code']}", {})
    await call(url, ada, "PATCH", f"/channels/{channel}", {"topic": "Where we meet"})
    await call(url, ada, "POST", f"{path}/channels", {"name": "Hall", "type": 2})
    role = await call(url, ada, "POST", f"{path}/roles", {"name": "Keepers", "hoist": True})
    await call(url, ada, "PUT", f"{path}/members/{ben.id}/roles/{role['id']}")
    features = {"features": ["COMMUNITY"], "rules_channel_id": channel, "public_updates_channel_id": channel}
    await call(url, ada, "PATCH", path, features)
    forum = {"name": "questions", "type": 15, "available_tags": [{"name": "river"}, {"name": "summer"}]}
    forum_id = (await call(url, ada, "POST", f"{path}/channels", forum))["id"]
    post = {"name": "When does the river rise?", "message": {"content": "In spring, says `the almanac`."}}
    await call(url, ben, "POST", f"/channels/{forum_id}/threads", post)
    messages = f"/channels/{channel}/messages"
    first = await call(url, ada, "POST", messages, {"content": "Who brings the tea? **Soon**: `tea --hot`"})
    reply = {"content": f"I do, <@{ada.id}>", "message_reference": {"message_id": first["id"]}}
    await call(url, ben, "POST", messages, reply)
    await call(url, ada, "PUT", f"{messages}/{first['id']}/reactions/%F0%9F%8D%B5/@me")
    answers = [{"poll_media": {"text": text}} for text in ("Green", "Black")]
    poll = {"question": {"text": "Which one?"}, "answers": answers, "duration": 24}
    polled = await call(url, ben, "POST", messages, {"poll": poll})
    await call(url, ada, "PUT", f"/channels/{channel}/polls/{polled['id']}/answers/@me", {"answer_ids": [1]})
    await call(url, ben, "POST", messages, {"content": "שלום, מי שם? 3 hours"})
    direct = await call(url, ada, "POST", "/users/@me/channels", {"recipients": [ben.id]})
    await call(url, ben, "POST", f"/channels/{direct['id']}/messages", {"content": "See you there"})
    screens = {
        "friends": ("/channels/@me/friends", ".friends-panel"),
        "channel list": (f"/channels/{guild['id']}", ".channel-row[data-channel]"),
        "channel": (f"/channels/{guild['id']}/{channel}", "article.message >> nth=3"),
        "forum": (f"/channels/{guild['id']}/{forum_id}", ".post"),
        "settings": ("/app/settings/appearance", ".radio-card"),
        "profile": ("/app/settings/profile", ".profile-preview"),
        "guild settings": (f"/app/guilds/{guild['id']}/settings/overview", ".settings-form .switch"),
        "role": (f"/app/guilds/{guild['id']}/settings/roles/{role['id']}", ".settings-tab"),
    }
    return Community(ada, ben, guild["id"], channel, screens)


class Layout:
    """The client of the community's account, in one page for all screens."""

    def __init__(self, client: ClientPage, community: Community) -> None:
        self.client = client
        self.page = client.page
        self.community = community

    @classmethod
    async def open(cls, browser: Browser, server: Server, community: Community, **options: Any) -> "Layout":
        """Open the client at its first screen. `preferences` are the client's own."""
        preferences = options.pop("preferences", {})
        stored = community.account.stored | {"moothall.preferences": json.dumps(preferences)}
        path, _ = community.screens["friends"]
        client = await ClientPage.open(browser, server.url, path, stored=stored, **options)
        layout = cls(client, community)
        await layout.show("friends")
        return layout

    async def show(self, screen: str) -> None:
        """Show a screen without loading the client again, once it is whole."""
        path, whole = self.community.screens[screen]
        await self.page.evaluate(
            "path => { history.pushState({}, '', path); dispatchEvent(new PopStateEvent('popstate')) }", path
        )
        await expect(self.page.locator(whole).first).to_be_visible()
        await expect(self.page.locator(".skeleton")).to_have_count(0)

    async def open_dialog(self, name: str) -> None:
        """Open a dialog over the channel, or the panel of its threads."""
        await self.show("channel")
        if name == "switcher":
            await self.page.keyboard.press("Control+k")
            await expect(self.page.locator(".switcher-item").first).to_be_visible()
        elif name == "emojis":
            await self.page.locator(".composer-row .lucide-smile").click()
            await expect(self.page.locator("[frimousse-emoji]:visible").first).to_be_visible()
        else:
            await self.page.locator(".channel-header .lucide-spool").click()
            await expect(self.page.locator(".side-panel .thread-tabs")).to_be_visible()

    async def close_dialog(self) -> None:
        """Close the dialog that is open."""
        await self.page.keyboard.press("Escape")
        await expect(self.page.get_by_role("dialog")).to_have_count(0)

    async def cut_off(self) -> list[str]:
        """What is outside of the window, or can only be seen by scrolling sideways."""
        lines: list[str] = await self.page.evaluate(CUT_OFF)
        return lines

    async def hidden_focus(self, stops: int) -> list[str]:
        """Go through a screen by the Tab key; the first control that has the focus and stays out of sight."""
        for _ in range(stops):
            await self.page.keyboard.press("Tab")
            try:
                await self.page.wait_for_function(_FOCUS_IN_SIGHT, timeout=5_000)
            except PlaywrightTimeout:
                return [await self.page.evaluate(_FOCUSED)]
        return []

    async def boxes(self) -> list[tuple[str, float, float]]:
        """The parts of the screen, each with the distances of its start and its end from the window's start."""
        rows: list[list[Any]] = await self.page.evaluate(_BOXES)
        return [(name, start, end) for name, start, end in rows]


@pytest.mark.parametrize("locale", ["en-US", "de-DE"])
async def test_zoomed_to_400_percent_nothing_is_cut_off_and_the_focus_stays_in_sight(
    browser: Browser, server: Server, community: Community, locale: str
) -> None:
    layout = await Layout.open(browser, server, community, locale=locale, **ZOOMED)
    for screen in community.screens:
        await layout.show(screen)
        assert await layout.cut_off() == [], screen
        # The order of the controls is the same in each language.
        if locale == "en-US":
            assert await layout.hidden_focus(22) == [], screen
    for dialog in ("switcher", "emojis", "threads"):
        await layout.open_dialog(dialog)
        assert await layout.cut_off() == [], dialog
        assert await layout.hidden_focus(8) == [], dialog
        await layout.close_dialog()
    await layout.show("guild settings")
    await layout.page.locator(".field input").first.fill("Another name")
    await expect(layout.page.locator(".save-bar")).to_be_attached()
    assert await layout.cut_off() == []
    assert await layout.hidden_focus(30) == []
    assert layout.client.errors == []


async def test_a_window_of_200_pixels_in_height_has_room_to_read_and_to_write(
    browser: Browser, server: Server, community: Community
) -> None:
    layout = await Layout.open(browser, server, community, **ZOOMED)
    await layout.show("channel")
    heights = "each => each.getBoundingClientRect().height"
    assert await layout.page.locator(".timeline").evaluate(heights) >= 96
    await layout.client.box.fill("Written in a small window")
    await layout.client.box.press("Enter")
    await expect(layout.client.message("Written in a small window")).to_be_in_viewport()
    await layout.page.get_by_role("button", name="Back").click()
    await expect(layout.page.locator(".channel-row[data-channel]").first).to_be_in_viewport()


@pytest.mark.parametrize("locale", ["en-US", "de-DE"])
async def test_zoomed_to_400_percent_one_can_log_in(
    browser: Browser, server: Server, community: Community, locale: str
) -> None:
    client = await ClientPage.open(browser, server.url, locale=locale, **ZOOMED)
    await expect(client.page.locator(".auth-form button")).to_be_attached()
    layout = Layout(client, community)
    assert await layout.cut_off() == []
    assert await layout.hidden_focus(6) == []


async def test_a_language_from_right_to_left_mirrors_every_screen(
    browser: Browser, server: Server, community: Community
) -> None:
    window = {"viewport": {"width": 1280, "height": 800}}
    there = await Layout.open(browser, server, community, **window)
    back = await Layout.open(browser, server, community, preferences={"mirrored": True}, **window)
    assert await back.page.locator("html").get_attribute("dir") == "rtl"
    for screen in community.screens:
        await there.show(screen)
        await back.show(screen)

        async def differences() -> list[object]:
            return _differences(await there.boxes(), await back.boxes())

        await becomes(differences, [])
        assert await back.cut_off() == [], screen
    await back.show("role")
    icon = back.page.locator(".settings-back .lucide-arrow-left")
    await expect(icon).to_have_css("scale", "-1 1")
    await expect(there.page.locator(".settings-back .lucide-arrow-left")).to_have_css("scale", "none")


def _differences(boxes: list[tuple[str, float, float]], mirrored: list[tuple[str, float, float]]) -> list[object]:
    """The parts that stand at other places; all of them where other ones are there."""
    if [name for name, *_ in boxes] != [name for name, *_ in mirrored]:
        return [boxes, mirrored]
    pairs = zip(boxes, mirrored, strict=True)
    return [(one, other) for one, other in pairs if abs(one[1] - other[1]) > 2 or abs(one[2] - other[2]) > 2]


async def test_arrow_keys_follow_the_direction_of_the_layout(
    browser: Browser, server: Server, community: Community
) -> None:
    for preferences, onward, backward in (
        ({}, "ArrowRight", "ArrowLeft"),
        ({"mirrored": True}, "ArrowLeft", "ArrowRight"),
    ):
        layout = await Layout.open(browser, server, community, preferences=preferences)
        await layout.show("channel")
        row = layout.page.locator(".channel-line:has(> .channel-row[data-channel])").first
        await row.locator(".channel-row").focus()
        await layout.page.keyboard.press(onward)
        await expect(row.locator(".channel-edit")).to_be_focused()
        await layout.page.keyboard.press(backward)
        await expect(row.locator(".channel-row")).to_be_focused()


async def test_text_has_its_own_direction(browser: Browser, server: Server, community: Community) -> None:
    for preferences, direction in (({}, "ltr"), ({"mirrored": True}, "rtl")):
        layout = await Layout.open(browser, server, community, preferences=preferences)
        await layout.show("channel")
        await expect(layout.client.message("שלום").locator(".content")).to_have_css("direction", "rtl")
        await expect(layout.client.message("I do").locator(".content")).to_have_css("direction", "ltr")
        await expect(layout.page.locator(".content code")).to_have_css("direction", "ltr")
        await expect(layout.page.locator(".channel-topic")).to_have_css("direction", "ltr")
        await expect(layout.client.box).to_have_css("direction", direction)


_SELECTED: Final = {
    "friends": (
        (".channel-row.active", ".channel-row:not(.active)"),
        (".tab[data-selected]", ".tab:not([data-selected])"),
    ),
    "channel": (
        (".channel-row.active", ".channel-row:not(.active)"),
        (".rail-item.active", ".rail-item:not(.active)"),
        (".poll-answer[aria-pressed=true]", ".poll-answer[aria-pressed=false]"),
    ),
    "forum": ((".forum-layouts [data-selected]", ".forum-layouts .icon-button:not([data-selected])"),),
    "settings": ((".radio-card[data-selected]", ".radio-card:not([data-selected])"),),
    "role": (
        (".settings-tab[data-selected]", ".settings-tab:not([data-selected])"),
        (".switch[data-selected] .switch-track", ".switch:not([data-selected]) .switch-track"),
    ),
}  # fmt: skip
"""On some screens, what is selected and what is not."""


@pytest.mark.parametrize(
    ("preferences", "forced_colors"), [({}, "active"), ({"theme": "contrast"}, "none")], ids=["forced", "contrast"]
)
async def test_selection_and_focus_show_in_the_devices_colours_and_in_high_contrast(
    browser: Browser, server: Server, community: Community, preferences: dict[str, str], forced_colors: Any
) -> None:
    window = {"viewport": {"width": 1440, "height": 900}, "forced_colors": forced_colors, "color_scheme": "dark"}
    layout = await Layout.open(browser, server, community, preferences=preferences, **window)
    for screen, pairs in _SELECTED.items():
        await layout.show(screen)
        for selected, other in pairs:
            drawn = [await layout.page.locator(each).first.evaluate(_MARKS) for each in (selected, other)]
            assert drawn[0] != drawn[1], selected
        for _ in range(12):
            await layout.page.keyboard.press("Tab")
            if await layout.page.evaluate("document.activeElement === document.body"):
                break
            assert await _changed_by_focus(layout.page) >= 40, await layout.page.evaluate(_FOCUSED)


_HIGHLIGHTED: Final = """() => {
    const probe = document.body.appendChild(document.createElement("div"));
    Object.assign(probe.style, { color: "HighlightText", backgroundColor: "Highlight", forcedColorAdjust: "none" });
    const { color, backgroundColor } = getComputedStyle(probe);
    probe.remove();
    const isHighlighted = (each) => getComputedStyle(each).backgroundColor === backgroundColor;
    const hasText = (each) => [...each.childNodes].some((node) => node.nodeType === 3 && node.data.trim() !== "");
    return [...document.querySelectorAll("a, button, label, [role]")].filter(
        (each) => each.checkVisibility() && isHighlighted(each)
    ).flatMap((each) => [each, ...each.querySelectorAll("*")].filter(
        (part) => (hasText(part) || part.matches("svg")) && part.closest(".switch-track") === null
    ).map((part) => {
        const style = getComputedStyle(part);
        const avatar = part.closest(".avatar");
        const isRight = avatar === null
            ? style.color === color && style.forcedColorAdjust !== "auto"
            : style.color !== getComputedStyle(avatar).backgroundColor;
        return [`${each.getAttribute("class")}: ${part.tagName} ${part.textContent}`, isRight];
    }));
}"""
"""Texts and icons on the device's colour for what is selected, and whether each has the colour that goes with it."""


async def test_what_is_selected_can_be_read_in_the_devices_colours(
    browser: Browser, server: Server, community: Community
) -> None:
    layout = await Layout.open(browser, server, community, forced_colors="active")

    async def assert_readable(*texts: str) -> None:
        for text in texts:
            await expect(layout.page.get_by_text(text).first).to_be_visible()
        highlighted: list[tuple[str, bool]] = await layout.page.evaluate(_HIGHLIGHTED)
        assert highlighted
        assert [name for name, is_right in highlighted if not is_right] == []
        for text in texts:
            assert any(text in name for name, _ in highlighted), (text, highlighted)

    for screen in ("friends", "channel", "forum", "guild settings"):
        await layout.show(screen)
        await assert_readable()
    await select_button(layout.page, "System messages").press("Enter")
    await assert_readable("general")
    await layout.page.keyboard.press("Escape")
    await layout.open_dialog("switcher")
    await assert_readable()


async def _changed_by_focus(page: Page) -> int:
    """How many pixels show that a control has the focus; the control keeps it."""
    box = await page.evaluate(_FOCUS_BOX)
    with Image.open(BytesIO(await page.screenshot(clip=box, caret="hide"))) as focused:
        before = focused.convert("RGB")
    await page.evaluate("() => { window.kept = document.activeElement; window.kept.blur(); }")
    with Image.open(BytesIO(await page.screenshot(clip=box, caret="hide"))) as blurred:
        difference = ImageChops.difference(before, blurred.convert("RGB")).convert("L")
    await page.evaluate("() => window.kept.focus({ focusVisible: true })")
    return sum(difference.point(lambda value: value > 24 and 255).histogram()[255:])


@pytest.mark.parametrize(
    ("reduced_motion", "preferences"),
    [("reduce", {}), ("no-preference", {"reducedMotion": True})],
    ids=["device", "preference"],
)
async def test_nothing_moves_for_those_who_reduce_motion(
    browser: Browser, server: Server, community: Community, reduced_motion: Any, preferences: dict[str, bool]
) -> None:
    layout = await Layout.open(browser, server, community, reduced_motion=reduced_motion, preferences=preferences)
    assert await _motions(layout) == []


async def test_controls_move_for_others(browser: Browser, server: Server, community: Community) -> None:
    layout = await Layout.open(browser, server, community, reduced_motion="no-preference")
    assert "transition" in await _motions(layout, ("settings",))


async def _motions(layout: Layout, screens: Iterable[str] = ()) -> list[str]:
    """The animations and transitions that start while screens, a menu and dialogs open and controls are used."""
    page = layout.page
    await page.evaluate(_WATCH_MOTION)
    for screen in screens or layout.community.screens:
        await layout.show(screen)
    switch = page.locator("label.switch").last
    await switch.click()
    await switch.click()
    await layout.show("channel")
    await page.locator("button.sidebar-title").click()
    await expect(page.get_by_role("menu")).to_be_visible()
    await page.get_by_role("menu").press("Escape")
    await expect(page.get_by_role("menu")).to_have_count(0)
    await layout.client.message("I do").hover()
    for dialog in ("switcher", "emojis", "threads"):
        await layout.open_dialog(dialog)
        await layout.close_dialog()
    started: list[str] = await page.evaluate("window.motions")
    return started
