"""PATCH of SCIM (RFC 7644, section 3.5.2): operations on documents."""

import copy
import re
from typing import Final

from msgspec import Struct, field

from moothall.objects.json_object import JsonObject
from moothall.resources.scim.errors import ScimRefusal, invalid_value
from moothall.resources.scim.filters import Filter, attribute_name, parse_filter
from moothall.resources.scim.objects import MEMBERS_MAX

OPERATIONS_MAX: Final = 1_000
_READ_ONLY: Final = frozenset(("id", "meta", "groups", "schemas"))
_SPLIT: Final = re.compile(r"(?P<attribute>[^\[\]]+?)(?:\[(?P<filter>.*)\](?:\.(?P<sub>[\w$]+))?)?", re.DOTALL)
_LISTS: Final = frozenset(("emails",))


class Operation(Struct, frozen=True):
    """One operation, as it is sent."""

    op: str
    path: str | None
    value: object


class Target(Struct, frozen=True):
    """What a path names: an attribute, of which only some items may be meant, and of these a sub-attribute."""

    attribute: str
    sub: str | None
    filter: Filter | None


class MemberChanges(Struct):
    """What operations do to the members of a group, by the ids of users."""

    replaced: bool = False
    """Whether only those of `added` are left."""
    added: set[str] = field(default_factory=set)
    removed: set[str] = field(default_factory=set)


def read_operations(body: JsonObject) -> list[Operation]:
    """Read the operations of a request. Raises ScimRefusal 400."""
    listed = next((value for key, value in body.items() if key.lower() == "operations"), None)
    if not isinstance(listed, list) or not listed or len(listed) > OPERATIONS_MAX:
        raise ScimRefusal(400, f"Send 1 to {OPERATIONS_MAX} Operations.", scim_type="invalidSyntax")
    operations = []
    for each in listed:
        fields = {key.lower(): value for key, value in each.items()} if isinstance(each, dict) else {}
        op, path = str(fields.get("op", "")).lower(), fields.get("path")
        if op not in {"add", "replace", "remove"} or not isinstance(path, str | None):
            raise ScimRefusal(400, "An operation has an op of add, replace or remove.", scim_type="invalidSyntax")
        if op == "remove" and not path:
            raise ScimRefusal(400, "An operation that removes has a path.", scim_type="noTarget")
        value = fields.get("value")
        if path or op == "remove":
            operations.append(Operation(op, path, value))
        elif isinstance(value, dict):
            operations += [Operation(op, name, item) for name, item in value.items()]
        else:
            raise invalid_value("Without a path the value is an object.")
    return operations


def parse_path(path: str) -> Target:
    """Parse a path. Raises ScimRefusal 400 (invalidPath), and (mutability) for what no provider sets."""
    match = _SPLIT.fullmatch(path.strip())
    if match is None:
        raise ScimRefusal(400, f"The path {path!r} cannot be read.", scim_type="invalidPath")
    name, sub = attribute_name(match["attribute"]), match["sub"]
    condition = None if match["filter"] is None else parse_filter(match["filter"])
    if condition is None and "." in name:
        name, _, sub = name.partition(".")
    if name in _READ_ONLY:
        raise ScimRefusal(400, f"{name} cannot be changed.", scim_type="mutability")
    return Target(name, None if sub is None else sub.lower(), condition)


def patch_document(document: JsonObject, operations: list[Operation]) -> JsonObject:
    """A document after operations; it keeps its own. Names of attributes are compared without case."""
    result = copy.deepcopy(document)
    for operation in operations:
        _apply(result, operation, parse_path(operation.path or ""))
    return result


def patch_members(operations: list[Operation]) -> tuple[list[Operation], MemberChanges]:
    """What operations on a group do to its members; the other operations are returned too."""
    others, changes = [], MemberChanges()
    for operation in operations:
        target = parse_path(operation.path or "")
        if target.attribute != "members":
            others.append(operation)
            continue
        ids = _member_ids(operation, target)
        if operation.op == "replace" and target.filter is None:
            changes.replaced, changes.added, changes.removed = True, ids, set()
        elif operation.op == "remove":
            if operation.value is None and target.filter is None:
                changes.replaced, changes.added, changes.removed = True, set(), set()
            changes.added -= ids
            changes.removed |= ids
        else:
            changes.added |= ids
            changes.removed -= ids
    return others, changes


def _member_ids(operation: Operation, target: Target) -> set[str]:
    if target.filter is not None:
        if target.filter.attribute != "value" or not isinstance(target.filter.value, str):
            raise ScimRefusal(400, 'Name members by [value eq "ID"].', scim_type="invalidFilter")
        return {target.filter.value}
    items = operation.value if isinstance(operation.value, list) else [operation.value]
    if len(items) > MEMBERS_MAX:
        raise invalid_value(f"A group has up to {MEMBERS_MAX} members.")
    ids = [item.get("value") if isinstance(item, dict) else item for item in items if item is not None]
    texts = {each for each in ids if isinstance(each, str)}
    if len(texts) < len({str(each) for each in ids}):
        raise invalid_value("A member has the id of a user as its value.")
    return texts


def _apply(document: JsonObject, operation: Operation, target: Target) -> None:
    key = _key_of(document, target.attribute)
    if target.filter is not None:
        _apply_to_items(document, key, operation, target)
    elif target.sub is not None:
        below = document.get(key)
        if isinstance(below, list):
            raise ScimRefusal(400, f"Name an item of {target.attribute}.", scim_type="invalidPath")
        below = document.setdefault(key, {}) if not isinstance(below, dict) else below
        _set(below, target.sub, operation)
    elif target.attribute in _LISTS and operation.op == "add":
        items = document.setdefault(key, [])
        new = operation.value if isinstance(operation.value, list) else [operation.value]
        items += [item for item in new if item not in items]
    elif target.attribute in _LISTS and operation.op == "replace" and not isinstance(operation.value, list):
        document[key] = [] if operation.value is None else [operation.value]
    elif isinstance(document.get(key), dict) and isinstance(operation.value, dict) and operation.op != "remove":
        for name, value in operation.value.items():
            _set(document[key], name.lower(), Operation(operation.op, None, value))
    else:
        _set(document, target.attribute, operation)


def _apply_to_items(document: JsonObject, key: str, operation: Operation, target: Target) -> None:
    condition = target.filter
    items = document.get(key)
    items = items if isinstance(items, list) else []
    matching = [item for item in items if isinstance(item, dict) and condition is not None and condition.matches(item)]
    if not matching:
        if operation.op != "add" or condition is None or condition.attribute is None:
            raise ScimRefusal(400, f"No item of {target.attribute} matches.", scim_type="noTarget")
        # Providers write an address of a type that is not there by adding to `emails[type eq "work"].value`.
        matching = [{condition.attribute: condition.value}]
        document[key] = items = [*items, *matching]
    if operation.op == "remove" and target.sub is None:
        document[key] = [item for item in items if item not in matching]
        return
    for item in matching:
        if target.sub is not None:
            _set(item, target.sub, operation)
        elif isinstance(operation.value, dict):
            item.update(operation.value)
        else:
            raise invalid_value("An item of a list is an object.")


def _set(document: JsonObject, name: str, operation: Operation) -> None:
    key = _key_of(document, name)
    if operation.op == "remove" or operation.value is None:
        document.pop(key, None)
    else:
        document[key] = operation.value


def _key_of(document: JsonObject, name: str) -> str:
    """The key of an attribute in a document, which may be spelled otherwise."""
    return next((key for key in document if key.lower() == name), name)
