"""Request bodies: what does not fit is answered once, whole, at its exact paths."""

import json
import time
from typing import Annotated, Any, Literal
from urllib.parse import quote, quote_from_bytes, quote_plus, unquote_to_bytes, urlencode

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api.request import body, form, json_size
from moothall.api.request.body import MAX_DEPTH, body_reader, too_deep
from moothall.api.request.form_fields import url_encoded_fields
from moothall.api.request.json_size import MAX_JSON
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import RoleId
from moothall.objects.permissions import PermissionSet
from moothall.objects.wire import Timestamp, decoder


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


@pytest.mark.parametrize(
    ("body", "field", "value"),
    [
        ('{"name": "a", "count": 3.0}', "count", 3),
        ('{"name": "a", "count": "3"}', "count", 3),
        ('{"name": "a", "count": "3.0"}', "count", 3),
        ('{"name": "a", "count": -0.0}', "count", 0),
        ('{"name": 5}', "name", "5"),
        ('{"name": 1.5}', "name", "1.5"),
        ('{"name": -1}', "name", "-1"),
        ('{"name": "a", "tags": [{"name": 7}, {"name": "b"}]}', "tags", [Tag("7"), Tag("b")]),
    ],
)
def test_scalars_are_coerced_to_the_type_of_their_field(body: str, field: str, value: object) -> None:
    read = getattr(READER.read(body.encode(), "application/json"), field)
    assert (read, type(read)) == (value, type(value))


def test_what_needs_no_coercion_is_not_coerced() -> None:
    class Either(Struct):
        value: str | int | float
        many: list[str] | str = ""
        kind: Literal[1, "a"] = 1

    reader = body_reader(Either, optional=False)
    for value in ("10", 10, 10.0, 1.5):
        read = reader.read(b'{"value": %b, "kind": "1"}' % json.dumps(value).encode(), "application/json")
        assert (read.value, type(read.value), read.kind) == (value, type(value), 1)
    assert reader.read(b'{"value": 1, "many": 5}', "application/json").many == "5"


def test_a_list_of_very_many_values_is_refused_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(body, "MAX_VALUES", 1_000_000)  # which are too many to be read at all
    monkeypatch.setattr(json_size, "MAX_JSON", 10_000_000)

    class Many(Struct):
        ids: list[RoleId]

    data = json.dumps({"ids": ["1"] * 500_000 + ["x"]}).encode()
    started = time.process_time()
    with pytest.raises(msgspec.ValidationError):
        decoder(Many).decode(data)
    decoded = time.process_time()
    with pytest.raises(Refusal) as caught:
        body_reader(Many, optional=False).read(data, "application/json")
    assert codes(caught.value, "ids") == ["BASE_TYPE_MAX_LENGTH"]
    assert time.process_time() - decoded < 4 * (decoded - started)


class Named(Struct):
    """A body with an image."""

    name: str = ""
    values: list[int] = []
    icon: str = ""


@pytest.mark.parametrize(
    "bomb",
    [
        b'{"values": [' + b"1," * body.MAX_VALUES + b"1]}",
        b'{"values": [' + b'"",' * body.MAX_VALUES + b"1]}",
        b'{"values": [' + b"{}," * (body.MAX_VALUES // 2) + b"1]}",
        b'{"values": [' + b"[]" * body.MAX_VALUES + b"]}",
        b'{"name": "' + b"," * 500 + b'", "values": [' + b"1," * body.MAX_VALUES + b"1]}",
        b'{"name": "' + b"x" * MAX_JSON + b'"}',
        b'{"icon": "data:' + b"A" * 3_000_000 + b'", "values": [' + b"1," * body.MAX_VALUES + b"1]}",
        b'{"icon": "data:' + b"A" * 3_000_000 + b'", "name": "' + b"x" * MAX_JSON + b'"}',
    ],
    ids=["numbers", "texts", "objects", "lists", "after a text", "text", "beside an image", "text beside an image"],
)
def test_a_body_of_too_many_values_or_bytes_is_refused_before_anything_is_decoded(
    bomb: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded: list[object] = []
    monkeypatch.setattr(body, "decoder", decoded.append)
    monkeypatch.setattr(body, "_parsed", decoded.append)
    with pytest.raises(Refusal) as caught:
        body_reader(Named, optional=False).read(bomb, "application/json")
    assert (caught.value.status, caught.value.code) == (413, 40005)
    assert decoded == []


@pytest.mark.parametrize(
    "data",
    [
        b'{"values": [' + b"1," * 50_000 + b"1]}",
        b'{"name": "' + b",[{" * 200_000 + b'"}',
        b'{"name": "' + b'\\",' * 200_000 + b'"}',
        b'{"icon": "data:' + b"A" * 12_000_000 + b'", "name": "x"}',
    ],
    ids=["many values", "a text of commas", "a text of quotes", "an image"],
)
def test_large_honest_bodies_are_read(data: bytes) -> None:
    assert isinstance(body_reader(Named, optional=False).read(data, "application/json"), Named)


def test_the_errors_of_all_lists_are_bounded_together() -> None:
    class Lists(Struct):
        a: list[int]
        b: list[int]
        c: list[int]
        d: list[int]

    data = json.dumps({name: ["x"] * 400 for name in "abcd"}).encode()
    with pytest.raises(Refusal) as caught:
        body_reader(Lists, optional=False).read(data, "application/json")
    nested = caught.value.errors
    assert nested is not None
    assert sum(map(len, nested.values())) == form.MAX_ERRORS


def test_the_rules_of_fields_are_checked_where_the_types_of_others_are_wrong() -> None:
    class Items(Struct):
        tags: list[Tag] = []
        name: str = ""

        def check(self, form_errors: FormErrors) -> None:
            for index, tag in enumerate(self.tags):
                if tag.name == "evil":
                    form_errors.add(["tags", index, "name"], "EVIL", "Not that.")
            if not self.name:
                form_errors.add(["name"], "REQUIRED", "A name.")

    with pytest.raises(Refusal) as caught:
        body_reader(Items, optional=False).from_plain({"tags": [{"name": "good"}, {"name": "evil"}], "name": []})
    refusal = caught.value
    assert codes(refusal, "tags.1.name") == ["EVIL"]
    assert codes(refusal, "name") == ["STRING_TYPE_CONVERT"]
    assert set(refusal.errors or {}) == {"tags", "name"}


FORMS = body_reader(Body, optional=False, forms=True)
URL_ENCODED = "application/x-www-form-urlencoded; charset=utf-8"


@pytest.mark.parametrize(
    "form",
    [
        {"payload_json": '{"name": "a=&+é", "count": 3, "on": true, "roles": ["5"]}'},
        {"name": "a=&+é", "count": "3", "on": "True", "roles": '["5"]'},
        {"name": "a=&+é", "count": "3", "on": "1", "roles": "[5]", "unknown": "x"},
    ],
)
def test_an_urlencoded_form_is_the_same_body(form: dict[str, str]) -> None:
    body = FORMS.read(urlencode(form).encode(), URL_ENCODED)
    assert (body.name, body.count, body.on, body.roles) == ("a=&+é", 3, True, [5])


def test_an_urlencoded_form_has_the_same_errors() -> None:
    def refusal(data: bytes, content_type: str = URL_ENCODED) -> Refusal:
        with pytest.raises(Refusal) as caught:
            FORMS.read(data, content_type)
        return caught.value

    for data in (b"name=too+long&count=x", b"payload_json=" + quote('{"name":"too long","count":"x"}').encode()):
        assert codes(refusal(data), "name") == ["BASE_TYPE_BAD_LENGTH"]
        assert codes(refusal(data), "count") == ["NUMBER_TYPE_COERCE"]
    assert codes(refusal(b"name=a&name=b"), "name") == ["MULTIPART_TYPE_PARSE"]
    assert refusal(b"payload_json=%7B").code == 50109
    assert refusal(b"&".join([b"a=1"] * 100)).code == 50109
    assert refusal(b"payload_json={}", "text/plain").errors == {
        "_errors": [
            {
                "code": "CONTENT_TYPE_INVALID",
                "message": 'Expected "Content-Type" header to be one of '
                "{application/json, application/x-www-form-urlencoded, multipart/form-data}.",
            }
        ]
    }
    assert refused('{"name": "a"}', URL_ENCODED).code == 50035


@given(st.binary(max_size=60))
def test_percent_escapes_are_those_of_the_standard(value: bytes) -> None:
    escaped = quote_from_bytes(value).encode()
    assert url_encoded_fields(b"a=" + escaped) == [("a", value)]
    assert url_encoded_fields(b"a=" + quote_plus(value).encode()) == [("a", value)]
    plain = value.replace(b"&", b"").replace(b"+", b"")
    assert url_encoded_fields(b"a=" + plain) == [("a", unquote_to_bytes(plain))]


def test_reading_an_urlencoded_form_takes_work_in_proportion_to_its_length() -> None:
    def processor_time(count: int) -> float:
        started = time.thread_time()
        assert len(url_encoded_fields(b"a=" + b"%41" * count)[0][1]) == count
        return time.thread_time() - started

    # Ten times the length, where work that grows with the square would take a hundred times as long.
    assert min(processor_time(700_000) for _ in range(3)) < 40 * min(processor_time(70_000) for _ in range(3))


@pytest.mark.parametrize("text", ["", "{", "[1", '{"name": "a"', "\x00"])
def test_what_is_no_json_is_50109(text: str) -> None:
    assert refused(text).code == 50109


def test_json_that_is_no_object_is_a_form_error() -> None:
    assert refused("[]").code == 50035
    assert refused('"a"').code == 50035


@pytest.mark.parametrize(
    ("body", "path", "code"),
    [
        ('{"name": "a", "count": 3.5}', "count", "NUMBER_TYPE_COERCE"),
        ('{"name": "a", "count": "3.5"}', "count", "NUMBER_TYPE_COERCE"),
        ('{"name": "a", "count": "three"}', "count", "NUMBER_TYPE_COERCE"),
        ('{"name": "a", "count": true}', "count", "NUMBER_TYPE_COERCE"),
        ('{"name": "a", "count": ""}', "count", "NUMBER_TYPE_COERCE"),
        ('{"name": true}', "name", "STRING_TYPE_CONVERT"),
        ('{"name": ["a"]}', "name", "STRING_TYPE_CONVERT"),
        ('{"name": 123456}', "name", "BASE_TYPE_BAD_LENGTH"),
        ('{"name": "a", "on": "yes"}', "on", "BOOLEAN_TYPE_CONVERT"),
        ('{"name": "a", "on": 1}', "on", "BOOLEAN_TYPE_CONVERT"),
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


_lists = st.recursive(st.text('"[]{}\\ab', max_size=6), lambda inner: st.lists(inner, max_size=4), max_leaves=60)


@given(_lists, st.integers(0, 2 * MAX_DEPTH))
def test_the_depth_of_a_body_is_that_of_its_lists(value: Any, levels: int) -> None:
    data = b"[" * levels + json.dumps([value, ["[]"] * MAX_DEPTH]).encode() + b"]" * levels
    assert too_deep(data) == (levels + 1 + max(1, _depth(value)) > MAX_DEPTH)


def _depth(value: Any) -> int:
    return 1 + max(map(_depth, value), default=0) if isinstance(value, list) else 0


def test_the_depth_of_a_large_body_is_found_at_once() -> None:
    started = time.process_time()
    assert not too_deep(b"[" + b'{"a":[1,"}]\\"{"]},' * 100_000 + b"1]")
    assert too_deep(b"[" * (MAX_DEPTH + 1) + b"]" * (MAX_DEPTH + 1))
    assert not too_deep(b"[" * MAX_DEPTH + b"]" * MAX_DEPTH + b"[]" * 100)
    strings = b'"[\\"",' * 2_500
    assert not too_deep(b"[" + strings + b'"]"]')
    assert too_deep(b"[" + strings + b"[" * MAX_DEPTH + strings + b'""]' + b"]" * MAX_DEPTH)
    assert too_deep(b"[" + strings + b"[" * MAX_DEPTH + b'"' + strings), "a string that does not end"
    assert time.process_time() - started < 0.5


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
