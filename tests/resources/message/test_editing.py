"""Edit Message: by its author, and by moderators."""

import msgspec
import pytest

from moothall.objects.permissions import Permissions
from tests.resources.message.messaging import direct_messages, guild_of, member_of, say
from tests.support.harness import Platform

P = Permissions
SUPPRESS_EMBEDS = 1 << 2


async def test_an_edit_is_answered_announced_and_stored(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    sent = await say(owner, url, "old", tts=True)
    with platform.listening() as heard:
        edited = (await owner.patch(f"{url}/{sent['id']}", {"content": f"new <@{friend.id}>"})).json
    assert heard == ["MESSAGE_UPDATE"]
    assert edited["content"] == f"new <@{friend.id}>"
    assert edited["edited_timestamp"] is not None
    assert [user["id"] for user in edited["mentions"]] == [str(friend.id)]
    unchanged = sent.keys() - {"content", "edited_timestamp", "mentions"}
    assert {key: edited[key] for key in unchanged} == {key: sent[key] for key in unchanged}
    update = platform.heard_data("MESSAGE_UPDATE")[0]
    assert update["tts"] is False
    assert update["guild_id"] == str(guild.id)
    assert "member" in update
    assert update["mentions"][0]["member"]["roles"] == []
    assert (await friend.get(f"{url}/{sent['id']}")).json == edited
    bare = msgspec.json.decode(bytes(platform.heard[-1].stripped or b"{}"))
    assert (bare["content"], bare["id"]) == ("", sent["id"])


async def test_an_edit_uses_its_own_allowed_mentions(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    sent = await say(owner, url, "x", allowed_mentions={"parse": []})
    path = f"{url}/{sent['id']}"
    edited = await owner.patch(path, {"content": f"<@{friend.id}>", "allowed_mentions": {"parse": []}})
    assert edited.json["mentions"] == []
    assert (await owner.patch(path, {"content": f"<@{friend.id}>!"})).json["mentions"][0]["id"] == str(friend.id)
    kept = await owner.patch(path, {"embeds": [{"title": "t"}]})
    assert kept.json["mentions"][0]["id"] == str(friend.id)


async def test_an_edit_that_changes_nothing_emits_nothing(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    sent = await say(owner, url, "same", embeds=[{"title": "t"}])
    with platform.listening() as heard:
        for body in ({}, {"content": "same"}, {"embeds": [{"title": "t"}]}, {"flags": 0}, {"flags": None}):
            assert (await owner.patch(f"{url}/{sent['id']}", body)).json == sent
    assert heard == []


async def test_null_clears_a_field_but_not_the_last_content(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    sent = await say(owner, url, "text", embeds=[{"title": "t"}])
    path = f"{url}/{sent['id']}"
    assert (await owner.patch(path, {"content": None})).json["content"] == ""
    assert (await owner.patch(path, {"embeds": []})).code == 50006
    assert (await owner.patch(path, {"content": "text", "embeds": None})).json["embeds"] == []


async def test_suppressed_embeds_come_back(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    sent = await say(owner, url, "x", embeds=[{"title": "t"}])
    path = f"{url}/{sent['id']}"
    moderator = await guild.member_with(P.MANAGE_MESSAGES)
    hidden = (await moderator.patch(path, {"flags": SUPPRESS_EMBEDS})).json
    assert (hidden["flags"], hidden["embeds"], hidden["edited_timestamp"]) == (SUPPRESS_EMBEDS, [], None)
    assert (await owner.patch(path, {"content": "y"})).json["embeds"] == []
    shown = (await moderator.patch(path, {"flags": 0})).json
    assert (shown["flags"], shown["embeds"]) == (0, sent["embeds"])


async def test_only_the_author_edits_the_text(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    sent = await say(owner, url)
    path = f"{url}/{sent['id']}"
    moderator, member = await guild.moderator(), await member_of(platform, guild)
    for caller in (moderator, member):
        reply = await caller.patch(path, {"content": "mine", "flags": SUPPRESS_EMBEDS})
        assert (reply.status, reply.code) == (403, 50005)
    assert (await member.patch(path, {"flags": SUPPRESS_EMBEDS})).code == 50013
    friend = await member_of(platform, guild)
    direct = await direct_messages(member, friend)
    theirs = await say(member, direct)
    assert (await friend.patch(f"{direct}/{theirs['id']}", {"flags": 4})).code == 50005


async def test_system_messages_and_unknown_ones_are_not_edited(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    sent = await say(owner, url)
    await owner.put(f"/channels/{guild.general}/messages/pins/{sent['id']}")
    system = (await owner.get(url, limit=1)).json[0]
    assert (await owner.patch(f"{url}/{system['id']}", {"content": "x"})).code == 50021
    assert (await owner.patch(f"{url}/5", {"content": "x"})).code == 10008


@pytest.mark.parametrize(
    ("body", "path"),
    [
        ({"content": "x" * 2001}, "content"),
        ({"embeds": [{}]}, "embeds.0.description"),
        ({"attachments": [{"id": "1"}]}, "attachments.0.id"),
        ({"allowed_mentions": {"parse": ["users"], "users": ["1"]}}, "allowed_mentions"),
    ],
)
async def test_a_bad_field_of_an_edit_is_named(platform: Platform, body: dict[str, object], path: str) -> None:
    owner, _, url = await guild_of(platform)
    sent = await say(owner, url)
    reply = await owner.patch(f"{url}/{sent['id']}", body)
    assert reply.code == 50035
    assert reply.errors_at(path)
    assert (await owner.get(f"{url}/{sent['id']}")).json == sent


async def test_an_edited_reply_still_shows_the_message_replied_to(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    friend = await member_of(platform, guild)
    first = await say(owner, url, "first")
    reply = await say(friend, url, "reply", message_reference={"message_id": first["id"]})
    edited = (await friend.patch(f"{url}/{reply['id']}", {"content": "edited"})).json
    assert edited["referenced_message"] == first
    assert [user["id"] for user in edited["mentions"]] == [str(owner.id)]
    assert platform.heard_data("MESSAGE_UPDATE")[0]["referenced_message"] == first
    await owner.delete(f"{url}/{first['id']}")
    assert (await friend.patch(f"{url}/{reply['id']}", {"content": "again"})).json["referenced_message"] is None
