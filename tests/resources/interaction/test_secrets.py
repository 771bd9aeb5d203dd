"""Secrets, codes and tokens of a whole flow: in no log line, no audit entry, no stored row and no refusal."""

import logging
from typing import Any

import pytest
from sqlalchemy import select

from moothall.storage.database import Query
from moothall.storage.schema import audit_entries, metadata
from tests.oauth2.flow import answer_of, bearer, consent
from tests.resources.interaction.http_app import http_scenario, respond_with
from tests.resources.interaction.scenario import create_scenario
from tests.support.harness import Platform


async def test_secrets_and_tokens_of_a_whole_flow_are_not_stored_logged_or_shown(
    platform: Platform, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with http_scenario(platform) as (scenario, app):
        refusals: list[bytes] = []
        person = scenario.person
        code = answer_of(
            await consent(person, scenario.app, "identify guilds applications.commands.permissions.update")
        )["code"]
        tokens = (await scenario.app.exchange(code)).json
        renewed = (await scenario.app.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"])).json
        refusals.append((await scenario.app.exchange(code)).body)
        refusals.append((await scenario.app.token(secret="wrong", grant_type="authorization_code", code=code)).body)
        caller = bearer(platform, person, renewed["access_token"])
        refusals.append((await caller.post("/interactions", {"x": 1})).body)
        own = (await scenario.app.owner.post(f"/applications/{scenario.app.id}/bot/reset")).json["token"]
        scenario.app.bot.authorization = f"Bot {own}"
        command = await scenario.create_command()
        path = f"/applications/{scenario.app.id}/guilds/{scenario.guild.id}/commands/{command['id']}/permissions"
        body = {"permissions": [{"id": str(scenario.guild.id), "type": 1, "permission": True}]}
        assert (await scenario.guild.owner.put(path, body)).status == 200
        app.handle = respond_with(4, {"content": "hello"})
        await scenario.post_command(command)
        await scenario.deliveries.wait_until_idle()
        app.handle = respond_with(99)
        await scenario.post_command(command)
        await scenario.deliveries.wait_until_idle()
        first, second = app.received
        for interaction in (first, second):
            refusals += [
                (await scenario.respond(interaction, 4, {"content": 5})).body,
                (await scenario.respond(interaction, 1)).body,
                (await platform.anonymous.post(scenario.webhook_path(interaction), {"content": 5})).body,
                (await platform.anonymous.get(scenario.webhook_path(interaction, "/messages/1"))).body,
                (await platform.anonymous.post(scenario.webhook_path(interaction, "/slack"), {"text": "x"})).body,
                (await platform.anonymous.put(scenario.webhook_path(interaction), {})).body,
            ]
        message = (await platform.anonymous.get(scenario.webhook_path(first, "/messages/@original"))).body
        secrets = [
            code,
            scenario.app.secret,
            scenario.app.bot.token,
            own,
            person.token,
            *(each[key] for each in (tokens, renewed) for key in ("access_token", "refresh_token")),
            *(interaction["token"] for interaction in app.received),
        ]
    logged = caplog.text + "".join(str(record.__dict__) for record in caplog.records)
    assert "interactions" in logged
    audit = await rows(platform, audit_entries)
    everything = "".join([await rows(platform, table) for table in metadata.sorted_tables])
    for secret in secrets:
        assert secret not in logged
        assert secret not in audit
        assert secret not in everything
        assert not any(secret.encode() in refusal for refusal in refusals)
        assert secret.encode() not in message


async def rows(platform: Platform, table: Any) -> str:
    async with platform.database.read() as reader:
        return str(await reader.all(Query(select(table))))


async def test_a_token_of_one_application_cannot_manage_the_commands_of_another(platform: Platform) -> None:
    scenario, rival = await create_scenario(platform), await create_scenario(platform)
    command = await scenario.create_command()
    of_guild = f"/applications/{scenario.app.id}/guilds/{scenario.guild.id}/commands"
    scope = "applications.commands.update applications.commands.permissions.update"
    token_response = (await rival.app.token(grant_type="client_credentials", scope=scope)).json
    wide = bearer(platform, rival.app.owner, token_response["access_token"])
    body = {"name": "taken", "description": "x"}
    for caller in (rival.app.bot, wide, rival.app.owner):
        for path in (f"/applications/{scenario.app.id}/commands", of_guild):
            one = f"{path}/{command['id']}"
            for reply in (
                await caller.get(path),
                await caller.post(path, body),
                await caller.put(path, [body]),
                await caller.get(one),
                await caller.patch(one, body),
                await caller.delete(one),
                await caller.get(f"{of_guild}/permissions"),
                await caller.get(f"{of_guild}/{command['id']}/permissions"),
            ):
                assert (reply.status, reply.code) == (403, 20012)
    # A bearer token of one application cannot edit permissions for another's commands, whatever its user's permissions.
    granted = answer_of(await consent(scenario.guild.owner, rival.app, "applications.commands.permissions.update"))[
        "code"
    ]
    token = (await rival.app.exchange(granted)).json["access_token"]
    theirs = bearer(platform, scenario.guild.owner, token)
    entry = {"permissions": [{"id": str(scenario.guild.id), "type": 1, "permission": False}]}
    assert (await theirs.put(f"{of_guild}/{command['id']}/permissions", entry)).code == 20012
    # A bearer token of the application itself can; the application's owner without permissions in the guild cannot.
    granted = answer_of(await consent(scenario.guild.owner, scenario.app, "applications.commands.permissions.update"))[
        "code"
    ]
    token = (await scenario.app.exchange(granted)).json["access_token"]
    right = bearer(platform, scenario.guild.owner, token)
    assert (await right.put(f"{of_guild}/{command['id']}/permissions", entry)).status == 200
    assert (await scenario.app.owner.put(f"{of_guild}/{command['id']}/permissions", entry)).code == 10004
    assert (await scenario.app.bot.get(f"/applications/{scenario.app.id}/commands")).json[0]["name"] == "blep"
