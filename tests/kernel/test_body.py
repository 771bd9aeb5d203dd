"""Request bodies: what does not fit is answered once, whole, at its exact paths."""

import time
from typing import Annotated, Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.kernel.body import MAX_DEPTH, body_reader, too_deep
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import RoleId
from moothall.objects.permissions import PermissionSet
from moothall.objects.wire import Timestamp


class Tag(Struct):
    """A part."""

    name: Annotated[str, Meta(min_length=1, max_length=20)]
    emoji_id: RoleId | None = None


class Body(Struct):
    """A body."""

    name: Annotated[str, Meta(min_length=1, max_length=5)]
    count: Annotated[int, Meta(ge=0, le=10)] | UnsetType = UNSET
    on: bool | UnsetType = UNSET
    roles: list[RoleId] = []
    tags: Annotated[list[Tag], Meta(max_length=2)] = []
    permissions: PermissionSet | UnsetType | None = UNSET
    until: Timestamp | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        if self.name == "evil":
            form_errors.add("name", "EVIL", "Not that.")


READER = body_reader(Body, optional=False)


def refused(text: str, content_type: str = "application/json") -> Refusal:
    with pytest.raises(Refusal) as caught:
        READER.read(text.encode(), content_type)
    return caught.value


def codes(refusal: Refusal, path: str) -> list[str]:
    node: Any = refusal.errors
    for key in path.split("."):
        node = node[key]
    return [error["code"] for error in node["_errors"]]


def test_every_error_of_a_body_is_told_at_once_at_its_path() -> None:
    refusal = refused(
        '{"name": "too long", "count": 11, "on": "x", "roles": ["1", "x"], "tags": [{}, {"name": ""}],'
        ' "permissions": "p", "until": "soon"}'
    )
    assert refusal.code == 50035
    assert codes(refusal, "name") == ["BASE_TYPE_BAD_LENGTH"]
    assert codes(refusal, "count") == ["NUMBER_TYPE_MAX"]
    assert codes(refusal, "on") == ["BOOLEAN_TYPE_CONVERT"]
    assert codes(refusal, "roles.1") == ["NUMBER_TYPE_COERCE"]
    assert codes(refusal, "tags.0.name") == ["BASE_TYPE_REQUIRED"]
    assert codes(refusal, "tags.1.name") == ["BASE_TYPE_BAD_LENGTH"]
    assert codes(refusal, "permissions")
    assert codes(refusal, "until")


def test_a_missing_field_and_a_null_one_are_both_required() -> None:
    assert codes(refused("{}"), "name") == ["BASE_TYPE_REQUIRED"]
    assert codes(refused('{"name": null}'), "name") == ["BASE_TYPE_REQUIRED"]


def test_rules_of_the_body_itself_are_told_like_those_of_its_types() -> None:
    assert codes(refused('{"name": "evil"}'), "name") == ["EVIL"]


def test_rules_are_looked_at_where_another_field_does_not_fit_its_type() -> None:
    refusal = refused('{"name": "evil", "count": 11}')
    assert codes(refusal, "name") == ["EVIL"]
    assert codes(refusal, "count") == ["NUMBER_TYPE_MAX"]
    assert set(refused('{"name": "too long", "count": 1}').errors or {}) == {"name"}


def test_absent_and_null_stay_different() -> None:
    body = READER.read(b'{"name": "a", "until": null}', "application/json; charset=utf-8")
    assert body.until is None
    assert body.permissions is UNSET


def test_ids_may_be_strings_or_numbers() -> None:
    body = READER.read(b'{"name": "a", "roles": ["5", 6]}', "application/json")
    assert body.roles == [5, 6]


@pytest.mark.parametrize("text", ["", "{", "[1", '{"name": "a"', "\x00"])
def test_what_is_no_json_is_50109(text: str) -> None:
    assert refused(text).code == 50109


def test_json_that_is_no_object_is_a_form_error() -> None:
    assert refused("[]").code == 50035
    assert refused('"a"').code == 50035


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ('{"name": "a", "count": 3.0}', "count", "NUMBER_TYPE_COERCE"),
        ('{"name": "a", "until": "tomorrow"}', "until", "DATE_TIME_TYPE_PARSE"),
        ('{"name": "a", "permissions": "many"}', "permissions", "NUMBER_TYPE_COERCE"),
    ],
)
def test_every_kind_of_value_has_its_own_code_at_its_field(body: str, path: str, code: str) -> None:
    assert codes(refused(body), path) == [code]


def test_another_content_type_is_a_form_error() -> None:
    assert refused('{"name": "a"}', "text/plain").code == 50035
    assert refused('{"name": "a"}', "").code == 50035


def test_no_body_is_an_empty_object_only_where_nothing_is_required() -> None:
    class Empty(Struct):
        days: int = 0

    assert body_reader(Empty, optional=True).read(b"", "").days == 0
    assert refused("", "").code == 50035


def test_nesting_is_bounded_and_braces_in_strings_do_not_count() -> None:
    assert too_deep(b"[" * (MAX_DEPTH + 1))
    assert not too_deep(b'"' + b"[" * 500 + b'"')
    assert not too_deep(b"[]" * 500)
    assert refused('{"name": "a", "roles": ' + "[" * 100 + "]" * 100 + "}").code == 50109


def test_the_depth_of_a_large_body_is_found_at_once() -> None:
    started = time.perf_counter()
    assert not too_deep(b"[" + b'{"a":[1,"}]\\"{"]},' * 100_000 + b"1]")
    assert too_deep(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))
    assert not too_deep(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"[]" * 100)
    assert time.perf_counter() - started < 0.5


def test_nul_is_stripped_from_texts_and_nothing_else_is() -> None:
    read = READER.read(rb'{"name": "a\u0000b"}', "application/json")
    assert read.name == "ab"
    assert READER.read(rb'{"name": "\\u00", "on": true}', "application/json").name == "\\u00"
    with pytest.raises(Refusal):
        READER.read(rb'{"name": "\\u0000a"}', "application/json")  # a backslash and six letters: too long


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(["name", "emoji_id", "x"]), inner, max_size=3)
    ),
    max_leaves=8,
)


@given(
    st.fixed_dictionaries(
        {},
        optional=dict.fromkeys(
            ("name", "count", "on", "roles", "tags", "permissions", "until", "unknown"), json_values
        ),
    )
)
def test_whatever_is_sent_is_read_or_refused_with_a_reason_in_every_refusal(value: dict[str, object]) -> None:
    refusal = None
    try:
        READER.from_plain(value)
    except Refusal as caught:
        refusal = caught
    assert refusal is None or (refusal.code == 50035 and refusal.errors)
