"""Bodies that are too large without their images are refused while they arrive."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moothall.api.request import json_size
from moothall.api.request.http_request import Request, RequestTooLarge
from moothall.api.request.json_size import MAX_JSON, JsonSize
from moothall.runtime.work_pool import WorkPool


def outside(text: bytes) -> int:
    """The same count over the whole text."""
    count = 0
    while (start := text.find(b'"data:')) >= 0:
        count += start
        _, quote, text = text[start + 6 :].partition(b'"')
        if not quote:
            return count
    return count + len(text)


@given(st.lists(st.sampled_from([b'"data:', b'"', b"data:", b"x", b'"dat', b"a:", b""]), max_size=12), st.data())
def test_chunks_count_as_the_whole_does(parts: list[bytes], data: st.DataObject) -> None:
    text = b"".join(parts)
    cuts = sorted(data.draw(st.lists(st.integers(0, len(text)), max_size=5)))
    chunks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
    with pytest.MonkeyPatch.context() as patch:
        for maximum in (outside(text) - 1, outside(text)):
            patch.setattr(json_size, "MAX_JSON", maximum)
            size = JsonSize()
            assert [size.add(chunk) for chunk in chunks][-1] is (outside(text) > maximum)


class Client:
    """A client that sends a body in chunks of 64 KiB."""

    def __init__(self, body: bytes) -> None:
        self._body = body
        self.sent = 0

    async def receive(self) -> dict[str, Any]:
        start, self.sent = self.sent, min(self.sent + 65_536, len(self._body))
        more = self.sent < len(self._body)
        return {"type": "http.request", "body": self._body[start : self.sent], "more_body": more}


def request_of(client: Client, content_type: bytes = b"application/json") -> Request:
    headers = [(b"content-type", content_type)]
    scope = {"type": "http", "method": "POST", "path": "/api/v10/guilds", "query_string": b"", "headers": headers}
    return Request(scope, client.receive, max_body=100_000_000, address="192.0.2.1")


async def test_a_body_without_images_is_not_read_further_than_one_may_be_large() -> None:
    client = Client(b'{"channels": [' + b"1," * 7_000_000 + b"1]}")
    pool = WorkPool("bodies")
    with pytest.raises(RequestTooLarge):
        await request_of(client).body(MAX_JSON + 10_000_000, pool)
    pool.close()
    assert MAX_JSON < client.sent <= MAX_JSON + 2 * 65_536


@pytest.mark.parametrize("content_type", [b"application/json", b"application/json; charset=utf-8"])
async def test_a_body_with_a_large_image_is_read_whole(content_type: bytes) -> None:
    body = b'{"icon": "data:image/png;base64,' + b"A" * 9_000_000 + b'", "name": "' + b"x" * 1_000_000 + b'"}'
    pool = WorkPool("bodies")
    assert await request_of(Client(body), content_type).body(MAX_JSON + 10_000_000, pool) == body
    pool.close()
