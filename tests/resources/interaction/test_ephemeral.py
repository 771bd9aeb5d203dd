"""Ephemeral messages: visible to one user only, in no list, search or page, deleted after a day with their files."""

from typing import Any

import pytest
from sqlalchemy import func, select

from moothall.api.jobs import JobRunner
from moothall.objects.wire import Timestamp
from moothall.resources.message.attachment.sweeper import FileSweeper
from moothall.resources.message.search.indexing import Indexer
from moothall.storage.database import Query
from moothall.storage.schema import attachments, ephemeral_messages, interactions, messages
from tests.resources.interaction.scenario import Scenario, create_scenario
from tests.resources.message.attachment.uploading import stored, upload
from tests.support.harness import Platform

CLICK = {"component_type": 2, "custom_id": "go"}
HOUR_MS = 3_600_000
_counts = [
    Query(select(func.count()).select_from(table))
    for table in (interactions, ephemeral_messages, messages, attachments)
]


async def ephemeral_response(scenario: Scenario, **more: Any) -> tuple[Any, dict[str, Any]]:
    interaction = await scenario.use_command(await scenario.create_command())
    return interaction, await scenario.respond_with_message(interaction, 4, {"content": "whisper", "flags": 64} | more)


async def test_events_of_ephemeral_messages_reach_their_user_with_the_real_channel(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    interaction, message = await ephemeral_response(scenario)
    original = scenario.webhook_path(interaction, "/messages/@original")
    await platform.anonymous.patch(original, {"content": "changed"})
    await platform.anonymous.delete(original)
    where = {"channel_id": str(scenario.guild.general), "guild_id": str(scenario.guild.id)}
    for name in ("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE"):
        assert platform.heard_names.count(name) == 1
        (heard,) = scenario.events(scenario.person.id, name)
        assert {key: heard[key] for key in ("id", *where)} == {"id": message["id"], **where}
    assert scenario.events(scenario.person.id, "MESSAGE_UPDATE")[0]["flags"] == 64
    assert (await platform.anonymous.get(original)).code == 10008


async def test_ephemeral_messages_are_in_no_list_search_or_page(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    interaction, message = await ephemeral_response(scenario)
    before = (await scenario.person.get(scenario.channel_path)).json["last_message_id"]
    assert before != message["id"]
    room, message_id = interaction["id"], message["id"]
    indexer = Indexer(platform.services)
    await indexer.drain()
    for caller in (scenario.person, scenario.guild.owner, scenario.app.bot):
        assert (await caller.get(f"{scenario.channel_path}/messages", around=message_id)).json == []
        assert (await caller.get(f"{scenario.channel_path}/messages/{message_id}")).code == 10008
        assert (await caller.get(f"/channels/{room}/messages/{message_id}")).code == 10003
        assert (await caller.get(f"/channels/{room}/messages")).code == 10003
        assert (
            await caller.put(f"{scenario.channel_path}/messages/{message_id}/reactions/%F0%9F%91%8D/@me")
        ).code == 10008
        assert (await caller.put(f"{scenario.channel_path}/messages/pins/{message_id}")).code in {10008, 50013}
        assert (await caller.patch(f"{scenario.channel_path}/messages/{message_id}", {"content": "x"})).code == 10008
        assert (await caller.delete(f"{scenario.channel_path}/messages/{message_id}")).code == 10008
        reference = {"content": "x", "message_reference": {"message_id": message_id}}
        assert (await caller.post(f"{scenario.channel_path}/messages", reference)).code == 50035
        search = await caller.get(f"/guilds/{scenario.guild.id}/messages/search", content="whisper")
        if caller is scenario.app.bot:
            assert (search.status, search.code) == (403, 50001)  # bots do not search
        else:
            assert (search.status, search.json["total_results"]) == (200, 0)
        assert (
            await caller.post(f"{scenario.channel_path}/messages/{message_id}/threads", {"name": "t"})
        ).code == 10008
        forward = {"message_reference": {"type": 1, "channel_id": room, "message_id": message_id}}
        assert (await caller.post(f"{scenario.channel_path}/messages", forward)).status >= 400


async def test_edits_keep_messages_ephemeral_and_only_their_user_can_use_their_components(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    button = {"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "go", "label": "Go"}]}
    interaction, message = await ephemeral_response(scenario, components=[button])
    edited = await platform.anonymous.patch(
        scenario.webhook_path(interaction, "/messages/@original"), {"content": "new", "flags": 0}
    )
    assert edited.json["flags"] == 64
    assert (await scenario.click(message, "go", scenario.guild.owner)).code == 10008
    wrong = await scenario.post_interaction(
        3, CLICK, message_id=message["id"], channel_id=str(await scenario.guild.channel())
    )
    assert wrong.code == 10008
    clicked = await scenario.create_interaction(3, CLICK, message_id=message["id"])
    assert (clicked["message"]["flags"], clicked["message"]["channel_id"]) == (64, str(scenario.guild.general))
    # A response visible to all does not show the ephemeral message it refers to.
    public = await scenario.respond_with_message(clicked, 4, {"content": "loud"})
    assert not public.get("referenced_message")
    assert "new" not in str(await scenario.history())
    clicked = await scenario.create_interaction(3, CLICK, message_id=message["id"])
    again = await scenario.respond_with_message(clicked, 4, {"content": "soft", "flags": 64})
    assert (again["type"], again["referenced_message"]["id"]) == (19, message["id"])
    clicked = await scenario.create_interaction(3, CLICK, message_id=message["id"])
    assert (await scenario.respond(clicked, 6)).status == 204
    updated = await platform.anonymous.patch(
        scenario.webhook_path(clicked, "/messages/@original"), {"content": "newer"}
    )
    assert (updated.json["id"], updated.json["flags"]) == (message["id"], 64)
    assert (await platform.anonymous.delete(scenario.webhook_path(clicked, f"/messages/{message['id']}"))).status == 204


async def test_each_followup_is_ephemeral_or_not_by_its_own_flags(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    interaction, message = await ephemeral_response(scenario)
    loud = (await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "loud"})).json
    soft = (await platform.anonymous.post(scenario.webhook_path(interaction), {"content": "soft", "flags": 64})).json
    assert (loud["flags"], soft["flags"]) == (0, 64)
    assert soft["message_reference"]["message_id"] == message["id"]
    assert soft["interaction_metadata"]["original_response_message_id"] == message["id"]
    assert [m["id"] for m in await scenario.history()] == [loud["id"]]
    for each in (loud, soft):
        where = scenario.webhook_path(interaction, f"/messages/{each['id']}")
        assert (await platform.anonymous.patch(where, {"content": "edited"})).json["content"] == "edited"
        assert (await platform.anonymous.delete(where)).status == 204


@pytest.mark.parametrize("unknown_command", [False, True])
async def test_ephemeral_messages_and_their_files_are_deleted_after_a_day(
    platform: Platform, unknown_command: bool
) -> None:
    scenario = await create_scenario(platform)
    interaction = await scenario.use_command(await scenario.create_command())
    path = f"/interactions/{interaction['id']}/{interaction['token']}/callback"
    files = {"files[0]": ("a.txt", b"a")}
    body = {"type": 4, "data": {"content": "x", "flags": 64}}
    reply = await upload(platform.anonymous, "POST", path, files, body, with_response=True)
    (attachment,) = reply.json["resource"]["message"]["attachments"]
    assert await scenario.fetch(attachment["url"]) == b"a"
    command = await scenario.create_command(name="file", options=[{"type": 11, "name": "f", "description": "x"}])
    data = {
        "id": command["id"],
        "type": 1,
        "options": [{"type": 11, "name": "f", "value": "0"}],
        "attachments": [{"id": "0", "filename": "b.txt"}],
    }
    request = {"type": 2, "application_id": scenario.app.id, "channel_id": str(scenario.guild.general), "data": data}
    if unknown_command:
        data["id"] = "1"
    await upload(scenario.person, "POST", "/interactions", {"files[0]": ("b.txt", b"b")}, request)
    assert len(await stored(platform)) == (1 if unknown_command else 2)
    runner = JobRunner(platform.services)
    await runner.drain(Timestamp(Timestamp.now() + 2 * HOUR_MS))
    assert (await counts(platform))[0] == 0
    assert await scenario.fetch(attachment["url"]) == b"a"
    # The jobs are enqueued with the interaction, so that no later interaction is needed.
    await runner.drain(Timestamp(Timestamp.now() + 25 * HOUR_MS))
    assert await counts(platform) == [0, 0, 0, 0]
    await FileSweeper(platform.services).sweep()
    assert await stored(platform) == []


async def counts(platform: Platform) -> list[int]:
    async with platform.database.read() as reader:
        return [int(await reader.scalar(query) or 0) for query in _counts]


async def test_no_ephemeral_message_has_a_poll(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    command = await scenario.create_command()
    poll = {"question": {"text": "q"}, "answers": [{"poll_media": {"text": "a"}}]}
    interaction = await scenario.use_command(command)
    refused = await scenario.respond(interaction, 4, {"poll": poll, "flags": 64})
    assert refused.errors_at("data.poll") == ["BASE_TYPE_BAD_TYPE"]
    await scenario.respond(interaction, 5, {"flags": 64})
    original = scenario.webhook_path(interaction, "/messages/@original")
    for reply in (
        await platform.anonymous.patch(original, {"poll": poll}),
        await platform.anonymous.post(scenario.webhook_path(interaction), {"poll": poll}),
    ):
        assert reply.errors_at("poll") == ["BASE_TYPE_BAD_TYPE"]
    filled = await platform.anonymous.patch(original, {"content": "done"})
    assert (filled.status, "poll" in filled.json) == (200, False)
    followup = await platform.anonymous.post(scenario.webhook_path(interaction), {"poll": poll, "flags": 64})
    assert followup.errors_at("poll") == ["BASE_TYPE_BAD_TYPE"]
