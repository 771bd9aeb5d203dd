"""Clients that generators make of the OpenAPI document: each sends a message with components."""

import json
import os
import shutil
import subprocess
import venv
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import pytest

from moothall_testing import ServerProcess
from moothall_testing.http import send
from tests.packages.installed import Uv

_PYTHON: Final = """
import os, sys
from client import AuthenticatedClient
from client.api.message import create_message
from client.models import (
    ActionRow, ActionRowType, Button, ButtonStyle, ButtonType, CreateMessage,
)

client = AuthenticatedClient(base_url=os.environ["API_URL"], token=os.environ["TOKEN"], prefix="Bot")
rows = [
    ActionRow(
        type_=ActionRowType.VALUE_1,
        components=[Button(type_=ButtonType.VALUE_2, style=ButtonStyle(1), label="Press", custom_id="press")],
    ),
]
message = create_message.sync(os.environ["CHANNEL"], client=client, body=CreateMessage(content="hi", components=rows))
print(message.id, message.components[0].components[0].label)
"""
_TYPESCRIPT: Final = """
import createClient from "openapi-fetch";
import type { components, paths } from "./api.js";

const client = createClient<paths>({
  baseUrl: process.env["API_URL"]!,
  headers: { authorization: `Bot ${process.env["TOKEN"]}` },
});
const row: components["schemas"]["ActionRow"] = {
  type: 1,
  components: [{ type: 2, style: 1, label: "Press", custom_id: "press" }],
};
const { data, error } = await client.POST("/channels/{channel_id}/messages", {
  params: { path: { channel_id: process.env["CHANNEL"]! } },
  body: { content: "hi", components: [row] },
});
if (data === undefined) throw new Error(JSON.stringify(error));
console.log(data.id, data.content);
"""
_NPM: Final = {
    "type": "module",
    "private": True,
    "dependencies": {
        "openapi-fetch": "0.15.0",
        "openapi-typescript": "7.10.1",
        "typescript": "5.9.3",
        "@types/node": "20.19.43",
    },
}


@pytest.fixture(scope="module")
def server() -> Iterator[ServerProcess]:
    """A platform with a bot."""
    with ServerProcess() as running:
        yield running


@pytest.fixture(scope="module")
def document(server: ServerProcess, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The description that the server publishes."""
    path = tmp_path_factory.mktemp("description") / "openapi.json"
    path.write_text(json.dumps(send("GET", f"{server.info['api_url']}/openapi.json")))
    return path


def environment(server: ServerProcess) -> dict[str, str]:
    """The environment of a program of the bot."""
    variables = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    channel = server.info["guilds"][0]["channels"]["general"]
    token = server.info["bots"]["bot"]["token"]
    return {**variables, "API_URL": server.info["api_url"], "TOKEN": token, "CHANNEL": channel}


def sent(server: ServerProcess, message_id: str) -> Any:
    """A message as the platform has it."""
    path = f"{server.info['api_url']}/channels/{server.info['guilds'][0]['channels']['general']}/messages/{message_id}"
    return send("GET", path, authorization=f"Bot {server.info['bots']['bot']['token']}")


def test_a_client_of_openapi_python_client_sends_components(
    server: ServerProcess, document: Path, uv: Uv, tmp_path: Path
) -> None:
    venv.create(tmp_path / "environment", with_pip=False)
    programs = tmp_path / "environment" / "bin"
    uv.install(programs / "python", "openapi-python-client==0.29.1")
    generate = [str(programs / "openapi-python-client"), "generate", "--path", str(document), "--meta", "none"]
    made = subprocess.run(
        [*generate, "--output-path", str(tmp_path / "client")], capture_output=True, text=True, check=False
    )
    assert "Unable to" not in made.stdout, made.stdout
    (tmp_path / "program.py").write_text(_PYTHON)

    ran = subprocess.run(
        [str(programs / "python"), "program.py"],
        cwd=tmp_path, env=environment(server), capture_output=True, text=True, check=False,
    )  # fmt: skip

    assert ran.returncode == 0, ran.stderr
    message_id, label = ran.stdout.split()
    assert label == "Press"
    assert sent(server, message_id)["components"][0]["components"][0]["custom_id"] == "press"


def test_a_client_with_the_types_of_openapi_typescript_sends_components(
    server: ServerProcess, document: Path, tmp_path: Path
) -> None:
    npm, node = shutil.which("npm"), shutil.which("node")
    if npm is None or node is None:
        pytest.skip("Node is not installed")
    (tmp_path / "package.json").write_text(json.dumps(_NPM))
    (tmp_path / "program.ts").write_text(_TYPESCRIPT)
    installed = subprocess.run(
        [npm, "install", "--silent", "--no-audit"], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    if installed.returncode:
        pytest.skip(f"npm reaches no registry: {installed.stderr[-300:]}")
    npx = [npm, "exec", "--offline", "--"]
    strict = ["--strict", "--module", "nodenext", "--target", "es2022", "--types", "node"]
    # As in requests: a field with a default may be left out.
    types = ["openapi-typescript", str(document), "--default-non-nullable=false", "-o", "api.d.ts"]
    for command in (types, ["tsc", *strict, "program.ts"]):
        done = subprocess.run([*npx, *command], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr

    ran = subprocess.run(
        [node, "program.js"], cwd=tmp_path, env=environment(server), capture_output=True, text=True, check=False
    )

    assert ran.returncode == 0, ran.stderr
    message_id, content = ran.stdout.split()
    assert content == "hi"
    assert sent(server, message_id)["components"][0]["components"][0]["label"] == "Press"
