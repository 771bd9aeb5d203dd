"""Forms with files: what is read of them, what is refused, and that nothing stays behind."""

import json
from collections.abc import AsyncIterator
from contextlib import suppress
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta, Struct

from moothall.api.file_ids import FileIds
from moothall.api.request.multipart import MalformedForm, PartEnd, PartHead, read_parts
from moothall.api.request.uploads import Admission, Allowance, Form, Uploads, UploadStaging
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import SnowflakeFactory
from moothall.runtime.budgets import SERVER, Budgets
from moothall.runtime.work_pool import WorkPool
from moothall.storage.blobs import Blobs
from tests.api.forms import BOUNDARY, TYPE, form, part, portions

POOL = WorkPool("test").for_payer(SERVER)


class Bench:
    """What a form is read with: at most two files of a thousand bytes, 1500 together."""

    def __init__(self, *, maximum: int = 2, each: int = 1000, total: int = 1500) -> None:
        self.blobs = Blobs.open("memory:")
        self.cost = Budgets.unlimited().cost_of(SERVER)
        self.admissions = 0
        self.allowance = Allowance(each, total)
        self.rules = Uploads()
        self.rules.maximum = maximum
        self.refusal: Refusal | None = None

    async def admit(self) -> Admission:
        self.admissions += 1
        if self.refusal is not None:
            raise self.refusal
        return Admission(self.allowance, None)

    def staging(self) -> UploadStaging:
        ids = FileIds(SnowflakeFactory(), bytes(32))
        return UploadStaging(self.rules, self.blobs, ids, self.admit, POOL, self.cost)

    async def read(self, data: bytes, *, size: int = 65_536, content_type: str = TYPE) -> Form:
        return await self.staging().read(portions(data, size), content_type)

    async def refused(self, data: bytes, **options: Any) -> Refusal:
        with pytest.raises(Refusal) as caught:
            await self.read(data, **options)
        assert await self.stored() == []
        return caught.value

    async def stored(self) -> list[str]:
        return [key async for key in self.blobs.keys("")]


@pytest.fixture
def bench() -> Bench:
    """One with nothing in it."""

    class Examined(Uploads):
        async def examine(self, file: Any, blobs: Any, pool: Any) -> None:  # noqa: ARG002 it takes no time
            file.info = await blobs.get(file.key)

    made = Bench()
    made.rules = Examined()
    made.rules.maximum = 2
    return made


async def test_files_are_stored_and_fields_are_kept_whatever_their_order(bench: Bench) -> None:
    read = await bench.read(
        form(part("files[1]", b"one", "a.txt"), part("payload_json", b'{"a": 1}'), part("file", b"\x00" * 900, "b c"))
    )
    assert read.fields == {"payload_json": b'{"a": 1}'}
    assert [(f.field, f.index, f.filename, f.size, f.head[:3], len(f.info)) for f in read.files] == [
        ("files[1]", 1, "a.txt", 3, b"one", 3),
        ("file", 0, "b c", 900, b"\x00\x00\x00", 900),
    ]
    assert len(await bench.stored()) == 2
    assert bench.admissions == 1


async def test_a_part_with_a_filename_is_a_file_whatever_its_name(bench: Bench) -> None:
    bench.rules.maximum = 10
    names = ["_pic.png", "files[1]", "upload", "files[x]", "file", "files[0]"]
    read = await bench.read(form(*(part(name, b"x", f"{name}.txt") for name in names)))
    assert {file.field: file.index for file in read.files} == {
        "files[0]": 0, "files[1]": 1, "_pic.png": 2, "upload": 3, "files[x]": 4, "file": 5,
    }  # fmt: skip


async def test_permission_is_checked_only_where_there_is_a_file(bench: Bench) -> None:
    read = await bench.read(form(part("content", b"hi")))
    assert (read.fields, bench.admissions) == ({"content": b"hi"}, 0)


async def test_a_payload_may_be_sent_as_a_blob(bench: Bench) -> None:
    read = await bench.read(form(part("payload_json", b"{}", "blob", Content_Type="application/json")))
    assert read.fields == {"payload_json": b"{}"}


async def test_a_caller_who_may_not_upload_stores_nothing(bench: Bench) -> None:
    bench.refusal = Refusal(errors.MISSING_PERMISSIONS)
    refusal = await bench.refused(form(part("files[0]", b"x" * 900, "a")))
    assert refusal.code == 50013


@pytest.mark.parametrize(
    ("parts", "status", "field"),
    [
        ([part("files[0]", b"x" * 1001, "a")], 413, None),
        ([part("files[0]", b"x" * 900, "a"), part("files[1]", b"x" * 601, "b")], 413, None),
        ([part("files[0]", b"x", "a"), part("files[0]", b"y", "b")], 400, "files[0]"),
        ([part("payload_json", b"{}"), part("payload_json", b"{}")], 400, "payload_json"),
        ([part("files[0]", b"x")], 400, "files[0]"),
        ([part(f"files[{n}]", b"x", "a") for n in range(3)], 400, "files[2]"),
    ],
)
async def test_what_is_too_large_twice_there_or_without_a_filename_is_refused(
    bench: Bench, parts: list[bytes], status: int, field: str | None
) -> None:
    refusal = await bench.refused(form(*parts))
    assert refusal.status == status
    assert list(refusal.errors or {}) == ([] if field is None else [field])


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no form",
        form(part("files[0]", b"x" * 500, "a"))[:-40],
        form(part("files[0]", b"x", "a"), part("payload_json", b"{}"))[: -len(BOUNDARY) - 8],
        form(part("", b"x")),
        form(part("a", b"x", Content_Transfer_Encoding="base64")),
        form(b"--" + BOUNDARY.encode() + b"\r\nContent-Type: text/plain\r\n\r\nx\r\n"),
        form(b"--" + BOUNDARY.encode() + b'\r\nContent-Disposition: attachment; name="a"\r\n\r\nx\r\n'),
        form(part("a", b"x", **{f"X{n}": "1" for n in range(20)})),
        form(part("a", b"x", X="1" * 5000)),
        form(*(part(f"f{n}", b"") for n in range(50))),
    ],
    ids=range(11),
)
async def test_what_is_truncated_or_no_form_is_refused_with_the_reason(bench: Bench, data: bytes) -> None:
    refusal = await bench.refused(data)
    assert refusal.status == 400
    assert (refusal.errors or {})["_errors"][0]["code"] == "MULTIPART_TYPE_PARSE"


@pytest.mark.parametrize("named", ["multipart/form-data", "multipart/form-data; boundary=" + "x" * 300])
async def test_a_form_needs_a_boundary(bench: Bench, named: str) -> None:
    assert (await bench.refused(form(), content_type=named)).status == 400


async def test_fields_are_bounded(bench: Bench) -> None:
    assert (await bench.refused(form(part("payload_json", b"x" * (2 << 20) + b"x" * 70_000)))).status == 413


async def test_what_comes_after_the_end_is_not_read() -> None:
    async def endless() -> AsyncIterator[bytes]:
        yield form(part("a", b"1"))
        raise AssertionError("somebody reads on")

    assert len([event async for event in read_parts(endless(), TYPE)]) == 3


async def test_a_client_that_leaves_has_left_nothing(bench: Bench) -> None:
    async def leaving() -> AsyncIterator[bytes]:
        yield part("files[0]", b"x" * 100, "a")
        yield part("files[1]", b"x" * 100, "b")[:-20]
        raise ConnectionError

    staging = bench.staging()
    with pytest.raises(ConnectionError):
        await staging.read(leaving(), TYPE)
    assert await bench.stored() == []


class Old(Struct):
    """A body that old clients send as fields."""

    content: Annotated[str, Meta(max_length=10)] | None = None
    tts: bool = False
    number: int = 0


def test_fields_become_the_body_where_there_is_no_payload() -> None:
    fields = {"content": b"12", "tts": b"true", "number": b"7", "other": b"x"}
    assert json.loads(Form({"tts": b"True", "number": b"7.0"}, []).body(Old)) == {"tts": True, "number": 7.0}
    assert json.loads(Form(fields, []).body(Old)) == {"content": "12", "tts": True, "number": 7, "other": "x"}
    assert Form({**fields, "payload_json": b"{}"}, []).body(Old) == b"{}"


names = st.sampled_from(["payload_json", "files[0]", "files[1]", "file", "content", "x"])
pieces = st.builds(part, names, st.binary(max_size=300), st.none() | st.text('ab"\\;é', max_size=5))


@given(st.lists(pieces, max_size=4), st.integers(1, 700), st.integers(0, 60), st.binary(max_size=20))
async def test_whatever_arrives_is_read_or_refused_and_never_half_stored(
    parts: list[bytes], size: int, cut: int, noise: bytes
) -> None:
    bench = Bench()
    data = form(*parts)
    middle = len(data) // 2
    data = data[:middle] + noise + data[middle : len(data) - cut]
    kept: list[str] = []
    with suppress(Refusal):
        kept = [file.key for file in (await bench.read(data, size=size)).files]
    assert sorted(await bench.stored()) == sorted(kept)


@given(st.lists(st.binary(max_size=2000), max_size=5), st.integers(1, 5000))
async def test_data_comes_through_unchanged_however_it_is_cut(contents: list[bytes], size: int) -> None:
    data = form(*(part(f"files[{n}]", content, "x") for n, content in enumerate(contents)))
    contents_read: list[bytes] = []
    try:
        async for event in read_parts(portions(data, size), TYPE):
            if isinstance(event, PartHead):
                contents_read.append(b"")
            elif not isinstance(event, PartEnd):
                contents_read[-1] += event
    except MalformedForm:
        assert any(BOUNDARY.encode() in content for content in contents)
        return
    assert contents_read == contents
