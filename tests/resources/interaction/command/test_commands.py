"""Application commands, and guilds' permissions for them."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.oauth2.flow import App, application, bearer, consent
from tests.support.harness import Caller, Guild, Platform

SLASH: dict[str, Any] = {"name": "blep", "description": "Send an animal"}
ANIMAL: dict[str, Any] = {"type": 3, "name": "animal", "description": "Which", "required": True}


def path(app: App, guild: Guild | None = None) -> str:
    return f"/applications/{app.id}" + ("" if guild is None else f"/guilds/{guild.id}") + "/commands"


async def installed(platform: Platform) -> tuple[Guild, App]:
    guild = await platform.guild(await platform.person())
    app = await application(platform)
    plain: dict[str, Any] = {"response_type": None, "redirect_uri": None}
    body = {"guild_id": str(guild.id), "permissions": "0"}
    assert (await consent(guild.owner, app, "bot applications.commands", body, **plain)).status == 200
    return guild, app


async def test_a_command_is_returned_as_it_was_created(platform: Platform) -> None:
    app = await application(platform)
    choices = [{"name": "Dog", "value": "dog", "name_localizations": {"de": "Hund"}}, {"name": "Cat", "value": "cat"}]
    options = [
        {**ANIMAL, "choices": choices},
        {"type": 4, "name": "count", "description": "How many", "min_value": 1, "max_value": 9},
        {"type": 10, "name": "weight", "description": "In kg", "min_value": 0.5},
        {"type": 7, "name": "where", "description": "Channel", "channel_types": [0, 5]},
        {"type": 3, "name": "note", "description": "Words", "min_length": 1, "max_length": 80, "autocomplete": True},
        {"type": 11, "name": "photo", "description": "A picture", "file_types": ["image", ".pdf"]},
    ]
    reply = await app.bot.post(
        path(app),
        {**SLASH, "options": options, "default_member_permissions": "32", "nsfw": True, "contexts": [0, 1]},
    )
    command = reply.json
    assert reply.status == 201
    for sent, stored in zip(options, command["options"], strict=True):
        assert stored == sent
    assert (command["type"], command["application_id"], command["nsfw"], command["contexts"]) == (
        1,
        app.id,
        True,
        [0, 1],
    )
    assert (command["default_member_permissions"], command["dm_permission"], command["integration_types"]) == (
        "32",
        True,
        [0, 1],
    )
    assert (await app.bot.get(f"{path(app)}/{command['id']}")).json == command


async def test_creating_a_command_of_an_existing_name_overwrites_it(platform: Platform) -> None:
    app = await application(platform)
    first = (await app.bot.post(path(app), SLASH)).json
    again = await app.bot.post(path(app), {**SLASH, "description": "Another"})
    assert (again.status, again.json["id"], again.json["description"]) == (200, first["id"], "Another")
    assert again.json["version"] != first["version"]
    same = await app.bot.post(path(app), {**SLASH, "description": "Another"})
    assert same.json["version"] == again.json["version"]
    # Names are unique per type.
    assert (await app.bot.post(path(app), {"name": "blep", "type": 2})).status == 201
    assert len((await app.bot.get(path(app))).json) == 2


async def test_modifying_a_command_keeps_absent_fields(platform: Platform) -> None:
    app = await application(platform)
    command = (await app.bot.post(path(app), {**SLASH, "options": [ANIMAL], "default_member_permissions": "8"})).json
    changed = (await app.bot.patch(f"{path(app)}/{command['id']}", {"description": "New"})).json
    assert (changed["options"], changed["default_member_permissions"]) == (command["options"], "8")
    cleared = (
        await app.bot.patch(f"{path(app)}/{command['id']}", {"options": [], "default_member_permissions": None})
    ).json
    assert ("options" in cleared, cleared["default_member_permissions"]) == (False, None)
    other = (await app.bot.post(path(app), {"name": "other", "description": "x"})).json
    taken = await app.bot.patch(f"{path(app)}/{other['id']}", {"name": "blep"})
    assert taken.errors_at("name") == ["APPLICATION_COMMANDS_DUPLICATE_NAME"]
    assert (await app.bot.delete(f"{path(app)}/{command['id']}")).status == 204
    assert (await app.bot.get(f"{path(app)}/{command['id']}")).code == 10063


async def test_a_bulk_overwrite_keeps_ids_and_deletes_unlisted_commands(platform: Platform) -> None:
    app = await application(platform)
    first = (await app.bot.post(path(app), SLASH)).json
    second = (await app.bot.post(path(app), {"name": "second", "description": "x"})).json
    listed = [
        {"name": "renamed", "description": "x", "id": second["id"]},
        {"name": "blep", "description": "Changed"},
        {"name": "Wave", "type": 2},
    ]
    reply = await app.bot.put(path(app), listed)
    assert [(c["name"], c["id"]) for c in reply.json[:2]] == [("renamed", second["id"]), ("blep", first["id"])]
    assert {c["name"] for c in (await app.bot.get(path(app))).json} == {"renamed", "blep", "Wave"}
    wrong = await app.bot.put(path(app), [SLASH, SLASH, {"name": "NO", "description": "x"}])
    assert wrong.errors_at("1.name") == ["APPLICATION_COMMANDS_DUPLICATE_NAME"]
    assert wrong.errors_at("2.name") == ["APPLICATION_COMMAND_INVALID_NAME"]
    assert len((await app.bot.get(path(app))).json) == 3
    assert (await app.bot.put(path(app), [])).json == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": "Upper"}, "name"),
        ({"name": "with space"}, "name"),
        ({"name": "x" * 33}, "name"),
        ({"description": ""}, "description"),
        ({"description": "x" * 101}, "description"),
        ({"description": None}, "description"),
        ({"name_localizations": {"xx": "a"}}, "name_localizations.xx"),
        ({"name_localizations": {"de": "Groß"}}, "name_localizations.de"),
        ({"type": 2}, "description"),
        ({"type": 9}, "type"),
        ({"handler": 1}, "handler"),
        ({"contexts": [0, 0]}, "contexts.1"),
        ({"contexts": []}, "contexts"),
        ({"contexts": [7]}, "contexts.0"),
        ({"integration_types": [1, 1]}, "integration_types.1"),
        ({"options": [ANIMAL] * 26}, "options"),
        ({"options": [ANIMAL, ANIMAL]}, "options.1.name"),
        ({"options": [{**ANIMAL, "required": False}, {**ANIMAL, "name": "b"}]}, "options.1.required"),
        ({"options": [{**ANIMAL, "type": 12}]}, "options.0.type"),
        ({"options": [{**ANIMAL, "name": "Big"}]}, "options.0.name"),
        ({"options": [{**ANIMAL, "min_value": 1}]}, "options.0.min_value"),
        ({"options": [{**ANIMAL, "min_length": 9, "max_length": 3}]}, "options.0.max_length"),
        ({"options": [{**ANIMAL, "channel_types": [0]}]}, "options.0.channel_types"),
        ({"options": [{**ANIMAL, "options": [ANIMAL]}]}, "options.0.options"),
        ({"options": [{**ANIMAL, "choices": [{"name": "a", "value": 1}]}]}, "options.0.choices.0.value"),
        ({"options": [{**ANIMAL, "choices": [{"name": "a", "value": "b"}] * 2}]}, "options.0.choices.1.name"),
        (
            {"options": [{**ANIMAL, "autocomplete": True, "choices": [{"name": "a", "value": "b"}]}]},
            "options.0.autocomplete",
        ),
        ({"options": [{**ANIMAL, "type": 4, "min_value": 1.5}]}, "options.0.min_value"),
        ({"options": [{"type": 2, "name": "g", "description": "x"}]}, "options.0.options"),
        ({"options": [{"type": 1, "name": "s", "description": "x"}, {**ANIMAL, "required": False}]}, "options.1.type"),
        (
            {"options": [{"type": 2, "name": "g", "description": "x", "options": [ANIMAL]}]},
            "options.0.options.0.type",
        ),
    ],
)
async def test_invalid_fields_of_a_command_are_reported(platform: Platform, change: dict[str, Any], field: str) -> None:
    app = await application(platform)
    reply = await app.bot.post(path(app), SLASH | change)
    assert (reply.status, reply.code) == (400, 50035)
    assert reply.errors_at(field), reply.body
    assert (await app.bot.get(path(app))).json == []


async def test_subcommands_nest_in_groups_and_no_deeper(platform: Platform) -> None:
    app = await application(platform)
    sub = {"type": 1, "name": "get", "description": "x", "options": [ANIMAL]}
    group = {"type": 2, "name": "user", "description": "x", "options": [sub]}
    assert (await app.bot.post(path(app), {**SLASH, "options": [group, {**sub, "name": "top"}]})).status == 201
    deeper = {**sub, "options": [sub]}
    assert (await app.bot.post(path(app), {**SLASH, "options": [deeper]})).errors_at("options.0.options")


async def test_a_command_of_too_many_characters_is_refused(platform: Platform) -> None:
    app = await application(platform)
    choices = [{"name": f"{n:0100}", "value": f"{n:0100}"} for n in range(25)]
    options = [{**ANIMAL, "name": f"o{n}", "choices": choices} for n in range(2)]
    reply = await app.bot.post(path(app), {**SLASH, "options": options})
    assert reply.json["errors"]["_errors"][0]["code"] == "APPLICATION_COMMAND_TOO_LARGE"


async def test_the_number_of_commands_per_type_and_per_day_is_limited(platform: Platform) -> None:
    app = await application(platform)
    users = [{"name": f"u{n}", "type": 2} for n in range(15)]
    assert len((await app.bot.put(path(app), users)).json) == 15
    assert (await app.bot.post(path(app), {"name": "one more", "type": 2})).code == 30032
    assert (await app.bot.put(path(app), [*users, {"name": "one more", "type": 3}])).status == 200
    slashes = [{"name": f"s{n}", "description": "x"} for n in range(100)]
    assert (await app.bot.put(path(app), slashes)).status == 200
    again = [{"name": f"t{n}", "description": "x"} for n in range(100)]
    assert (await app.bot.put(path(app), again)).code == 30034
    assert len((await app.bot.get(path(app))).json) == 100


async def test_localizations_are_listed_on_request(platform: Platform) -> None:
    app = await application(platform)
    await app.bot.post(path(app), {**SLASH, "name_localizations": {"de": "blep-de"}})
    (plain,) = (await app.bot.get(path(app))).json
    (whole,) = (await app.bot.get(path(app), with_localizations=True)).json
    assert ("name_localizations" in plain, whole["name_localizations"]) == (False, {"de": "blep-de"})


async def test_guild_commands_need_the_application_in_the_guild(platform: Platform) -> None:
    guild, app = await installed(platform)
    command = (await app.bot.post(path(app, guild), {**SLASH, "contexts": [1]})).json
    assert (command["guild_id"], "contexts" in command, "dm_permission" in command) == (str(guild.id), False, False)
    assert (await app.bot.get(path(app))).json == []
    assert (await app.bot.get(f"{path(app)}/{command['id']}")).code == 10063
    elsewhere = await platform.guild(await platform.person())
    assert (await app.bot.post(path(app, elsewhere), SLASH)).code == 50001
    assert (await app.bot.post(path(app, guild), {"name": "x", "type": 4})).errors_at("type")
    # Removing the bot deletes its commands of the guild.
    await guild.owner.delete(f"/guilds/{guild.id}/members/{app.bot.id}")
    assert (await app.bot.get(path(app, guild))).code == 50001
    plain: dict[str, Any] = {"response_type": None, "redirect_uri": None}
    await consent(guild.owner, app, "applications.commands", {"guild_id": str(guild.id)}, **plain)
    assert (await app.bot.get(path(app, guild))).json == []


async def test_only_the_application_itself_and_its_owner_manage_its_commands(platform: Platform) -> None:
    app, other = await application(platform), await application(platform)
    assert (await other.bot.post(path(app), SLASH)).code == 20012
    assert (await (await platform.person()).post(path(app), SLASH)).code == 20012
    assert (await app.owner.post(path(app), SLASH)).status == 201
    token_response = (await app.token(grant_type="client_credentials", scope="applications.commands.update")).json
    by_token = bearer(platform, app.owner, token_response["access_token"])
    assert (await by_token.put(path(app), [SLASH])).status == 200
    assert (await by_token.put(path(other), [SLASH])).code == 20012
    without = (await app.token(grant_type="client_credentials", scope="identify")).json
    assert (await bearer(platform, app.owner, without["access_token"]).get(path(app))).code == 50026


async def test_an_application_with_activities_has_an_entry_point(platform: Platform) -> None:
    app = await application(platform)
    assert (await app.bot.post(path(app), {"name": "go", "type": 4})).errors_at("type")
    await app.owner.patch(f"/applications/{app.id}", {"flags": 1 << 17})
    (launch,) = (await app.bot.get(path(app))).json
    assert (launch["name"], launch["type"], launch["handler"]) == ("Launch", 4, 2)
    changed = await app.bot.post(path(app), {"name": "go", "type": 4, "handler": 1, "description": "Play"})
    assert (changed.status, changed.json["id"], changed.json["handler"]) == (200, launch["id"], 1)


async def create_command_with_manager(platform: Platform) -> tuple[Guild, App, str, Caller]:
    guild, app = await installed(platform)
    command = (await app.bot.post(path(app), SLASH)).json
    manager = await guild.member_with(Permissions.MANAGE_GUILD | Permissions.MANAGE_ROLES)
    return guild, app, f"{path(app, guild)}/{command['id']}/permissions", manager


async def test_editing_command_permissions_is_announced_and_audited(platform: Platform) -> None:
    guild, app, permissions_path, manager = await create_command_with_manager(platform)
    assert (await app.bot.get(permissions_path)).code == 10066
    permissions = [
        {"id": str(guild.id), "type": 1, "permission": False},
        {"id": str(manager.id), "type": 2, "permission": True},
        {"id": str(guild.general), "type": 3, "permission": False},
        {"id": str(guild.id - 1), "type": 3, "permission": True},
    ]
    with platform.listening() as heard:
        reply = await manager.put(permissions_path, {"permissions": permissions})
    assert (reply.status, reply.json["permissions"], reply.json["guild_id"]) == (200, permissions, str(guild.id))
    assert sorted(heard) == ["APPLICATION_COMMAND_PERMISSIONS_UPDATE", "GUILD_AUDIT_LOG_ENTRY_CREATE"]
    assert (await app.bot.get(permissions_path)).json == reply.json
    assert (await app.bot.get(f"{path(app, guild)}/permissions")).json == [reply.json]
    entry = (await guild.owner.get(f"/guilds/{guild.id}/audit-logs", action_type=121)).json["audit_log_entries"][0]
    assert (entry["options"]["application_id"], len(entry["changes"])) == (app.id, 4)
    with platform.listening() as heard:
        assert (await guild.owner.put(permissions_path, {"permissions": permissions})).status == 200
    assert heard == []


async def test_command_permissions_are_edited_by_members_who_can_use_the_command(platform: Platform) -> None:
    guild, app, permissions_path, manager = await create_command_with_manager(platform)
    command_path, application_path = permissions_path, f"{path(app, guild)}/{app.id}/permissions"
    allowed = {"permissions": [{"id": str(manager.id), "type": 2, "permission": True}]}
    denied = {"permissions": [{"id": str(manager.id), "type": 2, "permission": False}]}
    assert (await manager.put(command_path, denied)).status == 200
    with platform.listening() as heard:
        assert (await manager.put(command_path, allowed)).code == 50013
    assert heard == []
    assert (await guild.owner.put(command_path, allowed)).status == 200
    assert (await manager.put(command_path, allowed)).status == 200
    # The permissions of the application count for those of its commands that have none for the member.
    assert (await manager.put(application_path, denied)).status == 200
    assert (await manager.put(application_path, allowed)).code == 50013
    assert (await manager.put(command_path, allowed)).status == 200
    assert (await guild.owner.put(command_path, {"permissions": []})).status == 200
    assert (await manager.put(command_path, allowed)).code == 50013


async def test_command_permissions_are_not_edited_by_members_whom_the_commands_default_excludes(
    platform: Platform,
) -> None:
    guild, app, permissions_path, manager = await create_command_with_manager(platform)
    body = {"permissions": [{"id": str(manager.id), "type": 2, "permission": True}]}
    command_path = f"{path(app)}/{permissions_path.split('/')[-2]}"
    for needed in ("0", str(int(Permissions.BAN_MEMBERS))):
        assert (await app.bot.patch(command_path, {"default_member_permissions": needed})).status == 200
        assert (await manager.put(permissions_path, body)).code == 50013
    banning = await guild.member_with(Permissions.MANAGE_GUILD | Permissions.MANAGE_ROLES | Permissions.BAN_MEMBERS)
    assert (await banning.put(permissions_path, body)).status == 200
    everyone = f"/guilds/{guild.id}/roles/{guild.id}"
    assert (await guild.owner.patch(everyone, {"permissions": "0"})).status == 200
    assert (await banning.put(permissions_path, body)).code == 50013


async def test_command_permissions_are_edited_by_members_with_permission_for_ids_of_the_guild(
    platform: Platform,
) -> None:
    guild, app, permissions_path, manager = await create_command_with_manager(platform)
    body = {"permissions": [{"id": str(guild.id), "type": 1, "permission": False}]}
    assert (await app.bot.put(permissions_path, body)).code == 20001
    assert (await (await guild.member_with(Permissions.MANAGE_GUILD)).put(permissions_path, body)).code == 50013
    other = await platform.guild(await platform.person())
    for wrong in (
        {"id": str(await other.role()), "type": 1, "permission": True},
        {"id": str(other.owner.id), "type": 2, "permission": True},
        {"id": str(other.general), "type": 3, "permission": True},
    ):
        assert (await manager.put(permissions_path, {"permissions": [wrong]})).errors_at("permissions.0.id")
    twice = await manager.put(permissions_path, {"permissions": body["permissions"] * 2})
    assert twice.errors_at("permissions.1.id") == ["SET_TYPE_ALREADY_CONTAINS_VALUE"]
    unknown = permissions_path.replace(permissions_path.split("/")[-2], str(other.id))
    assert (await manager.put(unknown, body)).code == 10063
    assert (await manager.put(permissions_path.replace(permissions_path.split("/")[-2], app.id), body)).status == 200


async def test_permissions_of_a_deleted_role_can_be_kept_but_not_added(platform: Platform) -> None:
    guild, _, permissions_path, manager = await create_command_with_manager(platform)
    role = await guild.role()
    permissions = {"permissions": [{"id": str(role), "type": 1, "permission": False}]}
    await manager.put(permissions_path, permissions)
    await guild.owner.delete(f"/guilds/{guild.id}/roles/{role}")
    assert (await manager.put(permissions_path, permissions)).status == 200
    assert (await manager.put(permissions_path, {"permissions": []})).status == 200
    assert (await manager.put(permissions_path, permissions)).errors_at("permissions.0.id")


async def test_renaming_a_command_deletes_its_permissions(platform: Platform) -> None:
    guild, app, permissions_path, manager = await create_command_with_manager(platform)
    await manager.put(permissions_path, {"permissions": [{"id": str(guild.id), "type": 1, "permission": False}]})
    command_id = permissions_path.split("/")[-2]
    await app.bot.patch(f"{path(app)}/{command_id}", {"name": "other"})
    assert (await app.bot.get(permissions_path)).code == 10066
