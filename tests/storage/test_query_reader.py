"""The values of a query string, which are kept for the next request that has the same one."""

import inspect
from typing import Annotated, Any

import pytest
from msgspec import Meta, Struct

from moothall.api.request import parameters
from moothall.api.request.parameters import QueryReader, query_parameter, read_query, struct_parameters
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


class _Page(Struct, frozen=True, kw_only=True):
    code: str
    limit: Annotated[int, Meta(le=100)] = 50
    names: list[str] | None = None


def test_a_struct_declares_the_parameters_that_its_fields_are() -> None:
    reader = QueryReader(tuple(struct_parameters(_Page)), _Page)

    assert reader.read(b"code=a") == {"query": _Page(code="a")}
    assert reader.read(b"limit=7&names=x,y&code=b&other=1") == {"query": _Page(code="b", limit=7, names=["x", "y"])}
    for text, wrong in ((b"", {"code"}), (b"limit=101", {"code", "limit"})):
        with pytest.raises(Refusal) as refused:
            reader.read(text)
        assert set(refused.value.errors or {}) == wrong


def test_a_struct_whose_fields_have_defaults_is_made_without_a_query_string() -> None:
    class Page(Struct, frozen=True):
        limit: int = 50

    reader = QueryReader(tuple(struct_parameters(Page)), Page)

    assert reader.required
    assert reader.read(b"") == {"query": Page()}


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
