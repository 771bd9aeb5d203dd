"""Every field of every body: what is of the wrong type, too long, out of range or null is refused by the field's name.

Which values are wrong is derived from the type of each row's body, so a field of tomorrow is held to it as well.
"""

import json

import msgspec
import pytest
from msgspec import inspect as shapes

from moothall.api.endpoint import Endpoint
from moothall.objects.errors import INVALID_FORM_BODY
from tests.support.harness import Guild, Platform
from tests.support.operators import promote
from tests.support.wrong_values import ROWS, errors_at, options, placed, refusal_of, wrong


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.path}")
def test_what_a_field_cannot_be_is_refused_by_its_name(row: Endpoint) -> None:
    assert row.signature.body is not None
    shape = shapes.type_info(row.signature.body.kind)
    tried = 0
    for path, value, fault in wrong(shape):
        body = placed(shape, path, value)
        case = f"{'.'.join(map(str, path)) or 'the body'}: {json.dumps(value)[:60]} is {fault}"
        refusal = refusal_of(row, body)
        assert refusal is not None, f"{case}, and was taken"
        assert refusal.kind is INVALID_FORM_BODY, case
        assert errors_at(refusal, path), f"{case}, and was told {refusal.errors}"
        tried += 1
    fields = [kind for kind in options(shape) if isinstance(kind, shapes.StructType) and kind.fields]
    assert tried or not fields


@pytest.mark.parametrize("database_url", ["sqlite"], indirect=True)
async def test_a_bad_field_is_told_over_http_and_changes_nothing(platform: Platform) -> None:
    guild: Guild = await platform.guild(await platform.person())
    await promote(platform, guild.owner)
    role = await guild.role()
    known = {"guild_id": guild.id, "channel_id": guild.general, "role_id": role, "user_id": guild.owner.id}
    refused_bodies = 0
    for row in ROWS:
        names = [parameter.name for parameter in row.signature.path_parameters]
        if row.signature.body is None or not names or set(names) - set(known):
            continue
        shape = shapes.type_info(row.signature.body.kind)
        for path, value, _ in wrong(shape):
            if len(path) != 1:
                continue
            url = row.path.format(**{name: int(known[name]) for name in names})
            reply = await guild.owner.request(row.method, url, placed(shape, path, value))
            assert reply.status == 400 or reply.code in {50024, 50101}, (row.name, path, reply.body)
            refused_bodies += reply.code == 50035
            break
    assert refused_bodies > 20
    assert platform.heard == []
    assert await guild.audit_log() == []


def test_the_law_sees_what_it_is_about() -> None:
    class Inner(msgspec.Struct):
        name: str

    class Body(msgspec.Struct):
        inner: list[Inner]

    shape = shapes.type_info(Body)
    faults = [(path, fault) for path, _, fault in wrong(shape)]
    assert (("inner",), "null") in faults
    assert (("inner", 0, "name"), "of the wrong type") in faults
    assert placed(shape, ("inner", 0, "name"), 5) == {"inner": [{"name": 5}]}
