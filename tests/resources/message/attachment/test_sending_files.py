"""Messages with files, when they are sent."""

from typing import Any

import pytest

from moothall.objects.permissions import Permissions
from tests.api.forms import TYPE, form, part
from tests.resources.message.attachment.uploading import SOUND, guild_of, listed, names, picture, send, stored, upload
from tests.support.harness import FORUM, Platform

MIB = 1 << 20


async def test_a_file_is_stored_answered_announced_and_found_again(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    message = await send(owner, url, ("notes.txt", b"hello"), body={"content": "see"})
    (attachment,) = message["attachments"]
    path = f"http://localhost:3333/attachments/{guild.general}/{attachment['id']}/notes.txt?ex="
    assert attachment.pop("url").startswith(path)
    assert attachment.pop("proxy_url").startswith(path)
    assert attachment == {
        "id": attachment["id"],
        "filename": "notes.txt",
        "content_type": "text/plain; charset=utf-8",
        "size": 5,
    }
    (event,) = platform.heard_data("MESSAGE_CREATE")
    assert names(event) == ["notes.txt"]
    assert event["attachments"][0]["url"].startswith(path)
    again = (await owner.get(f"{url}/{message['id']}")).json
    assert again["attachments"] == event["attachments"]
    assert (await owner.get(url)).json[0] == again
    (key,) = await stored(platform)
    assert await platform.services.blobs.get(key) == b"hello"


async def test_files_are_content_and_may_be_described_in_any_order(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    body = {
        "attachments": [
            {"id": "7", "description": " a cat ", "title": "Cat"},
            {"id": 1, "filename": "better name.bin", "is_spoiler": True},
        ]
    }
    files = {"files[7]": ("cat.png", picture()), "files[1]": ("x", b"\0\1"), "files[2]": ("SPOILER_y.txt", b"y")}
    message = (await upload(owner, "POST", url, files, body)).json
    by_name = {attachment["filename"]: attachment for attachment in message["attachments"]}
    assert list(by_name) == ["better_name.bin", "SPOILER_y.txt", "cat.png"]
    assert by_name["better_name.bin"]["flags"] == by_name["SPOILER_y.txt"]["flags"] == 1 << 3
    assert by_name["cat.png"]["description"] == "a cat"
    assert by_name["cat.png"]["title"] == "Cat"
    assert (by_name["cat.png"]["width"], by_name["cat.png"]["height"]) == (30, 20)


async def test_old_clients_send_fields_and_one_file(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    data = form(part("content", b"hi"), part("tts", b"false"), part("file", b"x", "a.bin"))
    message = (await owner.request("POST", url, raw=data, content_type=TYPE)).json
    assert (message["content"], names(message)) == ("hi", ["a.bin"])
    only_text = await owner.request("POST", url, raw=form(part("content", b"hi")), content_type=TYPE)
    assert only_text.json["attachments"] == []


@pytest.mark.parametrize(
    ("sent", "shown", "title"),
    [
        ("a b\tc.txt", "a_b_c.txt", None),
        ("../../etc/passwd", "passwd", None),
        ('<script>".html', "script.html", '<script>"'),
        ("...", "unknown", None),
        (".bashrc", "bashrc", None),
        ("日本.png", "unknown.png", "日本"),
        ("x" * 400 + ".txt", "x" * 197 + ".txt", "x" * 400),
    ],
)
async def test_file_names_consist_of_letters_digits_and_a_few_signs(
    platform: Platform, sent: str, shown: str, title: str | None
) -> None:
    owner, _, url = await guild_of(platform)
    body = {"attachments": [{"id": 0, "filename": sent}]}
    message = await send(owner, url, ("file", b"x"), body=body)
    (attachment,) = message["attachments"]
    assert attachment["filename"] == shown
    assert attachment.get("title") == title


@pytest.mark.parametrize(
    ("filename", "data", "kind", "flags"),
    [
        ("a.txt", picture("PNG"), "image/png", None),
        ("a.png", picture("JPEG"), "image/jpeg", None),
        ("a.png", picture("GIF", frames=3), "image/gif", 1 << 5),
        ("a.webp", picture("WEBP"), "image/webp", None),
        ("a.png", b"<html><script>", "text/plain; charset=utf-8", None),
        ("a.html", b"<html><script>", "text/html; charset=utf-8", None),
        ("a.svg", b"<svg/>", "text/plain; charset=utf-8", None),
        ("a.png", b"\x89PNG\r\n\x1a\n" + b"<script>" * 40, "application/octet-stream", None),
        ("a.mp3", b"\xff\xfb" + bytes(20), "audio/mpeg", None),
        (
            "a.docx",
            b"PK\3\4" + bytes(40),
            "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            None,
        ),
        ("a.mp4", bytes(4) + b"ftypisom" + bytes(20), "video/mp4", None),
        ("a.png", bytes(20), "application/octet-stream", None),
        ("a.json", b'{"a": 1}', "application/json; charset=utf-8", None),
        ("a.txt", b"", "text/plain; charset=utf-8", None),
    ],
    ids=range(14),
)
async def test_the_content_type_is_read_from_the_data(
    platform: Platform, filename: str, data: bytes, kind: str, flags: int | None
) -> None:
    owner, _, url = await guild_of(platform)
    (attachment,) = (await send(owner, url, (filename, data)))["attachments"]
    assert attachment["content_type"] == kind
    assert attachment.get("flags") == flags
    assert ("width" in attachment) == kind.startswith("image/")


async def test_embeds_show_files_which_are_then_not_listed(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    embed = {
        "image": {"url": "attachment://a.png"},
        "thumbnail": {"url": "attachment://missing.png"},
        "author": {"name": "x", "icon_url": "attachment://icon.png"},
        "footer": {"text": "x", "icon_url": "attachment://notes.txt"},
    }
    files = ("a.png", picture()), ("icon.png", picture()), ("notes.txt", b"x"), ("more.png", picture())
    message = await send(owner, url, *files, body={"embeds": [embed]})
    assert names(message) == ["notes.txt", "more.png"]
    (shown,) = message["embeds"]
    image = shown["image"]
    assert "/a.png?ex=" in image["url"]
    assert image["url"] == image["proxy_url"]
    assert (image["width"], image["height"], image["content_type"]) == (30, 20, "image/png")
    assert "/icon.png?ex=" in shown["author"]["icon_url"]
    assert shown["thumbnail"]["url"] == "attachment://missing.png"
    assert shown["footer"]["icon_url"] == "attachment://notes.txt"
    assert (await owner.get(url)).json[0]["embeds"] == message["embeds"]
    assert platform.heard_data("MESSAGE_CREATE")[0]["embeds"] == message["embeds"]


async def test_texts_cannot_pretend_to_be_files(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    mark = f"moothall-file:/{guild.general}/1/a.png"
    body = {"content": f'"url":"{mark}" {mark}', "embeds": [{"title": f'x","url":"{mark}"', "description": mark}]}
    message = (await owner.post(url, body)).json
    assert message["content"] == body["content"]
    assert message["embeds"][0]["title"] == body["embeds"][0]["title"]  # type: ignore[index]
    assert b"?ex=" not in (await owner.get(url)).body
    assert (await owner.post(url, {"embeds": [{"image": {"url": mark}}]})).errors_at("embeds.0.image.url")


async def test_a_reply_shows_the_files_of_the_message_replied_to(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    original = await send(owner, url, ("a.png", picture()))
    reply = (await owner.post(url, {"content": "x", "message_reference": {"message_id": original["id"]}})).json
    assert reply["referenced_message"]["attachments"] == original["attachments"]
    assert platform.heard_data("MESSAGE_CREATE")[1]["referenced_message"]["attachments"] == original["attachments"]


async def test_uploads_need_the_permission(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform, everyone=Permissions.DEFAULT & ~Permissions.ATTACH_FILES)
    member = await guild.member_with(0)
    reply = await upload(member, "POST", url, listed(("a", b"x")), {"content": "x"})
    assert (reply.status, reply.code) == (403, 50013)
    assert await stored(platform) == []
    stranger = await platform.person()
    assert (await upload(stranger, "POST", url, listed(("a", b"x")))).status == 403
    anonymous = await upload(platform.anonymous, "POST", url, listed(("a", b"x")))
    assert anonymous.status == 401
    message = await send(owner, url, ("a", b"x"))
    theirs = await upload(member, "PATCH", f"{url}/{message['id']}", listed(("b", b"x")))
    assert (theirs.status, theirs.code) == (403, 50005)
    assert len(await stored(platform)) == 1
    assert platform.heard_names == ["MESSAGE_CREATE"]


async def test_a_refused_request_leaves_no_file(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    bodies: list[tuple[Any, int]] = [
        ({"content": "x" * 2001}, 50035),
        ({"attachments": [{"id": 3}]}, 50035),
        ({"attachments": [{"id": 0, "description": "x" * 1025}]}, 50035),
        ({"message_reference": {"message_id": "5"}}, 50035),
    ]
    for body, code in bodies:
        assert (await upload(owner, "POST", url, listed(("a", b"x")), body)).code == code
    raw = form(part("files[0]", b"x", "a"), part("payload_json", b"{nonsense"))
    assert (await owner.request("POST", url, raw=raw, content_type=TYPE)).code == 50109
    assert await stored(platform) == []
    assert platform.heard_names == []


async def test_a_repeated_nonce_leaves_no_second_file(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    body = {"nonce": "n", "enforce_nonce": True}
    first = await send(owner, url, ("a", b"x"), body=body)
    again = await send(owner, url, ("a", b"x"), body=body)
    assert (again["id"], again["attachments"]) == (first["id"], first["attachments"])
    assert len(await stored(platform)) == 1


@pytest.mark.parametrize(("tier", "maximum"), [(0, 10), (1, 10), (2, 50), (3, 100)])
async def test_boosts_allow_larger_files(platform: Platform, tier: int, maximum: int) -> None:
    owner, guild, url = await guild_of(platform)
    await guild.set(premium_tier=tier)
    too_large = await upload(owner, "POST", url, listed(("a", bytes(maximum * MIB + 1))))
    assert (too_large.status, too_large.code) == (413, 40005)
    assert await stored(platform) == []
    if tier < 3:  # enough of memory for a test
        (attachment,) = (await send(owner, url, ("a", bytes(maximum * MIB))))["attachments"]
        assert attachment["size"] == maximum * MIB


async def test_a_request_has_25_mib_and_ten_files(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    data = bytes(9 * MIB)
    assert (await upload(owner, "POST", url, listed(*[("a", data)] * 3))).status == 413
    eleven = await upload(owner, "POST", url, listed(*[("a", b"x")] * 11))
    assert (eleven.status, eleven.code) == (400, 50035)
    assert eleven.errors_at("files[10]") == ["BASE_TYPE_MAX_LENGTH"]
    assert len((await send(owner, url, *[("a", b"x")] * 10))["attachments"]) == 10


async def test_a_voice_message_is_sound_with_its_length_and_waveform(platform: Platform) -> None:
    owner, _, url = await guild_of(platform)
    whole = {"id": 0, "duration_secs": 1.5, "waveform": "AAEC"}
    message = await send(owner, url, ("v.ogg", SOUND), body={"flags": 1 << 13, "attachments": [whole]})
    assert message["flags"] == 1 << 13
    (attachment,) = message["attachments"]
    assert (attachment["duration_secs"], attachment["waveform"]) == (1.5, "AAEC")
    assert (await owner.patch(f"{url}/{message['id']}", {"content": "x"})).code == 50162
    refused: list[tuple[dict[str, Any], tuple[str, bytes], int]] = [
        ({"content": "x", "attachments": [whole]}, ("v.ogg", SOUND), 50159),
        ({"attachments": [whole]}, ("v.ogg", b"text"), 50160),
        ({"attachments": [{"id": 0, "waveform": "AAEC"}]}, ("v.ogg", SOUND), 50161),
        ({"attachments": [{"id": 0, "duration_secs": 1}]}, ("v.ogg", SOUND), 50161),
        ({"attachments": [{**whole, "waveform": "no!"}]}, ("v.ogg", SOUND), 50161),
    ]
    for body, file, code in refused:
        assert (await upload(owner, "POST", url, listed(file), {"flags": 1 << 13, **body})).code == code
    assert (await owner.post(url, {"flags": 1 << 13})).code == 50160
    plain = await upload(owner, "POST", url, listed(("v.ogg", SOUND)), {"attachments": [whole]})
    assert plain.errors_at("attachments.0.waveform")
    assert len(await stored(platform)) == 1


async def test_voice_messages_need_their_permission(platform: Platform) -> None:
    _, guild, url = await guild_of(platform, everyone=Permissions.DEFAULT & ~Permissions.SEND_VOICE_MESSAGES)
    member = await guild.member_with(0)
    body = {"flags": 1 << 13, "attachments": [{"id": 0, "duration_secs": 1.5, "waveform": "AAEC"}]}
    assert (await upload(member, "POST", url, listed(("v.ogg", SOUND)), body)).code == 50173
    assert await stored(platform) == []


async def test_webhooks_send_files_and_edit_them(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform)
    hook = (await owner.post(f"/channels/{guild.general}/webhooks", {"name": "Hook"})).json
    path = f"/webhooks/{hook['id']}/{hook['token']}"
    reply = await upload(platform.anonymous, "POST", path, listed(("a.png", picture())), {}, wait=True)
    message = reply.json
    assert names(message) == ["a.png"]
    more = await upload(platform.anonymous, "PATCH", f"{path}/messages/{message['id']}", listed(("b.txt", b"x")), {})
    assert names(more.json) == ["a.png", "b.txt"]
    none = await platform.anonymous.patch(f"{path}/messages/{message['id']}", {"content": "x", "attachments": []})
    assert names(none.json) == []
    wrong = await upload(platform.anonymous, "POST", f"/webhooks/{hook['id']}/{'x' * 68}", listed(("a", b"x")))
    assert wrong.status == 401


async def test_the_first_message_of_a_forums_post_has_files(platform: Platform) -> None:
    owner, guild, _ = await guild_of(platform)
    forum = await guild.channel(type=FORUM)
    body = {"name": "post", "message": {"content": "x", "attachments": [{"id": 0, "description": "d"}]}}
    reply = await upload(owner, "POST", f"/channels/{forum}/threads", listed(("a.png", picture())), body)
    assert reply.status == 201
    (attachment,) = reply.json["message"]["attachments"]
    assert attachment["description"] == "d"
    assert f"/attachments/{reply.json['id']}/" in attachment["url"]


async def test_a_bot_without_message_content_sees_no_files(platform: Platform) -> None:
    owner, guild, url = await guild_of(platform)
    bot = await platform.bot(owner)
    await guild.join(bot)
    message = await send(owner, url, ("a.png", picture()))
    assert (await bot.get(f"{url}/{message['id']}")).json["attachments"] == []
    assert b"?ex=" not in bytes(platform.heard[-1].stripped or b"")
