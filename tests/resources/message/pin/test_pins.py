"""Pins: at both paths, with their events, audit log entries and system messages."""

import pytest

from moothall.objects import limits
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from tests.resources.message.messaging import direct_messages, guild_of, member_of, say
from tests.support.harness import Platform

P = Permissions
PATHS = pytest.mark.parametrize("where", ["/pins", "/messages/pins"])


@PATHS
async def test_a_pin_is_announced_recorded_and_posted_to_the_channel(platform: Platform, where: str) -> None:
    owner, guild, url = await guild_of(platform)
    pins = f"/channels/{guild.general}{where}"
    keeper = await guild.member_with(P.PIN_MESSAGES)
    sent = await say(owner, url, "keep this")
    with platform.listening() as heard:
        assert (await keeper.put(f"{pins}/{sent['id']}", reason="good")).status == 204
    assert sorted(heard) == [
        "CHANNEL_PINS_UPDATE", "GUILD_AUDIT_LOG_ENTRY_CREATE", "MESSAGE_CREATE", "MESSAGE_UPDATE",
    ]  # fmt: skip
    assert platform.heard_data("MESSAGE_UPDATE")[0]["pinned"] is True
    update = platform.heard_data("CHANNEL_PINS_UPDATE")[0]
    assert (update["channel_id"], update["guild_id"]) == (str(guild.general), str(guild.id))
    assert await guild.audit_log() == [(74, owner.id, "good")]
    entry = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[0]
    assert entry["options"] == {"channel_id": str(guild.general), "message_id": sent["id"]}
    note = (await owner.get(url, limit=1)).json[0]
    assert (note["type"], note["content"], note["author"]["id"]) == (6, "", str(keeper.id))
    assert note["message_reference"]["message_id"] == sent["id"]
    assert "referenced_message" not in note
    page = (await owner.get(f"/channels/{guild.general}/messages/pins")).json
    assert page["has_more"] is False
    assert [item["message"]["id"] for item in page["items"]] == [sent["id"]]
    assert page["items"][0]["pinned_at"] == update["last_pin_timestamp"]
    assert page["items"][0]["message"]["pinned"] is True
    assert (await owner.get(f"/channels/{guild.general}/pins")).json == [page["items"][0]["message"]]
    assert (await owner.get(f"/channels/{guild.general}")).json["last_pin_timestamp"] == update["last_pin_timestamp"]


@PATHS
async def test_an_unpinned_message_is_like_any_other(platform: Platform, where: str) -> None:
    owner, guild, url = await guild_of(platform)
    pins = f"/channels/{guild.general}{where}"
    first, second = await say(owner, url), await say(owner, url)
    for message in (first, second):
        await owner.put(f"{pins}/{message['id']}")
    newest = platform.heard_data("CHANNEL_PINS_UPDATE")
    with platform.listening() as heard:
        assert (await owner.delete(f"{pins}/{second['id']}", reason="old")).status == 204
    assert sorted(heard) == ["CHANNEL_PINS_UPDATE", "GUILD_AUDIT_LOG_ENTRY_CREATE", "MESSAGE_UPDATE"]
    assert platform.heard_data("CHANNEL_PINS_UPDATE")[-1] == newest[0]
    assert (await guild.audit_log())[-1] == (75, owner.id, "old")
    assert (await owner.get(f"{url}/{second['id']}")).json == second
    await owner.delete(f"{pins}/{first['id']}")
    assert platform.heard_data("CHANNEL_PINS_UPDATE")[-1]["last_pin_timestamp"] is None


@PATHS
async def test_pinning_and_unpinning_again_emit_nothing(platform: Platform, where: str) -> None:
    owner, guild, url = await guild_of(platform)
    path = f"/channels/{guild.general}{where}/{(await say(owner, url))['id']}"
    assert (await owner.delete(path)).status == 204
    await owner.put(path)
    start = len(platform.heard)
    assert (await owner.put(path)).status == 204
    assert len(platform.heard) == start
    assert (await owner.put(f"/channels/{guild.general}{where}/5")).code == 10008


@PATHS
async def test_pinning_needs_its_own_permission(platform: Platform, where: str) -> None:
    owner, guild, url = await guild_of(platform)
    sent = await say(owner, url)
    path = f"/channels/{guild.general}{where}/{sent['id']}"
    moderator = await guild.member_with(P.MANAGE_MESSAGES)
    assert (await moderator.put(path)).code == 50013
    assert (await moderator.delete(path)).code == 50013


@PATHS
async def test_both_may_pin_in_a_direct_message_which_opens_it(platform: Platform, where: str) -> None:
    owner, guild, _ = await guild_of(platform)
    friend = await member_of(platform, guild)
    url = await direct_messages(owner, friend)
    channel = url.removesuffix("/messages")
    sent = await say(owner, url)
    await owner.delete(channel)
    with platform.listening() as heard:
        assert (await friend.put(f"{channel}{where}/{sent['id']}")).status == 204
    assert sorted(heard) == ["CHANNEL_CREATE", "CHANNEL_PINS_UPDATE", "MESSAGE_CREATE", "MESSAGE_UPDATE"]
    update = next(e for e in platform.heard if e.name == "CHANNEL_PINS_UPDATE")
    assert (update.intent, set(update.user_ids)) == (Intent.DIRECT_MESSAGES, {owner.id, friend.id})
    assert (await owner.delete(f"{channel}{where}/{sent['id']}")).status == 204


async def test_pins_are_paged_by_the_moment_they_were_set(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    pins = f"/channels/{guild.general}/messages/pins"
    ids = [(await say(owner, url))["id"] for _ in range(5)]
    for message_id in (ids[1], ids[0], ids[4], ids[2], ids[3]):
        await owner.put(f"{pins}/{message_id}")
    first = (await owner.get(pins, limit=2)).json
    assert [item["message"]["id"] for item in first["items"]] == [ids[3], ids[2]]
    assert first["has_more"] is True
    rest = (await owner.get(pins, before=first["items"][-1]["pinned_at"])).json
    assert [item["message"]["id"] for item in rest["items"]] == [ids[4], ids[0], ids[1]]
    assert rest["has_more"] is False
    assert (await owner.get(pins, limit=51)).code == 50035


async def test_without_history_no_pins_are_listed(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform, everyone=P.VIEW_CHANNEL)
    member = await member_of(platform, guild)
    await owner.put(f"/channels/{guild.general}/pins/{(await say(owner, url))['id']}")
    assert (await member.get(f"/channels/{guild.general}/pins")).json == []
    assert (await member.get(f"/channels/{guild.general}/messages/pins")).json == {"items": [], "has_more": False}


async def test_system_messages_and_too_many_are_not_pinned(platform: Platform, monkeypatch: pytest.MonkeyPatch) -> None:
    owner, guild, url = await guild_of(platform)
    pins = f"/channels/{guild.general}/messages/pins"
    await owner.put(f"{pins}/{(await say(owner, url))['id']}")
    note = (await owner.get(url, limit=1)).json[0]
    assert (await owner.put(f"{pins}/{note['id']}")).code == 50021
    monkeypatch.setattr(limits, "PINS_PER_CHANNEL", 1)
    assert (await owner.put(f"{pins}/{(await say(owner, url))['id']}")).code == 30003
