"""Messages that users save."""

from typing import Any

import pytest

from moothall.objects import limits
from moothall.objects.permissions import Permissions
from tests.support.harness import Caller, Guild, Platform

PATH = "/users/@me/saved-messages"
DUE = "2027-01-01T08:00:00.000000+00:00"


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person("owner"))


async def says(caller: Caller, channel_id: int, content: str) -> str:
    return str((await caller.post(f"/channels/{channel_id}/messages", {"content": content})).json["id"])


async def saved_by(caller: Caller) -> list[Any]:
    listed: list[Any] = (await caller.get(PATH)).json["results"]
    return listed


async def test_a_message_is_saved_listed_and_saved_no_longer(platform: Platform, guild: Guild) -> None:
    bob = await platform.person("bob")
    await guild.join(bob)
    first, second = [await says(guild.owner, guild.general, text) for text in ("one", "two")]
    with platform.listening() as heard:
        saved = [await bob.put(f"{PATH}/{guild.general}/{each}", {}) for each in (first, second)]
        again = await bob.put(f"{PATH}/{guild.general}/{first}", {})
    assert [reply.status for reply in saved] == [200, 200]
    assert heard == ["SAVED_MESSAGE_CREATE"] * 2
    assert platform.heard_data("SAVED_MESSAGE_CREATE") == [reply.json for reply in saved]
    assert again.json == saved[0].json
    assert saved[0].json["message"]["content"] == "one"
    assert saved[0].json["save_data"] == {
        "channel_id": str(guild.general),
        "message_id": first,
        "guild_id": str(guild.id),
        "saved_at": saved[0].json["save_data"]["saved_at"],
        "author_summary": "",
        "channel_summary": "",
        "message_summary": "",
        "notes": "",
        "due_at": None,
    }
    assert {each["message"]["id"] for each in await saved_by(bob)} == {first, second}
    assert await saved_by(guild.owner) == []
    with platform.listening() as heard:
        assert (await bob.delete(f"{PATH}/{guild.general}/{first}")).status == 204
        assert (await bob.delete(f"{PATH}/{guild.general}/{first}")).code == 10008
    assert heard == ["SAVED_MESSAGE_DELETE"]
    assert platform.heard_data("SAVED_MESSAGE_DELETE") == [{"channel_id": str(guild.general), "message_id": first}]
    assert [each["message"]["id"] for each in await saved_by(bob)] == [second]


async def test_when_it_is_due_can_be_changed(platform: Platform, guild: Guild) -> None:
    message = await says(guild.owner, guild.general, "one")
    path = f"{PATH}/{guild.general}/{message}"
    for body, due in (({}, None), ({"due_at": DUE}, DUE), ({"due_at": None}, None)):
        with platform.listening() as heard:
            assert (await guild.owner.put(path, body)).json["save_data"]["due_at"] == due
        assert heard == ["SAVED_MESSAGE_CREATE"]
        assert [each["save_data"]["due_at"] for each in await saved_by(guild.owner)] == [due]


async def test_what_is_deleted_or_hidden_is_null_and_can_be_given_up(platform: Platform, guild: Guild) -> None:
    bob = await platform.person("bob")
    await guild.join(bob)
    channel = await guild.channel()
    deleted, hidden = await says(guild.owner, guild.general, "gone"), await says(guild.owner, channel, "secret")
    for channel_id, message in ((guild.general, deleted), (channel, hidden)):
        assert (await bob.put(f"{PATH}/{channel_id}/{message}", {})).status == 200
    await guild.owner.delete(f"/channels/{guild.general}/messages/{deleted}")
    deny = {"type": 0, "deny": str(int(Permissions.READ_MESSAGE_HISTORY))}
    await guild.owner.put(f"/channels/{channel}/permissions/{guild.id}", deny)
    assert [each["message"] for each in await saved_by(bob)] == [None, None]
    assert (await bob.put(f"{PATH}/{channel}/{hidden}", {})).code == 50013
    assert (await bob.put(f"{PATH}/{guild.general}/{deleted}", {})).code == 10008
    await guild.owner.delete(f"/channels/{channel}")
    for channel_id, message in ((guild.general, deleted), (channel, hidden)):
        assert (await bob.delete(f"{PATH}/{channel_id}/{message}")).status == 204
    assert await saved_by(bob) == []


async def test_no_more_than_so_many_of_either_kind_are_saved(guild: Guild, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(limits, "SAVED_MESSAGES_MAX", 2)
    paths = [f"{PATH}/{guild.general}/{await says(guild.owner, guild.general, 'x')}" for _ in range(3)]
    for path in paths[:2]:
        assert (await guild.owner.put(path, {})).status == 200
    assert (await guild.owner.put(paths[2], {})).errors_at("message_id")
    assert (await guild.owner.put(paths[2], {"due_at": DUE})).status == 200
    assert (await guild.owner.put(paths[2], {"due_at": None})).errors_at("message_id")
