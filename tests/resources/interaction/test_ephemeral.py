"""What one person sees: in no list, search or page of anybody's, and gone after a day with its files."""

from typing import Any

import pytest
from sqlalchemy import func, select

from moothall.kernel.jobs import JobRunner
from moothall.objects.wire import Timestamp
from moothall.resources.message.attachment.sweeping import FileSweeper
from moothall.resources.message.search.indexing import Indexer
from moothall.storage.database import Query
from moothall.storage.schema import attachments, ephemeral_messages, interactions, messages
from tests.harness import Platform
from tests.resources.interaction.stage import Stage, set_stage
from tests.resources.message.attachment.uploading import stored, upload

HOUR_MS = 3_600_000
_counts = [
    Query(select(func.count()).select_from(table))
    for table in (interactions, ephemeral_messages, messages, attachments)
]


async def whispered(stage: Stage, **more: Any) -> tuple[Any, dict[str, Any]]:
    told = await stage.used(await stage.command())
    return told, await stage.shown(told, 4, {"content": "whisper", "flags": 64} | more)


async def test_it_is_told_to_its_person_with_the_channel_that_they_see_it_in(platform: Platform) -> None:
    stage = await set_stage(platform)
    told, message = await whispered(stage)
    original = stage.hook(told, "/messages/@original")
    await platform.nobody.patch(original, {"content": "changed"})
    await platform.nobody.delete(original)
    where = {"channel_id": str(stage.guild.general), "guild_id": str(stage.guild.id)}
    for name in ("MESSAGE_CREATE", "MESSAGE_UPDATE", "MESSAGE_DELETE"):
        assert platform.heard_names.count(name) == 1
        (heard,) = stage.heard(stage.person.id, name)
        assert {key: heard[key] for key in ("id", *where)} == {"id": message["id"], **where}
    assert stage.heard(stage.person.id, "MESSAGE_UPDATE")[0]["flags"] == 64
    assert (await platform.nobody.get(original)).code == 10008


async def test_nobody_finds_it_anywhere_not_even_by_its_id(platform: Platform) -> None:
    stage = await set_stage(platform)
    told, message = await whispered(stage)
    before = (await stage.person.get(stage.where)).json["last_message_id"]
    assert before != message["id"]
    room, own = told["id"], message["id"]
    indexer = Indexer(platform.services)
    await indexer.drain()
    for caller in (stage.person, stage.guild.owner, stage.app.bot):
        assert (await caller.get(f"{stage.where}/messages", around=own)).json == []
        assert (await caller.get(f"{stage.where}/messages/{own}")).code == 10008
        assert (await caller.get(f"/channels/{room}/messages/{own}")).code == 10003
        assert (await caller.get(f"/channels/{room}/messages")).code == 10003
        assert (await caller.put(f"{stage.where}/messages/{own}/reactions/%F0%9F%91%8D/@me")).code == 10008
        assert (await caller.put(f"{stage.where}/messages/pins/{own}")).code in {10008, 50013}
        assert (await caller.patch(f"{stage.where}/messages/{own}", {"content": "x"})).code == 10008
        assert (await caller.delete(f"{stage.where}/messages/{own}")).code == 10008
        reference = {"content": "x", "message_reference": {"message_id": own}}
        assert (await caller.post(f"{stage.where}/messages", reference)).code == 50035
        found = await caller.get(f"/guilds/{stage.guild.id}/messages/search", content="whisper")
        if caller is stage.app.bot:
            assert (found.status, found.code) == (403, 50001)  # bots do not search
        else:
            assert (found.status, found.json["total_results"]) == (200, 0)
        assert (await caller.post(f"{stage.where}/messages/{own}/threads", {"name": "t"})).code == 10008
        forward = {"message_reference": {"type": 1, "channel_id": room, "message_id": own}}
        assert (await caller.post(f"{stage.where}/messages", forward)).status >= 400


async def test_it_stays_one_persons_through_edits_and_its_components_answer_to_them_alone(platform: Platform) -> None:
    stage = await set_stage(platform)
    button = {"type": 1, "components": [{"type": 2, "style": 1, "custom_id": "go", "label": "Go"}]}
    told, message = await whispered(stage, components=[button])
    edited = await platform.nobody.patch(stage.hook(told, "/messages/@original"), {"content": "new", "flags": 0})
    assert edited.json["flags"] == 64
    assert (await stage.click(message, "go", stage.guild.owner)).code == 10008
    wrong = await stage.raise_(
        3, {"custom_id": "go"}, message_id=message["id"], channel_id=str(await stage.guild.channel())
    )
    assert wrong.code == 10008
    clicked = await stage.raised(3, {"custom_id": "go"}, message_id=message["id"])
    assert (clicked["message"]["flags"], clicked["message"]["channel_id"]) == (64, str(stage.guild.general))
    # An answer that all see does not show what one has seen.
    public = await stage.shown(clicked, 4, {"content": "loud"})
    assert not public.get("referenced_message")
    assert "new" not in str(await stage.history())
    clicked = await stage.raised(3, {"custom_id": "go"}, message_id=message["id"])
    again = await stage.shown(clicked, 4, {"content": "soft", "flags": 64})
    assert (again["type"], again["referenced_message"]["id"]) == (19, message["id"])
    clicked = await stage.raised(3, {"custom_id": "go"}, message_id=message["id"])
    assert (await stage.answer(clicked, 6)).status == 204
    updated = await platform.nobody.patch(stage.hook(clicked, "/messages/@original"), {"content": "newer"})
    assert (updated.json["id"], updated.json["flags"]) == (message["id"], 64)
    assert (await platform.nobody.delete(stage.hook(clicked, f"/messages/{message['id']}"))).status == 204


async def test_followups_are_for_one_or_for_all_as_each_says(platform: Platform) -> None:
    stage = await set_stage(platform)
    told, message = await whispered(stage)
    loud = (await platform.nobody.post(stage.hook(told), {"content": "loud"})).json
    soft = (await platform.nobody.post(stage.hook(told), {"content": "soft", "flags": 64})).json
    assert (loud["flags"], soft["flags"]) == (0, 64)
    assert soft["message_reference"]["message_id"] == message["id"]
    assert soft["interaction_metadata"]["original_response_message_id"] == message["id"]
    assert [m["id"] for m in await stage.history()] == [loud["id"]]
    for each in (loud, soft):
        where = stage.hook(told, f"/messages/{each['id']}")
        assert (await platform.nobody.patch(where, {"content": "edited"})).json["content"] == "edited"
        assert (await platform.nobody.delete(where)).status == 204


@pytest.mark.parametrize("lost", [False, True])
async def test_after_a_day_nothing_of_it_is_left(platform: Platform, lost: bool) -> None:
    stage = await set_stage(platform)
    told = await stage.used(await stage.command())
    path = f"/interactions/{told['id']}/{told['token']}/callback"
    files = {"files[0]": ("a.txt", b"a")}
    body = {"type": 4, "data": {"content": "x", "flags": 64}}
    reply = await upload(platform.nobody, "POST", path, files, body, with_response=True)
    (attachment,) = reply.json["resource"]["message"]["attachments"]
    assert await stage.fetch(attachment["url"]) == b"a"
    command = await stage.command(name="file", options=[{"type": 11, "name": "f", "description": "x"}])
    data = {
        "id": command["id"],
        "type": 1,
        "options": [{"type": 11, "name": "f", "value": "0"}],
        "attachments": [{"id": "0", "filename": "b.txt"}],
    }
    raised = {"type": 2, "application_id": stage.app.id, "channel_id": str(stage.guild.general), "data": data}
    if lost:
        data["id"] = "1"
    await upload(stage.person, "POST", "/interactions", {"files[0]": ("b.txt", b"b")}, raised)
    assert len(await stored(platform)) == (1 if lost else 2)
    runner = JobRunner(platform.services)
    await runner.drain(Timestamp(Timestamp.now() + 2 * HOUR_MS))
    assert (await counts(platform))[0] == 0
    assert await stage.fetch(attachment["url"]) == b"a"
    # The job is enqueued when an interaction is created, and needs no other interaction to run.
    await runner.drain(Timestamp(Timestamp.now() + 25 * HOUR_MS))
    assert await counts(platform) == [0, 0, 0, 0]
    await FileSweeper(platform.services).sweep()
    assert await stored(platform) == []


async def counts(platform: Platform) -> list[int]:
    async with platform.database.read() as reader:
        return [int(await reader.scalar(query) or 0) for query in _counts]
