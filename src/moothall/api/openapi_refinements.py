"""What generators of clients need of the OpenAPI document beyond what the types say."""

import ast
import inspect
import sys
from collections.abc import Iterator
from typing import Any, Final

from msgspec import Struct

from moothall.api.field_descriptions import describe_field, describe_parameter
from moothall.objects.component import Component
from moothall.objects.json_object import JsonObject

_COMPONENTS: Final = "components"
_PREFIX: Final = "#/components/schemas/"


def refine(document: JsonObject) -> None:
    """Describe properties, type arrays and components, and give every schema a name of one word."""
    schemas: JsonObject = document["components"]["schemas"]
    _describe_properties(schemas)
    _describe_parameters(document)
    message = schemas.get("Message", {}).get("properties", {}).get(_COMPONENTS, {})
    for schema in list(_nodes(document)):
        _type_arrays(schema, message.get("items"))
        _drop_object_defaults(schema)
    _shorten_names(document)


def _nodes(node: Any) -> Iterator[JsonObject]:
    if isinstance(node, dict):
        yield node
        for value in node.values():
            yield from _nodes(value)
    elif isinstance(node, list):
        for value in node:
            yield from _nodes(value)


def _type_arrays(schema: JsonObject, component: JsonObject | None) -> None:
    """Say what arrays hold that are decoded later: components of messages; of others nothing is said."""
    properties = schema.get("properties")
    if isinstance(properties, dict) and isinstance(properties.get(_COMPONENTS), dict):
        for node in (properties[_COMPONENTS], *properties[_COMPONENTS].get("anyOf", ())):
            if node.get("type") == "array" and "items" not in node and component is not None:
                node["items"] = component
    if schema.get("type") == "array" and "items" not in schema:
        schema["items"] = {}


def _drop_object_defaults(schema: JsonObject) -> None:
    """Leave out defaults that are objects of another schema: generators take only plain ones. Tuples are arrays."""
    if isinstance(schema.get("default"), tuple):
        schema["default"] = list(schema["default"])
    if isinstance(schema.get("default"), dict | list) and schema["default"] and ("anyOf" in schema or "$ref" in schema):
        del schema["default"]


def _shorten_names(document: JsonObject) -> None:
    """Rename schemas that carry their module as others have their name: `...report.menu.Button` is `MenuButton`."""
    schemas: JsonObject = document["components"]["schemas"]
    names: dict[str, str] = {}
    for name in [each for each in schemas if "." in each]:
        module, _, short = name.rpartition(".")
        if module.startswith("moothall.objects.") and short not in schemas:
            names[name] = short
        else:
            names[name] = module.rpartition(".")[2].title().replace("_", "") + short
        schemas[names[name]] = {**schemas.pop(name), "title": names[name]}
    references = {_PREFIX + name: _PREFIX + short for name, short in names.items()}
    for node in _nodes(document):
        for key, value in node.items():
            if isinstance(value, str) and value in references:
                node[key] = references[value]


def _describe_properties(schemas: JsonObject) -> None:
    """Take the docstrings of fields over, where there is none what fields of that name are; let components lack ids."""
    structs: dict[str, list[type]] = {}
    pending: list[type] = [Struct]
    while pending:
        kind: type
        for kind in pending.pop().__subclasses__():
            pending.append(kind)
            structs.setdefault(kind.__name__, []).append(kind)
            structs.setdefault(f"{kind.__module__}.{kind.__qualname__}", []).append(kind)
    parsed: dict[str, dict[tuple[str, str], str]] = {}
    for name, schema in schemas.items():
        kinds = [kind for kind in structs.get(name, ()) if kind.__module__.startswith("moothall.")]
        ancestors = [each for kind in kinds for each in kind.__mro__ if each.__module__.startswith("moothall.")]
        if any(issubclass(kind, Component) for kind in kinds):
            # Answers have it always; in requests the platform numbers what has none.
            schema["required"] = [each for each in schema.get("required", ()) if each != "id"]
        properties = schema.get("properties", {})
        for field, node in list(properties.items()):
            text = next((t for each in ancestors if (t := _docstring(each, field, parsed))), describe_field(field))
            if text and "description" not in node:
                properties[field] = {**node, "description": text}  # schemas of scalars are shared


def _describe_parameters(document: JsonObject) -> None:
    """Say of each parameter what it is, where nothing has been said."""
    for operations in document["paths"].values():
        for operation in operations.values():
            for parameter in operation["parameters"]:
                text = describe_parameter(parameter["name"])
                if text and "description" not in parameter:
                    parameter["description"] = text


def _docstring(kind: type, field: str, parsed: dict[str, dict[tuple[str, str], str]]) -> str | None:
    module = kind.__module__
    if module not in parsed:
        parsed[module] = dict(_docstrings(module))
    return parsed[module].get((kind.__name__, field))


def _docstrings(module: str) -> Iterator[tuple[tuple[str, str], str]]:
    """The docstrings of fields in a module, by class and field. None where its source is not there."""
    try:
        tree = ast.parse(inspect.getsource(sys.modules[module]))
    except OSError:
        return
    for node in ast.walk(tree):
        if not isinstance(node, ast.ClassDef):
            continue
        for field, text in zip(node.body, node.body[1:], strict=False):
            is_text = isinstance(text, ast.Expr) and isinstance(text.value, ast.Constant)
            if isinstance(field, ast.AnnAssign) and isinstance(field.target, ast.Name) and is_text:
                yield (node.name, field.target.id), inspect.cleandoc(str(ast.literal_eval(text.value)))  # type: ignore[attr-defined]
