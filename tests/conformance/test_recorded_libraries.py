"""What client libraries send with default arguments, recorded (tests/clients/recording): what was served is served."""

import base64
import json
import re
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest

from tests.clients.recording.community import PIXEL, build
from tests.gateway.peer import Peer
from tests.support.gateway_nodes import node_over
from tests.support.harness import Caller, Platform

RECORDED = Path(__file__).parents[1] / "clients" / "recorded"
LIBRARIES = sorted(path.stem for path in RECORDED.glob("*.jsonl"))
_NAME = re.compile(r"\{(#?)([a-z_]+|r\d+\.\d+|image|audio)\}")
_BOUNDARY = "recorded"


@cache
def _read(library: str) -> tuple[dict[str, Any], list[dict[str, Any]], list[Any]]:
    """The head, the requests and the frames of a record."""
    lines = [json.loads(line) for line in (RECORDED / f"{library}.jsonl").read_text(encoding="utf-8").splitlines()]
    return (
        lines[0],
        [each for each in lines[1:] if "method" in each],
        [each["frame"] for each in lines[1:] if "frame" in each],
    )


def _filled(value: Any, names: dict[str, str]) -> Any:
    if isinstance(value, dict):
        return {_filled(key, names): _filled(each, names) for key, each in value.items()}
    if isinstance(value, list):
        return [_filled(each, names) for each in value]
    if not isinstance(value, str):
        return value
    if (whole := _NAME.fullmatch(value)) is not None and whole[1]:
        return int(names.get(whole[2], "1"))
    return _NAME.sub(lambda match: names.get(match[2], "1"), value)


def _body(request: dict[str, Any], names: dict[str, str]) -> tuple[bytes | None, str | None]:
    """The bytes of a body and its content type."""
    if "json" in request:
        return json.dumps(_filled(request["json"], names)).encode(), "application/json"
    if "text" in request:
        return str(_filled(request["text"], names)).encode(), request["type"]
    if "form" not in request:
        return None, None
    parts = []
    for field in request["form"]:
        head = f'Content-Disposition: form-data; name="{field["name"]}"'
        if "filename" in field:
            head += f'; filename="{field["filename"]}"'
        if "type" in field:
            head += f"\r\nContent-Type: {field['type']}"
        if "file" in field:
            content = base64.b64decode(PIXEL) if field["file"] == "png" else str(_filled(field["file"], names)).encode()
        else:
            content = (
                json.dumps(_filled(field["json"], names)).encode()
                if "json" in field
                else str(_filled(field["text"], names)).encode()
            )
        parts.append(f"--{_BOUNDARY}\r\n{head}\r\n\r\n".encode() + content + b"\r\n")
    return b"".join(parts) + f"--{_BOUNDARY}--\r\n".encode(), f"multipart/form-data; boundary={_BOUNDARY}"


async def _community(platform: Platform) -> tuple[Caller, dict[str, str]]:
    owner, bob = await platform.person(), await platform.person()
    bot = await platform.bot(owner, flags=1 << 13 | 1 << 15 | 1 << 19)

    def sending(caller: Caller) -> Any:
        async def send(method: str, path: str, body: Any = None) -> Any:
            parts = urlsplit(path)
            options: dict[str, Any] = dict(parse_qsl(parts.query))
            if body is not None:
                options["raw"] = json.dumps(body).encode()
            reply = await caller.request(method, parts.path, **options)
            assert reply.status < 400, (method, path, reply.body)
            return reply.json if reply.body else None

        return send

    names = await build(sending(owner), sending(bob), sending(bot), str(bot.application_id), str(bob.id))
    image = f"data:image/png;base64,{PIXEL}"
    return bot, names | {"owner": str(owner.id), "bot": str(bot.id), "image": image}


@pytest.mark.parametrize("library", LIBRARIES)
async def test_what_a_library_sends_is_served_as_it_was(platform: Platform, library: str) -> None:
    bot, names = await _community(platform)
    anonymous = Caller(platform, bot.id, None)
    wrong = []
    for number, request in enumerate(_read(library)[1]):
        path = _filled(request["path"], names)
        query: dict[str, Any] = {}
        for key, value in request.get("query", ()):
            query[key] = _filled(value, names) if key not in query else f"{query[key]},{_filled(value, names)}"
        raw, kind = _body(request, names)
        caller = anonymous if request.get("anonymous") else bot
        query["content_type"] = kind
        reason = "reason" if request.get("reason") else None
        reply = await caller.request(request["method"], path, raw=raw, reason=reason, **query)
        answer = reply.json if reply.body and reply.status != 204 and reply.body[:1] in b"{[" else None
        code = answer.get("code", 0) if reply.status >= 400 and isinstance(answer, dict) else 0
        if (reply.status, code) != (request["status"], request.get("code", 0)):
            wrong.append(
                (number, request["method"], request["path"], request["status"], reply.status, reply.body[:200])
            )
        for name, where in request.get("ids", {}).items():
            value = answer
            for key in where:
                value = value[key] if isinstance(value, list) or (value and key in value) else None
            names[name] = str(value)
    assert wrong == []


@pytest.mark.parametrize("library", LIBRARIES)
async def test_no_frame_of_a_library_closes_its_connection(platform: Platform, library: str) -> None:
    bot, names = await _community(platform)
    frames = _read(library)[2]
    node = node_over(platform)
    for identify in [each for each in frames if each["op"] == 2] or [None]:
        peer = Peer(node)
        assert (await peer.receive())["op"] == 10
        frame: Any = _filled(identify, names) if identify else {"op": 2, "d": {"properties": {}, "intents": 1}}
        frame["d"]["token"] = bot.token
        peer.send(frame)
        assert (await peer.receive())["t"] == "READY"
        for each in frames:
            if each["op"] != 2:
                peer.send(_filled(each, names))
        await peer.receive_all()
        await peer.disconnect(1000)
    await node.close()
