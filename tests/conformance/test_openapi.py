"""The document that describes the API: valid and complete. test_generated_requests.py holds that it is true."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
import requests
from openapi_spec_validator import validate

import moothall.gateway.endpoints  # noqa: F401 its rows
from moothall.api.endpoint import REGISTRY, Endpoint
from moothall.api.field_descriptions import FIELDS, PARAMETERS, THEMES
from moothall.api.openapi_links import PROVIDED
from moothall.resources import load_endpoints
from tests.conformance.own_schema import allows, document
from tests.support.forking import ForkedServer

load_endpoints()
ROWS = sorted(REGISTRY.values(), key=lambda row: (row.method == "DELETE", row.path, row.method))


def test_the_document_is_valid() -> None:
    validate(document())


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.path}")
def test_the_document_says_of_a_row_what_the_row_does(row: Endpoint) -> None:
    operation = document()["paths"][row.path][row.method.lower()]
    assert operation["operationId"] == row.name
    assert operation["x-permission"] == row.access.label
    assert operation["x-audit-log-reason"] == row.audit_reason
    assert operation["x-fires"] == sorted(event.name for event in row.fires)
    assert str(row.status) in operation["responses"]
    assert "4XX" in operation["responses"]
    assert ("security" in operation) == row.access.needs_actor
    assert ("requestBody" in operation) == (row.signature.body is not None or row.uploads is not None)
    if row.uploads is not None and row.uploads.part is not None:
        form = operation["requestBody"]["content"]["multipart/form-data"]["schema"]
        assert row.uploads.part in form["properties"]
    named = {(parameter["in"], parameter["name"]) for parameter in operation["parameters"]}
    assert {name for location, name in named if location == "path"} == set(re.findall(r"\{(\w+)\}", row.path))
    assert {name for location, name in named if location == "query"} == {
        query.name for query in row.signature.query_parameters
    }
    assert operation["summary"]


def test_every_property_and_every_parameter_is_described() -> None:
    properties = {
        f"{name}.{field}": node
        for name, schema in document()["components"]["schemas"].items()
        for field, node in schema.get("properties", {}).items()
    }
    parameters = {
        f"{operation['operationId']} {parameter['name']}": parameter
        for item in document()["paths"].values()
        for operation in item.values()
        for parameter in operation["parameters"]
    }
    assert len(properties) > 2_700
    assert len(parameters) > 750
    undescribed = [name for name, node in (properties | parameters).items() if not node.get("description")]
    assert undescribed == []


def test_a_field_is_described_in_one_place() -> None:
    assert sum(map(len, THEMES)) == len(FIELDS)
    schemas = document()["components"]["schemas"].values()
    fields = {name for schema in schemas for name in schema.get("properties", ())}
    parameters = {
        parameter["name"]
        for item in document()["paths"].values()
        for operation in item.values()
        for parameter in operation["parameters"]
    }
    assert sorted(FIELDS.keys() - fields - parameters) == []
    assert sorted(PARAMETERS.keys() - parameters) == []


def test_every_schema_can_be_compiled_by_a_validator_of_another_language() -> None:
    schemas = document()["components"]["schemas"]
    compiled = {name: allows(f"/components/schemas/{name}", None) for name in schemas}
    assert compiled.keys() == schemas.keys()
    country = "/components/schemas/ModifyEmbeddedActivityConfig"
    assert allows(country, {"blocked_locales": ["DE"]})
    assert not allows(country, {"blocked_locales": ["DEU"]})


def test_every_schema_that_is_named_is_there() -> None:
    names: set[str] = set()

    def walk(node: Any) -> None:
        if isinstance(node, dict):
            if isinstance(node.get("$ref"), str):
                names.add(node["$ref"].rpartition("/")[2])
            for inner in node.values():
                walk(inner)
        elif isinstance(node, list):
            for inner in node:
                walk(inner)

    walk(document())
    assert names <= set(document()["components"]["schemas"])


def _links() -> Iterator[tuple[Endpoint, dict[str, Any]]]:
    for row in ROWS:
        for response in document()["paths"][row.path][row.method.lower()]["responses"].values():
            for link in response.get("links", {}).values():
                yield row, link


def test_links_name_every_path_parameter_of_rows_that_exist() -> None:
    rows = {row.name: row for row in ROWS}
    for row, link in _links():
        target = rows[link["operationId"]]
        assert set(link["parameters"]) == set(re.findall(r"\{(\w+)\}", target.path)), (row.name, target.name)
        for expression in link["parameters"].values():
            assert re.fullmatch(r"\$request\.path\.\w+|\$response\.body#/\w+", expression)


def test_every_id_that_a_row_creates_leads_to_the_rows_that_take_it() -> None:
    linked = {name for _, link in _links() for name in link["parameters"]}
    created = {name for fields in PROVIDED.values() for name in fields}
    assert created - {"user_id"} <= linked  # rows below a user need a guild besides
    targets = {link["operationId"] for _, link in _links()}
    assert len(targets) > 150


def test_the_token_rows_describe_the_errors_of_oauth2() -> None:
    for path in ("/oauth2/token", "/oauth2/token/revoke"):
        responses = document()["paths"][path]["post"]["responses"]
        schema = responses["4XX"]["content"]["application/json"]["schema"]
        assert schema == {"$ref": "#/components/schemas/OAuth2Error"}
        assert responses["429"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Error"}
    others = document()["paths"]["/guilds/{guild_id}"]["get"]["responses"]
    assert others["4XX"]["content"]["application/json"]["schema"] == {"$ref": "#/components/schemas/Error"}


def example_of(published: Any, name: str) -> str:
    """The example of a path parameter."""
    examples = [
        parameter["example"]
        for item in published["paths"].values()
        for operation in item.values()
        for parameter in operation["parameters"]
        if parameter["name"] == name and "example" in parameter
    ]
    return str(examples[0])


def test_the_examples_name_what_the_demo_community_has(tmp_path_factory: pytest.TempPathFactory) -> None:
    with ForkedServer(tmp_path_factory.mktemp("demo") / "data", "--demo", "--no-rate-limits") as server:
        base = f"{server.url}/api/v10"
        published = requests.get(f"{base}/openapi.json", timeout=90).json()
        server.wait_for(r"/webhooks/\d+/[\w-]{40,}")
        token, *_ = re.findall(r"token of the bot .*:\s+(\S+)", server.printed)
        webhook = requests.post(
            f"{base}/channels/{example_of(published, 'channel_id')}/webhooks",
            json={"name": "Linked"},
            headers={"Authorization": f"Bot {token}"},
            timeout=20,
        ).json()
        links = published["paths"]["/channels/{channel_id}/webhooks"]["post"]["responses"]["200"]["links"]
        expressions = links["get_webhook_with_token"]["parameters"]
        values = {name: webhook[pointer.rpartition("/")[2]] for name, pointer in expressions.items()}
        linked = requests.get(base + "/webhooks/{webhook_id}/{webhook_token}".format(**values), timeout=20)
        assert linked.json()["id"] == webhook["id"]
        refused = requests.post(f"{base}/oauth2/token", data={"grant_type": "x"}, timeout=20)
        described = published["components"]["schemas"]["OAuth2Error"]
        assert set(described["required"]) <= set(refused.json()) <= set(described["properties"])
        reached: set[str] = set()
        unreached: set[str] = set()
        for path, item in published["paths"].items():
            operation = item.get("get")
            if operation is None:
                continue
            examples = {p["name"]: p.get("example") for p in operation["parameters"] if p["in"] == "path"}
            if not examples or None in examples.values():
                continue
            url, headers = base + path.format(**examples), {"Authorization": f"Bot {token}"}
            answer = requests.get(url, headers=headers, timeout=20)
            unknown = answer.status_code == 404 and answer.json()["code"] in {10002, 10003, 10004, 10011, 10013, 10015}
            (unreached if unknown else reached).add(path)
        assert len(reached) > 50
        assert unreached <= {"/guilds/{guild_id}/roles/{role_id}/connections/eligibility"}  # no linked role
        for secret in (token, *re.findall(r"/webhooks/\d+/([\w-]{40,})", server.printed)):
            assert secret not in str(published)
