"""Requests generated from our own document: a few of each row in the suite, `make fuzz` for as long as one likes.

A long search goes in rounds, each with a new community. It is resumed after the last round of an earlier run, whose
problems are searched for again first; its progress is in `.fuzz`. `FUZZ_EXAMPLES` is how many requests a run sends to
each engine.
"""

import json
import os
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

import pytest

from moothall.api.endpoint import Endpoint
from tests.conformance.community import Community
from tests.conformance.generated import (
    TRIED,
    Answer,
    Problem,
    Progress,
    Search,
    in_some_order,
    judge,
    weight,
)
from tests.conformance.recombined import NO_BODY, Case, Pool
from tests.conftest import new_postgres
from tests.support.forking import ForkedServer

EXAMPLES = int(os.environ.get("FUZZ_EXAMPLES", "0"))
PROGRESS = Path(__file__).parents[2] / ".fuzz" / "requests.json"
PASSES = 8
"""Times that a round goes through the rows."""
SHARING = 8
"""Rounds with the same cases of schemathesis, from which each makes others."""
ENGINES = ("sqlite", "postgresql")


@contextmanager
def searching(engine: str, folder: Path, number: int) -> Iterator[Search]:
    """A search on a server with a new community. Fails for a traceback in what the server printed."""
    with new_postgres(f"moothall_generated_{os.getpid()}") if engine == "postgresql" else no_url() as url:
        arguments = ("--database-url", url) if url else ()
        with ForkedServer(folder / "data", "--no-rate-limits", *arguments) as server:
            search = Search(Community(server, *arguments), number)
            yield search
            search.close()
        # The server has closed every connection and printed everything.
        if "Traceback" in server.printed:
            last = server.printed[-3_000:]
            search.problems["server", "traceback"] = Problem("server", "a traceback", f"round {number}", last)


@contextmanager
def no_url() -> Iterator[str]:
    """SQLite's database is a file in the data folder."""
    yield ""


class Searches:
    """The searches of the suite, one for each engine, both under way at once: rows have the same cases on both."""

    def __init__(self, stack: ExitStack, folders: pytest.TempPathFactory) -> None:
        self._stack = stack
        self._folders = folders
        self._by_engine: dict[str, Search] = {}

    def on(self, engine: str) -> Search:
        """The search on an engine. Leaves the running test out where there is none."""
        if engine not in self._by_engine:
            self._by_engine[engine] = self._stack.enter_context(searching(engine, self._folders.mktemp(engine), 0))
        return self._by_engine[engine]

    def problems(self) -> list[str]:
        """What went wrong on the engines."""
        return [str(problem) for search in self._by_engine.values() for problem in search.problems.values()]


@pytest.fixture(scope="module")
def searches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Searches]:
    """The searches of the suite."""
    with ExitStack() as stack:
        opened = Searches(stack, tmp_path_factory)
        yield opened
    assert opened.problems() == []


@pytest.mark.parametrize("engine", ENGINES)  # changes from test to test: making a row's cases takes most of the time
@pytest.mark.parametrize("row", TRIED, ids=lambda row: f"{row.method} {row.path}")
def test_requests_as_described_get_answers_as_described_and_others_are_refused(
    searches: Searches, row: Endpoint, engine: str
) -> None:
    search = searches.on(engine)
    search.try_row(row, allowed=2, refused=1, recombined=4)
    problems, search.problems = search.problems, {}
    assert list(map(str, problems.values())) == []


@pytest.mark.skipif(not EXAMPLES, reason="a long search: make fuzz")
@pytest.mark.timeout(0)
@pytest.mark.parametrize("engine", ENGINES)
def test_a_long_search_meets_no_problem(engine: str, tmp_path_factory: pytest.TempPathFactory) -> None:
    progress, sent = Progress(PROGRESS), 0
    state = progress.of(engine)
    again = sorted(map(int, state["failed"]))
    while sent < EXAMPLES:
        number = again.pop(0) if again else state["next"]
        with searching(engine, tmp_path_factory.mktemp("generated"), number) as search:
            for each in range(PASSES):
                for row in in_some_order(number * PASSES + each):
                    last = each == PASSES - 1
                    count = weight(row, last=last)
                    if count:
                        pools = number // SHARING
                        search.try_row(row, allowed=4, refused=3, recombined=count, pools=pools, sparing=not last)
                    if sent + search.requests >= EXAMPLES:
                        break
        sent += search.requests
        progress.record(engine, number, search)
        print(f"{engine}: round {number}, {search.requests} requests, {search.accepted} accepted")
    assert [problem for problems in state["failed"].values() for problem in problems] == []


ROLE = {"name": "x" * 101}
"""A body that creating a role refuses, beside one that it may have."""
JUDGED = [
    ("create_guild_role", {}, {}, 500, "{}", "server error: 500"),
    ("create_guild_role", {}, {}, 404, '{"message":"Unknown Guild"}', "a refusal with message"),
    ("create_guild_role", {}, {}, 404, "Not Found", "a refusal that is not JSON"),
    ("create_guild_role", {}, ROLE, 400, '{"message":"Invalid Form Body","code":50035}', ""),
    ("create_guild_role", {}, ROLE, 200, "{}", "accepted a body that the document refuses: name"),
    ("create_guild_role", {}, {"name": " " + "x" * 100}, 200, "{}", "answer not as described"),
    ("create_guild_role", {}, {"name": [5]}, 200, "{}", "accepted a body that the document refuses: name"),
    ("get_gateway", {}, NO_BODY, 200, '{"url":"ws://x"}', ""),
    ("get_gateway", {}, NO_BODY, 200, '{"url":5}', "answer not as described"),
    ("get_gateway", {}, NO_BODY, 201, '{"url":"ws://x"}', "answer not as described"),
    ("get_guild_bans", {"limit": "0x10"}, NO_BODY, 200, "[]", "accepted a parameter that the document refuses: limit"),
    ("get_guild_bans", {"limit": ["10", "0x10"]}, NO_BODY, 200, "[]", "accepted a parameter"),
    ("get_guild_bans", {"limit": ["0x10", "10"]}, NO_BODY, 200, "[]", ""),
    ("get_guild_bans", {"limit": "10"}, NO_BODY, 200, "[]", ""),
]


@pytest.mark.parametrize(("name", "query", "body", "status", "text", "problem"), JUDGED)
def test_what_no_answer_may_be_is_a_problem(
    name: str, query: Any, body: Any, status: int, text: str, problem: str
) -> None:
    row = next(row for row in TRIED if row.name == name)
    problems = list(judge(row, query, {}, body, Answer(status, "application/json", text.encode())))
    if problem:
        assert any(each.startswith(problem) for each in problems), problems
    else:
        assert problems == []


def test_recombined_bodies_differ_and_reach_the_bounds_of_fields_and_leave_their_source_as_it_is() -> None:
    row = next(row for row in TRIED if row.name == "create_guild_role")
    body = {"name": "role", "hoist": True, "permissions": "8", "colors": {"primary_color": 5}}
    source = Case({"guild_id": "0"}, None, {}, "application/json", body)
    pool, chance = Pool(row, [source], [source]), random.Random(0)
    bodies = [pool.recombine(chance).body for _ in range(600)]
    assert len({json.dumps(each) for each in bodies}) > 200
    lengths = {len(each["name"]) for each in bodies if isinstance(each, dict) and isinstance(each.get("name"), str)}
    assert {100, 101} <= lengths
    assert body == {"name": "role", "hoist": True, "permissions": "8", "colors": {"primary_color": 5}}


def test_a_long_search_resumes_after_its_last_round_and_repeats_those_with_problems(tmp_path: Path) -> None:
    class Done:
        requests, accepted = 10, 4

        def __init__(self, *problems: Problem) -> None:
            self.by_row = {"create_message": Counter({200: 4, 404: 6})}
            self.problems = {(problem.row, problem.kind): problem for problem in problems}

    progress = Progress(tmp_path / ".fuzz" / "requests.json")
    progress.record("sqlite", 0, Done(Problem("GET /x", "kind", "request", "answer")))
    resumed = Progress(tmp_path / ".fuzz" / "requests.json")
    state = resumed.of("sqlite")
    assert (state["next"], state["requests"], list(state["failed"])) == (1, 10, ["0"])
    resumed.record("sqlite", 0, Done())
    state = Progress(tmp_path / ".fuzz" / "requests.json").of("sqlite")
    assert (state["failed"], state["rows"]) == ({}, {"create_message": {"200": 8, "404": 12}})
    assert resumed.of("postgresql")["next"] == 0
