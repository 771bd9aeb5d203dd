"""Files that are uploaded before the message or interaction that has them."""

import asyncio
from typing import Any

import pytest
from sqlalchemy import select

from moothall.api.address_limits import AddressLimits
from moothall.api.jobs import JobRunner
from moothall.api.staged import upload_key
from moothall.cdn.uploads import UploadReceiver
from moothall.objects import limits
from moothall.objects.clock import CLOCK
from moothall.objects.ids import Snowflake
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.message.attachment.pending_upload.links import UploadLinks
from moothall.resources.message.attachment.sweeper import FileSweeper
from moothall.storage.database import Query
from moothall.storage.schema import pending_uploads
from tests.resources.interaction.scenario import create_scenario
from tests.resources.message.attachment.uploading import (
    assert_usage_is_exact,
    guild_of,
    listed,
    names,
    picture,
    stored,
    upload,
)
from tests.support.harness import FORUM, SERVER_KEY, Platform, Reply
from tests.support.pending_uploads import create, listing, put, uploaded

HOUR = 3600 * 1000
_all = Query(lambda: select(pending_uploads.c.id))


async def pending(platform: Platform) -> int:
    """How many uploads no message has."""
    async with platform.database.read() as reader:
        return len(await reader.all(_all))


async def sweep(platform: Platform, *, hours: int = 0) -> list[str]:
    """The keys that are stored once the jobs and the sweeper of so many hours later have run."""
    later = Timestamp(Timestamp.now() + hours * HOUR)
    await JobRunner(platform.services).drain(later)
    sweeper = FileSweeper(platform.services)
    await sweeper.sweep()
    await sweeper.remove_abandoned(now=later)
    await assert_usage_is_exact(platform)
    return await stored(platform)


def is_missing(reply: Reply) -> bool:
    return (reply.status, reply.code) == (400, 50146)


async def test_a_message_has_a_file_that_was_put_before_it(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    created = await create(owner, guild.general, ("a picture.png", picture()), ("b.txt", b"text"))
    assert [one["id"] for one in created] == ["0", "1"]
    for one, data in zip(created, (picture(), b"text"), strict=True):
        assert (await put(platform, one["upload_url"], data, length=len(data)))[0] == 200
    attachments = listing(created, ["a picture.png", "b.txt"])
    attachments[0]["description"] = "what it shows"
    reply = await owner.post(url, {"content": "look", "attachments": attachments})
    assert reply.status == 200, reply
    image, text = reply.json["attachments"]
    assert (image["filename"], image["width"], image["height"]) == ("a_picture.png", 30, 20)
    assert (image["content_type"], image["description"]) == ("image/png", "what it shows")
    assert (text["content_type"], text["size"]) == ("text/plain; charset=utf-8", 4)
    assert "?ex=" in image["url"]
    assert platform.heard_data("MESSAGE_CREATE")[0]["attachments"] == reply.json["attachments"]
    keys = sorted(upload_key(Snowflake(int(one["id"]))) for one in (image, text))
    assert await sweep(platform, hours=30) == keys
    assert await pending(platform) == 0


async def test_a_file_is_put_once_and_only_to_a_signed_url(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    (one,) = await create(owner, guild.general, ("a.txt", b"abc"))
    signed = one["upload_url"]
    bare, _, query = signed.partition("?")
    assert (await put(platform, bare, b"abc"))[0] == 404
    assert (await put(platform, f"{bare}?{query[:-1]}{'0' if query[-1] != '0' else '1'}", b"abc"))[0] == 404
    assert (await put(platform, signed.replace("/uploads/", "/uploads/9"), b"abc"))[0] == 404
    upload_id = Snowflake(int(bare.split("/")[-2]))
    past = UploadLinks(
        SERVER_KEY.subkeys("upload links"),
        "http://localhost:3333",
        clock=lambda: CLOCK.now() - limits.UPLOAD_URL_SECONDS - 1,
    )
    assert (await put(platform, past.url(upload_id, "a.txt"), b"abc"))[0] == 404
    assert (await put(platform, signed, b"abc", method="GET"))[0] == 405
    status, headers = await put(platform, signed, b"", method="OPTIONS")
    assert (status, headers["access-control-allow-origin"]) == (204, "*")
    assert "PUT" in headers["access-control-allow-methods"]
    assert await stored(platform) == []
    # Of two at once one is kept.
    both = await asyncio.gather(put(platform, signed, b"abc"), put(platform, signed, b"xyz"))
    assert sorted(status for status, _ in both) == [200, 404]
    assert len(await stored(platform)) == 1
    assert (await put(platform, signed, b"abc"))[0] == 404
    assert (await owner.post(url, {"attachments": listing([one], ["a.txt"])})).status == 200


async def test_more_bytes_than_announced_are_refused_and_leave_nothing(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    (one,) = await create(owner, guild.general, ("a.txt", b"abc"))
    assert (await put(platform, one["upload_url"], b"abcd", length=4))[0] == 413
    assert (await put(platform, one["upload_url"], b"abcd"))[0] == 413
    assert await stored(platform) == []
    assert is_missing(await owner.post(url, {"attachments": listing([one], ["a.txt"])}))
    assert (await put(platform, one["upload_url"], b"ab"))[0] == 200
    message = (await owner.post(url, {"attachments": listing([one], ["a.txt"])})).json
    assert message["attachments"][0]["size"] == 2


async def test_only_the_uploader_uses_a_file_in_its_channel_and_once(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    other = await guild.member_with(Permissions.ALL)
    elsewhere = await guild.channel()
    attachments = await uploaded(owner, guild.general, ("a.txt", b"abc"))
    assert is_missing(await other.post(url, {"attachments": attachments}))
    assert is_missing(await owner.post(f"/channels/{elsewhere}/messages", {"attachments": attachments}))
    unknown = [{"id": 0, "uploaded_filename": "nonsense"}]
    assert is_missing(await owner.post(url, {"attachments": unknown}))
    twice = [*attachments, {**attachments[0], "id": 1}]
    assert is_missing(await owner.post(url, {"attachments": twice}))
    hook = (await owner.post(f"/channels/{guild.general}/webhooks", {"name": "hook"})).json
    posted = f"/webhooks/{hook['id']}/{hook['token']}"
    assert is_missing(await platform.anonymous.post(posted, {"attachments": attachments}))
    # A refused message uses up nothing.
    invalid = await owner.post(url, {"attachments": attachments, "embeds": [{"url": "x"}]})
    assert invalid.status == 400
    both = await asyncio.gather(*(owner.post(url, {"attachments": attachments}) for _ in range(2)))
    assert sorted(reply.status for reply in both) == [200, 400]
    assert is_missing(await owner.post(url, {"attachments": attachments}))
    assert len(await sweep(platform, hours=30)) == 1


async def test_uploading_takes_what_sending_files_takes(platform: Platform) -> None:
    seen = Permissions.VIEW_CHANNEL | Permissions.SEND_MESSAGES
    _, guild, url = await guild_of(platform, everyone=seen)
    everyone = Permissions.ALL & ~(Permissions.ATTACH_FILES | Permissions.ADMINISTRATOR)
    mute = await guild.member_with(everyone)
    path, body = f"/channels/{guild.general}/attachments", {"files": [{"filename": "a", "file_size": 1}]}
    assert (await mute.post(path, body)).code == 50013
    role = await guild.role(permissions=int(Permissions.ATTACH_FILES))
    writer = await platform.person()
    await guild.join(writer, roles=[role])
    attachments = await uploaded(writer, guild.general, ("a.txt", b"abc"))
    message = (await writer.post(url, {"content": "x"})).json
    assert (await guild.owner.delete(f"/guilds/{guild.id}/members/{writer.id}/roles/{role}")).status == 204
    assert (await writer.post(url, {"attachments": attachments})).code == 50013
    assert (await writer.patch(f"{url}/{message['id']}", {"attachments": attachments})).code == 50013


async def test_files_have_the_sizes_and_the_number_of_other_files(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    path = f"/channels/{guild.general}/attachments"
    each = limits.FILE_SIZE_BY_TIER[0]
    large = await owner.post(path, {"files": [{"filename": "a", "file_size": each + 1}]})
    assert (large.status, large.code) == (413, 40005)
    together = await owner.post(path, {"files": [{"filename": "a", "file_size": each}] * 3})
    assert (together.status, together.code) == (413, 40005)
    assert (await owner.post(path, {"files": []})).errors_at("files")
    assert (await owner.post(path, {"files": [{"filename": "a", "file_size": 1}] * 11})).errors_at("files")
    attachments = await uploaded(owner, guild.general, *[("a.txt", b"a")] * 10)
    mixed = await upload(owner, "POST", url, {"files[20]": ("b.txt", b"b")}, {"attachments": attachments})
    assert mixed.errors_at("attachments") == ["BASE_TYPE_MAX_LENGTH"]
    same = await upload(owner, "POST", url, {"files[0]": ("b.txt", b"b")}, {"attachments": attachments[:1]})
    assert same.errors_at("attachments.0.id") == ["SET_TYPE_ALREADY_CONTAINS_VALUE"]
    both = await upload(owner, "POST", url, listed(("b.txt", b"b")), {"attachments": attachments[1:2]})
    assert sorted(names(both.json)) == ["a.txt", "b.txt"]


async def test_unused_files_are_deleted_by_hand_and_after_a_day(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform)
    other = await guild.member_with(Permissions.ALL)
    (first,) = await uploaded(owner, guild.general, ("a.txt", b"a"))
    await uploaded(owner, guild.general, ("b.txt", b"b"))
    name = first["uploaded_filename"]
    assert "/" not in name
    assert (await other.delete(f"/attachments/{name}")).status == 404
    assert (await owner.delete(f"/attachments/{name}")).status == 204
    assert (await owner.delete(f"/attachments/{name}")).status == 404
    assert len(await sweep(platform)) == 1
    # The sweeper of uploads without a message leaves those that a message may still use.
    assert len(await sweep(platform, hours=20)) == 1
    assert await sweep(platform, hours=26) == []
    assert await pending(platform) == 0


async def test_what_is_put_after_its_upload_was_deleted_leaves_no_file(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform)
    (one,) = await create(owner, guild.general, ("a.txt", b"abc"))
    receiver = UploadReceiver(platform.services, AddressLimits(None))
    give = receiver._give

    async def deleted_meanwhile(*values: Any) -> None:
        assert (await owner.delete(f"/attachments/{one['upload_filename']}")).status == 204
        await give(*values)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(UploadReceiver, "_give", lambda _, *values: deleted_meanwhile(*values))
        assert (await put(platform, one["upload_url"], b"abc"))[0] == 404
    assert await stored(platform) == []


async def test_the_newest_uploads_of_a_user_replace_the_oldest(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    (oldest,) = await uploaded(owner, guild.general, ("old.txt", b"a"))
    for _ in range(limits.PENDING_UPLOADS_MAX // 10):
        await create(owner, guild.general, *[("a.txt", b"a")] * 10)
    assert await pending(platform) == limits.PENDING_UPLOADS_MAX
    assert is_missing(await owner.post(url, {"attachments": [oldest]}))
    assert await sweep(platform) == []


async def test_edits_and_forum_posts_have_uploaded_files(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    message = (await owner.post(url, {"content": "x"})).json
    attachments = await uploaded(owner, guild.general, ("a.txt", b"a"))
    edited = await owner.patch(f"{url}/{message['id']}", {"attachments": attachments})
    assert names(edited.json) == ["a.txt"]
    forum = await guild.channel(type=FORUM)
    post = {"name": "post", "message": {"attachments": await uploaded(owner, forum, ("b.txt", b"b"))}}
    thread = await owner.post(f"/channels/{forum}/threads", post)
    assert thread.status == 201, thread
    assert names(thread.json["message"]) == ["b.txt"]
    assert f"/attachments/{thread.json['id']}/" in thread.json["message"]["attachments"][0]["url"]
    assert len(await sweep(platform, hours=30)) == 2


async def test_commands_and_responses_have_uploaded_files(platform: Platform) -> None:
    scenario = await create_scenario(platform)
    options = [{"type": 11, "name": "it", "description": "x"}]
    command = await scenario.create_command(options=options)
    attachments = await uploaded(scenario.person, scenario.guild.general, ("notes.txt", b"hello"))
    data = {
        "id": command["id"],
        "type": 1,
        "options": [{"type": 11, "name": "it", "value": "0"}],
        "attachments": attachments,
    }
    body = {
        "type": 2,
        "application_id": scenario.app.id,
        "channel_id": str(scenario.guild.general),
        "data": data,
    }
    assert (await scenario.person.post("/interactions", body)).status == 204
    interaction = scenario.last_interaction()
    (file,) = interaction["data"]["resolved"]["attachments"].values()
    assert (file["filename"], file["size"]) == ("notes.txt", 5)
    assert await scenario.fetch(file["url"]) == b"hello"
    assert is_missing(await scenario.person.post("/interactions", body))
    answer = await uploaded(scenario.app.bot, scenario.guild.general, ("answer.txt", b"answer"))
    path = f"/interactions/{interaction['id']}/{interaction['token']}/callback"
    reply = await platform.anonymous.post(path, {"type": 4, "data": {"attachments": answer}}, with_response=True)
    assert reply.status == 200, reply
    assert names(reply.json["resource"]["message"]) == ["answer.txt"]
