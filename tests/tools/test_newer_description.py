"""The comparison of the public description with a newer copy."""

import copy
import json
from pathlib import Path
from typing import Any

import pytest

from tools.newer_description import differences, main

OLDER: dict[str, Any] = {
    "paths": {
        "/guilds/{guild_id}": {
            "parameters": [],
            "get": {"parameters": [{"name": "with_counts"}], "responses": {"200": {}}},
        }
    },
    "components": {"schemas": {"Kind": {"oneOf": [{"const": 1}]}, "Guild": {"properties": {"id": {}}, "required": []}}},
}
SERVED = {"operation GET /guilds/{}", "operation PATCH /guilds/{}"}


def test_a_copy_of_the_same_description_has_nothing_new() -> None:
    assert differences(OLDER, copy.deepcopy(OLDER), SERVED) == []


def test_what_is_new_is_named_with_whether_it_is_served() -> None:
    newer = copy.deepcopy(OLDER)
    newer["paths"]["/guilds/{id}"] = {"patch": {"responses": {}}, "delete": {"responses": {}}}
    newer["paths"]["/guilds/{guild_id}"]["get"]["parameters"].append({"name": "new"})
    newer["components"]["schemas"]["Kind"]["oneOf"].append({"const": 2})
    newer["components"]["schemas"]["Guild"]["properties"]["tag"] = {}
    newer["components"]["schemas"]["Guild"]["required"] = ["tag"]
    assert differences(OLDER, newer, SERVED) == [
        "new  field Guild.tag",
        "new  operation DELETE /guilds/{id} (not served)",
        "new  operation PATCH /guilds/{id} (served)",
        "new  parameter GET /guilds/{guild_id} new",
        "new  required Guild.tag",
        "new  value Kind 2",
    ]


def test_what_is_gone_is_named() -> None:
    newer = copy.deepcopy(OLDER)
    del newer["components"]["schemas"]["Kind"]
    assert differences(OLDER, newer, SERVED) == ["gone schema Kind", "gone value Kind 1"]


def test_a_nightly_job_sees_by_the_exit_code_that_something_is_new(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    older, newer = tmp_path / "older.json", tmp_path / "newer.json"
    older.write_text(json.dumps(OLDER), encoding="utf-8")
    assert main([str(older), "--known", str(older)]) == 0
    assert "nothing is new" in capsys.readouterr().out
    more = copy.deepcopy(OLDER)
    more["paths"]["/guilds/{guild_id}"]["patch"] = {"responses": {}}
    newer.write_text(json.dumps(more), encoding="utf-8")
    assert main([str(newer), "--known", str(older)]) == 1
    assert "new  operation PATCH /guilds/{guild_id} (served)" in capsys.readouterr().out
