"""JSON answers of the suite against our own description of their row: what we publish is what we send."""

from functools import cache
from typing import Any

import msgspec
from jsonschema import Draft202012Validator  # type: ignore[import-untyped]  # it has no stubs of its own
from referencing import Registry, Resource
from referencing.jsonschema import DRAFT202012

from moothall.api.endpoint import Endpoint, endpoints
from moothall.api.openapi import openapi_document
from tests.conformance.quick_validators import QuickValidators

_OFTEN = 5
"""Answers of a row looked at in a process: the first tell nearly all, and each costs a millisecond."""

_looked_at: dict[tuple[str, int], int] = {}


class Undescribed(AssertionError):
    """An answer that differs from what its row declares."""


@cache
def document() -> dict[str, Any]:
    """The document of every row."""
    return openapi_document(endpoints(), version="0", url="http://localhost:3333")


@cache
def validator(pointer: str) -> Draft202012Validator:
    """The validator of a schema of the document."""
    registry: Any = Registry().with_resource(
        "urn:own", Resource.from_contents(document(), default_specification=DRAFT202012)
    )
    return Draft202012Validator({"$ref": f"urn:own#{pointer}"}, registry=registry)


@cache
def _quick_validators() -> QuickValidators:
    return QuickValidators(document())


def allows(pointer: str, value: Any) -> bool:
    """Whether a schema of the document allows a value; `validator` tells why not."""
    return _quick_validators().allows(pointer, value)


def check_described(row: Endpoint, status: int, body: bytes, *, often: int | None = _OFTEN) -> None:
    """Raise Undescribed unless a successful answer has the status and the shape that the document describes.

    Of a row's answers the first `often` are looked at; all if it is None.
    """
    key = (row.name, status)
    if not 200 <= status < 300 or (often is not None and _looked_at.get(key, 0) >= often):
        return
    _looked_at[key] = _looked_at.get(key, 0) + 1
    responses = document()["paths"][row.path][row.method.lower()]["responses"]
    if str(status) not in responses:
        raise Undescribed(f"{row.name}: status {status} is not described")
    content = responses[str(status)].get("content", {})
    if not body:
        if content and row.method != "HEAD":
            raise Undescribed(f"{row.name}: nothing, where {', '.join(content)} is described")
        return
    if "application/json" not in content:
        if not content:
            raise Undescribed(f"{row.name}: a body, where none is described")
        return
    path = row.path.replace("~", "~0").replace("/", "~1")
    pointer = f"/paths/{path}/{row.method.lower()}/responses/{status}/content/application~1json/schema"
    if _quick_validators().is_valid(pointer, body):
        return
    errors = [
        f"{'.'.join(map(str, error.absolute_path))}: {error.message[:160]}"
        for error in validator(pointer).iter_errors(msgspec.json.decode(body))
    ]
    if errors:
        raise Undescribed(f"{row.name}: {'; '.join(errors[:5])}")
