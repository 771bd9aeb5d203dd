"""Resources as responses: JSON with metadata, of which a client may want only some attributes."""

from collections.abc import Collection, Iterable
from typing import Final

import msgspec

from moothall.api.endpoint import Response
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import Timestamp
from moothall.resources.scim.errors import ScimRefusal
from moothall.resources.scim.filters import attribute_name
from moothall.resources.scim.objects import GROUP_SCHEMA, LIST_SCHEMA, USER_SCHEMA
from moothall.resources.scim.queries import GroupResourceRow, MemberName, UserResourceRow

CONTENT_TYPE: Final = "application/scim+json"
_ALWAYS: Final = frozenset(("schemas", "id"))


def _names(text: str) -> frozenset[str]:
    return frozenset(attribute_name(name.strip()) for name in text.split(",") if name.strip())


class Selection:
    """Which attributes of resources a client wants: `attributes` or all, without `excluded`; names by commas."""

    def __init__(self, attributes: str, excluded: str) -> None:
        self._only = _names(attributes)
        self._excluded = _names(excluded) - _ALWAYS

    def has(self, name: str) -> bool:
        """Whether an attribute is wanted, at least in part; the name is in lower case."""
        if name in _ALWAYS:
            return True
        if self._only:
            return any(each == name or each.startswith(f"{name}.") for each in self._only)
        return name not in self._excluded

    def of(self, document: JsonObject) -> JsonObject:
        """What of a document is wanted."""
        return {name: value for name, value in document.items() if self.has(name.lower())}


ALL: Final = Selection("", "")


def user_document(base: str, row: UserResourceRow, memberships: Iterable[MemberName] = ()) -> JsonObject:
    """The JSON of a user."""
    document: JsonObject = {
        "schemas": [USER_SCHEMA],
        "id": str(int(row.user_id)),
        **msgspec.json.decode(row.attributes),
        "active": not row.closed,
        "meta": _meta(base, "User", row.user_id, row.created_at, row.updated_at, row.version),
    }
    groups = [
        {
            "value": str(int(each.group_id)),
            "$ref": f"{base}/Groups/{int(each.group_id)}",
            "display": each.display_name,
            "type": "direct",
        }
        for each in memberships
    ]
    return {**document, "groups": groups} if groups else document


def group_document(base: str, row: GroupResourceRow, members: Iterable[MemberName] = ()) -> JsonObject:
    """The JSON of a group."""
    document: JsonObject = {
        "schemas": [GROUP_SCHEMA],
        "id": str(int(row.id)),
        "displayName": row.display_name,
        "meta": _meta(base, "Group", row.id, row.created_at, row.updated_at, row.version),
    }
    if row.external_id is not None:
        document["externalId"] = row.external_id
    listed = [
        {
            "value": str(int(each.user_id)),
            "$ref": f"{base}/Users/{int(each.user_id)}",
            "type": "User",
        }
        for each in members
    ]
    return {**document, "members": listed} if listed else document


def etag(version: int) -> str:
    """The entity tag of a version."""
    return f'W/"{version}"'


def check_version(header: str | None, version: int) -> None:
    """Refuse (412) a change of another version than If-Match names."""
    if header is not None and header.strip() != "*" and etag(version) not in [tag.strip() for tag in header.split(",")]:
        raise ScimRefusal(412, "The resource has changed meanwhile.")


def response(document: JsonObject, *, status: int = 200, selection: Selection = ALL) -> Response:
    """A response with a document, or 304 where the client has it (`if_none_match` of the pipeline)."""
    headers: list[tuple[bytes, bytes]] = []
    meta = document.get("meta", {})
    if "version" in meta:
        headers.append((b"etag", meta["version"].encode()))
    if status == 201:
        headers.append((b"location", meta["location"].encode()))
    return Response(msgspec.json.encode(selection.of(document)), CONTENT_TYPE, status, tuple(headers))


def list_response(
    documents: Collection[JsonObject], *, total: int, start: int = 1, selection: Selection = ALL
) -> Response:
    """A page of resources."""
    body = {
        "schemas": [LIST_SCHEMA],
        "totalResults": total,
        "startIndex": start,
        "itemsPerPage": len(documents),
        "Resources": [selection.of(document) for document in documents],
    }
    return Response(msgspec.json.encode(body), CONTENT_TYPE)


def _meta(
    base: str, kind: str, resource_id: UserId | Snowflake, created: Timestamp, updated: Timestamp, version: int
) -> JsonObject:
    return {
        "resourceType": kind,
        "created": created.wire(),
        "lastModified": updated.wire(),
        "location": f"{base}/{kind}s/{int(resource_id)}",
        "version": etag(version),
    }
