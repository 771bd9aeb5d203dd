"""Option values of slash commands: every type and rule, and the resolved data."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.resources.interaction.scenario import Scenario, create_scenario
from tests.resources.message.attachment.uploading import upload
from tests.support.harness import FORUM, Platform


def option(kind: float, name: str = "it", **more: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "description": "x", **more}


def option_value(kind: int, value: Any, name: str = "it", **more: Any) -> dict[str, Any]:
    return {"type": kind, "name": name, "value": value, **more}


async def resolve_option(scenario: Scenario, kind: int, value: Any, **declared: Any) -> Any:
    command = await scenario.create_command(options=[option(kind, **declared)])
    return (await scenario.use_command(command, options=[option_value(kind, value)]))["data"]


@pytest.mark.parametrize(
    ("kind", "value"), [(3, "dog"), (4, 2**53 - 1), (4, -7), (5, True), (5, False), (10, 0.5), (10, 3)]
)
async def test_the_application_receives_plain_values_unchanged(platform: Platform, kind: int, value: Any) -> None:
    data = await resolve_option(await create_scenario(platform), kind, value)
    assert data["options"] == [option_value(kind, value)]
    assert "resolved" not in data


@pytest.mark.parametrize("kind", [3, 4, 10])
async def test_an_empty_list_of_choices_is_no_restriction(platform: Platform, kind: int) -> None:
    scenario = await create_scenario(platform)
    value = "dog" if kind == 3 else 7
    command = await scenario.create_command(options=[option(kind, choices=[], channel_types=None)])
    assert "choices" not in command["options"][0]
    data = (await scenario.use_command(command, options=[option_value(kind, value)]))["data"]
    assert data["options"] == [option_value(kind, value)]


async def test_bounds_and_choices_of_integers_may_be_written_as_floats(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    bounded = option(4.0, min_value=1.0, max_value=10.0)
    chosen = option(4, "other", choices=[{"name": "Two", "value": 2.0}])
    command = await scenario.create_command(options=[bounded, chosen])
    first, second = command["options"]
    assert (first["type"], first["min_value"], first["max_value"]) == (4, 1, 10)
    assert all(isinstance(first[key], int) for key in ("type", "min_value", "max_value"))
    assert isinstance(second["choices"][0]["value"], int)


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
async def test_an_invalid_value_is_refused_and_nothing_is_announced(
    platform: Platform, kind: int, value: Any, declared: dict[str, Any], code: str
) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command(options=[option(kind, **declared)])
    with platform.listening() as heard:
        reply = await scenario.post_command(command, options=[option_value(kind, value)])
    assert (reply.status, reply.code) == (400, 50035)
    assert code in reply.errors_at("data.options.0.value"), reply.body
    assert heard == []


async def test_unknown_repeated_and_missing_required_options_are_refused(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command(options=[option(3, required=True), option(3, "other")])
    missing = await scenario.post_command(command, options=[option_value(3, "x", "other")])
    assert missing.errors_at("data.options.it") == ["BASE_TYPE_REQUIRED"]
    assert (await scenario.post_command(command)).errors_at("data.options.it") == ["BASE_TYPE_REQUIRED"]
    unknown = await scenario.post_command(command, options=[option_value(3, "x"), option_value(3, "x", "more")])
    assert unknown.errors_at("data.options.1.name") == ["BASE_TYPE_CHOICES"]
    twice = await scenario.post_command(command, options=[option_value(3, "x"), option_value(3, "y")])
    assert twice.errors_at("data.options.1.name") == ["BASE_TYPE_CHOICES"]
    other = await scenario.post_command(command, options=[option_value(4, "x")])
    assert other.errors_at("data.options.0.type") == ["BASE_TYPE_CHOICES"]
    for malformed in ("x", {"it": "x"}, [["it"]], [None] * 2, [option_value(3, "x")] * 9):
        assert (await scenario.post_command(command, options=malformed)).code == 50035
    assert (await scenario.post_command(command, options=[option_value(3, "x")])).status == 204


async def test_exactly_one_declared_subcommand_is_chosen(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    get = option(1, "get", options=[option(6, "who", required=True)])
    command = await scenario.create_command(
        options=[option(2, "user", options=[get, option(1, "list")]), option(1, "all")],
    )
    person = str(scenario.person.id)
    chosen = {"type": 1, "name": "get", "options": [option_value(6, person, "who")]}
    interaction = await scenario.use_command(command, options=[{"type": 2, "name": "user", "options": [chosen]}])
    assert interaction["data"]["options"] == [{"type": 2, "name": "user", "options": [chosen]}]
    assert list(interaction["data"]["resolved"]["users"]) == [person]
    message = await scenario.respond_with_message(interaction, 4, {"content": "x"})
    assert message["interaction"]["name"] == message["interaction_metadata"]["name"] == "blep user get"
    both = [{"type": 1, "name": "all"}, {"type": 2, "name": "user", "options": [chosen]}]
    for wrong in ([], both, [{"type": 2, "name": "user"}], [chosen]):
        assert (await scenario.post_command(command, options=wrong)).code == 50035
    deep = await scenario.post_command(
        command, options=[{"type": 2, "name": "user", "options": [{"type": 1, "name": "get"}]}]
    )
    assert deep.errors_at("data.options.0.options.0.options.who") == ["BASE_TYPE_REQUIRED"]


async def test_users_are_resolved_with_their_members(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    data = await resolve_option(scenario, 6, str(scenario.guild.owner.id))
    owner = str(scenario.guild.owner.id)
    assert data["options"] == [option_value(6, owner)]
    assert data["resolved"]["users"][owner]["username"] == scenario.guild.owner.name
    member = data["resolved"]["members"][owner]
    assert not {"user", "deaf", "mute"} & set(member)
    assert int(member["permissions"]) & Permissions.ADMINISTRATOR
    assert {"joined_at", "roles", "nick", "pending"} <= set(member)
    outsider = await platform.person()
    data = await resolve_option(scenario, 6, int(outsider.id))
    assert (list(data["resolved"]["users"]), "members" in data["resolved"]) == ([str(outsider.id)], False)
    command = await scenario.create_command(options=[option(6)])
    assert (await scenario.post_command(command, options=[option_value(6, "1")])).errors_at("data.options") == [
        "BASE_TYPE_CHOICES"
    ]


async def test_roles_and_mentionables_must_be_of_the_guild(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    role = str(await scenario.guild.role(name="Elder"))
    data = await resolve_option(scenario, 8, role)
    assert data["resolved"]["roles"][role]["name"] == "Elder"
    data = await resolve_option(scenario, 9, role)
    assert list(data["resolved"]) == ["roles"]
    data = await resolve_option(scenario, 9, str(scenario.person.id))
    assert sorted(data["resolved"]) == ["members", "users"]
    elsewhere = await platform.guild(await platform.person())
    for kind in (8, 9):
        command = await scenario.create_command(options=[option(kind)])
        reply = await scenario.post_command(command, options=[option_value(kind, str(await elsewhere.role()))])
        assert reply.errors_at("data.options") == ["BASE_TYPE_CHOICES"]


async def test_channels_must_be_visible_to_the_user_and_of_an_allowed_type(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    general = str(scenario.guild.general)
    data = await resolve_option(scenario, 7, general)
    channel = data["resolved"]["channels"][general]
    assert (channel["id"], channel["type"], channel["name"]) == (general, 0, "general")
    assert int(channel["permissions"]) & Permissions.VIEW_CHANNEL
    assert int(channel["app_permissions"]) & Permissions.VIEW_CHANNEL
    assert set(channel) <= {
        "id", "name", "type", "permissions", "app_permissions", "last_message_id", "last_pin_timestamp", "nsfw",
        "parent_id", "guild_id", "flags", "rate_limit_per_user", "topic", "position", "thread_metadata",
    }  # fmt: skip
    thread = (await scenario.person.post(f"{scenario.channel_path}/threads", {"name": "t", "type": 11})).json
    data = await resolve_option(scenario, 7, thread["id"])
    resolved_thread = data["resolved"]["channels"][thread["id"]]
    assert (resolved_thread["parent_id"], "thread_metadata" in resolved_thread) == (general, True)
    hidden = await scenario.guild.channel(overwrites=[(scenario.guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    forum = await scenario.guild.channel(type=FORUM)
    elsewhere = await platform.guild(await platform.person())
    command = await scenario.create_command(options=[option(7, channel_types=[0])])
    for wrong in (hidden, forum, elsewhere.general, thread["id"], 1):
        reply = await scenario.post_command(command, options=[option_value(7, str(wrong))])
        assert reply.errors_at("data.options") == ["BASE_TYPE_CHOICES"], wrong
    assert (await scenario.post_command(command, options=[option_value(7, general)])).status == 204


async def test_a_private_thread_is_resolved_for_its_members_and_moderators_only(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    guild, owner = scenario.guild, scenario.guild.owner
    hidden = (await owner.post(f"{scenario.channel_path}/threads", {"name": "plot", "type": 12})).json["id"]
    command = await scenario.create_command(options=[option(7)])
    refused = await scenario.post_command(command, options=[option_value(7, hidden)])
    assert refused.errors_at("data.options") == ["BASE_TYPE_CHOICES"]
    assert "plot" not in str(refused.json)
    menu = {"type": 8, "custom_id": "pick"}
    message = await scenario.create_message([{"type": 1, "components": [menu]}])
    assert (await scenario.click(message, "pick", values=[hidden])).errors_at("data.values")
    assert (await owner.put(f"/channels/{hidden}/thread-members/{scenario.person.id}")).status == 204
    channel = (await resolve_option(scenario, 7, hidden))["resolved"]["channels"][hidden]
    assert (channel["name"], channel["app_permissions"]) == ("plot", "0")
    assert (await owner.delete(f"/channels/{hidden}/thread-members/{scenario.person.id}")).status == 204
    role = await guild.role(permissions=Permissions.MANAGE_THREADS)
    assert (await owner.put(f"/guilds/{guild.id}/members/{scenario.person.id}/roles/{role}")).status == 204
    assert hidden in (await resolve_option(scenario, 7, hidden))["resolved"]["channels"]


async def test_files_are_submitted_with_a_command_and_can_be_downloaded(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command(options=[option(11, file_types=[".txt"]), option(11, "more")])
    data = {
        "id": command["id"],
        "type": 1,
        "options": [option_value(11, "0"), option_value(11, 2, "more")],
        "attachments": [{"id": "0", "filename": "notes.txt", "description": "d"}, {"id": 2, "filename": "b.bin"}],
    }
    body = {
        "type": 2,
        "application_id": scenario.app.id,
        "channel_id": str(scenario.guild.general),
        "data": data,
    }
    files = {"files[0]": ("notes.txt", b"hello"), "files[2]": ("b.bin", b"\0\1")}
    reply = await upload(scenario.person, "POST", "/interactions", files, body)
    assert reply.status == 204, reply.body
    submitted = scenario.last_interaction()["data"]
    first, second = (each["value"] for each in submitted["options"])
    attachment = submitted["resolved"]["attachments"][first]
    assert (attachment["id"], attachment["filename"], attachment["size"]) == (first, "notes.txt", 5)
    assert attachment["description"] == "d"
    assert submitted["resolved"]["attachments"][second]["filename"] == "b.bin"
    assert "?ex=" in attachment["url"]
    assert await scenario.fetch(attachment["url"]) == b"hello"
    # The extension decides, and every referenced file must be uploaded.
    wrong = {**body, "data": {**data, "options": [option_value(11, "2")]}}
    reply = await upload(scenario.person, "POST", "/interactions", files, wrong)
    assert reply.errors_at("data.options") == ["CONTENT_TYPE_INVALID"]
    lost = await scenario.post_command(command, options=[option_value(11, "0")])
    assert lost.errors_at("data.attachments") == ["BASE_TYPE_CHOICES"]


async def test_autocomplete_sends_the_focused_value_and_returns_choices(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command(
        options=[option(3, required=True, autocomplete=True), option(4, "n", autocomplete=True), option(5, "b")]
    )
    data = {"id": command["id"], "type": 1}
    options = [option_value(3, "do", focused=True), option_value(5, True, "b")]
    interaction = await scenario.create_interaction(4, {**data, "options": options})
    assert (interaction["type"], interaction["data"]["options"]) == (4, options)
    choices = [{"name": "Dog", "value": "dog", "name_localizations": {"de": "Hund"}}]
    for wrong, at in (
        ([{"name": "x", "value": 1}], "data.choices.0.value"),
        ([{"name": "x", "value": "y" * 101}], "data.choices.0.value"),
        ([{"name": "", "value": "y"}], "data.choices.0.name"),
        ([{"name": "x"}], "data.choices.0.value"),
        (choices * 26, "data.choices"),
        ([{"name": "x", "value": "y", "name_localizations": {"xx": "a"}}], "data.choices.0.name_localizations.xx"),
    ):
        assert (await scenario.respond(interaction, 8, {"choices": wrong})).errors_at(at), (wrong, at)
    assert (await scenario.respond(interaction, 4, {"content": "no"})).errors_at("type")
    answered = await scenario.respond(interaction, 8, {"choices": choices}, with_response=True)
    assert answered.json == {"interaction": {"id": interaction["id"], "type": 4}}
    (heard,) = scenario.events(scenario.person.id, "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE")
    assert (heard["nonce"], heard["choices"][0]["value"]) == ("1", "dog")
    # Autocomplete creates no message.
    assert await scenario.history() == []
    interaction = await scenario.create_interaction(4, {**data, "options": [option_value(4, "1", "n", focused=True)]})
    assert (await scenario.respond(interaction, 8, {"choices": [{"name": "One", "value": 1}]})).status == 204


async def test_only_options_with_autocomplete_can_be_focused(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command(options=[option(3, autocomplete=True), option(3, "fixed")])
    data = {"id": command["id"], "type": 1}
    for wrong in (
        [],
        [option_value(3, "x")],
        [option_value(3, "x", "fixed", focused=True)],
        [option_value(3, "x", focused=True), option_value(3, "y", "fixed", focused=True)],
        [option_value(3, "x", focused=True), option_value(3, 5, "fixed")],
    ):
        assert (await scenario.post_interaction(4, {**data, "options": wrong})).code == 50035, wrong
    menu = (await scenario.app.bot.post(f"/applications/{scenario.app.id}/commands", {"name": "Wave", "type": 2})).json
    assert (await scenario.post_interaction(4, {"id": menu["id"], "type": 2})).errors_at("type")
