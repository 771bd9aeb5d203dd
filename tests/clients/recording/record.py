"""What was recorded, with names in place of ids: compact enough to be kept, exact enough to be sent again."""

import email.parser
import email.policy
import json
import re
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from tests.clients.recording.proxy import Exchange

_ID = re.compile(r"\d{17,20}")
_SECRET_KEYS = {"code", "token"}
_LONG_DATA = re.compile(r"data:(image|audio)/[a-z0-9+.-]+;base64,[A-Za-z0-9+/=]{60,}")
_INTERESTING_FRAMES = {2, 3, 4, 8, 14, 31, 37, 43}


def record(
    library: str, version: str, ids: dict[str, str], exchanges: list[Exchange], frames: list[Any]
) -> dict[str, Any]:
    """The requests in their order with names of ids, and the kinds of frames, each once."""
    used = {text for exchange in exchanges for text in _texts(exchange)}
    names = {value: name for name, value in ids.items()}
    requests: list[dict[str, Any]] = []
    seen: set[str] = set()
    for exchange in exchanges:
        request = _request(exchange, names)
        if request is None:
            continue
        born = {} if exchange.status >= 400 else _born(exchange.answer, used, names, len(requests))
        key = json.dumps({**request, "status": 0}, sort_keys=True)
        if key in seen and exchange.method == "GET":
            continue
        seen.add(key)
        names |= {value: name for name, (_, value) in born.items()}
        if born:
            request["ids"] = {name: path for name, (path, _) in born.items()}
        requests.append(request)
    kinds: dict[str, Any] = {}
    for frame in frames:
        if frame.get("op") in _INTERESTING_FRAMES:
            named = _named_json(frame, names)
            if frame["op"] == 2:
                named["d"]["token"] = ""
            kinds.setdefault(json.dumps(named, sort_keys=True), named)
    return {"library": library, "version": version, "requests": requests, "frames": list(kinds.values())}


def write(recorded: dict[str, Any]) -> str:
    """The record as text: one request a line."""
    head = {"library": recorded["library"], "version": recorded["version"]}
    lines = [
        json.dumps(head),
        *(json.dumps(each, ensure_ascii=False, separators=(",", ":")) for each in recorded["requests"]),
    ]
    lines += [json.dumps({"frame": frame}, ensure_ascii=False, separators=(",", ":")) for frame in recorded["frames"]]
    return "\n".join(lines) + "\n"


def _texts(exchange: Exchange) -> list[str]:
    text = exchange.path + exchange.body.decode("utf-8", "replace")
    return [*_ID.findall(text), *re.findall(r"[A-Za-z0-9_.-]{6,}", exchange.path)]


def _named(text: str, names: dict[str, str]) -> str:
    for value in sorted(names, key=len, reverse=True):
        text = re.sub(rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", "{" + names[value] + "}", text)
    return _LONG_DATA.sub(lambda match: f"{{{match[1]}}}", text)


def _named_json(value: Any, names: dict[str, str]) -> Any:
    """The same value with names; one in place of an integer begins with #."""
    if isinstance(value, dict):
        return {_named(key, names): _named_json(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [_named_json(each, names) for each in value]
    if isinstance(value, str):
        return _named(value, names)
    if isinstance(value, int) and str(value) in names:
        return "{#" + names[str(value)] + "}"
    return value


def _request(exchange: Exchange, names: dict[str, str]) -> dict[str, Any] | None:
    parts = urlsplit(exchange.path)
    match = re.fullmatch(r"/api(?:/v\d+)?(/.*)", re.sub("/+", "/", unquote(parts.path)))
    if match is None or match[1].startswith(("/gateway",)):
        return None
    request: dict[str, Any] = {"method": exchange.method, "path": _named(match[1], names)}
    if parts.query:
        request["query"] = [
            [key, _named(value, names)] for key, value in parse_qsl(parts.query, keep_blank_values=True)
        ]
    if "authorization" not in exchange.headers:
        request["anonymous"] = True
    if "x-audit-log-reason" in exchange.headers:
        request["reason"] = True
    kind = exchange.headers.get("content-type", "")
    if kind.startswith("multipart/"):
        request["form"] = _form(kind, exchange.body, names)
    elif exchange.body:
        text = exchange.body.decode("utf-8", "replace")
        if "json" in kind:
            request["json"] = _named_json(json.loads(text), names)
        else:
            request["text"], request["type"] = _named(text, names), kind
    request["status"] = exchange.status
    if exchange.status >= 400 and isinstance(exchange.answer, dict):
        request["code"] = exchange.answer.get("code", 0)
    return request


def _form(kind: str, body: bytes, names: dict[str, str]) -> list[dict[str, Any]]:
    parser = email.parser.BytesParser(policy=email.policy.HTTP)
    message = parser.parsebytes(b"Content-Type: " + kind.encode() + b"\r\n\r\n" + body)
    fields = []
    for part in message.iter_parts():
        name = part.get_param("name", header="content-disposition")
        field: dict[str, Any] = {"name": name}
        payload = part.get_payload(decode=True)
        content = payload if isinstance(payload, bytes) else b""
        if (filename := part.get_filename()) is not None:
            field["filename"] = filename
            field["file"] = (
                "png" if content.startswith(b"\x89PNG") else _named(content.decode("utf-8", "replace")[:200], names)
            )
        elif "json" in (part.get_content_type() or "") or name == "payload_json":
            field["json"] = _named_json(json.loads(content), names)
        else:
            field["text"] = _named(content.decode("utf-8", "replace"), names)
        if part["content-type"]:
            field["type"] = str(part["content-type"])
        fields.append(field)
    return fields


def _born(answer: Any, used: set[str], names: dict[str, str], number: int) -> dict[str, tuple[list[Any], str]]:
    """The ids and codes in an answer that are new, and that later requests use: name -> (path, value)."""
    born: dict[str, tuple[list[Any], str]] = {}

    def walk(value: Any, path: list[Any]) -> None:
        if len(born) > 20 or len(path) > 4:
            return
        if isinstance(value, dict):
            for key, each in value.items():
                walk(each, [*path, key])
        elif isinstance(value, list):
            for index, each in enumerate(value[:20]):
                walk(each, [*path, index])
        elif (
            isinstance(value, str)
            and value in used
            and value not in names
            and (_ID.fullmatch(value) or path[-1] in _SECRET_KEYS)
            and value not in {known for _, known in born.values()}
        ):
            born[f"r{number}.{len(born)}"] = (path, value)

    walk(answer, [])
    return born
