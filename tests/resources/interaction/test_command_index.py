"""The application command index: the commands that the caller can use, in their locale."""

from typing import Any

from moothall.objects.permissions import Permissions
from tests.resources.interaction.scenario import Scenario, create_scenario, install
from tests.support.harness import Caller, Platform


async def names(caller: Caller, path: str, **options: Any) -> list[str]:
    reply = await caller.get(f"{path}/application-command-index", **options)
    assert reply.status == 200, reply.body
    return sorted(command["name"] for command in reply.json["application_commands"])


def guild_path(scenario: Scenario) -> str:
    return f"/guilds/{scenario.guild.id}"


async def test_a_guild_lists_the_commands_of_its_applications(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command(options=[{"type": 3, "name": "a", "description": "x"}])
    own = f"/applications/{scenario.app.id}/guilds/{scenario.guild.id}/commands"
    await scenario.app.bot.post(own, {"name": "here", "description": "x"})
    await scenario.create_command(name="elsewhere", contexts=[1])
    await scenario.create_command(name="mine", integration_types=[1])
    (await create_scenario(platform)).create_command(name="foreign").close()
    reply = (await scenario.person.get(f"{guild_path(scenario)}/application-command-index")).json
    assert sorted(each["name"] for each in reply["application_commands"]) == ["blep", "here"]
    (application,) = reply["applications"]
    assert (application["id"], application["name"], application["bot_id"]) == (
        scenario.app.id,
        "Herald",
        scenario.app.id,
    )
    first = next(each for each in reply["application_commands"] if each["id"] == command["id"])
    assert (first["options"], first["permissions"]) == (command["options"], {})
    assert int(reply["version"]) >= int(command["version"])
    changed = await scenario.create_command(description="Another")
    again = (await scenario.person.get(f"{guild_path(scenario)}/application-command-index")).json
    assert (again["version"], again["version"] != reply["version"]) == (changed["version"], True)


async def test_only_commands_that_the_caller_can_use_are_listed(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    await scenario.create_command(name="closed", default_member_permissions="0")
    await scenario.create_command(name="grown", nsfw=True)
    assert await names(scenario.person, guild_path(scenario)) == ["blep", "grown"]
    assert await names(scenario.guild.owner, guild_path(scenario)) == ["blep", "closed", "grown"]
    assert await names(scenario.person, scenario.channel_path) == ["blep"]
    path = f"/applications/{scenario.app.id}/guilds/{scenario.guild.id}/commands/{command['id']}/permissions"
    everyone, here = str(scenario.guild.id), str(scenario.guild.general)
    permissions = [{"id": everyone, "type": 1, "permission": True}, {"id": here, "type": 3, "permission": False}]
    await scenario.guild.owner.put(path, {"permissions": permissions})
    assert await names(scenario.person, scenario.channel_path) == []
    (command, _) = (await scenario.person.get(f"{guild_path(scenario)}/application-command-index")).json[
        "application_commands"
    ]
    assert command["permissions"] == {"roles": {everyone: True}, "channels": {here: False}}
    denied = await scenario.guild.channel(overwrites=[(scenario.guild.id, 0, 0, Permissions.USE_APPLICATION_COMMANDS)])
    assert await names(scenario.person, f"/channels/{denied}") == []


async def test_commands_of_user_installed_applications_are_listed_in_every_channel(platform: Platform) -> None:
    scenario = await create_scenario(platform, scope="")
    await scenario.create_command()
    await scenario.create_command(name="private", contexts=[2])
    friend = await platform.person()
    await scenario.guild.join(friend)
    dm = (await scenario.person.post("/users/@me/channels", {"recipient_id": str(friend.id)})).json["id"]
    for path in ("/users/@me", scenario.channel_path, f"/channels/{dm}"):
        assert await names(scenario.person, path) == []
    await install(scenario.person, scenario.app)
    assert await names(scenario.person, "/users/@me") == ["blep", "private"]
    assert await names(scenario.person, scenario.channel_path) == ["blep"]
    assert await names(scenario.person, f"/channels/{dm}") == ["blep", "private"]
    assert await names(scenario.person, guild_path(scenario)) == []
    assert await names(friend, scenario.channel_path) == []
    bot_dm = await friend.post("/users/@me/channels", {"recipient_id": str(scenario.app.bot.id)})
    assert bot_dm.status == 200
    assert await names(friend, f"/channels/{bot_dm.json['id']}") == ["blep"]
    assert (await scenario.app.bot.get("/users/@me/application-command-index")).code == 20001


async def test_names_and_descriptions_are_in_the_callers_locale(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    choices = [{"name": "Dog", "value": "dog", "name_localizations": {"de": "Hund", "en-GB": "Hound"}}]
    option = {"type": 3, "name": "animal", "description": "Which", "choices": choices}
    option["description_localizations"] = {"es-ES": "Cual"}
    await scenario.create_command(name_localizations={"de": "blub"}, options=[option])
    path = f"/applications/{scenario.app.id}/commands"

    async def listed(*headers: tuple[str, str]) -> Any:
        (command_of_bot,) = (await scenario.app.bot.get(path, headers=headers)).json
        (same,) = (
            await scenario.person.get(f"{scenario.channel_path}/application-command-index", headers=headers)
        ).json["application_commands"]
        assert same.get("name_localized") == command_of_bot.get("name_localized")
        assert "name_localizations" not in command_of_bot
        return command_of_bot

    german = await listed(("x-discord-locale", "de"))
    assert (german["name_localized"], german["options"][0]["choices"][0]["name_localized"]) == ("blub", "Hund")
    assert (await listed(("accept-language", "fr;q=0, de-AT;q=0.9, *")))["name_localized"] == "blub"
    assert (await listed(("accept-language", "de"), ("x-discord-locale", "fr"))).get("name_localized") is None
    # Locales have fallbacks, and the user's own setting comes last.
    plain = await listed()
    assert plain["options"][0]["choices"][0]["name_localized"] == "Hound"
    assert (await listed(("x-discord-locale", "es-419")))["options"][0]["description_localized"] == "Cual"
    assert (await listed(("x-discord-locale", "nonsense"), ("accept-language", ";;,")))["name"] == "blep"
    # Interactions have the names that are not localized.
    command = await scenario.use_command(
        (await scenario.app.bot.get(path)).json[0], options=[{"type": 3, "name": "animal", "value": "dog"}]
    )
    assert (command["data"]["name"], command["data"]["options"][0]["name"]) == ("blep", "animal")


async def test_option_names_are_unique_in_every_locale(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    path = f"/applications/{scenario.app.id}/commands"

    def option(name: str, **texts: str) -> dict[str, Any]:
        return {"type": 3, "name": name, "description": "x", "name_localizations": texts}

    for options in ([option("a", de="c"), option("b", de="c")], [option("a"), option("b", de="a")]):
        reply = await scenario.app.bot.post(path, {"name": "x", "description": "x", "options": options})
        assert reply.errors_at("options.1.name_localizations.de"), reply.body
    fine = [option("a", de="b1"), option("b", fr="b1")]
    assert (await scenario.app.bot.post(path, {"name": "x", "description": "x", "options": fine})).status == 201
