"""Components of webhooks: whose are used, and which need an application."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.resources.component.trees import (
    button,
    container,
    gallery,
    link,
    row,
    section,
    string_select,
    text,
    thumbnail,
)
from tests.support.component_messages import LEGACY, V2, emoji_in
from tests.support.harness import Caller, Guild, Platform

OURS = "COMPONENT_TYPE_INVALID"


async def hook_of(caller: Caller, guild: Guild) -> str:
    """The path of a new webhook."""
    made = (await caller.post(f"/channels/{guild.general}/webhooks", {"name": "Herald"})).json
    return f"/webhooks/{made['id']}/{made['token']}"


async def persons(platform: Platform) -> tuple[Caller, Guild, str]:
    guild = await platform.guild(await platform.person())
    hook = await hook_of(guild.owner, guild)
    platform.heard.clear()
    return platform.anonymous, guild, hook


async def applications(platform: Platform) -> tuple[Caller, Guild, str]:
    guild = await platform.guild(await platform.person())
    bot = await platform.bot(guild.owner)
    await guild.join(bot, roles=[await guild.role(permissions=Permissions.MANAGE_WEBHOOKS)])
    hook = await hook_of(bot, guild)
    platform.heard.clear()
    return platform.anonymous, guild, hook


async def test_a_users_webhook_sends_non_interactive_components_with_the_parameter(platform: Platform) -> None:
    anonymous, _, hook = await persons(platform)
    tree = [container(text("Fog"), section(accessory=thumbnail()), gallery(), row(link())), section(accessory=link())]
    reply = await anonymous.post(hook, {"components": tree, "flags": V2}, wait=True, with_components=True)
    assert reply.status == 200
    assert [one["type"] for one in reply.json["components"]] == [17, 9]
    legacy = await anonymous.post(hook, {"content": "x", "components": [row(link())]}, wait=True, with_components=True)
    assert legacy.json["components"][0]["components"][0]["style"] == 5


@pytest.mark.parametrize("wait", [True, False])
async def test_interactive_components_are_refused_at_any_depth(platform: Platform, wait: bool) -> None:
    anonymous, _, hook = await persons(platform)
    tree = [container(row(link(), button("a")), section(accessory=button("b"))), row(string_select("c"))]
    reply = await anonymous.post(hook, {"components": tree, "flags": V2}, wait=wait, with_components=True)
    assert (reply.status, reply.code) == (400, 50035)
    assert reply.errors_at("components.0.components.0.components.1") == [OURS]
    assert reply.errors_at("components.0.components.1.accessory") == [OURS]
    assert reply.errors_at("components.1.components.0") == [OURS]
    assert platform.heard == []


async def test_without_the_parameter_a_users_components_are_ignored(platform: Platform) -> None:
    anonymous, _, hook = await persons(platform)
    ignored: dict[str, Any] = {"components": [row(button("a")), {"type": 99}]}
    assert (await anonymous.post(hook, {"content": "x", **ignored}, wait=True)).json["components"] == []
    assert (await anonymous.post(hook, ignored)).code == 50006
    assert (await anonymous.post(hook, {"components": [text()], "flags": V2})).code == 50006
    shown = {"content": "x", "components": [row(link())]}
    sent = (await anonymous.post(hook, shown, wait=True, with_components=True)).json
    path = f"{hook}/messages/{sent['id']}"
    assert (await anonymous.patch(path, ignored)).json == sent
    assert (await anonymous.patch(path, {"components": []})).json == sent
    assert (await anonymous.patch(path, ignored, with_components=True)).errors_at("components.0.components.0") == [OURS]
    assert (await anonymous.patch(path, {"components": []}, with_components=True)).json["components"] == []


async def test_an_applications_webhook_sends_any_component(platform: Platform) -> None:
    anonymous, _, hook = await applications(platform)
    tree = [container(row(button("a")), section(accessory=button("b"))), row(string_select("c"))]
    sent = (await anonymous.post(hook, {"components": tree, "flags": V2}, wait=True)).json
    assert [one["type"] for one in sent["components"]] == [17, 1]
    path = f"{hook}/messages/{sent['id']}"
    edited = (await anonymous.patch(path, {"components": [row(button("d"))]})).json
    assert edited["components"][0]["components"][0]["custom_id"] == "d"
    assert edited["flags"] & V2
    assert platform.heard_names == ["MESSAGE_CREATE", "MESSAGE_UPDATE"]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("content", "x"),
        ("embeds", [{"title": "x"}]),
        ("poll", {"question": {"text": "?"}, "answers": [{"poll_media": {"text": "a"}}]}),
    ],
)
async def test_a_layout_of_a_webhook_has_only_components(platform: Platform, field: str, value: Any) -> None:
    anonymous, _, hook = await applications(platform)
    body = {"components": [text()], "flags": V2, field: value}
    for wait in (True, False):
        reply = await anonymous.post(hook, body, wait=wait)
        assert (reply.status, reply.errors_at(field)) == (400, [LEGACY])


async def test_a_webhooks_message_becomes_a_layout_with_new_mentions(platform: Platform) -> None:
    anonymous, guild, hook = await applications(platform)
    sent = (await anonymous.post(hook, {"content": "x", "embeds": [{"title": "t"}]}, wait=True)).json
    path = f"{hook}/messages/{sent['id']}"
    becomes: dict[str, Any] = {"flags": V2, "components": [text(f"<@{guild.owner.id}> @everyone")]}
    reply = await anonymous.patch(path, becomes)
    assert (reply.errors_at("content"), reply.errors_at("embeds")) == ([LEGACY], [LEGACY])
    edited = (await anonymous.patch(path, {**becomes, "content": None, "embeds": None})).json
    assert [user["id"] for user in edited["mentions"]] == [str(guild.owner.id)]
    assert (edited["mention_everyone"], edited["flags"]) == (False, V2)
    loud = {"components": [text("@everyone")], "allowed_mentions": {"parse": ["everyone"]}}
    assert (await anonymous.patch(path, loud)).json["mention_everyone"] is True


async def test_a_webhook_has_its_guilds_emojis(platform: Platform) -> None:
    anonymous, guild, hook = await persons(platform)
    here = await emoji_in(platform, guild)
    foreign = await emoji_in(platform, await platform.guild(await platform.person()))
    url = {"wait": True, "with_components": True}
    sent = await anonymous.post(hook, {"components": [row(link(emoji={"id": str(here), "name": "x"}))]}, **url)
    assert sent.json["components"][0]["components"][0]["emoji"]["name"] == "ship"
    reply = await anonymous.post(hook, {"components": [row(link(emoji={"id": str(foreign), "name": "x"}))]}, **url)
    assert reply.errors_at("components.0.components.0.emoji.id") == ["BUTTON_COMPONENT_INVALID_EMOJI"]
