"""The options of slash commands: every type, every rule, and what they name looked up."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.harness import FORUM, Platform
from tests.resources.interaction.stage import Stage, set_stage
from tests.resources.message.attachment.uploading import upload


def option(kind: int, name: str = "it", **more: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "description": "x", **more}


def given(kind: int, value: Any, name: str = "it", **more: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "value": value, **more}


async def told_of(stage: Stage, kind: int, value: Any, **declared: Any) -> Any:
    command = await stage.command(options=[option(kind, **declared)])
    return (await stage.used(command, options=[given(kind, value)]))["data"]


@pytest.mark.parametrize(
    ("kind", "value"), [(3, "dog"), (4, 2**53 - 1), (4, -7), (5, True), (5, False), (10, 0.5), (10, 3)]
)
async def test_a_plain_value_is_told_as_it_was_given(platform: Platform, kind: int, value: Any) -> None:
    data = await told_of(await set_stage(platform), kind, value)
    assert data["options"] == [given(kind, value)]
    assert "resolved" not in data


@pytest.mark.parametrize(
    ("kind", "value", "declared", "code"),
    [
        (3, 5, {}, "STRING_TYPE_CONVERT"),
        (3, "dogs", {"max_length": 3}, "BASE_TYPE_MAX_LENGTH"),
        (3, "do", {"min_length": 3}, "BASE_TYPE_BAD_LENGTH"),
        (3, "x" * 6001, {}, "BASE_TYPE_MAX_LENGTH"),
        (3, "cat", {"choices": [{"name": "Dog", "value": "dog"}]}, "BASE_TYPE_CHOICES"),
        (3, "Dog", {"choices": [{"name": "Dog", "value": "dog"}]}, "BASE_TYPE_CHOICES"),
        (4, "5", {}, "NUMBER_TYPE_COERCE"),
        (4, 1.5, {}, "NUMBER_TYPE_COERCE"),
        (4, True, {}, "NUMBER_TYPE_COERCE"),
        (4, 2**53, {}, "NUMBER_TYPE_MAX"),
        (4, 4, {"min_value": 5}, "NUMBER_TYPE_MIN"),
        (4, 4, {"max_value": 3}, "NUMBER_TYPE_MAX"),
        (4, 4, {"choices": [{"name": "Three", "value": 3}]}, "BASE_TYPE_CHOICES"),
        (5, "true", {}, "BOOLEAN_TYPE_CONVERT"),
        (5, 1, {}, "BOOLEAN_TYPE_CONVERT"),
        (6, "nobody", {}, "NUMBER_TYPE_COERCE"),
        (10, "0.5", {}, "NUMBER_TYPE_COERCE"),
        (10, 0.4, {"min_value": 0.5}, "NUMBER_TYPE_MIN"),
    ],
)
async def test_a_value_that_does_not_fit_is_refused_before_anybody_hears_of_it(
    platform: Platform, kind: int, value: Any, declared: dict[str, Any], code: str
) -> None:
    stage = await set_stage(platform)
    command = await stage.command(options=[option(kind, **declared)])
    with platform.listening() as heard:
        reply = await stage.use(command, options=[given(kind, value)])
    assert (reply.status, reply.code) == (400, 50035)
    assert code in reply.errors_at("data.options.0.value"), reply.body
    assert heard == []


async def test_options_are_those_of_the_command_each_once_and_all_required_ones(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command(options=[option(3, required=True), option(3, "other")])
    missing = await stage.use(command, options=[given(3, "x", "other")])
    assert missing.errors_at("data.options.it") == ["BASE_TYPE_REQUIRED"]
    assert (await stage.use(command)).errors_at("data.options.it") == ["BASE_TYPE_REQUIRED"]
    unknown = await stage.use(command, options=[given(3, "x"), given(3, "x", "more")])
    assert unknown.errors_at("data.options.1.name") == ["BASE_TYPE_CHOICES"]
    twice = await stage.use(command, options=[given(3, "x"), given(3, "y")])
    assert twice.errors_at("data.options.1.name") == ["BASE_TYPE_CHOICES"]
    other = await stage.use(command, options=[given(4, "x")])
    assert other.errors_at("data.options.0.type") == ["BASE_TYPE_CHOICES"]
    for odd in ("x", {"it": "x"}, [["it"]], [None] * 2, [given(3, "x")] * 9):
        assert (await stage.use(command, options=odd)).code == 50035
    assert (await stage.use(command, options=[given(3, "x")])).status == 204


async def test_subcommands_nest_as_they_were_declared_and_one_is_chosen(platform: Platform) -> None:
    stage = await set_stage(platform)
    get = option(1, "get", options=[option(6, "who", required=True)])
    command = await stage.command(
        options=[option(2, "user", options=[get, option(1, "list")]), option(1, "all")],
    )
    person = str(stage.person.id)
    chosen = {"type": 1, "name": "get", "options": [given(6, person, "who")]}
    told = await stage.used(command, options=[{"type": 2, "name": "user", "options": [chosen]}])
    assert told["data"]["options"] == [{"type": 2, "name": "user", "options": [chosen]}]
    assert list(told["data"]["resolved"]["users"]) == [person]
    message = await stage.shown(told, 4, {"content": "x"})
    assert message["interaction"]["name"] == message["interaction_metadata"]["name"] == "blep user get"
    both = [{"type": 1, "name": "all"}, {"type": 2, "name": "user", "options": [chosen]}]
    for wrong in ([], both, [{"type": 2, "name": "user"}], [chosen]):
        assert (await stage.use(command, options=wrong)).code == 50035
    deep = await stage.use(command, options=[{"type": 2, "name": "user", "options": [{"type": 1, "name": "get"}]}])
    assert deep.errors_at("data.options.0.options.0.options.who") == ["BASE_TYPE_REQUIRED"]


async def test_people_are_resolved_with_who_they_are_in_the_guild(platform: Platform) -> None:
    stage = await set_stage(platform)
    data = await told_of(stage, 6, str(stage.guild.owner.id))
    owner = str(stage.guild.owner.id)
    assert data["options"] == [given(6, owner)]
    assert data["resolved"]["users"][owner]["username"] == stage.guild.owner.name
    member = data["resolved"]["members"][owner]
    assert not {"user", "deaf", "mute"} & set(member)
    assert int(member["permissions"]) & Permissions.ADMINISTRATOR
    assert {"joined_at", "roles", "nick", "pending"} <= set(member)
    outsider = await platform.person()
    data = await told_of(stage, 6, int(outsider.id))
    assert (list(data["resolved"]["users"]), "members" in data["resolved"]) == ([str(outsider.id)], False)
    command = await stage.command(options=[option(6)])
    assert (await stage.use(command, options=[given(6, "1")])).errors_at("data.options") == ["BASE_TYPE_CHOICES"]


async def test_roles_and_mentionables_are_those_of_the_guild(platform: Platform) -> None:
    stage = await set_stage(platform)
    role = str(await stage.guild.role(name="Elder"))
    data = await told_of(stage, 8, role)
    assert data["resolved"]["roles"][role]["name"] == "Elder"
    data = await told_of(stage, 9, role)
    assert list(data["resolved"]) == ["roles"]
    data = await told_of(stage, 9, str(stage.person.id))
    assert sorted(data["resolved"]) == ["members", "users"]
    elsewhere = await platform.guild(await platform.person())
    for kind in (8, 9):
        command = await stage.command(options=[option(kind)])
        reply = await stage.use(command, options=[given(kind, str(await elsewhere.role()))])
        assert reply.errors_at("data.options") == ["BASE_TYPE_CHOICES"]


async def test_channels_are_those_that_the_person_sees_of_the_types_asked_for(platform: Platform) -> None:
    stage = await set_stage(platform)
    general = str(stage.guild.general)
    data = await told_of(stage, 7, general)
    channel = data["resolved"]["channels"][general]
    assert (channel["id"], channel["type"], channel["name"]) == (general, 0, "general")
    assert int(channel["permissions"]) & Permissions.VIEW_CHANNEL
    assert int(channel["app_permissions"]) & Permissions.VIEW_CHANNEL
    assert set(channel) <= {
        "id", "name", "type", "permissions", "app_permissions", "last_message_id", "last_pin_timestamp", "nsfw",
        "parent_id", "guild_id", "flags", "rate_limit_per_user", "topic", "position", "thread_metadata",
    }  # fmt: skip
    thread = (await stage.person.post(f"{stage.where}/threads", {"name": "t", "type": 11})).json
    data = await told_of(stage, 7, thread["id"])
    found = data["resolved"]["channels"][thread["id"]]
    assert (found["parent_id"], "thread_metadata" in found) == (general, True)
    hidden = await stage.guild.channel(overwrites=[(stage.guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    forum = await stage.guild.channel(type=FORUM)
    elsewhere = await platform.guild(await platform.person())
    command = await stage.command(options=[option(7, channel_types=[0])])
    for wrong in (hidden, forum, elsewhere.general, thread["id"], 1):
        reply = await stage.use(command, options=[given(7, str(wrong))])
        assert reply.errors_at("data.options") == ["BASE_TYPE_CHOICES"], wrong
    assert (await stage.use(command, options=[given(7, general)])).status == 204


async def test_a_file_is_handed_in_with_the_command_and_can_be_read(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command(options=[option(11, file_types=[".txt"]), option(11, "more")])
    data = {
        "id": command["id"],
        "type": 1,
        "options": [given(11, "0"), given(11, 2, "more")],
        "attachments": [{"id": "0", "filename": "notes.txt", "description": "d"}, {"id": 2, "filename": "b.bin"}],
    }
    body = {
        "type": 2,
        "application_id": stage.app.id,
        "channel_id": str(stage.guild.general),
        "data": data,
    }
    files = {"files[0]": ("notes.txt", b"hello"), "files[2]": ("b.bin", b"\0\1")}
    reply = await upload(stage.person, "POST", "/interactions", files, body)
    assert reply.status == 204, reply.body
    told = stage.told()["data"]
    first, second = (each["value"] for each in told["options"])
    attachment = told["resolved"]["attachments"][first]
    assert (attachment["id"], attachment["filename"], attachment["size"]) == (first, "notes.txt", 5)
    assert attachment["description"] == "d"
    assert told["resolved"]["attachments"][second]["filename"] == "b.bin"
    assert "?ex=" in attachment["url"]
    assert await stage.fetch(attachment["url"]) == b"hello"
    # The extension is what counts, and every file that is named has to come.
    wrong = {**body, "data": {**data, "options": [given(11, "2")]}}
    reply = await upload(stage.person, "POST", "/interactions", files, wrong)
    assert reply.errors_at("data.options") == ["CONTENT_TYPE_INVALID"]
    lost = await stage.use(command, options=[given(11, "0")])
    assert lost.errors_at("data.attachments") == ["BASE_TYPE_CHOICES"]


async def test_what_is_typed_is_told_and_choices_come_back(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command(
        options=[option(3, required=True, autocomplete=True), option(4, "n", autocomplete=True), option(5, "b")]
    )
    data = {"id": command["id"], "type": 1}
    options = [given(3, "do", focused=True), given(5, True, "b")]
    told = await stage.raised(4, {**data, "options": options})
    assert (told["type"], told["data"]["options"]) == (4, options)
    choices = [{"name": "Dog", "value": "dog", "name_localizations": {"de": "Hund"}}]
    for wrong, at in (
        ([{"name": "x", "value": 1}], "data.choices.0.value"),
        ([{"name": "x", "value": "y" * 101}], "data.choices.0.value"),
        ([{"name": "", "value": "y"}], "data.choices.0.name"),
        ([{"name": "x"}], "data.choices.0.value"),
        (choices * 26, "data.choices"),
        ([{"name": "x", "value": "y", "name_localizations": {"xx": "a"}}], "data.choices.0.name_localizations.xx"),
    ):
        assert (await stage.answer(told, 8, {"choices": wrong})).errors_at(at), (wrong, at)
    assert (await stage.answer(told, 4, {"content": "no"})).errors_at("type")
    answered = await stage.answer(told, 8, {"choices": choices}, with_response=True)
    assert answered.json == {"interaction": {"id": told["id"], "type": 4}}
    (heard,) = stage.heard(stage.person.id, "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE")
    assert (heard["nonce"], heard["choices"][0]["value"]) == ("1", "dog")
    # No message is left behind, nor may one follow.
    assert await stage.history() == []
    told = await stage.raised(4, {**data, "options": [given(4, "1", "n", focused=True)]})
    assert (await stage.answer(told, 8, {"choices": [{"name": "One", "value": 1}]})).status == 204


async def test_only_what_completes_is_completed(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command(options=[option(3, autocomplete=True), option(3, "fixed")])
    data = {"id": command["id"], "type": 1}
    for wrong in (
        [],
        [given(3, "x")],
        [given(3, "x", "fixed", focused=True)],
        [given(3, "x", focused=True), given(3, "y", "fixed", focused=True)],
        [given(3, "x", focused=True), given(3, 5, "fixed")],
    ):
        assert (await stage.raise_(4, {**data, "options": wrong})).code == 50035, wrong
    menu = (await stage.app.bot.post(f"/applications/{stage.app.id}/commands", {"name": "Wave", "type": 2})).json
    assert (await stage.raise_(4, {"id": menu["id"], "type": 2})).errors_at("type")
