"""Attacks of one address that asks for much: of pages, of files, and of pictures in ever other measures."""

import asyncio
import base64
import itertools
import threading
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from moothall.cdn.sizes import SIZES
from tests.resources.message.attachment.uploading import picture
from tests.server.visiting import OTHER, Answered, Visited, visited

GENEROUS = 2_500
"""More requests at once than any page of a browser makes."""


class Openings:
    """Counts how often pictures are opened to make others of them, and may hold that up for one of them."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.count = 0
        self.free = threading.Event()
        self._slow: bytes | None = None
        self._open = Image.open
        monkeypatch.setattr(Image, "open", self._opened)

    def hold(self, data: bytes) -> None:
        """Let those who open this picture wait until `free` is set."""
        self._slow = data

    def _opened(self, file: Any, *arguments: Any, **named: Any) -> Any:
        if isinstance(file, BytesIO):
            self.count += 1
            if file.getvalue() == self._slow:
                self.free.wait(100)
        return self._open(file, *arguments, **named)


@pytest.fixture
def openings(monkeypatch: pytest.MonkeyPatch) -> Openings:
    return Openings(monkeypatch)


def noise(kind: str, size: tuple[int, int]) -> bytes:
    """A picture that takes encoders long."""
    out = BytesIO()
    bands = [Image.effect_noise(size, 30) for _ in range(3)]
    Image.merge("RGB", bands).save(out, kind)
    return out.getvalue()


def measures(answer: Answered) -> tuple[int, int]:
    with Image.open(BytesIO(answer.body)) as image:
        return image.size


async def test_a_thousand_widths_of_a_picture_are_computed_as_few(tmp_path: Path, openings: Openings) -> None:
    async with visited(tmp_path, rate_limits=False) as server:
        url = await server.send("a.png", picture(size=(1200, 900)))
        openings.count = 0
        for width in range(1, 1001):
            answer = await server.get(f"{url}&width={width}&height={2000 - width}")
            assert answer.status == 200
            shown = measures(answer)
            assert shown[0] <= max(width, 16)
            openings.count -= 1  # to measure it
    assert 0 < openings.count <= 30


async def test_a_thousand_qualities_and_formats_of_a_picture_are_computed_as_few(
    tmp_path: Path, openings: Openings
) -> None:
    async with visited(tmp_path, rate_limits=False) as server:
        url = await server.send("a.png", picture(size=(60, 60)))
        openings.count = 0
        for quality in [*map(str, range(111)), "lossless", "x", ""]:
            for kind in ("png", "jpg", "jpeg", "webp", "gif", "exe"):
                assert (await server.get(f"{url}&width=50&format={kind}&quality={quality}")).status == 200
    assert 0 < openings.count <= 9


async def test_a_picture_asked_for_again_is_computed_once_even_after_a_restart(
    tmp_path: Path, openings: Openings
) -> None:
    async with visited(tmp_path, rate_limits=False) as server:
        url = await server.send("a.png", picture(size=(400, 200)))
        openings.count = 0
        first = await server.get(f"{url}&width=100")
        for _ in range(20):
            assert (await server.get(f"{url}&width=100")).body == first.body
    async with visited(tmp_path, rate_limits=False) as server:
        assert (await server.get(f"{url}&width=100")).body == first.body
    assert openings.count == 1


async def test_a_picture_that_cannot_be_decoded_is_tried_once(tmp_path: Path, openings: Openings) -> None:
    whole = noise("PNG", (300, 300))
    broken = whole[: len(whole) // 2] + bytes(len(whole) // 2)
    async with visited(tmp_path, rate_limits=False) as server:
        url = await server.send("a.png", broken)
        openings.count = 0
        for width in (100, 100, 101, 100):
            assert (await server.get(f"{url}&width={width}")).body == broken
    assert openings.count == 1


async def test_thirty_who_ask_for_the_same_at_once_wait_for_one_computation(tmp_path: Path, openings: Openings) -> None:
    async with visited(tmp_path, rate_limits=False) as server:
        url = await server.send("a.png", picture(size=(400, 200)))
        openings.count = 0
        answers = await asyncio.gather(
            *(server.get(f"{url}&width=100", client=f"203.0.113.{number}") for number in range(30))
        )
        assert {answer.status for answer in answers} == {200}
        assert len({answer.body for answer in answers}) == 1
    assert openings.count == 1


async def test_avatars_are_served_while_pictures_are_scaled_without_end(tmp_path: Path, openings: Openings) -> None:
    data = picture(size=(400, 200))
    async with visited(tmp_path, rate_limits=False) as server:
        url = await server.send("a.png", data)
        avatar = await server.change_avatar("data:image/png;base64," + base64.b64encode(picture()).decode())
        openings.hold(data)
        flood = [
            asyncio.create_task(server.get(f"{url}&width={width}", client=f"203.0.113.{width % 9}"))
            for width in (16, 20, 24, 32, 40, 48, 56, 64, 80, 96, 100, 128, 160, 200, 240, 300, 320)
        ]
        try:
            await asyncio.sleep(0.2)
            shown = await asyncio.wait_for(server.get(f"{avatar}.png?size=16"), 60)
            assert not any(task.done() for task in flood)
        finally:
            openings.free.set()
        assert (shown.status, measures(shown)[0]) == (200, 16)
        assert {answer.status for answer in await asyncio.gather(*flood)} == {200}


async def test_one_address_that_scales_without_end_does_not_hold_up_another(tmp_path: Path, openings: Openings) -> None:
    data = noise("JPEG", (2000, 2000))
    async with visited(tmp_path, rate_limits=False) as server:
        url, other = await server.send("a.jpg", data), await server.send("b.png", picture(size=(400, 200)))
        openings.hold(data)
        widths = (1536, 1280, 1024, 800, 640, 600, 512, 480, 400, 320, 300, 256, 240, 200, 160, 128)
        flood = [asyncio.create_task(server.get(f"{url}&width={width}&format=webp")) for width in widths]
        try:
            await asyncio.sleep(0.05)
            shown = await asyncio.wait_for(server.get(f"{other}&width=64&format=webp", client=OTHER), 60)
            assert not any(task.done() for task in flood)
        finally:
            openings.free.set()
        assert shown.status == 200
        assert {answer.status for answer in await asyncio.gather(*flood)} == {200}


async def test_more_scaling_than_can_wait_is_refused_with_the_time_to_come_back(
    tmp_path: Path, openings: Openings
) -> None:
    data = picture(size=(2000, 8))
    openings.hold(data)
    async with visited(tmp_path, rate_limits=False) as server:
        urls = [await server.send("a.png", data) for _ in range(12)]
        requested = [(url, width) for url in urls for width in SIZES if width < 1500]
        tasks = [
            asyncio.create_task(server.get(f"{url}&width={width}", client=f"203.0.113.{number % 40}"))
            for number, (url, width) in enumerate(requested)
        ]
        try:
            # All others have to come before the first that waits is done: it would make room for one more.
            async with asyncio.timeout(60):
                waiting = set(tasks)
                while len(waiting) > 256:
                    _, waiting = await asyncio.wait(waiting, return_when=asyncio.FIRST_COMPLETED)
        finally:
            openings.free.set()
        answers = await asyncio.gather(*tasks)
    refused = [answer for answer in answers if answer.status == 503]
    assert {answer.status for answer in answers} == {200, 503}
    assert len(answers) - len(refused) == 256
    assert all(int(answer.headers["retry-after"]) > 0 and answer.json["message"] for answer in refused)


async def test_an_address_causes_no_more_computing_than_it_may_and_others_are_served(tmp_path: Path) -> None:
    async with visited(tmp_path, rate_limit_scaling_ms=500) as server:
        url = await server.send("a.jpg", noise("JPEG", (2000, 2000)))
        paths = [
            f"{url}&width={width}&format={kind}"
            for width in (1536, 1280, 1024, 800, 640, 600, 512, 480)
            for kind in ("webp", "png", "jpeg")
        ]
        answers = [await server.get(path) for path in paths]
        statuses = [answer.status for answer in answers]
        assert set(statuses) == {200, 429}
        assert statuses[0] == 200
        assert len(list((tmp_path / "scaled").iterdir())) == statuses.count(200)
        refused = answers[statuses.index(429)]
        assert 1 <= int(refused.headers["retry-after"]) <= 10
        wait = refused.json["retry_after"]
        assert 0 < wait <= 10
        assert refused.json == {
            "message": "You are being rate limited.",
            "code": 0,
            "retry_after": wait,
            "global": False,
        }
        # What is there already costs nothing, and others have windows of their own.
        assert (await server.get(paths[0])).status == 200
        assert (await server.get(f"{url}&width=100", client=OTHER)).status == 200


async def flooded(server: Visited, path: str, count: int, **named: Any) -> list[int]:
    """The statuses of so many requests within one window: the limits have a clock that hardly advances."""
    limiter = server.app.services.limiter
    if limiter is not None:
        limiter._clock = itertools.count(1_000_000, 0.0001).__next__
    return [(await server.get(path, **named)).status for _ in range(count)]


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/reference",
        "/metrics",
        "/style.css",
        "/nothing",
        "/api/v10/openapi.json",
        "/embed/avatars/0.png",
        f"/avatars/1/{'0' * 32}.png?size=16",
        "/emojis/1.png",
        "/stickers/1.png",
        "/soundboard-sounds/1",
        "/attachments/1/2/a.png",
    ],
)
async def test_an_address_that_floods_a_path_is_refused_and_others_are_not(tmp_path: Path, path: str) -> None:
    async with visited(tmp_path) as server:
        statuses = await flooded(server, path, GENEROUS)
        first = statuses.index(429)
        assert first >= 200
        assert set(statuses[first:]) == {429}
        answer = await server.get(path)
        assert 1 <= int(answer.headers["retry-after"]) <= 10
        assert answer.headers["content-type"] == "application/json"
        assert answer.headers["access-control-allow-origin"] == "*"
        assert 0 < answer.json["retry_after"] <= 10
        assert (await server.get(path, method="HEAD")).body == b""
        assert 429 not in await flooded(server, path, 20, client=OTHER)
        # Health and the API are counted apart.
        assert 429 not in await flooded(server, "/healthz", 300)
        assert (await server.get("/api/v10/gateway")).status == 200


async def test_a_flood_of_one_kind_of_path_leaves_the_others_open(tmp_path: Path) -> None:
    async with visited(tmp_path) as server:
        assert 429 in await flooded(server, "/attachments/1/2/a.png", GENEROUS)
        assert (await server.get("/embed/avatars/1.png")).status == 200
        assert (await server.get("/reference")).status == 200


async def test_a_stranger_with_a_whole_ipv6_network_floods_as_one_address(tmp_path: Path) -> None:
    async with visited(tmp_path) as server:
        await flooded(server, "/", 0)
        statuses = [(await server.get("/", client=f"2001:db8::{number:x}")).status for number in range(GENEROUS)]
        assert 429 in statuses
        assert (await server.get("/", client="2001:db8:0:1::1")).status == 200


async def test_without_rate_limits_nothing_is_refused(tmp_path: Path) -> None:
    async with visited(tmp_path, rate_limits=False) as server:
        for path in ("/", "/embed/avatars/0.png", "/attachments/1/2/a.png"):
            assert 429 not in await flooded(server, path, GENEROUS)


async def test_an_operator_says_how_often_an_address_may_ask(tmp_path: Path) -> None:
    async with visited(
        tmp_path, rate_limit_pages=2, rate_limit_files=3, rate_limit_attachments=4, rate_limit_scaling_ms=1
    ) as server:
        url = await server.send("a.png", noise("PNG", (500, 500)))
        assert await flooded(server, "/", 3) == [200, 200, 429]
        assert await flooded(server, "/embed/avatars/0.png", 4) == [200, 200, 200, 429]
        scaled = [(await server.get(f"{url}&width={width}")).status for width in (400, 400, 300, 200, 100)]
        assert scaled == [200, 200, 429, 429, 429]


async def test_what_was_made_of_a_picture_goes_when_its_message_does(tmp_path: Path) -> None:
    async with visited(tmp_path, rate_limits=False) as server:
        kept = await server.send("a.png", picture(size=(400, 200)))
        url = await server.send("b.png", picture(size=(400, 200)))
        for path in (kept, url):
            for width in (100, 200):
                assert (await server.get(f"{path}&width={width}")).status == 200
        folder = tmp_path / "scaled"
        assert len(list(folder.iterdir())) == 4
        await server.call("DELETE", f"/channels/{server.channel}/messages/{server.message}")
        assert (await server.get(f"{url}&width=100")).status == 404
        assert await server.app.routes.files.rendition_sweeper.sweep() == 1
        assert {path.name.partition("-")[0] for path in folder.iterdir()} == {kept.split("/")[3]}
        assert (await server.get(f"{kept}&width=100")).status == 200


async def test_a_browser_that_has_a_scaled_picture_causes_no_work(tmp_path: Path, openings: Openings) -> None:
    async with visited(tmp_path, rate_limits=False) as server:
        url = await server.send("a.png", picture(size=(400, 200)))
        tag = (await server.get(f"{url}&width=100")).headers["etag"]
        for path in (tmp_path / "scaled").iterdir():
            path.unlink()
        openings.count = 0
        answer = await server.get(f"{url}&width=100", headers={"if-none-match": tag})
    assert (answer.status, answer.body, openings.count) == (304, b"", 0)
