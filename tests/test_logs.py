"""What a log line looks like, for people and for machines."""

import io
import json
import logging
from collections.abc import Iterator
from typing import Literal

import pytest

from moothall.logs import current_request, json_line, start_logging


@pytest.fixture(autouse=True)
def _logging_as_before() -> Iterator[None]:
    root = logging.getLogger()
    ours = logging.getLogger("moothall")
    before = root.handlers[:], root.level, ours.level
    yield
    root.handlers[:] = before[0]
    root.setLevel(before[1])
    ours.setLevel(before[2])
    logging.captureWarnings(capture=False)


def started(form: Literal["human", "json"], level: str = "info") -> io.StringIO:
    stream = io.StringIO()
    start_logging(level, form, stream=stream)
    return stream


log = logging.getLogger("moothall.test")


def test_a_json_line_is_one_object_with_the_sentence_and_what_was_given_besides() -> None:
    stream = started("json")

    log.warning("%s is full", "disk", extra={"free": 0, "path": "/data"})

    line = json.loads(stream.getvalue())
    assert line.pop("time").endswith("Z")
    assert line == {
        "level": "warning",
        "logger": "moothall.test",
        "message": "disk is full",
        "free": 0,
        "path": "/data",
    }


def test_a_line_carries_the_request_it_was_logged_in() -> None:
    stream = started("json")
    token = current_request.set("abc-1")
    log.info("inside")
    current_request.reset(token)
    log.info("outside")

    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert first["request_id"] == "abc-1"
    assert "request_id" not in second


def test_a_request_given_with_the_line_wins_over_the_current_one() -> None:
    stream = started("json")
    token = current_request.set("abc-1")
    log.info("of another", extra={"request_id": "abc-2"})
    current_request.reset(token)

    assert json.loads(stream.getvalue())["request_id"] == "abc-2"


@pytest.mark.parametrize("form", ["human", "json"])
def test_a_message_cannot_forge_a_second_line(form: Literal["human", "json"]) -> None:
    stream = started(form)

    log.info("name %s", "x\n2026-01-01 error fake\x1b[2J", extra={"agent": "a\r\nb"})

    assert stream.getvalue().count("\n") == 1
    assert "\x1b" not in stream.getvalue()


def test_a_line_for_people_has_the_level_the_sentence_and_the_pairs() -> None:
    stream = started("human")

    log.info("listening", extra={"port": 3333})

    assert stream.getvalue().split(" ", 1)[1] == "info    listening  port=3333\n"


@pytest.mark.parametrize("form", ["human", "json"])
def test_an_exception_is_told_with_its_traceback(form: Literal["human", "json"]) -> None:
    stream = started(form)
    try:
        raise RuntimeError("boom")
    except RuntimeError:
        log.exception("failed")

    assert "Traceback" in stream.getvalue()
    assert "RuntimeError: boom" in stream.getvalue()


def test_a_value_that_json_cannot_hold_is_written_as_text() -> None:
    stream = started("json")
    knot: list[object] = []
    knot.append(knot)

    log.info("odd", extra={"thing": object, "knot": knot})

    assert "odd" in json.loads(stream.getvalue())["message"]


def test_lines_below_the_level_and_the_chatter_of_libraries_are_left_out() -> None:
    stream = started("human", "info")

    log.debug("detail")
    logging.getLogger("some.library").info("chatter")
    logging.getLogger("some.library").warning("trouble")
    log.info("news")

    assert [line.split()[2] for line in stream.getvalue().splitlines()] == ["trouble", "news"]


def test_starting_twice_does_not_write_every_line_twice() -> None:
    started("human")
    stream = started("human")

    log.info("once")

    assert stream.getvalue().count("once") == 1


def test_a_line_for_another_stream_is_as_in_the_log() -> None:
    line = json.loads(json_line("moothall", "it serves", url="http://localhost"))

    assert (line["logger"], line["message"], line["level"]) == ("moothall", "it serves", "info")
    assert line["url"] == "http://localhost"
