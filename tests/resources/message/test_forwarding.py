"""Forwarding: what a snapshot shows, who may forward, and that nothing changes a snapshot."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from moothall.resources.message.attachment.sweeper import FileSweeper
from tests.resources.message.attachment.uploading import send, stored
from tests.resources.message.messaging import bot_of, direct_messages, guild_of, member_of, say
from tests.support.harness import VOICE, Caller, Platform

HAS_SNAPSHOT = 1 << 14


def naming(message: dict[str, Any], **more: Any) -> dict[str, Any]:
    """A body that forwards a message."""
    return {"message_reference": {"type": 1, "message_id": message["id"], "channel_id": message["channel_id"], **more}}


async def forward(caller: Caller, url: str, message: dict[str, Any], **more: Any) -> dict[str, Any]:
    reply = await caller.post(url, {**naming(message), **more})
    assert reply.status == 200, reply.json
    sent: dict[str, Any] = reply.json
    return sent


async def test_a_forwarded_message_has_a_snapshot_and_a_reference_to_its_source(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    other = await platform.guild(owner)
    source = await say(owner, url, f"**see** <@{friend.id}>", embeds=[{"title": "x"}])
    platform.heard.clear()
    there = f"/channels/{other.general}/messages"
    sent = await forward(owner, there, source)
    assert (sent["content"], sent["embeds"], sent["type"], sent["flags"]) == ("", [], 0, HAS_SNAPSHOT)
    assert sent["mentions"] == []
    assert sent["message_reference"] == {
        "type": 1,
        "message_id": source["id"],
        "channel_id": source["channel_id"],
        "guild_id": str(guild.id),
    }
    assert "referenced_message" not in sent
    (snapshot,) = sent["message_snapshots"]
    shown = {key: source[key] for key in snapshot["message"]}
    assert snapshot["message"] == shown
    assert set(shown) == {
        "type", "content", "embeds", "attachments", "timestamp", "edited_timestamp", "flags", "mentions",
        "mention_roles", "components",
    }  # fmt: skip
    assert platform.heard_names == ["MESSAGE_CREATE"]
    assert platform.heard_data("MESSAGE_CREATE")[0]["message_snapshots"] == [snapshot]
    assert (await owner.get(f"{there}/{sent['id']}")).json == sent


async def test_changes_of_the_source_do_not_change_a_snapshot(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    source = await say(owner, url, "as it was")
    sent = await forward(owner, url, source)
    await owner.patch(f"{url}/{source['id']}", {"content": "changed"})
    await owner.delete(f"{url}/{source['id']}")
    read = (await owner.get(f"{url}/{sent['id']}")).json
    assert read["message_snapshots"][0]["message"]["content"] == "as it was"


async def test_messages_are_forwarded_into_and_out_of_direct_messages(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    friend = await platform.person()
    direct = await direct_messages(owner, friend)
    private = await say(owner, direct, "between us")
    sent = await forward(owner, url, private)
    assert "guild_id" not in sent["message_reference"]
    assert (await forward(owner, direct, await say(owner, url, "for you")))["message_snapshots"]


@pytest.mark.parametrize(
    ("more", "path"),
    [
        ({"content": "x"}, "content"),
        ({"embeds": [{"title": "x"}]}, "embeds"),
        ({"poll": {"question": {"text": "?"}, "answers": [{"poll_media": {"text": "x"}}]}}, "poll"),
        ({"sticker_ids": ["1"]}, "sticker_ids"),
    ],
)
async def test_a_forwarded_message_has_no_content_of_its_own(
    platform: Platform, more: dict[str, Any], path: str
) -> None:
    owner, _, url = await guild_of(platform)
    source = await say(owner, url)
    platform.heard.clear()
    reply = await owner.post(url, {**naming(source), **more})
    assert (reply.status, reply.code) == (400, 50035)
    assert reply.errors_at(path)
    assert platform.heard == []


async def test_only_readable_messages_are_forwarded(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    member, stranger = await member_of(platform, guild), await platform.person()
    denied = [
        (Permissions.VIEW_CHANNEL, 403, 50001),
        (Permissions.READ_MESSAGE_HISTORY, 403, 160014),
    ]
    for bits, status, code in denied:
        closed = await guild.channel(overwrites=[(guild.id, 0, 0, bits)])
        secret = await say(owner, f"/channels/{closed}/messages", "secret")
        reply = await member.post(url, naming(secret))
        assert (reply.status, reply.code) == (status, code)
    voice = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.CONNECT)])
    spoken = await say(owner, f"/channels/{voice}/messages", "inside")
    assert (await member.post(url, naming(spoken))).code == 50001
    _, elsewhere, away = await guild_of(platform)
    await elsewhere.join(stranger)
    source = await say(owner, url, "not for strangers")
    platform.heard.clear()
    assert (await stranger.post(away, naming(source))).code == 50001
    assert (await stranger.post(away, naming({"id": "1", "channel_id": "1"}))).code == 10003
    assert platform.heard == []


async def test_a_forward_names_the_source_as_it_is(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    elsewhere = await guild.channel()
    source = await say(owner, url)
    cases = [
        naming(source, guild_id="1"),
        naming({"id": "1", "channel_id": str(guild.general)}),
        naming({"id": source["id"], "channel_id": str(elsewhere)}),
    ]
    for body in cases:
        assert (await owner.post(url, body)).errors_at("message_reference") == ["REPLIES_UNKNOWN_MESSAGE"]
    assert (await owner.post(url, naming(source, guild_id=str(guild.id)))).status == 200


async def test_forwards_polls_and_system_messages_are_not_forwarded(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    source = await say(owner, url)
    forwarded = await forward(owner, url, source)
    poll = await say(owner, url, "", poll={"question": {"text": "?"}, "answers": [{"poll_media": {"text": "x"}}]})
    await owner.put(f"{url.removesuffix('/messages')}/pins/{source['id']}")
    system = (await owner.get(url)).json[0]
    assert system["type"] == 6
    platform.heard.clear()
    for message in (forwarded, poll, system):
        reply = await owner.post(url, naming(message))
        assert (reply.status, reply.code) == (400, 50068)
    assert platform.heard == []


async def test_a_bot_without_message_content_neither_forwards_nor_sees_snapshots(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    blind = await bot_of(platform, guild)
    source = await say(owner, url, "for readers")
    reply = await blind.post(url, naming(source))
    assert (reply.status, reply.code) == (403, 160014)
    sent = await forward(owner, url, source)
    envelope = platform.heard[-1]
    assert envelope.stripped is not None
    assert b"for readers" not in bytes(envelope.stripped)
    seen = (await blind.get(f"{url}/{sent['id']}")).json
    assert "message_snapshots" not in seen
    assert seen["message_reference"]["type"] == 1
    own = await say(blind, url, "my own")
    assert (await forward(blind, url, own))["message_snapshots"][0]["message"]["content"] == "my own"


async def test_a_forward_is_not_edited_but_its_source_may_be_pinned_and_answered(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    sent = await forward(owner, url, await say(owner, url))
    reply = await owner.patch(f"{url}/{sent['id']}", {"content": "my words"})
    assert (reply.status, reply.code) == (400, 50068)
    answer = await say(owner, url, "indeed", message_reference={"message_id": sent["id"]})
    assert answer["referenced_message"]["message_snapshots"] == sent["message_snapshots"]


async def test_the_files_of_a_forwarded_message_outlive_it(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    other = f"/channels/{await guild.channel()}/messages"
    source = await send(owner, url, ("notes.txt", b"hello"), body={"content": "see"})
    sent = await forward(owner, other, source)
    assert sent["attachments"] == []
    for seen in (sent, platform.heard_data("MESSAGE_CREATE")[-1], (await owner.get(f"{other}/{sent['id']}")).json):
        (attachment,) = seen["message_snapshots"][0]["message"]["attachments"]
        assert (attachment["filename"], attachment["size"]) == ("notes.txt", 5)
        assert attachment["url"].startswith(source["attachments"][0]["url"].partition("?")[0] + "?ex=")
    (key,) = await stored(platform)
    await owner.delete(f"{url}/{source['id']}")
    sweeper = FileSweeper(platform.services)
    await sweeper.sweep()
    assert await stored(platform) == [key]
    await owner.delete(f"{other}/{sent['id']}")
    await sweeper.sweep()
    assert await stored(platform) == []
