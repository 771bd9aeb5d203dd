"""The registry against the spec's table of rows."""

import re
import tomllib
from pathlib import Path

import pytest

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 its rows
from moothall.api.endpoint import REGISTRY
from moothall.resources import load_endpoints
from tests.conformance.spec_rows import SPEC_ROWS

load_endpoints()

PRESENT = {f"{method} {path}" for method, path in REGISTRY}

NOT_YET = frozenset(SPEC_ROWS) - PRESENT
"""Rows of the spec that this version does not have: the README says so."""

TOML = Path(__file__).parents[2].parent / "shared" / "spec" / "endpoints.toml"


@pytest.mark.parametrize("key", sorted(frozenset(SPEC_ROWS) & PRESENT))
def test_a_row_is_what_the_spec_says(key: str) -> None:
    method, path = key.split(" ")
    row, spec = REGISTRY[method, path], SPEC_ROWS[key]
    assert set(re.split(r" \+ |\|", row.access.label)) == set(re.split(r" \+ |\|", spec.permission))
    assert ("|" in row.access.label) == ("|" in spec.permission)
    assert row.audit_reason == spec.audit
    assert set(spec.fires) <= {event.name for event in row.fires}
    assert row.status == spec.status or (spec.status == 200 and row.status == 204 and method == "POST")
    assert (row.scope or "") == spec.scope


@pytest.mark.skipif(not TOML.exists(), reason="the spec's data is not beside this clone")
def test_the_retyped_table_is_the_specs() -> None:
    with TOML.open("rb") as file:
        listed = tomllib.load(file)["endpoint"]
    names = {"{guild.id}": "{guild_id}", "{user.id}": "{user_id}", "{role.id}": "{role_id}"}
    entries = {}
    for entry in listed:
        key = entry["row"]
        for dotted in re.findall(r"\{[\w.]+\}", key):
            key = key.replace(dotted, names.get(dotted, dotted.replace(".", "_")))
        entries[key] = entry
    assert set(entries) == set(SPEC_ROWS)
    for key, entry in entries.items():
        spec = SPEC_ROWS[key]
        permissions = {bit for text in entry["permission"] for bit in text.split("|")}
        assert set(re.split(r" \+ |\|", spec.permission)) == permissions, key
        assert spec.audit == entry.get("audit", False), key
        assert set(spec.fires) == set(entry.get("fires", ())), key
        assert spec.status == entry.get("status", 200), key
        assert spec.scope == entry.get("scope", ""), key


def test_every_row_says_who_may_and_what_it_does() -> None:
    for row in REGISTRY.values():
        assert row.access.label, row.name
        assert row.summary, row.name


def test_names_of_rows_are_unique() -> None:
    names = [row.name for row in REGISTRY.values()]
    assert len(names) == len(set(names))


def test_only_rows_that_write_fire_events() -> None:
    assert [row.name for row in REGISTRY.values() if row.fires and not row.writes and row.method == "GET"] == []
