"""What a person's client lists: the commands that they may use, in their language."""

from typing import Any

from moothall.objects.permissions import Permissions
from tests.harness import Caller, Platform
from tests.resources.interaction.stage import Stage, install, set_stage


async def names(caller: Caller, path: str, **options: Any) -> list[str]:
    reply = await caller.get(f"{path}/application-command-index", **options)
    assert reply.status == 200, reply.body
    return sorted(command["name"] for command in reply.json["application_commands"])


def guild_path(stage: Stage) -> str:
    return f"/guilds/{stage.guild.id}"


async def test_a_guild_lists_the_commands_of_its_applications(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command(options=[{"type": 3, "name": "a", "description": "x"}])
    own = f"/applications/{stage.app.id}/guilds/{stage.guild.id}/commands"
    await stage.app.bot.post(own, {"name": "here", "description": "x"})
    await stage.command(name="elsewhere", contexts=[1])
    await stage.command(name="mine", integration_types=[1])
    (await set_stage(platform)).command(name="foreign").close()
    reply = (await stage.person.get(f"{guild_path(stage)}/application-command-index")).json
    assert sorted(each["name"] for each in reply["application_commands"]) == ["blep", "here"]
    (application,) = reply["applications"]
    assert (application["id"], application["name"], application["bot_id"]) == (stage.app.id, "Herald", stage.app.id)
    first = next(each for each in reply["application_commands"] if each["id"] == command["id"])
    assert (first["options"], first["permissions"]) == (command["options"], {})
    assert int(reply["version"]) >= int(command["version"])
    changed = await stage.command(description="Another")
    again = (await stage.person.get(f"{guild_path(stage)}/application-command-index")).json
    assert (again["version"], again["version"] != reply["version"]) == (changed["version"], True)


async def test_only_what_the_caller_may_use_is_listed(platform: Platform) -> None:
    stage = await set_stage(platform)
    command = await stage.command()
    await stage.command(name="closed", default_member_permissions="0")
    await stage.command(name="grown", nsfw=True)
    assert await names(stage.person, guild_path(stage)) == ["blep", "grown"]
    assert await names(stage.guild.owner, guild_path(stage)) == ["blep", "closed", "grown"]
    assert await names(stage.person, stage.where) == ["blep"]
    path = f"/applications/{stage.app.id}/guilds/{stage.guild.id}/commands/{command['id']}/permissions"
    everyone, here = str(stage.guild.id), str(stage.guild.general)
    said = [{"id": everyone, "type": 1, "permission": True}, {"id": here, "type": 3, "permission": False}]
    await stage.guild.owner.put(path, {"permissions": said})
    assert await names(stage.person, stage.where) == []
    (told, _) = (await stage.person.get(f"{guild_path(stage)}/application-command-index")).json["application_commands"]
    assert told["permissions"] == {"roles": {everyone: True}, "channels": {here: False}}
    denied = await stage.guild.channel(overwrites=[(stage.guild.id, 0, 0, Permissions.USE_APPLICATION_COMMANDS)])
    assert await names(stage.person, f"/channels/{denied}") == []


async def test_what_is_ones_own_is_listed_everywhere(platform: Platform) -> None:
    stage = await set_stage(platform, scope="")
    await stage.command()
    await stage.command(name="private", contexts=[2])
    friend = await platform.person()
    await stage.guild.join(friend)
    dm = (await stage.person.post("/users/@me/channels", {"recipient_id": str(friend.id)})).json["id"]
    for path in ("/users/@me", stage.where, f"/channels/{dm}"):
        assert await names(stage.person, path) == []
    await install(stage.person, stage.app)
    assert await names(stage.person, "/users/@me") == ["blep", "private"]
    assert await names(stage.person, stage.where) == ["blep"]
    assert await names(stage.person, f"/channels/{dm}") == ["blep", "private"]
    assert await names(stage.person, guild_path(stage)) == []
    assert await names(friend, stage.where) == []
    bot_dm = await friend.post("/users/@me/channels", {"recipient_id": str(stage.app.bot.id)})
    assert bot_dm.status == 200
    assert await names(friend, f"/channels/{bot_dm.json['id']}") == ["blep"]
    assert (await stage.app.bot.get("/users/@me/application-command-index")).code == 20001


async def test_texts_are_in_the_callers_language(platform: Platform) -> None:
    stage = await set_stage(platform)
    choices = [{"name": "Dog", "value": "dog", "name_localizations": {"de": "Hund", "en-GB": "Hound"}}]
    option = {"type": 3, "name": "animal", "description": "Which", "choices": choices}
    option["description_localizations"] = {"es-ES": "Cual"}
    await stage.command(name_localizations={"de": "blub"}, options=[option])
    path = f"/applications/{stage.app.id}/commands"

    async def listed(*headers: tuple[str, str]) -> Any:
        (found,) = (await stage.app.bot.get(path, headers=headers)).json
        (same,) = (await stage.person.get(f"{stage.where}/application-command-index", headers=headers)).json[
            "application_commands"
        ]
        assert same.get("name_localized") == found.get("name_localized")
        assert "name_localizations" not in found
        return found

    german = await listed(("x-discord-locale", "de"))
    assert (german["name_localized"], german["options"][0]["choices"][0]["name_localized"]) == ("blub", "Hund")
    assert (await listed(("accept-language", "fr;q=0, de-AT;q=0.9, *")))["name_localized"] == "blub"
    assert (await listed(("accept-language", "de"), ("x-discord-locale", "fr"))).get("name_localized") is None
    # One language stands for another, and one's own is asked for last.
    plain = await listed()
    assert plain["options"][0]["choices"][0]["name_localized"] == "Hound"
    assert (await listed(("x-discord-locale", "es-419")))["options"][0]["description_localized"] == "Cual"
    assert (await listed(("x-discord-locale", "nonsense"), ("accept-language", ";;,")))["name"] == "blep"
    # An interaction has the usual names, whatever the language.
    told = await stage.used(
        (await stage.app.bot.get(path)).json[0], options=[{"type": 3, "name": "animal", "value": "dog"}]
    )
    assert (told["data"]["name"], told["data"]["options"][0]["name"]) == ("blep", "animal")


async def test_in_no_language_two_options_have_one_name(platform: Platform) -> None:
    stage = await set_stage(platform)
    path = f"/applications/{stage.app.id}/commands"

    def option(name: str, **texts: str) -> dict[str, Any]:
        return {"type": 3, "name": name, "description": "x", "name_localizations": texts}

    for options in ([option("a", de="c"), option("b", de="c")], [option("a"), option("b", de="a")]):
        reply = await stage.app.bot.post(path, {"name": "x", "description": "x", "options": options})
        assert reply.errors_at("options.1.name_localizations.de"), reply.body
    fine = [option("a", de="b1"), option("b", fr="b1")]
    assert (await stage.app.bot.post(path, {"name": "x", "description": "x", "options": fine})).status == 201
