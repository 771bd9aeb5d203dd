"""The embeds of GitHub's events."""

import copy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from moothall.objects.embed import EmbedInput, read_embeds
from moothall.objects.errors import FormErrors
from moothall.objects.wire import convert
from moothall.resources.webhook.github.messages import FORMATTERS, GithubEvent, event_message, guess_kind
from moothall.resources.webhook.github.payload import Color
from tests.resources.webhook.github.payloads import (
    COMMON,
    HOME,
    IGNORED_EVENTS,
    RUN,
    SUPPORTED_EVENTS,
    commit,
    event,
    pushed,
)

SUPPORTED = [
    "commit_comment",
    "create",
    "delete",
    "fork",
    "issue_comment",
    "issues",
    "member",
    "public",
    "pull_request",
    "pull_request_review",
    "pull_request_review_comment",
    "push",
    "release",
    "watch",
    "check_run",
    "check_suite",
    "discussion",
    "discussion_comment",
]


def embed_of(kind: str | None, payload: dict[str, Any]) -> EmbedInput:
    message = event_message(kind, convert(payload, GithubEvent))
    assert message is not None
    assert message.embeds is not None
    (embed,) = message.embeds
    return embed


def test_every_kind_of_the_spec_has_an_embed() -> None:
    assert set(FORMATTERS) == set(SUPPORTED)
    assert {kind for kind, _, _ in SUPPORTED_EVENTS.values()} == set(SUPPORTED)


def test_the_documentation_lists_every_event_and_action_with_a_message() -> None:
    page = Path(__file__).parents[4] / "docs" / "webhooks.md"
    documented: dict[str, set[str]] = {}
    kind = ""
    for line in page.read_text().splitlines():
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        if len(cells) != 3 or cells[0] in {"Event", "---"}:
            continue
        kind = cells[0].strip("`") or kind
        actions = {"" if action == "none" else action.strip("`") for action in cells[1].split(", ")}
        documented[kind] = documented.get(kind, set()) | actions
    assert documented == {kind: set(actions) for kind, actions in FORMATTERS.items()}


@pytest.mark.parametrize(
    "state", ["approved", "changes_requested", "commented", "dismissed", "pending", "brand_new", ""]
)
@pytest.mark.parametrize("body", [None, "", "Well done"])
def test_a_submitted_review_has_a_message_in_any_state_with_or_without_a_text(state: str, body: str | None) -> None:
    kind, payload, _ = next(each for each in SUPPORTED_EVENTS.values() if each[0] == "pull_request_review")
    embed = embed_of(
        kind, payload | {"action": "submitted", "review": payload["review"] | {"state": state, "body": body}}
    )
    assert (embed.title or "").startswith("[octo-org/moot] Pull request ")
    assert embed.description == (body or None)


@pytest.mark.parametrize("name", SUPPORTED_EVENTS)
def test_an_embed_has_the_repository_and_the_sender(name: str) -> None:
    kind, payload, title = SUPPORTED_EVENTS[name]
    embed = embed_of(kind, payload)
    assert embed.title == title
    assert embed.author is not None
    assert (embed.author.name, embed.author.url) == ("mona", "https://github.com/mona")
    assert (embed.author.icon_url or "").startswith("https://avatars.")
    assert embed.color is not None
    if "deleted" not in title:
        assert (embed.url or "").startswith("https://github.com/")


@pytest.mark.parametrize("name", IGNORED_EVENTS)
def test_ignored_events_get_no_message(name: str) -> None:
    kind, payload = IGNORED_EVENTS[name]
    assert event_message(kind, convert(payload, GithubEvent)) is None


@pytest.mark.parametrize("name", SUPPORTED_EVENTS)
def test_the_kind_is_guessed_without_its_header(name: str) -> None:
    kind, payload, _ = SUPPORTED_EVENTS[name]
    assert guess_kind(convert(payload, GithubEvent)) == kind


def test_a_push_lists_its_commits_with_short_hashes() -> None:
    embed = embed_of("push", pushed())
    sha = commit(0xABCDEF1 << 132, "")["id"]
    first = f"[`abcdef1`]({HOME}/commit/{sha}) Fix the door - mona"
    assert (embed.description or "").splitlines()[0] == first
    many = embed_of("push", pushed(commits=[commit(n << 100, f"Step {n}") for n in range(1, 26)]))
    assert many.title == "[octo-org/moot:main] 25 new commits"
    assert (many.description or "").startswith("… and 15 earlier\n")
    assert (many.description or "").endswith("Step 25 - mona")


def test_commits_already_on_another_branch_are_not_listed() -> None:
    again = [{**commit(1, "old"), "distinct": False}, commit(2, "new")]
    assert embed_of("push", pushed(commits=again)).title == "[octo-org/moot:main] 1 new commit"


@pytest.mark.parametrize(
    ("conclusion", "words", "color"),
    [
        ("success", "succeeded", Color.OPEN),
        ("timed_out", "timed out", Color.CLOSED),
        ("cancelled", "was cancelled", Color.MUTED),
        ("action_required", "requires action", Color.WARNING),
        ("brand_new", "ended: brand new", Color.MUTED),
    ],
)
def test_a_check_shows_its_conclusion(conclusion: str, words: str, color: int) -> None:
    embed = embed_of("check_run", event("completed", check_run={**RUN, "conclusion": conclusion}))
    assert (embed.title, embed.color) == (f"[octo-org/moot] tests {words} on main (abcdef1)", color)
    assert embed.description == "3 tests failed"


def _places(value: Any, at: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    result = [at] if at else []
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        result += _places(inner, (*at, key))
    return result


odd = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(allow_nan=False),
    st.text(max_size=20),
    st.text(alphabet=" \x00\u202e\n", max_size=5),
    st.just("x" * 9000),
    st.just([]),
    st.just({}),
    st.just([1, "a", None, {"id": 5}]),
)


@settings(max_examples=300)
@given(st.sampled_from(sorted(SUPPORTED_EVENTS)), st.data())
def test_missing_or_odd_values_never_make_an_embed_that_is_refused(name: str, data: st.DataObject) -> None:
    kind, payload, _ = SUPPORTED_EVENTS[name]
    payload = copy.deepcopy(payload)
    for _ in range(data.draw(st.integers(1, 4))):
        *way, last = data.draw(st.sampled_from(_places(payload)))
        target: Any = payload
        try:
            for key in way:
                target = target[key]
            if data.draw(st.booleans()):
                target[last] = copy.deepcopy(data.draw(odd))
            else:
                del target[last]
        except (KeyError, IndexError, TypeError):
            continue
        if not payload:
            break
    for header in (kind, None):
        message = event_message(header, convert(payload, GithubEvent))
        if message is None:
            continue
        assert message.content is None
        form_errors = FormErrors()
        assert read_embeds(message.embeds or (), form_errors)
        form_errors.raise_if_any()


def test_an_embed_has_only_known_values() -> None:
    embed = embed_of("issues", {"action": "opened", "issue": {"title": "Alone"}})
    assert (embed.title, embed.author, embed.url) == ("Issue opened: Alone", None, None)
    assert embed_of("watch", {"action": "started", "sender": COMMON["sender"]}).title == "New star added"
