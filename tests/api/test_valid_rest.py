"""What is left of a body without its invalid values."""

from typing import Any

from moothall.api.request.valid_rest import Rest

_ERROR: dict[str, Any] = {"_errors": [{"code": "X", "message": "x"}]}


def test_errors_of_items_have_the_indexes_of_the_body_and_those_of_items_that_the_rest_lacks_are_left_out() -> None:
    rest = Rest({"items": ["a", "b", "c"]}, {"items": {"0": _ERROR}})
    assert rest.value == {"items": ["b", "c"]}
    moved = rest.original_paths({"items": {"1": _ERROR, "2": _ERROR}})
    assert moved.nested() == {"items": {"2": _ERROR}}
