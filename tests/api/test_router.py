"""From a path to its row."""

from types import SimpleNamespace
from typing import Any

import pytest

from moothall.api.router import Router


def router(*rows: tuple[str, str]) -> Router:
    fakes: list[Any] = [SimpleNamespace(method=method, path=path) for method, path in rows]
    return Router(fakes)


def matched(routes: Router, path: str) -> Any:
    match = routes.match(path)
    return None if match is None else ({m: row.path for m, row in match[0].items()}, list(match[1]))


def test_a_literal_goes_before_a_placeholder() -> None:
    routes = router(("GET", "/users/{user_id}"), ("GET", "/users/@me"))
    assert matched(routes, "/users/@me") == ({"GET": "/users/@me"}, [])
    assert matched(routes, "/users/5") == ({"GET": "/users/{user_id}"}, ["5"])


def test_a_literal_that_leads_nowhere_gives_way_to_the_placeholder() -> None:
    routes = router(("GET", "/users/@me/guilds"), ("GET", "/users/{user_id}/profile"))
    assert matched(routes, "/users/@me/profile") == ({"GET": "/users/{user_id}/profile"}, ["@me"])


def test_an_unknown_path_and_an_empty_segment_lead_nowhere() -> None:
    routes = router(("GET", "/guilds/{guild_id}"))
    assert matched(routes, "/guilds") is None
    assert matched(routes, "/guilds/") is None
    assert matched(routes, "/guilds/1/x") is None
    assert matched(routes, "/") is None


@pytest.mark.parametrize("path", ["/guilds/1/", "//guilds/1", "/guilds//1", "///guilds//1//"])
def test_several_slashes_are_one_and_one_at_the_end_none(path: str) -> None:
    assert matched(router(("GET", "/guilds/{guild_id}")), path) == ({"GET": "/guilds/{guild_id}"}, ["1"])


def test_methods_of_one_path_are_kept_apart() -> None:
    match = matched(router(("GET", "/a/{b}"), ("PUT", "/a/{b}")), "/a/1")
    assert match == ({"GET": "/a/{b}", "PUT": "/a/{b}"}, ["1"])


def test_a_path_requested_again_leads_to_the_same_row() -> None:
    routes = router(("GET", "/guilds/{guild_id}"), ("GET", "/guilds/{guild_id}/{rest}"))
    for path, rest in (("/guilds/1/x", "x"), (f"/guilds/1/{'y' * 1_000}", "y" * 1_000)):
        expected = ({"GET": "/guilds/{guild_id}/{rest}"}, ["1", rest])
        assert matched(routes, path) == matched(routes, path) == expected
