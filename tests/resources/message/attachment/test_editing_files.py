"""Files of edited messages, and the removal of files that no message has."""

from typing import Any

from moothall.api.jobs import JobRunner
from moothall.api.staged import upload_key
from moothall.objects.ids import Snowflake
from moothall.resources.message.attachment.sweeper import FileSweeper
from moothall.resources.message.queries.purge import delete_some_of_channel
from tests.resources.message.attachment.uploading import guild_of, listed, names, picture, send, stored, upload
from tests.support.file_sweeps import keys, sweep
from tests.support.harness import ANNOUNCEMENT, Caller, Guild, Platform

HOUR = 3600 * 1000


async def two(platform: Platform) -> tuple[Caller, Guild, str, Any]:
    """A message with two files."""
    owner, guild, url = await guild_of(platform)
    message = await send(owner, url, ("a.txt", b"a"), ("b.txt", b"b"), body={"content": "x"})
    return owner, guild, f"{url}/{message['id']}", message


async def test_new_files_are_appended(platform: Platform) -> None:
    owner, _, url, _ = await two(platform)
    edited = (await upload(owner, "PATCH", url, listed(("c.txt", b"c")), {})).json
    assert names(edited) == ["a.txt", "b.txt", "c.txt"]
    assert edited["edited_timestamp"] is not None
    assert names(platform.heard_data("MESSAGE_UPDATE")[0]) == names(edited)
    assert (await owner.get(url)).json == edited
    assert await sweep(platform) == keys(edited)


async def test_a_list_of_attachments_keeps_only_those_in_it(platform: Platform) -> None:
    owner, _, url, message = await two(platform)
    kept = message["attachments"][1]["id"]
    body = {"attachments": [{"id": kept, "description": "second", "is_spoiler": True}, {"id": 4, "filename": "n.txt"}]}
    files = {"files[4]": ("c.txt", b"c"), "files[5]": ("unlisted.txt", b"d")}
    edited = (await upload(owner, "PATCH", url, files, body)).json
    assert names(edited) == ["b.txt", "n.txt"]
    assert edited["attachments"][0]["id"] == kept
    assert edited["attachments"][0]["description"] == "second"
    assert edited["attachments"][0]["flags"] == 1 << 3
    assert await sweep(platform) == keys(edited)
    plain = (await owner.patch(url, {"attachments": [{"id": kept, "description": None, "is_spoiler": False}]})).json
    assert names(plain) == ["b.txt"]
    assert not plain["attachments"][0].keys() & {"description", "flags"}
    assert (await owner.get(url)).json == plain


async def test_an_edit_of_the_text_keeps_the_files_and_an_empty_list_clears_them(platform: Platform) -> None:
    owner, _, url, message = await two(platform)
    assert names((await owner.patch(url, {"content": "y"})).json) == ["a.txt", "b.txt"]
    assert names((await owner.patch(url, {"content": None})).json) == ["a.txt", "b.txt"]
    nothing = await owner.patch(url, {"attachments": []})
    assert (nothing.status, nothing.code) == (400, 50006)
    assert await sweep(platform) == keys(message)
    assert (await owner.patch(url, {"content": "z", "attachments": []})).json["attachments"] == []
    assert await sweep(platform) == []
    heard = len(platform.heard)
    assert (await owner.patch(url, {"attachments": None})).status == 200
    assert len(platform.heard) == heard


async def test_only_files_of_the_message_itself_can_be_kept(platform: Platform) -> None:
    owner, _, url, message = await two(platform)
    channel = url.rpartition("/")[0]
    other = await send(owner, channel, ("c.txt", b"c"))
    foreign = {"attachments": [{"id": other["attachments"][0]["id"]}]}
    assert (await owner.patch(url, foreign)).errors_at("attachments.0.id")
    twice = {"attachments": [{"id": message["attachments"][0]["id"]}] * 2}
    assert (await owner.patch(url, twice)).errors_at("attachments.1.id") == ["SET_TYPE_ALREADY_CONTAINS_VALUE"]
    assert (await upload(owner, "POST", channel, listed(("d", b"d")), foreign)).errors_at("attachments.0.id")
    assert names((await owner.get(url)).json) == ["a.txt", "b.txt"]


async def test_a_message_never_has_more_than_ten_files(platform: Platform) -> None:
    owner, _, url, _ = await two(platform)
    reply = await upload(owner, "PATCH", url, listed(*[("c", b"c")] * 9), {})
    assert (reply.status, reply.code) == (400, 30015)
    assert len(await stored(platform)) == 2


async def test_files_in_embeds_stay_while_the_embeds_show_them(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    embed = {"image": {"url": "attachment://a.png"}}
    message = await send(owner, url, ("a.png", picture()), ("b.txt", b"b"), body={"embeds": [embed]})
    path = f"{url}/{message['id']}"
    cleared = (await owner.patch(path, {"attachments": []})).json
    assert cleared["attachments"] == []
    assert cleared["embeds"] == message["embeds"]
    assert len(await sweep(platform)) == 1
    # Clients send the embed back as they got it.
    same = (await owner.patch(path, {"content": "x", "embeds": message["embeds"]})).json
    assert same["embeds"] == message["embeds"]
    by_name = (await owner.patch(path, {"embeds": [{"title": "t", "thumbnail": {"url": "attachment://a.png"}}]})).json
    assert by_name["embeds"][0]["thumbnail"]["url"] == message["embeds"][0]["image"]["url"]
    listed_again = (await owner.patch(path, {"embeds": []})).json
    assert names(listed_again) == ["a.png"]
    assert len(await sweep(platform)) == 1
    assert (await owner.patch(path, {"attachments": []})).json["attachments"] == []
    assert await sweep(platform) == []


async def test_suppressed_embeds_keep_their_files(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    body = {"content": "x", "embeds": [{"image": {"url": "attachment://a.png"}}]}
    message = await send(owner, url, ("a.png", picture()), body=body)
    path = f"{url}/{message['id']}"
    assert (await owner.patch(path, {"flags": 4})).json["embeds"] == []
    assert len(await sweep(platform)) == 1
    assert (await owner.patch(path, {"flags": 0})).json["embeds"] == message["embeds"]


async def test_components_show_files_and_keep_them(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    bot = await platform.bot(owner)
    await guild.join(bot)
    shown = [
        {"type": 12, "items": [{"media": {"url": "attachment://a.png"}}]},
        {"type": 13, "file": {"url": "attachment://b.txt"}},
    ]
    body = {"flags": 1 << 15, "components": shown}
    files = ("a.png", picture()), ("b.txt", b"bb")
    message = await send(bot, url, *files, body=body)
    gallery, file = message["components"]
    assert "/a.png?ex=" in gallery["items"][0]["media"]["url"]
    assert (file["name"], file["size"]) == ("b.txt", 2)
    assert "/b.txt?ex=" in file["file"]["url"]
    path = f"{url}/{message['id']}"
    # discord.py sends the components of a message back as it got them.
    again = await bot.patch(path, {"components": [file, {"type": 10, "content": "text"}]})
    assert again.status == 200, again
    assert again.json["components"][0]["file"]["url"] == file["file"]["url"]
    assert len(await sweep(platform)) == 1
    hidden = await upload(bot, "POST", url, listed(*files), {**body, "components": shown[:1]})
    assert hidden.errors_at("attachments.1")
    assert len(await stored(platform)) == 1


async def test_the_files_of_deleted_messages_are_removed_by_the_sweeper(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    messages = [await send(owner, url, ("a.txt", b"a")) for _ in range(4)]
    assert (await owner.delete(f"{url}/{messages[0]['id']}")).status == 204
    assert len(await stored(platform)) == 4
    assert len(await sweep(platform)) == 3
    bulk = {"messages": [messages[1]["id"], messages[2]["id"]]}
    assert (await owner.post(f"{url}/bulk-delete", bulk)).status == 204
    assert await sweep(platform) == keys(messages[3])
    member = await platform.person()
    await guild.join(member)
    await send(member, url, ("b.txt", b"b"))
    assert (await owner.put(f"/guilds/{guild.id}/bans/{member.id}", {"delete_message_seconds": 3600})).status == 204
    assert await sweep(platform) == keys(messages[3])


async def test_the_files_of_a_deleted_channel_are_removed_in_steps(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform)
    channel = await guild.channel()
    for _ in range(3):
        await send(owner, f"/channels/{channel}/messages", ("a.txt", b"a"), ("b.txt", b"b"))
    assert (await owner.delete(f"/channels/{channel}")).status == 200
    async with platform.database.transaction() as tx:
        while await delete_some_of_channel(tx, channel):
            pass
    assert await sweep(platform) == []


async def test_a_forwarded_file_outlives_its_source_message(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    message = await send(owner, url, ("a.txt", b"a"))
    reference = {"type": 1, "message_id": message["id"], "channel_id": str(guild.general)}
    forward = (await owner.post(url, {"message_reference": reference})).json
    (snapshot,) = forward["message_snapshots"]
    assert snapshot["message"]["attachments"] == message["attachments"]
    await owner.delete(f"{url}/{message['id']}")
    assert await sweep(platform) == keys(message)
    await owner.delete(f"{url}/{forward['id']}")
    assert await sweep(platform) == []


async def test_uploads_of_a_dead_process_are_removed(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    message = await send(owner, url, ("a.txt", b"a"))
    lost = Snowflake(platform.ids.next())
    await platform.services.blobs.put(upload_key(lost), b"x")
    sweeper = FileSweeper(platform.services)
    assert await sweeper.remove_abandoned() == 0  # it may still be under way
    assert await sweeper.remove_abandoned(now=lost.created_ms + 26 * HOUR) == 1
    assert await stored(platform) == keys(message)
    assert await sweeper.remove_abandoned(now=lost.created_ms + 50 * HOUR) == 0


async def test_expired_urls_are_refreshed_if_their_signature_is_complete(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    (attachment,) = (await send(owner, url, ("a.txt", b"a")))["attachments"]
    whole = attachment["url"]
    bare = whole.partition("?")[0]
    urls = [whole, bare, bare + "?ex=1&is=1&hm=00", "https://example.com/a", whole.replace("a.txt", "b.txt")]
    reply = await owner.post("/attachments/refresh-urls", {"attachment_urls": urls})
    assert [pair["original"] for pair in reply.json["refreshed_urls"]] == urls
    assert [pair["refreshed"] for pair in reply.json["refreshed_urls"]] == [whole, None, None, None, None]
    assert (await owner.post("/attachments/refresh-urls", {"attachment_urls": [bare] * 51})).errors_at(
        "attachment_urls"
    )


async def test_published_files_are_shown_where_the_channel_is_followed(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform, features=["NEWS"])
    news, target = await guild.channel(type=ANNOUNCEMENT), await guild.channel()
    followed = await owner.post(f"/channels/{news}/followers", {"webhook_channel_id": str(target)})
    assert followed.status == 200, followed
    url = f"/channels/{news}/messages"
    message = await send(owner, url, ("a.png", picture()), body={"content": "x"})
    assert (await owner.post(f"{url}/{message['id']}/crosspost")).status == 200
    await JobRunner(platform.services).drain()
    (copy,) = (await owner.get(f"/channels/{target}/messages", limit=1)).json
    assert copy["attachments"] == message["attachments"]
    await owner.patch(f"{url}/{message['id']}", {"attachments": []})
    assert await sweep(platform) == keys(message)  # until the copy has followed
    await JobRunner(platform.services).drain()
    (copy,) = (await owner.get(f"/channels/{target}/messages", limit=1)).json
    assert copy["attachments"] == []
    assert await sweep(platform) == []


async def test_a_message_gets_components_v2_only_without_listed_files(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    bot = await platform.bot(owner)
    await guild.join(bot)
    message = await send(bot, url, ("a.png", picture()))
    path = f"{url}/{message['id']}"
    layout = {"flags": 1 << 15, "components": [{"type": 10, "content": "text"}]}
    assert (await bot.patch(path, layout)).errors_at("attachments")
    assert names((await owner.get(path)).json) == ["a.png"]
    assert (await bot.patch(path, {**layout, "attachments": []})).json["attachments"] == []
    assert await sweep(platform) == []


async def test_an_embed_shows_another_messages_file_while_that_message_exists(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    original = await send(owner, url, ("a.png", picture()))
    signed = original["attachments"][0]["url"]
    shown = (await owner.post(url, {"content": "x", "embeds": [{"image": {"url": signed}}]})).json
    assert shown["embeds"][0]["image"]["url"] == signed
    edited = (await owner.patch(f"{url}/{shown['id']}", {"embeds": []})).json
    assert edited["attachments"] == []
    await owner.delete(f"{url}/{original['id']}")
    assert await sweep(platform) == []
