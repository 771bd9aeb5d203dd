"""The values of a query string, which are kept for the next request that has the same one."""

import inspect
from typing import Any

import pytest

from moothall.api.request import parameters
from moothall.api.request.parameters import QueryReader, query_parameter, read_query
from moothall.objects.errors import Refusal

_LIMIT = query_parameter("limit", int, 50)
_WAIT = query_parameter("wait", bool, default=False)
_NAMES = query_parameter("name", list[str], ())
_CODE = query_parameter("code", str, inspect.Parameter.empty)


@pytest.mark.parametrize("text", [b"", b"limit=7", b"limit=7&wait=true", b"wait=1&other=x", b"limit=8&limit=9"])
def test_a_query_string_has_the_same_values_each_time(text: bytes) -> None:
    reader = QueryReader((_LIMIT, _WAIT))
    expected = read_query((_LIMIT, _WAIT), text)
    assert [reader.read(text) for _ in range(3)] == [expected] * 3


def test_what_a_request_does_with_its_values_does_not_change_those_of_the_next() -> None:
    for reader, text in ((QueryReader((_LIMIT,)), b"limit=7"), (QueryReader((_NAMES,)), b"name=a,b")):
        expected = reader.read(text)
        changed: dict[str, Any] = reader.read(text)
        for value in changed.values():
            if isinstance(value, list):
                value.clear()
        changed["x_kind"] = "header"
        assert reader.read(text) == expected


def test_an_invalid_query_string_is_refused_each_time() -> None:
    reader = QueryReader((_LIMIT, _CODE))
    assert reader.required
    for text in (b"limit=x&code=y", b"limit=7", b"limit=x&code=y"):
        with pytest.raises(Refusal):
            reader.read(text)


def test_no_more_than_some_query_strings_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    read = []

    def count(declared: Any, text: bytes) -> dict[str, Any]:
        read.append(text)
        return read_query(declared, text)

    monkeypatch.setattr(parameters, "read_query", count)
    reader = QueryReader((_LIMIT,))
    for number in (*range(257), 256, 0):
        assert reader.read(b"limit=%d" % number) == {"limit": number}
    # The last one was kept, and the first one had been forgotten.
    assert read == [b"limit=%d" % number for number in (*range(257), 0)]
