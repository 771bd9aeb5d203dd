"""Events of pull requests, reviews and checks."""

from functools import partial
from typing import Final

from moothall.resources.webhook.github.payload import (
    Color,
    EventSummary,
    Formatter,
    PayloadNode,
    excerpt,
    numbered,
    repository,
    short_hash,
    spaced,
)


def _pull(verb: str, color: int, payload: PayloadNode, *, whole: bool = False) -> EventSummary | None:
    pull = payload["pull_request"]
    return EventSummary(
        title=f"{repository(payload)}Pull request {verb}: {numbered(pull)}",
        url=pull["html_url"].text,
        text=excerpt(pull) if whole else "",
        color=color,
    )


def pull_opened(payload: PayloadNode) -> EventSummary | None:
    """A pull request or draft was opened."""
    if payload["pull_request"]["draft"].is_true:
        return _pull("opened as a draft", Color.MUTED, payload, whole=True)
    return _pull("opened", Color.OPEN, payload, whole=True)


def pull_closed(payload: PayloadNode) -> EventSummary | None:
    """A pull request was merged, or closed without a merge."""
    pull = payload["pull_request"]
    if not pull["merged"].is_true and not pull["merged_at"]:
        return _pull("closed", Color.CLOSED, payload)
    into = pull["base"]["ref"].text
    return _pull(f"merged into {into}" if into else "merged", Color.MERGED, payload)


_REVIEWS: Final = {
    "approved": ("approved", Color.OPEN),
    "changes_requested": ("changes requested", Color.CLOSED),
    "commented": ("reviewed", Color.NEWS),
    "dismissed": ("review dismissed", Color.MUTED),
}


def review_submitted(payload: PayloadNode) -> EventSummary | None:
    """A pull request was reviewed, with or without a text of the review itself."""
    review, pull = payload["review"], payload["pull_request"]
    state = review["state"].text.lower()
    verb, color = _REVIEWS.get(state, (spaced(state) or "reviewed", Color.NEWS))
    return EventSummary(
        title=f"{repository(payload)}Pull request {verb}: {numbered(pull)}",
        url=review["html_url"].text or pull["html_url"].text,
        text=excerpt(review),
        color=color,
    )


def review_dismissed(payload: PayloadNode) -> EventSummary | None:
    """A review was dismissed."""
    pull = payload["pull_request"]
    by = payload["review"]["user"]["login"].text
    title = f"{repository(payload)}Pull request review{f' by {by}' if by else ''} dismissed: {numbered(pull)}"
    return EventSummary(title=title, url=payload["review"]["html_url"].text or pull["html_url"].text, color=Color.MUTED)


def review_comment(payload: PayloadNode) -> EventSummary | None:
    """A line of a pull request was commented on."""
    pull, comment = payload["pull_request"], payload["comment"]
    path, line = comment["path"].text, comment["line"].number
    where = f" ({path}{f':{line}' if line else ''})" if path else ""
    return EventSummary(
        title=f"{repository(payload)}New review comment on pull request {numbered(pull)}{where}",
        url=comment["html_url"].text,
        text=excerpt(comment),
        color=Color.NEWS,
    )


_CONCLUSIONS: Final = {
    "success": ("succeeded", Color.OPEN),
    "failure": ("failed", Color.CLOSED),
    "timed_out": ("timed out", Color.CLOSED),
    "startup_failure": ("failed to start", Color.CLOSED),
    "cancelled": ("was cancelled", Color.MUTED),
    "action_required": ("requires action", Color.WARNING),
    "neutral": ("ended neutral", Color.MUTED),
    "skipped": ("was skipped", Color.MUTED),
    "stale": ("went stale", Color.MUTED),
}


def _check(payload: PayloadNode, name: str, result: PayloadNode, suite: PayloadNode, url: str) -> EventSummary | None:
    conclusion = result["conclusion"].text
    if not conclusion:
        return None
    verb, color = _CONCLUSIONS.get(conclusion, (f"ended: {spaced(conclusion)}", Color.MUTED))
    branch = suite["head_branch"].text
    commit = short_hash(result["head_sha"].text or suite["head_sha"].text)
    where = " ".join(part for part in (f"on {branch}" if branch else "", f"({commit})" if commit else "") if part)
    return EventSummary(
        title=f"{repository(payload)}{name} {verb} {where}".strip(),
        url=url,
        text=result["output"]["title"].line,
        color=color,
    )


def check_run(payload: PayloadNode) -> EventSummary | None:
    """A check completed."""
    run = payload["check_run"]
    url = run["html_url"].text or run["details_url"].text
    return _check(payload, run["name"].line or "Check", run, run["check_suite"], url)


def check_suite(payload: PayloadNode) -> EventSummary | None:
    """All checks of an application completed."""
    suite, home = payload["check_suite"], payload["repository"]["html_url"].text
    name = suite["app"]["name"].line
    commit = suite["head_sha"].text
    url = f"{home}/commit/{commit}/checks" if home and short_hash(commit) else home
    return _check(payload, f"{name} checks" if name else "Checks", suite, suite, url)


FORMATTERS: Final[dict[str, dict[str, Formatter]]] = {
    "pull_request": {
        "opened": pull_opened,
        "closed": pull_closed,
        "reopened": partial(_pull, "reopened", Color.OPEN),
        "ready_for_review": partial(_pull, "ready for review", Color.OPEN),
        "converted_to_draft": partial(_pull, "made a draft again", Color.MUTED),
    },
    "pull_request_review": {"submitted": review_submitted, "dismissed": review_dismissed},
    "pull_request_review_comment": {"created": review_comment},
    "check_run": {"completed": check_run},
    "check_suite": {"completed": check_suite},
}
