"""Payloads of other services are truncated, never refused, and huge ones are not read completely."""

from copy import deepcopy
from functools import reduce
from operator import getitem
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from moothall.objects.errors import Refusal
from moothall.resources.message.reading import read_draft
from moothall.resources.webhook.github.messages import GithubEvent
from moothall.resources.webhook.github.messages import event_message as github_message
from moothall.resources.webhook.requests import ExecuteWebhook
from moothall.resources.webhook.slack.messages import SlackMessage
from moothall.resources.webhook.slack.messages import execute_body as slack_message
from moothall.resources.webhook.slack.mrkdwn import plain, translate, unescape
from moothall.resources.webhook.validation import truncate_text
from tests.resources.webhook.github.payloads import SUPPORTED_EVENTS

ODD: Any = st.sampled_from(
    [None, True, 0, -1, 2**70, 1.5, "", " ", "x" * 9000, "\ud800\x00", "http://", "javascript:x", [], [[]], {}, [None]]
)
_KEYS = ["type", "text", "fields", "elements", "title", "value", "image_url", "ts", "color", "url", "style", "blocks"]
SLACK: Any = st.recursive(
    ODD,
    lambda inner: st.dictionaries(st.sampled_from(_KEYS), st.one_of(inner, st.lists(inner, max_size=4)), max_size=6),
    max_leaves=20,
)


def refused(message: ExecuteWebhook | None) -> int | None:
    """The code of what keeps a message from being sent, if anything."""
    try:
        if message is not None:
            read_draft(message)
    except Refusal as problem:
        return problem.kind.code
    return None


def paths(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Where the parts of a payload are."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    return [path for key, inner in items for path in ((*at, key), *paths(inner, (*at, key)))]


@settings(max_examples=300)
@given(st.sampled_from(sorted(SUPPORTED_EVENTS)), st.data())
def test_no_event_with_odd_values_is_refused(name: str, data: st.DataObject) -> None:
    kind, payload, _ = SUPPORTED_EVENTS[name]
    payload = deepcopy(payload)
    for _ in range(data.draw(st.integers(1, 6))):
        if not (all_paths := paths(payload)):
            break
        *way, last = data.draw(st.sampled_from(all_paths))
        reduce(getitem, way, payload)[last] = deepcopy(data.draw(ODD))
    known = {key: value for key, value in payload.items() if key in GithubEvent.__struct_fields__}
    assert refused(github_message(kind, GithubEvent(**known))) is None


@settings(max_examples=300)
@given(
    blocks=st.lists(SLACK, max_size=4),
    attachments=st.lists(SLACK, max_size=4),
    text=st.text(max_size=50),
    kinds=st.lists(st.sampled_from(["section", "header", "context", "image", "rich_text", "video", "markdown"])),
)
def test_no_slack_payload_with_odd_values_is_refused(
    blocks: list[Any], attachments: list[Any], text: str, kinds: list[str]
) -> None:
    typed = [{**block, "type": kind} for block, kind in zip(blocks, kinds, strict=False) if isinstance(block, dict)]
    message = SlackMessage(text=text, blocks=[*blocks, *typed], attachments=attachments)
    assert refused(slack_message(message)) in {None, 50006}


def test_a_truncated_text_ends_with_an_ellipsis() -> None:
    assert truncate_text("x" * 10, 10) == "x" * 10
    assert truncate_text("x" * 11, 10) == f"{'x' * 9}…"
    assert truncate_text("x" * 10**6, 10) == f"{'x' * 9}…"
    assert truncate_text("\x00" * 100 + "x" * 5, 10) == "…"
    assert truncate_text(" " * 10**5 + "x", 10) == "x"


def test_only_the_beginning_of_a_huge_text_is_read() -> None:
    for read in (translate, plain, unescape):
        assert len(read("*a* &amp; " * 10**5)) < 20_000
    blocks = [{"type": "section", "text": {"type": "mrkdwn", "text": "a"}}] * 10_000
    assert len(slack_message(SlackMessage(blocks=blocks)).content or "") < 1000
