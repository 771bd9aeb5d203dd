"""UploadedFiles files in components of messages."""

from typing import Any

from tests.resources.component.trees import container, file, gallery, section, text, thumbnail
from tests.resources.message.attachment.uploading import listed, picture, send, upload
from tests.support.component_messages import LEGACY, V2, botted
from tests.support.harness import Platform

TEXT_FILE = ("notes.txt", b"fog at noon")
SHIP = ("ship.png", picture())


async def test_uploaded_files_are_shown_with_their_dimensions(platform: Platform) -> None:
    bot, _, url = await botted(platform)
    tree = [
        section(accessory=thumbnail("attachment://ship.png")),
        container(gallery("attachment://ship.png"), file("notes.txt", spoiler=True)),
    ]
    message = await send(bot, url, SHIP, TEXT_FILE, body={"flags": V2, "components": tree})
    media = message["components"][0]["accessory"]["media"]
    assert (media["width"], media["height"], media["content_type"], media["loading_state"]) == (30, 20, "image/png", 2)
    assert media["id"] == media["attachment_id"]
    pictures, text_file = message["components"][1]["components"]
    assert pictures["items"][0]["media"] == media
    assert (text_file["name"], text_file["size"], text_file["spoiler"]) == ("notes.txt", len(TEXT_FILE[1]), True)
    assert message["attachments"] == []
    assert (await bot.get(f"{url}/{message['id']}")).json["components"] == message["components"]
    assert platform.heard_data("MESSAGE_CREATE")[0]["components"] == message["components"]


async def test_a_thumbnail_shows_an_image(platform: Platform) -> None:
    bot, _, url = await botted(platform)
    body = {"flags": V2, "components": [section(accessory=thumbnail("attachment://notes.txt"))]}
    reply = await upload(bot, "POST", url, listed(TEXT_FILE), body)
    assert (reply.status, reply.errors_at("components.0.accessory.media.url")) == (400, ["CONTENT_TYPE_INVALID"])
    assert platform.heard == []


async def test_a_file_that_no_component_shows_is_refused_in_a_layout_and_fine_without_one(platform: Platform) -> None:
    bot, _, url = await botted(platform)
    reply = await upload(bot, "POST", url, listed(SHIP, TEXT_FILE), {"flags": V2, "components": [file("notes.txt")]})
    assert (reply.status, reply.errors_at("attachments.0")) == (400, [LEGACY])
    assert (await upload(bot, "POST", url, listed(TEXT_FILE), {"flags": V2, "components": [text()]})).status == 400
    assert len((await send(bot, url, SHIP, TEXT_FILE))["attachments"]) == 2


async def test_a_message_with_files_becomes_a_layout_when_they_are_removed(platform: Platform) -> None:
    bot, _, url = await botted(platform)
    message = await send(bot, url, TEXT_FILE, body={"content": "x"})
    path = f"{url}/{message['id']}"
    becomes: dict[str, Any] = {"flags": V2, "components": [text()], "content": None}
    refused = await bot.patch(path, becomes)
    assert (refused.status, refused.errors_at("attachments")) == (400, [LEGACY])
    assert (await bot.get(path)).json["flags"] == 0
    edited = (await bot.patch(path, {**becomes, "attachments": []})).json
    assert (edited["flags"], edited["attachments"]) == (V2, [])


async def test_an_edit_adds_new_files_to_a_layout(platform: Platform) -> None:
    bot, _, url = await botted(platform)
    message = await send(bot, url, SHIP, body={"flags": V2, "components": [gallery("attachment://ship.png")]})
    path = f"{url}/{message['id']}"
    tree = [gallery("attachment://ship.png"), file("notes.txt")]
    edited = await upload(bot, "PATCH", path, listed(TEXT_FILE), {"components": tree})
    assert edited.status == 200, edited.json
    pictures, text_file = edited.json["components"]
    old = message["components"][0]["items"][0]["media"]
    assert pictures["items"][0]["media"]["attachment_id"] == old["attachment_id"]
    assert text_file["name"] == "notes.txt"
    removed = await bot.patch(path, {"components": [file("gone.txt")]})
    missing = ["UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND"]
    assert removed.errors_at("components.0.file.url") == missing
    assert (await bot.get(path)).json == edited.json
