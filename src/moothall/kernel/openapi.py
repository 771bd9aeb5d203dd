"""The OpenAPI 3.1 document, made from the registry that the pipeline runs."""

import inspect
import types
import typing
from collections.abc import Iterable
from typing import Any

import msgspec
from msgspec import Struct

from moothall.kernel.endpoint import Endpoint, Json, NotReady, Response
from moothall.kernel.form_or_json import FORM, FormOrJsonReader
from moothall.kernel.parameters import QueryParameter
from moothall.objects import limits
from moothall.objects.email_address import EmailAddress
from moothall.objects.ids import Snowflake
from moothall.objects.images import ImageData
from moothall.objects.permissions import PermissionSet
from moothall.objects.sound_data import SoundData
from moothall.objects.wire import Timestamp

_SCALARS: dict[type, dict[str, Any]] = {
    Snowflake: {"type": "string", "format": "snowflake", "pattern": "^[0-9]{1,20}$"},
    PermissionSet: {"type": "string", "format": "permissions", "pattern": "^[0-9]+$"},
    Timestamp: {"type": "string", "format": "date-time"},
    EmailAddress: {"type": "string", "format": "email", "maxLength": limits.EMAIL_MAX},
    ImageData: {"type": "string", "format": "data-uri", "pattern": "^data:image/"},
    SoundData: {"type": "string", "format": "data-uri", "pattern": "^data:audio/"},
}

_REF = "#/components/schemas/{name}"

_ERROR_SCHEMA = {
    "type": "object",
    "required": ["code", "message"],
    "properties": {
        "code": {"type": "integer", "description": "The public error code; 0 where there is none."},
        "message": {"type": "string"},
        "errors": {"type": "object", "description": "What is wrong with each field, under `_errors`, nested as sent."},
    },
}


def _scalar_schema(kind: type) -> dict[str, Any]:
    for scalar, schema in _SCALARS.items():
        if issubclass(kind, scalar):
            return schema
    raise NotImplementedError(f"no schema for {kind}")


def _answers(endpoint: Endpoint) -> list[Any]:
    """The types that a success may have: several where callers are shown more or less."""
    kind = endpoint.response
    union = typing.get_origin(kind) in {typing.Union, types.UnionType}
    return [
        typing.get_args(alternative)[0] if typing.get_origin(alternative) is Json else alternative
        for alternative in (typing.get_args(kind) if union else (kind,))
    ]


def _bodies(endpoint: Endpoint) -> list[Any]:
    """Those of them that are JSON."""
    return [kind for kind in _answers(endpoint) if kind not in (type(None), Response, NotReady)]


def openapi_document(rows: Iterable[Endpoint], *, version: str, url: str) -> dict[str, Any]:
    """The document for the rows given: valid OpenAPI 3.1, with `x-permission`, `x-audit-log-reason` and `x-fires`."""
    rows = sorted(rows, key=lambda row: (row.path, row.method))
    kinds: list[Any] = []
    for row in rows:
        kinds.extend(parameter.kind for parameter in row.path_parameters)
        kinds.extend(parameter.kind for parameter in row.query_parameters)
        if row.body is not None:
            kinds.append(row.body.kind)
        # Apart, since a decoder could not tell them apart, and msgspec describes only what can be decoded.
        kinds.extend(_bodies(row))
    schemas, components = msgspec.json.schema_components(kinds, schema_hook=_scalar_schema, ref_template=_REF)
    found = iter(schemas)
    paths: dict[str, dict[str, Any]] = {}
    for row in rows:
        paths.setdefault(row.path, {})[row.method.lower()] = _operation(row, found)
    components["Error"] = _ERROR_SCHEMA
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Moothall",
            "version": version,
            "description": "A self-hosted community platform, wire-compatible with the public v10 API.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": f"{url}/api/v10"}],
        "tags": [{"name": tag} for tag in sorted({_tag(row) for row in rows})],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "A person's session token, or `Bot` and a bot's token.",
                },
                "oauth2": {"type": "http", "scheme": "bearer", "description": "An OAuth2 access token."},
            },
        },
    }


def _tag(row: Endpoint) -> str:
    module = row.handler.__module__.split(".")
    return module[-2] if module[-1] == "endpoints" else module[-1]


def _operation(row: Endpoint, schemas: "typing.Iterator[dict[str, Any]]") -> dict[str, Any]:
    summary, _, more = row.summary.partition("\n")
    parameters = [
        {"name": parameter.name, "in": "path", "required": True, "schema": next(schemas)}
        for parameter in row.path_parameters
    ]
    parameters.extend(_query_parameter(parameter, next(schemas)) for parameter in row.query_parameters)
    parameters.extend(
        {"name": parameter.header.name, "in": "header", "schema": {"type": "string"}}
        for parameter in row.header_parameters
    )
    if row.audit_reason:
        parameters.append(
            {"name": "X-Audit-Log-Reason", "in": "header", "schema": {"type": "string", "maxLength": 512}}
        )
    operation: dict[str, Any] = {
        "operationId": row.name,
        "summary": summary.rstrip("."),
        "tags": [_tag(row)],
        "parameters": parameters,
        "x-permission": row.access.label,
        "x-audit-log-reason": row.audit_reason,
        "x-fires": sorted(event.name for event in row.fires),
    }
    if more.strip():
        operation["description"] = inspect.cleandoc(more)
    if row.access.needs_actor:
        security: list[dict[str, list[str]]] = [{"token": []}]
        if row.scope:
            security.append({"oauth2": []})
            operation["x-oauth2-scope"] = row.scope
        operation["security"] = security
    if row.body is not None:
        operation["requestBody"] = {
            "required": not row.body.optional,
            "content": _request_content(row, next(schemas)),
        }
    operation["responses"] = _responses(row, schemas)
    return operation


def _request_content(row: Endpoint, schema: dict[str, Any]) -> dict[str, Any]:
    kinds = {row.body.content_type if row.body is not None else "": {"schema": schema}}
    if isinstance(row.body, FormOrJsonReader):
        kinds[FORM] = {
            "schema": {"type": "object", "description": "The body as `payload`.", "properties": {"payload": schema}},
            "encoding": {"payload": {"contentType": "application/json"}},
        }
    if row.uploads is not None:
        file = {"type": "string", "contentMediaType": "application/octet-stream"}
        kinds["multipart/form-data"] = {
            "schema": {
                "type": "object",
                "description": "The body as `payload_json`, which may come last, and files from `files[0]` on.",
                "properties": {"payload_json": schema, "files[0]": file},
                "additionalProperties": file,
            },
            "encoding": {"payload_json": {"contentType": "application/json"}},
        }
    return kinds


def _query_parameter(parameter: QueryParameter, schema: dict[str, Any]) -> dict[str, Any]:
    found: dict[str, Any] = {"name": parameter.name, "in": "query", "required": parameter.required, "schema": schema}
    if parameter.is_list:
        found |= {"style": "form", "explode": False}
    return found


def _responses(row: Endpoint, schemas: "typing.Iterator[dict[str, Any]]") -> dict[str, Any]:
    answers, bodies = _answers(row), [next(schemas) for _ in _bodies(row)]
    success: dict[str, Any] = {"description": "Done."}
    if Response in answers and not bodies:
        success["content"] = {"*/*": {}}
    elif bodies:
        schema = bodies[0] if len(bodies) == 1 else {"anyOf": bodies}
        success["content"] = {"application/json": {"schema": schema}}
    refused = {
        "description": "Refused; nothing has changed.",
        "content": {"application/json": {"schema": {"$ref": _REF.format(name="Error")}}},
    }
    responses = {str(row.status): success, "4XX": refused}
    if bodies and Response in answers:
        # A status that the handler decides: what was there already is no 201.
        responses["200"] = success
    if NotReady in answers:
        responses["202"] = {**refused, "description": "Not ready; ask again after `retry_after` seconds."}
    if bodies and type(None) in answers:
        responses["204"] = {"description": "Done; nothing to tell."}
    return responses


class Described(Struct, frozen=True):
    """A row as the generated page of endpoints shows it."""

    method: str
    path: str
    permission: str
    audit_reason: bool
    fires: tuple[str, ...]
    status: int
    scope: str
    summary: str
    tag: str


def described(rows: Iterable[Endpoint]) -> list[Described]:
    """Every row, by noun and path."""
    listed = [
        Described(
            row.method,
            row.path,
            row.access.label,
            row.audit_reason,
            tuple(sorted(event.name for event in row.fires)),
            row.status,
            row.scope or "",
            row.summary.partition("\n")[0],
            _tag(row),
        )
        for row in rows
    ]
    return sorted(listed, key=lambda row: (row.tag, row.path, row.method))
