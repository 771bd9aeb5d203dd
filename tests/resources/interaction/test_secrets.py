"""Secrets, codes and tokens of a whole flow: in no log line, no audit entry, no stored row and no refusal."""

import logging
from typing import Any

import pytest
from sqlalchemy import select

from moothall.storage.database import Query
from moothall.storage.schema import audit_entries, metadata
from tests.harness import Platform
from tests.oauth2.flow import answer_of, bearer, consent
from tests.resources.interaction.endpoint import answering, http_stage
from tests.resources.interaction.stage import set_stage


async def test_nothing_secret_of_a_whole_flow_is_written_down(
    platform: Platform, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    async with http_stage(platform, seconds=0.5) as (stage, app):
        refusals: list[bytes] = []
        person = stage.person
        code = answer_of(await consent(person, stage.app, "identify guilds applications.commands.permissions.update"))[
            "code"
        ]
        tokens = (await stage.app.exchange(code)).json
        renewed = (await stage.app.token(grant_type="refresh_token", refresh_token=tokens["refresh_token"])).json
        refusals.append((await stage.app.exchange(code)).body)
        refusals.append((await stage.app.token(secret="wrong", grant_type="authorization_code", code=code)).body)
        caller = bearer(platform, person, renewed["access_token"])
        refusals.append((await caller.post("/interactions", {"x": 1})).body)
        own = (await stage.app.owner.post(f"/applications/{stage.app.id}/bot/reset")).json["token"]
        stage.app.bot.authorization = f"Bot {own}"
        command = await stage.command()
        path = f"/applications/{stage.app.id}/guilds/{stage.guild.id}/commands/{command['id']}/permissions"
        body = {"permissions": [{"id": str(stage.guild.id), "type": 1, "permission": True}]}
        assert (await stage.guild.owner.put(path, body)).status == 200
        app.handle = answering(4, {"content": "hello"})
        await stage.use(command)
        await stage.deliveries.wait_until_idle()
        app.handle = answering(99)
        await stage.use(command)
        await stage.deliveries.wait_until_idle()
        first, second = app.told
        for told in (first, second):
            refusals += [
                (await stage.answer(told, 4, {"content": 5})).body,
                (await stage.answer(told, 1)).body,
                (await platform.nobody.post(stage.hook(told), {"content": 5})).body,
                (await platform.nobody.get(stage.hook(told, "/messages/1"))).body,
                (await platform.nobody.post(stage.hook(told, "/slack"), {"text": "x"})).body,
                (await platform.nobody.put(stage.hook(told), {})).body,
            ]
        message = (await platform.nobody.get(stage.hook(first, "/messages/@original"))).body
        secrets = [
            code,
            stage.app.secret,
            stage.app.bot.token,
            own,
            person.token,
            *(each[key] for each in (tokens, renewed) for key in ("access_token", "refresh_token")),
            *(told["token"] for told in app.told),
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


async def test_a_token_of_one_application_does_nothing_for_another(platform: Platform) -> None:
    stage, rival = await set_stage(platform), await set_stage(platform)
    command = await stage.command()
    of_guild = f"/applications/{stage.app.id}/guilds/{stage.guild.id}/commands"
    scope = "applications.commands.update applications.commands.permissions.update"
    given = (await rival.app.token(grant_type="client_credentials", scope=scope)).json
    wide = bearer(platform, rival.app.owner, given["access_token"])
    body = {"name": "taken", "description": "x"}
    for caller in (rival.app.bot, wide, rival.app.owner):
        for path in (f"/applications/{stage.app.id}/commands", of_guild):
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
    # Nor does the right of its person in the guild lend an application another's name.
    granted = answer_of(await consent(stage.guild.owner, rival.app, "applications.commands.permissions.update"))["code"]
    token = (await rival.app.exchange(granted)).json["access_token"]
    theirs = bearer(platform, stage.guild.owner, token)
    entry = {"permissions": [{"id": str(stage.guild.id), "type": 1, "permission": False}]}
    assert (await theirs.put(f"{of_guild}/{command['id']}/permissions", entry)).code == 20012
    # Its own does, and the application's owner without a right in the guild does not.
    granted = answer_of(await consent(stage.guild.owner, stage.app, "applications.commands.permissions.update"))["code"]
    token = (await stage.app.exchange(granted)).json["access_token"]
    right = bearer(platform, stage.guild.owner, token)
    assert (await right.put(f"{of_guild}/{command['id']}/permissions", entry)).status == 200
    assert (await stage.app.owner.put(f"{of_guild}/{command['id']}/permissions", entry)).code == 10004
    assert (await stage.app.bot.get(f"/applications/{stage.app.id}/commands")).json[0]["name"] == "blep"
