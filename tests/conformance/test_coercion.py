"""Every field of every body: other spellings of a scalar are taken where they stand for a value of the type.

Which spellings a field has is derived from the type of each row's body, so a field of tomorrow is held to it as well.
"""

import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import urlencode

import msgspec
import pytest
from msgspec import inspect as shapes

from moothall.api.endpoint import REGISTRY, Endpoint
from moothall.api.request.form_fields import URL_ENCODED
from moothall.objects.errors import Refusal
from tests.api.forms import TYPE as MULTIPART_TYPE
from tests.api.forms import form, part
from tests.conformance.own_schema import document
from tests.support.harness import Platform
from tests.support.wrong_values import ROWS, bare, errors_at, good, options, placed, refusal_of, wrong

_DEEPEST = 5
Path = tuple[str | int, ...]
Spelling = tuple[Path, Any, Any]
"""Where, the value as its type is written, and another spelling of it."""
ids = [f"{row.method} {row.path}" for row in ROWS]


def spellings(shape: shapes.Type, path: Path = ()) -> Iterator[Spelling]:
    """Other spellings of the numbers, booleans and texts in a body."""
    kinds = options(shape)
    if len(kinds) != 1 or len(path) > _DEEPEST:
        return
    kind = kinds[0]
    if isinstance(kind, shapes.StructType):
        for field in kind.fields:
            yield from spellings(field.type, (*path, field.encode_name))
    elif isinstance(kind, shapes.ListType):
        yield from spellings(kind.item_type, (*path, 0))
    else:
        yield from ((path, value, other) for value, other in scalar_spellings(kind))


def scalar_spellings(kind: shapes.Type) -> Iterator[tuple[Any, Any]]:
    """Values of a scalar type, each with another spelling."""
    if isinstance(kind, shapes.IntType):
        number = good(kind)
        yield from ((number, other) for other in (float(number), str(number), f"{number}.0"))
    elif isinstance(kind, shapes.FloatType):
        yield good(kind), str(good(kind))
    elif isinstance(kind, shapes.BoolType):
        yield from ((True, "true"), (False, "false"), (False, "0"))
    elif isinstance(kind, shapes.StrType) and (kind.max_length is None or kind.max_length > 0):
        text = "1" * max(kind.min_length or 1, 1)
        yield text, int(text)
    elif isinstance(kind, shapes.LiteralType | shapes.EnumType):
        choice = good(kind)
        if isinstance(choice, int):
            yield from ((choice, other) for other in (float(choice), str(choice)))


def outcome(row: Endpoint, body: Any) -> Any:
    """What reading a body results in: the typed body, or the errors."""
    assert row.signature.body is not None
    try:
        return row.signature.body.read(json.dumps(body).encode(), "application/json")
    except Refusal as refusal:
        return refusal.errors


@pytest.mark.parametrize("row", ROWS, ids=ids)
def test_other_spellings_of_a_scalar_are_the_same_body(row: Endpoint) -> None:
    assert row.signature.body is not None
    shape = shapes.type_info(row.signature.body.kind)
    for path, value, other in spellings(shape):
        expected = outcome(row, placed(shape, path, value))
        assert outcome(row, placed(shape, path, other)) == expected, f"{'.'.join(map(str, path))}: {other!r}"
        # The bounds of 64 bits have no halves as floats.
        if isinstance(value, int) and isinstance(other, float) and value + 0.5 != value:
            refusal = refusal_of(row, placed(shape, path, value + 0.5))
            assert refusal is not None
            assert errors_at(refusal, path), f"{'.'.join(map(str, path))}: {value + 0.5}"


def test_the_law_sees_many_fields() -> None:
    fields = [
        (row.name, path)
        for row in ROWS
        if row.signature.body
        for path, _, _ in spellings(shapes.type_info(row.signature.body.kind))
    ]
    assert len(fields) > 500
    assert ("modify_channel", ("rate_limit_per_user",)) in fields
    assert ("bulk_set_application_commands", (0, "options", 0, "type")) in fields


def lists(shape: shapes.Type, path: Path = ()) -> Iterator[tuple[Path, shapes.ListType]]:
    """The lists in a body, and where they are."""
    kinds = options(shape)
    if len(kinds) != 1 or len(path) > _DEEPEST:
        return
    if isinstance(kinds[0], shapes.StructType):
        for field in kinds[0].fields:
            yield from lists(field.type, (*path, field.encode_name))
    elif isinstance(kinds[0], shapes.ListType):
        yield path, kinds[0]
        yield from lists(kinds[0].item_type, (*path, 0))


WITH_LISTS = [
    row for row in ROWS if row.signature.body is not None and any(lists(shapes.type_info(row.signature.body.kind)))
]


@pytest.mark.parametrize("row", WITH_LISTS, ids=[f"{row.method} {row.path}" for row in WITH_LISTS])
def test_the_errors_of_every_item_of_a_list_are_reported_at_once(row: Endpoint) -> None:
    assert row.signature.body is not None
    shape = shapes.type_info(row.signature.body.kind)
    for path, kind in lists(shape):
        bad = [(inner, value) for inner, value, _ in wrong(kind.item_type) if value is not None]
        room = 50 if kind.max_length is None else kind.max_length
        if not bad or room < 2:
            continue
        chosen = [bad[number % len(bad)] for number in range(min(room, max(2, len(bad))))]
        items = [placed(kind.item_type, inner, value) for inner, value in chosen]
        refusal = refusal_of(row, placed(shape, path, items))
        assert refusal is not None
        for index, (inner, value) in enumerate(chosen):
            assert errors_at(refusal, (*path, index, *inner)), (path, index, inner, value, refusal.errors)


def test_lists_are_looked_at_in_many_rows() -> None:
    assert len(WITH_LISTS) > 25
    assert {"modify_guild_role_positions", "modify_guild_onboarding", "create_message"} <= {r.name for r in WITH_LISTS}


async def test_items_with_values_that_do_not_exist_are_reported_once_all_are_well_formed(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    role = await guild.role()
    known = str(int(role))
    body = [{"id": known, "position": "x"}, {"id": "7", "position": 1}, {"id": "8", "position": 1}]
    reply = await guild.owner.patch(f"/guilds/{guild.id}/roles", body)
    assert reply.errors_at("0.position") == ["NUMBER_TYPE_COERCE"]
    assert set(reply.json["errors"]) == {"0"}
    reply = await guild.owner.patch(f"/guilds/{guild.id}/roles", body[1:])
    assert set(reply.json["errors"]) == {"0", "1"}
    assert await guild.audit_log() == []
    assert platform.heard == []


PUBLIC_FORMS = {
    ("POST", "/channels/{channel_id}/invites"),
    ("POST", "/channels/{channel_id}/messages"),
    ("PATCH", "/channels/{channel_id}/messages/{message_id}"),
    ("POST", "/channels/{channel_id}/threads"),
    ("POST", "/interactions/{interaction_id}/{interaction_token}/callback"),
    ("POST", "/webhooks/{webhook_id}/{webhook_token}"),
    ("PATCH", "/webhooks/{webhook_id}/{webhook_token}/messages/@original"),
    ("PATCH", "/webhooks/{webhook_id}/{webhook_token}/messages/{message_id}"),
    ("POST", "/webhooks/{webhook_id}/{webhook_token}/slack"),
}
"""The operations whose body may be JSON, urlencoded or multipart in the public description."""
OWN_FORMS = {("POST", "/webhooks/{webhook_id}/{webhook_token}/github")}


def test_forms_are_taken_and_described_exactly_where_they_are_public() -> None:
    taken = {
        (row.method, row.path)
        for row in REGISTRY.values()
        if row.signature.body is not None and row.signature.body.forms
    }
    assert taken == PUBLIC_FORMS | OWN_FORMS
    for method, path in taken:
        content = document()["paths"][path][method.lower()]["requestBody"]["content"]
        assert set(content) == {"application/json", URL_ENCODED, "multipart/form-data"}


async def test_a_message_may_be_a_form_of_any_kind(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    path = f"/channels/{guild.general}/messages"
    body = {"content": "a & b = 100%", "tts": False}
    fields = {"content": "a & b = 100%", "tts": "False"}
    sent: list[tuple[str | bytes, str]] = [
        (json.dumps(body), "application/json; charset=utf-8"),
        (urlencode({"payload_json": json.dumps(body)}), URL_ENCODED),
        (urlencode(fields), f"{URL_ENCODED}; charset=utf-8"),
        (form(part("payload_json", json.dumps(body).encode())), MULTIPART_TYPE),
        (form(*(part(name, value.encode()) for name, value in fields.items())), MULTIPART_TYPE),
    ]
    for raw, content_type in sent:
        data = raw if isinstance(raw, bytes) else raw.encode()
        reply = await guild.owner.post(path, raw=data, content_type=content_type)
        assert (reply.status, reply.json["content"]) == (200, "a & b = 100%"), content_type
    too_long = urlencode({"content": "x" * 2001, "flags": "x"}).encode()
    reply = await guild.owner.post(path, raw=too_long, content_type=URL_ENCODED)
    assert reply.errors_at("content") == ["BASE_TYPE_MAX_LENGTH"]
    assert reply.errors_at("flags") == ["NUMBER_TYPE_COERCE"]


async def test_an_invite_may_be_a_form_and_has_no_files(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    path = f"/channels/{guild.general}/invites"
    for raw, content_type in (
        (urlencode({"max_age": "60", "unique": "true"}).encode(), URL_ENCODED),
        (form(part("payload_json", b'{"max_age": 60.0, "unique": true}')), MULTIPART_TYPE),
    ):
        reply = await guild.owner.post(path, raw=raw, content_type=content_type)
        assert (reply.status, reply.json["max_age"]) == (200, 60)
    with_file = form(part("payload_json", b"{}"), part("file", b"x", "a.txt"))
    assert (await guild.owner.post(path, raw=with_file, content_type=MULTIPART_TYPE)).errors_at("file")


def test_the_law_of_spellings_sees_what_it_is_about() -> None:
    class Body(msgspec.Struct):
        count: int = 0
        name: str = ""

    listed = [(path, other) for path, _, other in spellings(shapes.type_info(Body))]
    assert (("count",), 1.0) in listed
    assert (("name",), 1) in listed
    assert bare(shapes.type_info(Body)) is not None
