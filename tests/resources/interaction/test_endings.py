"""What is left of commands and interactions when their application, their guild or their place is gone."""

from typing import Any

import pytest
from sqlalchemy import func, select

from moothall.kernel.jobs import JobRunner
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query
from moothall.storage.schema import command_permissions, commands, interactions
from tests.harness import Platform
from tests.resources.interaction.stage import Stage, set_stage

_counts = [Query(select(func.count()).select_from(table)) for table in (commands, command_permissions, interactions)]


async def counts(platform: Platform) -> list[int]:
    async with platform.database.read() as reader:
        return [int(await reader.scalar(query) or 0) for query in _counts]


async def busy(platform: Platform) -> tuple[Stage, Any]:
    """An application with a command everywhere and one here, about which the guild says something; and its answer."""
    stage = await set_stage(platform)
    everywhere = await stage.command()
    path = f"/applications/{stage.app.id}/guilds/{stage.guild.id}/commands"
    here = (await stage.app.bot.post(path, {"name": "here", "description": "x"})).json
    for command in (everywhere, here):
        body = {"permissions": [{"id": str(stage.guild.id), "type": 1, "permission": True}]}
        assert (await stage.guild.owner.put(f"{path}/{command['id']}/permissions", body)).status == 200
    told = await stage.used(here)
    assert (await stage.answer(told, 4, {"content": "x"})).status == 204
    assert await counts(platform) == [2, 2, 1]
    return stage, told


async def test_an_application_that_is_deleted_leaves_no_command_and_no_token(platform: Platform) -> None:
    stage, told = await busy(platform)
    assert (await stage.app.owner.delete(f"/applications/{stage.app.id}")).status == 204
    assert await counts(platform) == [0, 0, 0]
    assert (await platform.nobody.post(stage.hook(told), {"content": "x"})).code == 10015
    assert (await stage.raise_(2, {"id": told["data"]["id"], "type": 1})).code == 10002


async def test_a_bot_that_leaves_takes_its_commands_of_the_guild_along(platform: Platform) -> None:
    stage, told = await busy(platform)
    assert (await stage.guild.owner.delete(f"/guilds/{stage.guild.id}/members/{stage.app.bot.id}")).status == 204
    assert await counts(platform) == [1, 0, 0]
    assert (await platform.nobody.post(stage.hook(told), {"content": "x"})).code == 10015


async def test_a_guild_that_is_deleted_leaves_nothing(platform: Platform) -> None:
    stage, told = await busy(platform)
    assert (await stage.guild.owner.delete(f"/guilds/{stage.guild.id}")).status == 204
    runner = JobRunner(platform.services)
    await runner.drain(Timestamp(Timestamp.now() + 600_000))
    assert (await counts(platform))[:2] == [1, 0]
    assert (await platform.nobody.post(stage.hook(told), {"content": "x"})).code in {10003, 10015}
    assert (await stage.app.bot.get(f"/applications/{stage.app.id}/commands")).json[0]["name"] == "blep"


async def test_a_channel_that_is_deleted_ends_what_was_to_be_said_in_it(platform: Platform) -> None:
    stage, told = await busy(platform)
    assert (await stage.guild.owner.delete(stage.where)).status == 200
    for reply in (
        await platform.nobody.post(stage.hook(told), {"content": "x"}),
        await platform.nobody.patch(stage.hook(told, "/messages/@original"), {"content": "x"}),
    ):
        assert reply.status == 404, reply.body


async def test_what_a_guild_says_of_commands_is_told_with_the_command(platform: Platform) -> None:
    stage, _ = await busy(platform)
    log = (await stage.guild.owner.get(f"/guilds/{stage.guild.id}/audit-logs", action_type=121)).json
    assert {each["name"] for each in log["application_commands"]} == {"blep", "here"}
    assert {each["target_id"] for each in log["audit_log_entries"]} == {c["id"] for c in log["application_commands"]}


@pytest.mark.parametrize("name", ["APPLICATION_COMMAND_PERMISSIONS_UPDATE"])
async def test_what_is_said_of_commands_needs_no_intent_to_be_heard(platform: Platform, name: str) -> None:
    await busy(platform)
    heard = [envelope for envelope in platform.heard if envelope.name == name]
    assert len(heard) == 2
    assert {envelope.intent for envelope in heard} == {0}
