"""The document that describes the API: valid, complete, and true of a running server."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, settings
from openapi_spec_validator import validate
from schemathesis.checks import not_a_server_error

import moothall.gateway.endpoints  # noqa: F401 its rows
from moothall.kernel.endpoint import REGISTRY, Endpoint
from moothall.resources import load_endpoints
from tests.conformance.own_schema import check_described, document
from tests.serving import RunningServer

load_endpoints()
ROWS = sorted(REGISTRY.values(), key=lambda row: (row.method == "DELETE", row.path, row.method))
ENDS_IT_ALL = {"log_out", "delete_guild"}
"""Rows after which the others have nothing left to work on."""


def test_the_document_is_valid() -> None:
    validate(document())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.path}")
def test_the_document_says_of_a_row_what_the_row_does(row: Endpoint) -> None:
    told = document()["paths"][row.path][row.method.lower()]
    assert told["operationId"] == row.name
    assert told["x-permission"] == row.access.label
    assert told["x-audit-log-reason"] == row.audit_reason
    assert told["x-fires"] == sorted(event.name for event in row.fires)
    assert str(row.status) in told["responses"]
    assert "4XX" in told["responses"]
    assert ("security" in told) == row.access.needs_actor
    assert ("requestBody" in told) == (row.body is not None)
    named = {(parameter["in"], parameter["name"]) for parameter in told["parameters"]}
    assert {name for place, name in named if place == "path"} == set(re.findall(r"\{(\w+)\}", row.path))
    assert {name for place, name in named if place == "query"} == {query.name for query in row.query_parameters}
    assert told["summary"]


def test_every_schema_that_is_named_is_there() -> None:
    found: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                found.add(node["$ref"].rpartition("/")[2])
            for inner in node.values():
                walk(inner)
        elif isinstance(node, list):
            for inner in node:
                walk(inner)

    walk(document())
    assert found <= set(document()["components"]["schemas"])


class Community:
    """What requests of a running server can name."""

    def __init__(self, server: RunningServer) -> None:
        self.url = f"{server.url}/api/v10"
        self.server = server
        self.session = requests.Session()
        owner = self.ask("POST", "/auth/register", {"username": "owner", "password": "a long enough password"})
        self.session.headers["Authorization"] = owner["token"]
        guild = self.ask("POST", "/guilds", {"name": "Community"})
        self.guild_id = guild["id"]
        channels = self.ask("GET", f"/guilds/{self.guild_id}/channels")
        channel_id = next(channel["id"] for channel in channels if channel["type"] == 0)
        webhook = self.ask("POST", f"/channels/{channel_id}/webhooks", {"name": "Hook"})
        self.ids = {
            "guild_id": self.guild_id,
            "channel_id": channel_id,
            "user_id": owner["user_id"],
            "role_id": self.ask("POST", f"/guilds/{self.guild_id}/roles", {"name": "role"})["id"],
            "message_id": self.ask("POST", f"/channels/{channel_id}/messages", {"content": "hello"})["id"],
            "webhook_id": webhook["id"],
            "webhook_token": webhook["token"],
            "code": self.ask("POST", f"/channels/{channel_id}/invites", {})["code"],
            "application_id": self.ask("POST", "/applications", {"name": "App"})["id"],
            "emoji_name": "\N{GRINNING FACE}",
        }

    def ask(self, method: str, path: str, body: Any = None) -> Any:
        """A request that must succeed."""
        answer = self.session.request(method, self.url + path, json=body, timeout=20)
        assert answer.status_code < 300, (method, path, answer.text)
        return answer.json()


@pytest.fixture(scope="module")
def community(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Community]:
    """A running server with a bit of everything."""
    arguments = ("--no-demo", "--no-rate-limits")
    with RunningServer(tmp_path_factory.mktemp("openapi") / "data", *arguments) as server:
        made = Community(server)
        yield made
        made.session.close()
        assert "Traceback" not in server.printed


@pytest.fixture(scope="module")
def described() -> Any:
    """The document as schemathesis reads it."""
    return schemathesis.openapi.from_dict(document())


TRIED = [row for row in ROWS if row.name not in ENDS_IT_ALL]


@pytest.mark.parametrize("row", TRIED, ids=lambda row: f"{row.method} {row.path}")
def test_requests_as_described_get_answers_as_described(community: Community, described: Any, row: Endpoint) -> None:
    @settings(
        max_examples=8,
        database=None,
        deadline=None,
        derandomize=True,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(case=described[row.path][row.method].as_strategy())
    def run(case: Any) -> None:
        case.path_parameters = {name: community.ids.get(name, value) for name, value in case.path_parameters.items()}
        answer = case.call(base_url=community.url, session=community.session)
        case.validate_response(answer, checks=[not_a_server_error])
        check_described(row, answer.status_code, answer.content)
        if row.access.own_credentials and answer.status_code in {400, 401}:
            assert set(answer.json()) == {"error", "error_description"}  # as OAuth2 has it (RFC 6749)
        elif answer.status_code >= 400:
            refusal = answer.json()
            assert {"code", "message"} <= set(refusal) <= {"code", "message", "errors", "retry_after", "global"}
            # The body is of the right type: whatever is wrong is wrong with a field of it, or with several together.
            assert not any("`" in error["message"] for error in refusal.get("errors", {}).get("_errors", ()))

    run()
