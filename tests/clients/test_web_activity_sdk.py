"""The commands and events of the public SDK, from npm: the documentation names each, and each works in the client."""

import asyncio
import re
from collections.abc import Awaitable, Callable, Mapping
from io import BytesIO
from pathlib import Path
from typing import Any, Final

import pytest
from playwright.async_api import Locator, expect

from moothall.objects.permissions import Permissions
from tests.clients.activity_page import SHARED, ActivityPage, Api, access_token, authenticate, brag, register

TABLES: Final = (Path(__file__).parents[2] / "docs" / "activities.md").read_text(encoding="utf-8")
ICON: Final = Path(__file__).with_name("icon.png")
NOT_AUTHENTICATED: Final = 4006
INVALID_TOKEN: Final = 4009
WITHOUT_FUNCTION: Final = {"GET_SELECTED_VOICE_CHANNEL"}
"""Commands of the table that SDK 2.5 has no function for."""
NEVER: Final = {"SPEAKING_START", "SPEAKING_STOP", "ACTIVITY_JOIN", "QUEST_ENROLLMENT_STATUS_UPDATE"}
"""Events that can be subscribed to and never come: here no one is in voice."""
BEFORE: Final = {"READY"}
"""Events that come without a subscription."""


@pytest.fixture(scope="module")
def server_settings() -> dict[str, str]:
    return {"rate_limits": "false", "allow_private_addresses": "true"}


def documented(heading: str) -> dict[str, tuple[str, ...] | None]:
    """The names in a table of the documentation, each with the scopes that it needs; None if it needs no token."""
    rows = TABLES.partition(f"| {heading} | Scope |")[2].partition("\n\n")[0].splitlines()[2:]
    needs: dict[str, tuple[str, ...] | None] = {}
    for row in rows:
        names, scope = [cell.strip() for cell in row.split("|")[1:3]]
        scopes = tuple(re.findall(r"`([a-z.]+)`", scope.partition(";")[0]))
        for name in re.findall(r"`(\w+)`", names):
            needs[name] = scopes or (() if scope.startswith("authenticated") else None)
    return needs


COMMANDS: Final = documented("Command")
EVENTS: Final = documented("Event")
SCOPES: Final = sorted({scope for needs in (COMMANDS | EVENTS).values() for scope in needs or ()})


async def test_the_documentation_names_all_commands_and_events_of_the_sdk(activity: ActivityPage) -> None:
    commands = set(await activity.evaluate("() => Object.keys(window.sdk.commands)"))
    assert set(COMMANDS) - WITHOUT_FUNCTION == commands
    assert set(EVENTS) == set(await activity.evaluate("() => window.eventNames"))


async def refused(activity: ActivityPage, needs: Callable[[tuple[str, ...]], bool]) -> None:
    """Check that commands and events whose scopes meet a condition are refused."""
    for name, scopes in COMMANDS.items():
        if name not in WITHOUT_FUNCTION and scopes is not None and needs(scopes):
            assert await activity.call(name, {}) == NOT_AUTHENTICATED, name
    for name, scopes in EVENTS.items():
        if scopes is not None and needs(scopes):
            assert await activity.subscribe(name) == NOT_AUTHENTICATED, name


def _needing(scope: str) -> Callable[[tuple[str, ...]], bool]:
    return lambda scopes: scope in scopes


async def test_commands_and_events_need_a_token_with_each_of_their_scopes(activity: ActivityPage, api: Api) -> None:
    await refused(activity, lambda _: True)
    await authenticate(activity, api, SCOPES)
    without_user = await access_token(activity, api, ["guilds"], needs_consent=False)
    assert await activity.call("authenticate", {"access_token": without_user}) == INVALID_TOKEN
    for missing in set(SCOPES) - {"identify"}:
        await authenticate(activity, api, [scope for scope in SCOPES if scope != missing], needs_consent=False)
        await refused(activity, _needing(missing))


class Scene:
    """An Activity whose user has authenticated, and who has a friend."""

    def __init__(self, activity: ActivityPage, api: Api) -> None:
        self.activity = activity
        self.api = api
        self.page = activity.client.page
        self.friend_id = ""
        self.user: dict[str, Any] = {}
        self.channel: dict[str, Any] = {}
        self.image_url = ""

    async def prepare(self) -> None:
        """Make a friend of the user, and authenticate with all scopes."""
        activity, api = self.activity, self.api
        self.user = await api.post("/users/@me", None, "GET")
        channel_id = await activity.evaluate("() => window.sdk.channelId")
        self.channel = await api.post(f"/channels/{channel_id}", None, "GET")
        token = api.token
        self.friend_id = (await register(api, f"f{self.user['username']}")).id
        await api.post(f"/users/@me/relationships/{self.user['id']}", {}, "PUT")
        api.token = token
        await api.post(f"/users/@me/relationships/{self.friend_id}", {}, "PUT")
        await brag(activity, api)
        form = {"file": BytesIO(ICON.read_bytes())}
        path = f"/applications/{activity.application['id']}/attachment"
        async with api.session.post(api.url + path, data=form, headers={"authorization": token}) as response:
            self.image_url = (await response.json())["attachment"]["url"]
        await authenticate(activity, api, SCOPES)

    @property
    def dialog(self) -> Locator:
        """The question that the Activity asks."""
        return self.page.get_by_role("dialog")


async def press(scene: Scene, button: str) -> None:
    """Press a button of the dialog that is open, which closes it."""
    await scene.dialog.get_by_role("button", name=button, exact=True).click()
    await expect(scene.dialog).to_have_count(0)


def answers(scene: Scene) -> Mapping[str, tuple[Any, Any]]:
    """Commands that ask for no consent: the arguments, and the answer, or what it contains."""
    app_id, user = scene.activity.application["id"], scene.user
    participants = {"participants": [_rpc_user(user)]}
    return {
        "captureLog": ({"level": "warn", "message": "a line"}, None),
        "encourageHardwareAcceleration": (None, {"enabled": True}),
        "getActivityInstanceConnectedParticipants": (None, participants),
        "getChannel": (
            {"channel_id": scene.channel["id"]},
            {**{key: scene.channel[key] for key in ("id", "type", "name")}, "guild_id": scene.activity.guild_id}
            | {"voice_states": [], "messages": []},
        ),
        "getChannelPermissions": (None, {"permissions": str(int(Permissions.ALL))}),
        "getEntitlements": (None, {"entitlements": []}),
        "getInstanceConnectedParticipants": (None, participants),
        "getPlatformBehaviors": (None, {"iosKeyboardResizesView": True}),
        "getQuest": ({"quest_id": "1"}, 1001),
        "getQuestEnrollmentStatus": ({"quest_id": "1"}, 1001),
        "getRelationships": (None, {"relationships": [{"type": 1, "user": {"id": scene.friend_id}}]}),
        "getSkus": (None, {"skus": []}),
        "getUser": ({"id": user["id"]}, _rpc_user(user)),
        "questStartTimer": ({"quest_id": "1"}, 1001),
        "requestProxyTicketRefresh": (None, {}),
        "setActivity": (
            {"activity": {"type": 0, "details": "Level 10"}},
            {"type": 0, "details": "Level 10", "name": "Playground", "application_id": app_id},
        ),
        "setConfig": ({"use_interactive_pip": True}, {"use_interactive_pip": True}),
        "setOrientationLockState": ({"lock_state": 2}, None),
        "startPurchase": ({"sku_id": "1"}, 5008),
        "userSettingsGetLocale": (None, {"locale": "en-US"}),
    }


def _rpc_user(user: dict[str, Any]) -> dict[str, Any]:
    return {name: user[name] for name in ("id", "username", "discriminator", "global_name", "avatar")} | {"bot": False}


QUESTIONS: Final[Mapping[str, tuple[Callable[[Scene], Any], str, Any]]] = {
    "initiateImageUpload": (lambda _: None, "Cancel", 1002),
    "inviteUserEmbedded": (lambda scene: {"user_id": scene.friend_id}, "Cancel", 1002),
    "openExternalLink": (lambda _: {"url": "https://example.com/"}, "Cancel", {"opened": False}),
    "openInviteDialog": (lambda _: None, "Close", None),
    "openShareMomentDialog": (lambda scene: {"mediaUrl": scene.image_url}, "Cancel", None),
    "shareInteraction": (lambda _: {"command": "brag", "options": SHARED}, "Cancel", {"success": False}),
    "shareLink": (
        lambda _: {"message": "Play!"},
        "Close",
        {"success": False, "didCopyLink": False, "didSendMessage": False},
    ),
}
"""Commands that ask the user: the arguments, a button that does nothing, and the answer then."""
SCENE: Final = {"authorize", "authenticate"}
"""Commands that a scene begins with."""


def contains(value: Any, expected: Any) -> bool:
    """Whether a value has at least what is expected."""
    if isinstance(expected, dict):
        return isinstance(value, dict) and all(
            name in value and contains(value[name], each) for name, each in expected.items()
        )
    if isinstance(expected, list):
        return (
            isinstance(value, list)
            and len(value) == len(expected)
            and all(contains(one, other) for one, other in zip(value, expected, strict=True))
        )
    return bool(value == expected)


async def test_the_sdk_reads_the_answer_to_every_command(activity: ActivityPage, api: Api) -> None:
    """The SDK checks each answer against its own schema, and rejects what does not fit."""
    scene = Scene(activity, api)
    await scene.prepare()
    expected = answers(scene)
    assert set(COMMANDS) - WITHOUT_FUNCTION == {*expected, *QUESTIONS, *SCENE}
    await activity.wait_for_user(scene.friend_id)
    async with scene.page.expect_console_message(lambda message: "a line" in message.text) as logged:
        for command, (args, answer) in expected.items():
            value = await activity.call(command, args)
            assert contains(value, answer), (command, value)
    assert (await logged.value).type == "warning"
    await expect(scene.page.locator(".activity-frame[data-orientation='2']")).to_be_visible()
    for command, (arguments, button, answer) in QUESTIONS.items():
        asking = activity.start(command, arguments(scene))
        await press(scene, button)
        assert await asking == answer, command
    assert activity.client.errors == []


async def test_external_links_are_opened_once_the_user_agrees(activity: ActivityPage) -> None:
    page, context = activity.client.page, activity.client.page.context
    for wrong in ("javascript:alert(1)", "file:///etc/passwd", "nowhere", 1, None):
        assert await activity.call("openExternalLink", {"url": wrong}) == 4000, wrong
    link = {"url": f"{activity.client.url}/healthz?from=activity"}
    for button in (re.compile("^Open$"), re.compile("^Open, and always trust")):
        opening = activity.start("openExternalLink", link)
        async with context.expect_page() as opened:
            await page.get_by_role("dialog").get_by_role("button", name=button).click()
        assert await opening == {"opened": True}
        other = await opened.value
        await other.wait_for_url(link["url"])
        assert await other.evaluate("() => window.opener") is None
        await other.close()
    async with context.expect_page() as opened:
        assert await activity.call("openExternalLink", link) == {"opened": True}
    assert (await opened.value).url == link["url"]


async def launch_in_voice(scene: Scene) -> str:
    """Launch the Activity in a voice channel, and return it."""
    activity, api, page = scene.activity, scene.api, scene.page
    channel: str = (await api.post(f"/guilds/{activity.guild_id}/channels", {"name": "Lounge", "type": 2}))["id"]
    await page.get_by_role("button", name="Leave the Activity").click()
    await page.goto(f"{activity.client.url}/activities/{activity.application['id']}")
    await page.get_by_role("combobox", name="Where?").fill("Lounge")
    await page.get_by_role("option", name="Lounge").first.click()
    await page.get_by_role("button", name="Launch").click()
    await activity.wait_until_ready()
    await authenticate(activity, api, SCOPES, needs_consent=False)
    return channel


async def join_voice(scene: Scene) -> None:
    """Join the voice channel that is open."""
    await scene.page.get_by_role("button", name="Show beside the conversation").click()
    await scene.page.get_by_role("link", name="Lounge").first.click()
    await scene.page.get_by_role("button", name="Join").first.click()


async def grant(scene: Scene) -> None:
    """Grant the user what the application sells."""
    app_id = scene.activity.application["id"]
    sku = await scene.api.post("/store/skus", {"application_id": app_id, "type": 2, "name": "Hat", "flags": 4})
    granted = {"sku_id": sku["id"], "owner_id": scene.user["id"], "owner_type": 2}
    await scene.api.post(f"/applications/{app_id}/entitlements", granted)


def changes(scene: Scene, channel_id: str) -> Mapping[str, tuple[Any, Callable[[], Awaitable[Any]], Any]]:
    """Events: the arguments of the subscription, what makes them come, and their data."""
    page, api, guild_id = scene.page, scene.api, scene.activity.guild_id

    async def nothing() -> None:
        """Events that come as soon as they are subscribed to."""

    return {
        "VOICE_STATE_UPDATE": (
            {"channel_id": channel_id},
            lambda: join_voice(scene),
            {"user": {"id": scene.user["id"]}, "mute": False, "voice_state": {"self_mute": False}},
        ),
        "ACTIVITY_INSTANCE_PARTICIPANTS_UPDATE": (None, nothing, {"participants": [_rpc_user(scene.user)]}),
        "ACTIVITY_LAYOUT_MODE_UPDATE": (
            None,
            lambda: page.get_by_role("button", name="Make small").click(),
            {"layout_mode": 1},
        ),
        "ORIENTATION_UPDATE": (
            None,
            lambda: page.set_viewport_size({"width": 600, "height": 1_000}),
            {"screen_orientation": 0, "orientation": "portrait"},
        ),
        "THERMAL_STATE_UPDATE": (None, nothing, {"thermal_state": 0}),
        "CURRENT_USER_UPDATE": (
            None,
            lambda: api.post("/users/@me", {"global_name": "Renamed"}, "PATCH"),
            {"id": scene.user["id"], "global_name": "Renamed"},
        ),
        "CURRENT_GUILD_MEMBER_UPDATE": (
            {"guild_id": guild_id},
            lambda: api.post(f"/guilds/{guild_id}/members/@me", {"nick": "Champion"}, "PATCH"),
            {"user_id": scene.user["id"], "guild_id": guild_id, "nick": "Champion"},
        ),
        "RELATIONSHIP_UPDATE": (
            None,
            lambda: api.post(f"/users/@me/relationships/{scene.friend_id}", None, "DELETE"),
            {"type": 0, "user": {"id": scene.friend_id}},
        ),
        "ENTITLEMENT_CREATE": (
            None,
            lambda: grant(scene),
            {"entitlement": {"user_id": scene.user["id"], "application_id": scene.activity.application["id"]}},
        ),
    }


async def comes(activity: ActivityPage, event: str, expected: Any) -> None:
    """Wait until an event has come with these data."""
    received: list[Any] = []
    async with asyncio.timeout(30):
        while not any(name == event and contains(data, expected) for name, data in received):
            await asyncio.sleep(0.05)
            received = await activity.evaluate("() => window.events")


async def test_the_sdk_reads_every_event(activity: ActivityPage, api: Api) -> None:
    """The SDK checks the data of each event against its own schema before it passes them on."""
    scene = Scene(activity, api)
    await scene.prepare()
    expected = changes(scene, await launch_in_voice(scene))
    assert set(EVENTS) == {*expected, *NEVER, *BEFORE}
    for event in NEVER:
        assert await activity.subscribe(event) is None, event
    for event, (args, cause, data) in expected.items():
        assert await activity.subscribe(event, args) is None, event
        await cause()
        await comes(activity, event, data)
        await activity.unsubscribe(event)
    # After the end of a subscription a later change is not announced.
    before = len(await activity.evaluate("() => window.events"))
    await api.post("/users/@me", {"global_name": "Renamed again"}, "PATCH")
    await expect(scene.page.get_by_text("Renamed again").first).to_be_attached()
    await activity.call("getPlatformBehaviors")
    assert len(await activity.evaluate("() => window.events")) == before
    assert activity.client.errors == []
