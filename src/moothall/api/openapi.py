"""The OpenAPI 3.1 document, generated from the registry of endpoints."""

import inspect
import types
import typing
from collections.abc import Iterable, Mapping
from typing import Any

import msgspec
from msgspec import Struct

from moothall.api.endpoint import Endpoint, Json, NotReady, Response
from moothall.api.openapi_links import links_of
from moothall.api.openapi_refinements import refine
from moothall.api.request.form_fields import URL_ENCODED, payload_field
from moothall.api.request.multipart import MULTIPART
from moothall.api.request.parameters import QueryParameter
from moothall.api.request.uploads import Uploads
from moothall.api.request.url_encoded import UrlEncodedReader
from moothall.objects import limits
from moothall.objects.email_address import EmailAddress
from moothall.objects.ids import Snowflake
from moothall.objects.images import ImageData
from moothall.objects.json_object import JsonObject
from moothall.objects.permissions import PermissionSet
from moothall.objects.sound_data import SoundData
from moothall.objects.wire import Timestamp

_SCALARS: dict[type, JsonObject] = {
    Snowflake: {"type": "string", "format": "snowflake", "pattern": "^[0-9]{1,20}$"},
    PermissionSet: {"type": "string", "format": "permissions", "pattern": "^[0-9]+$"},
    Timestamp: {"type": "string", "format": "date-time"},
    EmailAddress: {"type": "string", "format": "email", "maxLength": limits.EMAIL_MAX},
    ImageData: {"type": "string", "format": "data-uri", "pattern": "^data:image/"},
    SoundData: {"type": "string", "format": "data-uri", "pattern": "^data:audio/"},
}

_FILE = {"type": "string", "contentMediaType": "application/octet-stream"}
_OPERATORS = "/admin/"
"""The endpoints of operators have versions of their own, in their paths."""
_REF = "#/components/schemas/{name}"

_ERROR_SCHEMA = {
    "type": "object",
    "required": ["code", "message"],
    "properties": {
        "code": {"type": "integer", "description": "The public error code; 0 where there is none."},
        "message": {"type": "string"},
        "errors": {"type": "object", "description": "The errors of each field, under `_errors`, nested as the body."},
    },
}


_OAUTH2_ERROR_SCHEMA = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {"type": "string", "description": "One of the codes of RFC 6749, such as `invalid_grant`."},
        "error_description": {"type": "string"},
    },
}


_SCIM_ERROR_SCHEMA = {
    "type": "object",
    "required": ["schemas", "status", "detail"],
    "properties": {
        "schemas": {"type": "array", "items": {"type": "string"}, "description": "The URN of errors."},
        "status": {"type": "string", "description": "The status of the response."},
        "detail": {"type": "string", "description": "What went wrong, for people."},
        "scimType": {"type": "string", "description": "A keyword of RFC 7644, section 3.12, if there is one."},
    },
}


def _scalar_schema(kind: type) -> JsonObject:
    for scalar, schema in _SCALARS.items():
        if issubclass(kind, scalar):
            return schema
    raise NotImplementedError(f"no schema for {kind}")


def schema_of(kind: Any) -> tuple[JsonObject, JsonObject]:
    """The JSON schema of a type, and the components that it refers to."""
    (schema,), components = msgspec.json.schema_components([kind], schema_hook=_scalar_schema, ref_template=_REF)
    return schema, components


def _response_types(endpoint: Endpoint) -> list[Any]:
    """The types of a successful response: several if its fields depend on the caller."""
    kind = endpoint.signature.response
    union = typing.get_origin(kind) in {typing.Union, types.UnionType}
    return [
        typing.get_args(alternative)[0] if typing.get_origin(alternative) is Json else alternative
        for alternative in (typing.get_args(kind) if union else (kind,))
    ]


def _json_response_types(endpoint: Endpoint) -> list[Any]:
    """Those response types that are JSON."""
    return [kind for kind in _response_types(endpoint) if kind not in (type(None), Response, NotReady)]


def openapi_document(
    endpoints: Iterable[Endpoint], *, version: str, url: str, examples: Mapping[str, str] | None = None
) -> JsonObject:
    """Describe `endpoints` in OpenAPI 3.1, with `x-permission`, `x-audit-log-reason` and `x-fires`.

    `examples` are values of path parameters by name.
    """
    endpoints = sorted(endpoints, key=lambda endpoint: (endpoint.path, endpoint.method))
    kinds: list[Any] = []
    for endpoint in endpoints:
        kinds.extend(parameter.kind for parameter in endpoint.signature.path_parameters)
        kinds.extend(parameter.kind for parameter in endpoint.signature.query_parameters)
        if endpoint.signature.body is not None:
            kinds.append(endpoint.signature.body.kind)
        # Not as a union: msgspec describes only unions that it can decode.
        kinds.extend(_json_response_types(endpoint))
    schemas, components = msgspec.json.schema_components(kinds, schema_hook=_scalar_schema, ref_template=_REF)
    _write_patterns_for_ecma([schemas, components])
    remaining = iter(schemas)
    paths: dict[str, JsonObject] = {}
    for endpoint in endpoints:
        operation = _operation(endpoint, remaining, endpoints, examples or {})
        if endpoint.path.startswith(_OPERATORS):
            operation["servers"] = [{"url": f"{url}/api"}]
        paths.setdefault(endpoint.path, {})[endpoint.method.lower()] = operation
    components["Error"] = _ERROR_SCHEMA
    components["OAuth2Error"] = _OAUTH2_ERROR_SCHEMA
    components["ScimError"] = _SCIM_ERROR_SCHEMA
    document = {
        "openapi": "3.1.0",
        "info": {
            "title": "Moothall",
            "version": version,
            "description": "A self-hosted community platform, wire-compatible with the public v10 API.",
            "license": {"name": "Apache-2.0", "identifier": "Apache-2.0"},
        },
        "servers": [{"url": f"{url}/api/v10"}],
        "tags": [{"name": tag} for tag in sorted({_tag(endpoint) for endpoint in endpoints})],
        "paths": paths,
        "components": {
            "schemas": components,
            "securitySchemes": {
                "token": {
                    "type": "apiKey",
                    "in": "header",
                    "name": "Authorization",
                    "description": "A person's session token, or `Bot` and a bot's token; for endpoints of operators"
                    " their session token, or `Operator` and a token of theirs.",
                },
                "oauth2": {"type": "http", "scheme": "bearer", "description": "An OAuth2 access token."},
            },
        },
    }
    refine(document)
    return document


def _write_patterns_for_ecma(node: object) -> None:
    r"""Replace the anchors `\A` and `\Z` in all patterns by `^` and `$`: JSON Schema has ECMA-262's expressions."""
    if isinstance(node, dict):
        if isinstance(node.get("pattern"), str):
            node["pattern"] = node["pattern"].replace(r"\A", "^").replace(r"\Z", "$")
        for inner in node.values():
            _write_patterns_for_ecma(inner)
    elif isinstance(node, list | tuple):
        for inner in node:
            _write_patterns_for_ecma(inner)


def _tag(endpoint: Endpoint) -> str:
    module = endpoint.handler.__module__.split(".")
    return module[-2] if module[-1] == "endpoints" else module[-1]


def _operation(
    endpoint: Endpoint,
    schemas: "typing.Iterator[JsonObject]",
    endpoints: list[Endpoint],
    examples: Mapping[str, str],
) -> JsonObject:
    summary, _, more = endpoint.summary.partition("\n")
    parameters: list[JsonObject] = [
        {"name": parameter.name, "in": "path", "required": True, "schema": next(schemas)}
        for parameter in endpoint.signature.path_parameters
    ]
    for parameter in parameters:
        if parameter["name"] in examples:
            parameter["example"] = examples[parameter["name"]]
    parameters.extend(_query_parameter(parameter, next(schemas)) for parameter in endpoint.signature.query_parameters)
    parameters.extend(
        {"name": parameter.header.name, "in": "header", "schema": {"type": "string"}}
        for parameter in endpoint.signature.header_parameters
    )
    if endpoint.audit_reason:
        parameters.append(
            {"name": "X-Audit-Log-Reason", "in": "header", "schema": {"type": "string", "maxLength": 512}}
        )
    operation: JsonObject = {
        "operationId": endpoint.name,
        "summary": summary.rstrip("."),
        "tags": [_tag(endpoint)],
        "parameters": parameters,
        "x-permission": endpoint.access.label,
        "x-audit-log-reason": endpoint.audit_reason,
        "x-fires": sorted(event.name for event in endpoint.fires),
    }
    if more.strip():
        operation["description"] = inspect.cleandoc(more)
    if endpoint.access.needs_actor:
        security: list[dict[str, list[str]]] = [{"token": []}]
        if endpoint.scope:
            security.append({"oauth2": []})
            operation["x-oauth2-scope"] = endpoint.scope
        operation["security"] = security
    if endpoint.signature.body is not None:
        operation["requestBody"] = {
            "required": not endpoint.signature.body.optional,
            "content": _request_content(endpoint, next(schemas)),
        }
    elif endpoint.uploads is not None:
        part = endpoint.uploads.part
        form = {"type": "object", "properties": {part: _FILE}, "required": [part]}
        operation["requestBody"] = {"required": True, "content": {MULTIPART: {"schema": form}}}
    operation["responses"] = _responses(endpoint, schemas, endpoints)
    return operation


def _request_content(endpoint: Endpoint, schema: JsonObject) -> JsonObject:
    if endpoint.signature.body is None:
        return {}
    kinds: dict[str, object] = {endpoint.signature.body.content_type: {"schema": schema}}
    payload = payload_field(endpoint.signature.body.kind)
    encoding = {payload: {"contentType": "application/json"}}
    if endpoint.signature.body.forms:
        whole = {
            "type": "object",
            "description": f"The body as JSON in `{payload}`. Its fields as those of the form are read as well.",
            "properties": {payload: schema},
            "required": [payload],
        }
        kinds[URL_ENCODED] = {"schema": whole, "encoding": encoding}
    if endpoint.uploads is not None:
        kinds[MULTIPART] = {"schema": _form_schema(endpoint.uploads, payload, schema), "encoding": encoding}
    return kinds


def _form_schema(uploads: Uploads, payload: str, schema: JsonObject) -> JsonObject:
    form: JsonObject = {"type": "object", "properties": {payload: schema}, "additionalProperties": True}
    description = f"The body as JSON in `{payload}`, which may come last"
    if uploads.part is not None:
        description = f"The body as JSON in `{payload}`, or its fields as parts, and a file: `{uploads.part}`."
        form["properties"][uploads.part] = _FILE
    elif uploads.maximum > 0:
        description += ", and files: `files[0]` and on, or parts of any name that have a filename."
        form["properties"]["files[0]"] = form["additionalProperties"] = _FILE
    else:
        description += "."
    return form | {"description": description}


def _query_parameter(parameter: QueryParameter, schema: JsonObject) -> JsonObject:
    declared: dict[str, object] = {
        "name": parameter.name,
        "in": "query",
        "required": parameter.required,
        "schema": schema,
    }
    if parameter.is_list:
        declared |= {"style": "form", "explode": False}
    return declared


def _responses(endpoint: Endpoint, schemas: "typing.Iterator[JsonObject]", endpoints: list[Endpoint]) -> JsonObject:
    kinds, bodies = _response_types(endpoint), [next(schemas) for _ in _json_response_types(endpoint)]
    success: dict[str, object] = {"description": "Done."}
    if Response in kinds and not bodies:
        success["content"] = {"*/*": {}}
    elif bodies:
        schema = bodies[0] if len(bodies) == 1 else {"anyOf": bodies}
        success["content"] = {"application/json": {"schema": schema}}
    if links := {
        name: link
        for kind in _json_response_types(endpoint)
        for name, link in links_of(endpoint, kind, endpoints).items()
    }:
        success["links"] = links
    responses = {str(endpoint.status): success, **_refusals(endpoint)}
    refused = responses["4XX"]
    if bodies and Response in kinds:
        # The handler decides between 201 and 200, for an object that existed already.
        responses["200"] = success
    if NotReady in kinds:
        responses["202"] = {**refused, "description": "Not ready; retry after `retry_after` seconds."}
    if bodies and type(None) in kinds:
        responses["204"] = {"description": "Done, without content."}
    return responses


def _refusals(endpoint: Endpoint) -> JsonObject:
    """The responses of refusals: in the API's shape, or in that of OAuth2 or SCIM where their clients parse them."""
    refused = {
        "description": "Refused; nothing has changed.",
        "content": {"application/json": {"schema": {"$ref": _REF.format(name=endpoint.access.error_schema)}}},
    }
    if not isinstance(endpoint.signature.body, UrlEncodedReader):
        return {"4XX": refused}
    oauth2 = {
        "description": "Refused, in the shape of RFC 6749, section 5.2.",
        "content": {"application/json": {"schema": {"$ref": _REF.format(name="OAuth2Error")}}},
    }
    return {"4XX": oauth2, "413": refused, "429": {**refused, "description": "Too many requests."}}


class EndpointSummary(Struct, frozen=True):
    """An endpoint in the generated documentation."""

    method: str
    path: str
    permission: str
    audit_reason: bool
    fires: tuple[str, ...]
    status: int
    scope: str
    summary: str
    tag: str


def endpoint_summaries(endpoints: Iterable[Endpoint]) -> list[EndpointSummary]:
    """Summarize every endpoint, sorted by resource and path."""
    summaries = [
        EndpointSummary(
            endpoint.method,
            endpoint.path,
            endpoint.access.label,
            endpoint.audit_reason,
            tuple(sorted(event.name for event in endpoint.fires)),
            endpoint.status,
            endpoint.scope or "",
            endpoint.summary.partition("\n")[0],
            _tag(endpoint),
        )
        for endpoint in endpoints
    ]
    return sorted(summaries, key=lambda endpoint: (endpoint.tag, endpoint.path, endpoint.method))
