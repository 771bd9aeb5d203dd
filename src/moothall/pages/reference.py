"""The API reference: the OpenAPI document as one page that needs neither scripts nor the internet."""

from collections.abc import Iterator
from html import escape

from moothall.objects.json_object import JsonObject

Document = JsonObject

_HEAD = (
    '<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n'
    '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
    "<title>API reference · Moothall</title>\n"
    '<link rel="icon" href="/icon.svg" type="image/svg+xml">\n'
    '<link rel="stylesheet" href="/style.css">\n'
    '<body class="page">\n'
    '<header class="top"><a class="home" href="/"><img src="/icon.svg" alt="" width="28" height="28"> Moothall</a>'
    "</header>\n"
    "<main>\n"
)


def reference_page(document: Document) -> bytes:
    """The page, as UTF-8 HTML."""
    return "".join(_page(document)).encode()


def _page(document: Document) -> Iterator[str]:
    by_tag: dict[str, list[tuple[str, str, Document]]] = {}
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            by_tag.setdefault(operation["tags"][0], []).append((method.upper(), path, operation))
    yield _HEAD
    yield f'<h1>API reference</h1>\n<p class="lead">Version {escape(document["info"]["version"])}. '
    yield f"Paths are relative to <code>{escape(document['servers'][0]['url'])}</code>. "
    yield 'The same as data: <a href="/api/v10/openapi.json">openapi.json</a>.</p>\n'
    yield '<nav class="contents" aria-label="Contents"><ul>\n'
    for tag in sorted(by_tag):
        yield f'<li><a href="#{tag}">{tag.replace("_", " ")}</a></li>\n'
    yield '<li><a href="#objects">objects</a></li>\n</ul></nav>\n'
    for tag, operations in sorted(by_tag.items()):
        yield f'<h2 id="{tag}">{tag.replace("_", " ").capitalize()}</h2>\n'
        for method, path, operation in sorted(operations, key=lambda o: (o[1], o[0])):
            yield from _operation(method, path, operation)
    yield '<h2 id="objects">Objects</h2>\n'
    for name, schema in sorted(document["components"]["schemas"].items()):
        yield f'<details id="{name}"><summary><code>{escape(name)}</code></summary>\n'
        yield from _schema(schema)
        yield "</details>\n"
    yield "</main>\n</body>\n</html>\n"


def _operation(method: str, path: str, operation: Document) -> Iterator[str]:
    yield f'<details id="{operation["operationId"]}"><summary><span class="method">{method}</span> '
    yield f'<code>{escape(path)}</code> <span class="soft">{escape(operation["summary"])}</span></summary>\n'
    if "description" in operation:
        yield f"<p>{escape(operation['description'])}</p>\n"
    yield "<table>\n"
    yield f'<tr><th scope="row">Permission</th><td>{escape(operation["x-permission"])}</td></tr>\n'
    if "x-oauth2-scope" in operation:
        yield f'<tr><th scope="row">OAuth2 scope</th><td>{escape(operation["x-oauth2-scope"])}</td></tr>\n'
    if operation["x-audit-log-reason"]:
        yield '<tr><th scope="row">Audit log</th><td>takes <code>X-Audit-Log-Reason</code></td></tr>\n'
    if operation["x-fires"]:
        yield f'<tr><th scope="row">Fires</th><td>{escape(", ".join(operation["x-fires"]))}</td></tr>\n'
    yield "</table>\n"
    parameters = [p for p in operation["parameters"] if p["in"] != "header"]
    if parameters:
        yield "<h3>Parameters</h3>\n<table>\n"
        for parameter in parameters:
            mark = "" if parameter.get("required") else "?"
            yield f"<tr><td><code>{escape(parameter['name'])}{mark}</code></td><td>{parameter['in']}</td>"
            yield f"<td>{_kind(parameter['schema'])}</td></tr>\n"
        yield "</table>\n"
    if "requestBody" in operation:
        yield "<h3>Body</h3>\n"
        for media, taken in operation["requestBody"]["content"].items():
            media_type = "" if media == "application/json" else f" as <code>{escape(media)}</code>"
            yield f"<p>{_kind(taken['schema'])}{media_type}</p>\n"
    yield "<h3>Responses</h3>\n<table>\n"
    for status, answer in operation["responses"].items():
        content: Document = next(iter(answer.get("content", {}).values()), {})
        shown = _kind(content["schema"]) if "schema" in content else ""
        yield f"<tr><td>{status}</td><td>{escape(answer['description'])}</td><td>{shown}</td></tr>\n"
    yield "</table>\n</details>\n"


def _schema(schema: Document) -> Iterator[str]:
    if "description" in schema:
        yield f"<p>{escape(schema['description'])}</p>\n"
    if "properties" not in schema:
        yield f"<p>{_kind(schema)}</p>\n"
        return
    required = set(schema.get("required", ()))
    yield "<table>\n"
    for name, field in schema["properties"].items():
        mark = "" if name in required else "?"
        yield f"<tr><td><code>{escape(name)}{mark}</code></td><td>{_kind(field)}</td></tr>\n"
    yield "</table>\n"


_FACTS = ("minLength", "maxLength", "minimum", "maximum", "minItems", "maxItems", "pattern")


def _kind(schema: Document) -> str:
    if "$ref" in schema:
        name = schema["$ref"].rsplit("/", 1)[1]
        return f'<a href="#{name}">{escape(name)}</a>'
    for key in ("anyOf", "oneOf"):
        if key in schema:
            return " or ".join(_kind(part) for part in schema[key])
    if "enum" in schema:
        return "one of " + ", ".join(escape(str(value)) for value in schema["enum"])
    kind = schema.get("type", "anything")
    if kind == "array":
        shown = f"list of {_kind(schema.get('items', {}))}"
    elif kind == "object" and isinstance(schema.get("additionalProperties"), dict):
        shown = f"object of {_kind(schema['additionalProperties'])}"
    else:
        shown = escape(" or ".join(kind) if isinstance(kind, list) else str(schema.get("format", kind)))
    facts = [f"{name} {schema[name]}" for name in _FACTS if name in schema and "format" not in schema]
    return shown + (f' <span class="soft">({escape(", ".join(facts))})</span>' if facts else "")
