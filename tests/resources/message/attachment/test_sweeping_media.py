"""Images, stickers and sounds that no row names are removed from the store after a grace time."""

from typing import Any

import pytest
from sqlalchemy import Text

from moothall.objects.wire import Timestamp
from moothall.resources.message.attachment.queries import MEDIA_STORED_IN
from moothall.resources.message.attachment.sweeper import GRACE_MS, FileSweeper
from moothall.storage.blobs import Blobs
from moothall.storage.columns import MEDIA_FOLDERS
from moothall.storage.schema import metadata
from tests.resources.guild.pictures import picture
from tests.resources.soundboard.sound_files import mp3, uri
from tests.support.harness import Platform

DAY = 86_400_000
RED, BLUE = picture(size=(16, 16)), picture(size=(17, 17))


@pytest.fixture(params=["memory", "folder"])
def blobs(request: pytest.FixtureRequest, platform: Platform, tmp_path: Any) -> Blobs:
    """Each kind of blob store."""
    if request.param == "folder":
        platform.services.blobs = Blobs.open(str(tmp_path / "blobs"))
    return platform.services.blobs


async def keys(blobs: Blobs) -> set[str]:
    return {key for folder in MEDIA_STORED_IN async for key in blobs.keys(folder)}


async def test_an_image_that_no_row_names_is_removed_after_the_grace_time(platform: Platform, blobs: Blobs) -> None:
    alice, sweeper, now = await platform.person(), FileSweeper(platform.services), Timestamp.now()
    guild = await platform.guild(alice)
    assert (await alice.patch("/users/@me", {"avatar": RED})).status == 200
    reply = await alice.patch("/users/@me", {"avatar": BLUE})
    shown = f"images/{reply.json['avatar']}"
    sound = (await alice.post(f"/guilds/{guild.id}/soundboard-sounds", {"name": "gong", "sound": uri(mp3(1))})).json
    assert len(await keys(blobs)) == 3
    await alice.delete(f"/guilds/{guild.id}/soundboard-sounds/{sound['sound_id']}")
    assert await sweeper.remove_unnamed_media(now=now) == 0
    assert await sweeper.remove_unnamed_media(now=Timestamp(now + GRACE_MS - DAY)) == 0
    assert len(await keys(blobs)) == 3
    assert await sweeper.remove_unnamed_media(now=Timestamp(now + GRACE_MS)) == 2
    assert await keys(blobs) == {shown}
    assert await sweeper.remove_unnamed_media(now=Timestamp(now + 2 * GRACE_MS)) == 0


async def test_an_image_that_is_named_again_begins_its_grace_time_anew(platform: Platform, blobs: Blobs) -> None:
    alice, sweeper, now = await platform.person(), FileSweeper(platform.services), Timestamp.now()
    await alice.patch("/users/@me", {"avatar": RED})
    await alice.patch("/users/@me", {"avatar": None})
    await sweeper.remove_unnamed_media(now=now)
    await alice.patch("/users/@me", {"avatar": RED})
    assert await sweeper.remove_unnamed_media(now=Timestamp(now + GRACE_MS)) == 0
    await alice.patch("/users/@me", {"avatar": None})
    assert await sweeper.remove_unnamed_media(now=Timestamp(now + GRACE_MS + DAY)) == 0
    assert await sweeper.remove_unnamed_media(now=Timestamp(now + 2 * GRACE_MS)) == 0
    assert len(await keys(blobs)) == 1
    assert await sweeper.remove_unnamed_media(now=Timestamp(now + 2 * GRACE_MS + DAY)) == 1


async def test_an_image_uploaded_a_moment_ago_stays(platform: Platform, blobs: Blobs) -> None:
    sweeper, now = FileSweeper(platform.services), Timestamp.now()
    await blobs.put("images/abc", b"x")
    await sweeper.remove_unnamed_media(now=Timestamp(now - GRACE_MS - DAY))
    assert await sweeper.remove_unnamed_media(now=now) == 0
    assert await keys(blobs) == {"images/abc"}
    assert await sweeper.remove_unnamed_media(now=Timestamp(now + DAY)) == 1


async def test_the_avatar_under_which_a_webhook_has_sent_messages_stays(platform: Platform) -> None:
    alice, sweeper, now = await platform.person(), FileSweeper(platform.services), Timestamp.now()
    guild = await platform.guild(alice)
    body = {"name": "hook", "avatar": RED}
    hook = (await alice.post(f"/channels/{guild.general}/webhooks", body)).json
    await alice.patch(f"/webhooks/{hook['id']}", {"avatar": BLUE})
    await alice.delete(f"/webhooks/{hook['id']}")
    for days in (0, 31, 62):
        assert await sweeper.remove_unnamed_media(now=Timestamp(now + days * DAY)) == 0
    assert len(await keys(platform.services.blobs)) == 2


@pytest.mark.parametrize(
    ("table", "column", "folder"),
    [
        (table, column, folder)
        for table in metadata.sorted_tables
        for column in table.columns
        for folder in column.info.get(MEDIA_FOLDERS, ())
    ],
    ids=str,
)
def test_every_media_column_has_an_index(table: Any, column: Any, folder: str) -> None:
    assert folder in MEDIA_STORED_IN
    assert any([each.name for each in index.columns] == [column.name] for index in table.indexes)


def test_every_column_that_is_named_like_an_image_is_a_media_column() -> None:
    names = {"icon", "avatar", "banner", "splash", "discovery_splash", "image", "cover_image", "file"}
    unmarked = [
        f"{table.name}.{column.name}"
        for table in metadata.sorted_tables
        for column in table.columns
        if column.name in names and isinstance(column.type, Text) and MEDIA_FOLDERS not in column.info
    ]
    assert unmarked == []
