"""Messages of webhooks: posting, getting, editing, deleting."""

import re
from typing import Any

import pytest
from sqlalchemy import bindparam, select

from moothall.objects.permissions import Permissions
from moothall.storage.database import Query
from moothall.storage.schema import channels
from tests.support.harness import FORUM, Caller, Guild, Platform

PUBLIC_THREAD, PRIVATE_THREAD = 11, 12
EMBED = {"title": "News", "description": "Bread is cheaper."}
BUTTON = {"type": 1, "components": [{"type": 2, "style": 5, "label": "x", "url": "https://example.org"}]}

_select_archived = Query(select(channels.c.archived).where(channels.c.id == bindparam("channel_id")))


class Hook:
    """A webhook, executed without authentication."""

    def __init__(self, platform: Platform, guild: Guild, made: Any) -> None:
        self.anonymous = platform.anonymous
        self.guild = guild
        self.id: str = made["id"]
        self.path = f"/webhooks/{made['id']}/{made['token']}"

    async def says(self, content: str, **more: Any) -> Any:
        """The message that it posts."""
        reply = await self.anonymous.post(self.path, {"content": content, **more}, wait=True)
        assert reply.status == 200
        return reply.json


async def hook_of(platform: Platform, caller: Caller, guild: Guild, channel_id: int) -> Hook:
    made = (await caller.post(f"/channels/{channel_id}/webhooks", {"name": "Herald"})).json
    platform.heard.clear()
    return Hook(platform, guild, made)


async def hooked(platform: Platform, **channel: Any) -> Hook:
    guild = await platform.guild(await platform.person("owner"))
    channel_id = await guild.channel(**channel) if channel else guild.general
    return await hook_of(platform, guild.owner, guild, channel_id)


async def thread_in(
    guild: Guild, parent: int, *, archived: bool = False, locked: bool = False, kind: int = PUBLIC_THREAD
) -> int:
    metadata = {
        "archived": archived,
        "auto_archive_duration": 1440,
        "archive_timestamp": "2026-01-01T00:00:00.000000+00:00",
        "locked": locked,
        "create_timestamp": "2026-01-01T00:00:00.000000+00:00",
    }
    return await guild.channel(
        type=kind, name="thread", parent_id=parent, owner_id=guild.owner.id, thread_metadata=metadata
    )


async def test_a_message_is_returned_only_with_wait(platform: Platform) -> None:
    hook = await hooked(platform)
    quiet = await hook.anonymous.post(hook.path, {"content": "one"})
    assert (quiet.status, quiet.body) == (204, b"")
    message = await hook.says("two", embeds=[EMBED])
    assert (message["content"], message["embeds"][0]["title"]) == ("two", "News")
    assert platform.heard_names == ["MESSAGE_CREATE", "MESSAGE_CREATE"]
    listed = (await hook.guild.owner.get(f"/channels/{hook.guild.general}/messages")).json
    assert [m["content"] for m in listed] == ["two", "one"]


async def test_the_author_is_the_webhook_with_its_overridden_name_and_avatar(platform: Platform) -> None:
    hook = await hooked(platform)
    plain = await hook.says("x")
    assert plain["webhook_id"] == hook.id
    assert (plain["author"]["id"], plain["author"]["username"]) == (hook.id, "Herald")
    assert (plain["author"]["discriminator"], plain["author"]["bot"]) == ("0000", True)
    assert "application_id" not in plain
    masked = await hook.says("x", username="Ann on IRC", avatar_url="https://example.org/ann.png")
    assert masked["author"]["username"] == "Ann on IRC"
    assert re.fullmatch("[0-9a-f]{32}", masked["author"]["avatar"])
    assert (await hook.says("x", username="", avatar_url=""))["author"] == plain["author"]


async def test_an_overridden_name_may_be_a_bridges_but_has_no_reserved_word(platform: Platform) -> None:
    hook = await hooked(platform)
    assert (await hook.says("x", username="ann@irc #1: x"))["author"]["username"] == "ann@irc #1: x"
    for name in ("x" * 81, "Discord staff", "moothall"):
        reply = await hook.anonymous.post(hook.path, {"content": "x", "username": name})
        assert (reply.status, bool(reply.errors_at("username"))) == (400, True)
    wrong = await hook.anonymous.post(hook.path, {"content": "x", "avatar_url": "ftp://example.org/a.png"})
    assert wrong.errors_at("avatar_url") == ["URL_TYPE_INVALID_SCHEME"]


@pytest.mark.parametrize("wait", [True, False])
async def test_an_empty_or_too_long_message_is_refused_with_and_without_wait(platform: Platform, wait: bool) -> None:
    hook = await hooked(platform)
    empty: list[dict[str, Any]] = [{}, {"content": ""}, {"content": None, "embeds": []}]
    for body in empty:
        reply = await hook.anonymous.post(hook.path, body, wait=wait)
        assert (reply.status, reply.code) == (400, 50006)
    reply = await hook.anonymous.post(hook.path, {"content": "x" * 2001, "embeds": [{}] * 11}, wait=wait)
    assert reply.errors_at("content")
    assert reply.errors_at("embeds")
    assert platform.heard == []


async def test_all_errors_of_a_message_are_reported_at_once(platform: Platform) -> None:
    hook = await hooked(platform)
    wrong = {"username": "n" * 81, "avatar_url": "ftp://example.org/a.png", "embeds": [{}], "thread_name": []}
    reply = await hook.anonymous.post(hook.path, {"content": "x" * 2001, **wrong})
    assert (reply.status, reply.code) == (400, 50035)
    assert reply.json["errors"].keys() == {"content", *wrong}
    long = await hook.anonymous.post(hook.path, {"content": "x", "avatar_url": "https://e.org/" + "a" * 2048})
    assert long.errors_at("avatar_url") == ["BASE_TYPE_MAX_LENGTH"]


async def test_an_attachment_without_its_file_is_refused(platform: Platform) -> None:
    hook = await hooked(platform)
    assert (await hook.anonymous.post(hook.path, {"content": "x", "attachments": [{"id": 0}]})).errors_at(
        "attachments.0.id"
    )


async def test_components_of_a_users_webhook_are_used_only_with_with_components(platform: Platform) -> None:
    hook = await hooked(platform)
    assert (await hook.says("x", components=[BUTTON]))["components"] == []
    assert (await hook.anonymous.post(hook.path, {"components": [BUTTON]})).code == 50006


async def test_components_of_an_applications_webhook_are_always_used(platform: Platform) -> None:
    guild = await platform.guild(await platform.person("owner"))
    bot = await platform.bot(guild.owner)
    await guild.join(bot, roles=[await guild.role(permissions=Permissions.MANAGE_WEBHOOKS)])
    hook = await hook_of(platform, bot, guild, guild.general)
    (row,) = (await hook.says("x", components=[BUTTON]))["components"]
    assert row["components"][0]["url"] == "https://example.org"
    assert (await hook.says("x"))["application_id"] == str(bot.application_id)


async def test_other_flags_than_the_three_are_dropped_and_fields_of_other_messages_ignored(platform: Platform) -> None:
    hook = await hooked(platform)
    every = (1 << 14) - 1
    message = await hook.says("x", flags=every, sticker_ids=["1"], nonce="n", embeds=[EMBED])
    assert message["flags"] == (1 << 2) | (1 << 12)
    assert message["embeds"] == []


async def test_a_webhook_mentions_only_users_unless_allowed_mentions_says_otherwise(platform: Platform) -> None:
    hook = await hooked(platform)
    role = await hook.guild.role()
    text = f"@everyone <@{hook.guild.owner.id}> <@&{role}>"
    shy = await hook.says(text)
    assert [user["id"] for user in shy["mentions"]] == [str(hook.guild.owner.id)]
    assert (shy["mention_roles"], shy["mention_everyone"]) == ([], False)
    loud = await hook.says(text, allowed_mentions={"parse": ["everyone", "roles", "users"]})
    assert (loud["mention_roles"], loud["mention_everyone"]) == ([str(role)], True)
    assert (await hook.says(text, allowed_mentions={"parse": []}))["mentions"] == []


async def test_a_webhook_posts_into_a_thread_of_its_channel_and_into_no_other(platform: Platform) -> None:
    hook = await hooked(platform)
    guild = hook.guild
    thread = await thread_in(guild, guild.general)
    foreign = await thread_in(guild, await guild.channel())
    reply = await hook.anonymous.post(hook.path, {"content": "x"}, wait=True, thread_id=thread)
    assert reply.json["channel_id"] == str(thread)
    for wrong in (foreign, guild.general, 1):
        reply = await hook.anonymous.post(hook.path, {"content": "x"}, thread_id=wrong)
        assert (reply.status, reply.code) == (404, 10003)
    assert platform.heard_names == ["MESSAGE_CREATE"]


async def test_a_message_unarchives_an_archived_thread(platform: Platform) -> None:
    hook = await hooked(platform)
    thread = await thread_in(hook.guild, hook.guild.general, archived=True)
    assert (await hook.anonymous.post(hook.path, {"content": ""}, thread_id=thread)).code == 50006
    assert platform.heard_names == []
    assert (await hook.anonymous.post(hook.path, {"content": "x"}, thread_id=thread)).status == 204
    assert platform.heard_names == ["THREAD_UPDATE", "MESSAGE_CREATE"]
    assert platform.heard_data("THREAD_UPDATE")[0]["thread_metadata"]["archived"] is False
    async with platform.database.read() as reader:
        assert not await reader.scalar(_select_archived, channel_id=thread)


async def test_a_forum_requires_a_thread_and_other_channels_refuse_a_thread_name(platform: Platform) -> None:
    hook = await hooked(platform)
    assert (await hook.anonymous.post(hook.path, {"content": "x", "thread_name": "y"})).code == 220003
    guild = hook.guild
    forum = await guild.channel(type=FORUM)
    hook = await hook_of(platform, guild.owner, guild, forum)
    thread = await thread_in(guild, forum)
    both = await hook.anonymous.post(hook.path, {"content": "x", "thread_name": "y"}, thread_id=thread)
    assert (await hook.anonymous.post(hook.path, {"content": "x"})).code == 220001
    assert both.code == 220002
    assert (await hook.anonymous.post(hook.path, {"content": "x"}, thread_id=thread)).status == 204


async def test_a_webhook_reads_edits_and_deletes_what_it_has_sent(platform: Platform) -> None:
    hook = await hooked(platform)
    sent = await hook.says(f"<@{hook.guild.owner.id}>", username="Ann", embeds=[EMBED])
    path = f"{hook.path}/messages/{sent['id']}"
    assert (await hook.anonymous.get(path)).json == sent
    with platform.listening() as heard:
        edited = (await hook.anonymous.patch(path, {"content": "@everyone", "flags": 1 << 2 | 1 << 12})).json
        same = (await hook.anonymous.patch(path, {"content": "@everyone"})).json
    assert (edited["content"], edited["mentions"], edited["mention_everyone"]) == ("@everyone", [], False)
    assert (edited["author"]["username"], edited["embeds"], edited["flags"]) == ("Ann", [], 1 << 2)
    assert edited["edited_timestamp"] is not None
    assert same == edited
    assert heard == ["MESSAGE_UPDATE"]
    assert (await hook.anonymous.patch(path, {"content": None, "embeds": None})).code == 50006
    with platform.listening() as heard:
        assert (await hook.anonymous.delete(path)).status == 204
    assert heard == ["MESSAGE_DELETE"]
    assert (await hook.anonymous.get(path)).code == 10008


async def test_messages_of_other_webhooks_and_channels_are_unknown(platform: Platform) -> None:
    hook = await hooked(platform)
    guild = hook.guild
    other = await hook_of(platform, guild.owner, guild, guild.general)
    thread = await thread_in(guild, guild.general)
    theirs = [
        (await other.says("x"))["id"],
        (await guild.owner.post(f"/channels/{guild.general}/messages", {"content": "x"})).json["id"],
        (await hook.anonymous.post(hook.path, {"content": "x"}, wait=True, thread_id=thread)).json["id"],
    ]
    for message_id in theirs:
        path = f"{hook.path}/messages/{message_id}"
        assert (await hook.anonymous.get(path)).code == 10008
        assert (await hook.anonymous.patch(path, {"content": "y"})).code == 10008
        assert (await hook.anonymous.delete(path)).code == 10008
    mine = (await hook.says("x"))["id"]
    assert (await hook.anonymous.get(f"{hook.path}/messages/{mine}", thread_id=thread)).code == 10008
    assert (await hook.anonymous.get(f"{hook.path}/messages/{mine}", thread_id=1)).code == 10008
    assert (await hook.anonymous.get(f"{hook.path}/messages/{theirs[2]}", thread_id=thread)).status == 200


async def test_a_renamed_guild_and_a_moved_webhook_are_seen_at_once(platform: Platform) -> None:
    hook = await hooked(platform)
    other = await hook.guild.channel()
    await hook.says("x")
    await hook.guild.owner.patch(f"/webhooks/{hook.id}", {"channel_id": str(other), "name": "Crier"})
    moved = await hook.says("x")
    assert (moved["channel_id"], moved["author"]["username"]) == (str(other), "Crier")


async def test_a_deleted_channels_webhooks_are_deleted(platform: Platform) -> None:
    hook = await hooked(platform, name="doomed")
    channel_id = (await hook.says("x"))["channel_id"]
    assert (await hook.guild.owner.delete(f"/channels/{channel_id}")).status == 200
    assert (await hook.anonymous.post(hook.path, {"content": "x"})).code == 10015


async def test_a_locked_thread_takes_no_messages_of_webhooks_and_stays_archived(platform: Platform) -> None:
    hook = await hooked(platform)
    for archived in (True, False):
        thread = await thread_in(hook.guild, hook.guild.general, archived=archived, locked=True)
        with platform.listening() as heard:
            reply = await hook.anonymous.post(hook.path, {"content": "x"}, thread_id=thread)
        assert (reply.status, reply.code, heard) == (403, 160005, [])
        shown = (await hook.guild.owner.get(f"/channels/{thread}")).json["thread_metadata"]
        assert (shown["archived"], shown["locked"]) == (archived, True)


async def test_a_webhook_posts_in_private_threads_of_its_channel_as_bridges_need_it(platform: Platform) -> None:
    hook = await hooked(platform)
    thread = await thread_in(hook.guild, hook.guild.general, kind=PRIVATE_THREAD)
    owner = hook.guild.owner
    secret = (await owner.post(f"/channels/{thread}/messages", {"content": "secret"})).json
    posted = await hook.anonymous.post(hook.path, {"content": "x"}, thread_id=thread, wait=True)
    assert (posted.status, posted.json["channel_id"]) == (200, str(int(thread)))
    read = await hook.anonymous.get(f"{hook.path}/messages/{secret['id']}", thread_id=thread)
    assert (read.status, read.code) == (404, 10008)
