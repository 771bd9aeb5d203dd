"""Events of issues and discussions, and of comments on them and on pull requests."""

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
    spaced,
)


def _issue(verb: str, color: int, payload: PayloadNode, *, whole: bool = False) -> EventSummary | None:
    issue = payload["issue"]
    return EventSummary(
        title=f"{repository(payload)}Issue {verb}: {numbered(issue)}",
        url=issue["html_url"].text,
        text=excerpt(issue) if whole else "",
        color=color,
    )


def issue_closed(payload: PayloadNode) -> EventSummary | None:
    """An issue was closed as completed or for another reason."""
    reason = payload["issue"]["state_reason"].text
    if reason in {"", "completed"}:
        return _issue("closed", Color.MERGED, payload)
    return _issue(f"closed as {spaced(reason)}", Color.MUTED, payload)


def issue_transferred(payload: PayloadNode) -> EventSummary | None:
    """An issue was transferred to another repository."""
    where = payload["changes"]["new_repository"]["full_name"].text
    return _issue(f"transferred to {where}" if where else "transferred", Color.NEWS, payload)


def issue_comment(payload: PayloadNode) -> EventSummary | None:
    """An issue or a pull request was commented on."""
    issue, comment = payload["issue"], payload["comment"]
    kind = "pull request" if issue["pull_request"] else "issue"
    return EventSummary(
        title=f"{repository(payload)}New comment on {kind} {numbered(issue)}".rstrip(),
        url=comment["html_url"].text,
        text=excerpt(comment),
        color=Color.NEWS,
    )


def _discussion(verb: str, color: int, payload: PayloadNode, *, whole: bool = False) -> EventSummary | None:
    discussion = payload["discussion"]
    return EventSummary(
        title=f"{repository(payload)}Discussion {verb}: {numbered(discussion)}",
        url=discussion["html_url"].text,
        text=excerpt(discussion) if whole else "",
        color=color,
    )


def discussion_created(payload: PayloadNode) -> EventSummary | None:
    """A discussion was created."""
    category = payload["discussion"]["category"]["name"].text
    return _discussion(f"started in {category}" if category else "started", Color.OPEN, payload, whole=True)


def discussion_closed(payload: PayloadNode) -> EventSummary | None:
    """A discussion was closed, with its reason."""
    reason = payload["discussion"]["state_reason"].text
    return _discussion(f"closed as {spaced(reason)}" if reason else "closed", Color.MUTED, payload)


def discussion_answered(payload: PayloadNode) -> EventSummary | None:
    """A comment was marked as the answer of a discussion."""
    discussion, answer = payload["discussion"], payload["answer"]
    author = answer["user"]["login"].text
    text = excerpt(answer)
    return EventSummary(
        title=f"{repository(payload)}Discussion answered: {numbered(discussion)}",
        url=answer["html_url"].text or discussion["answer_html_url"].text or discussion["html_url"].text,
        text=f"{author}: {text}" if author and text else text,
        color=Color.OPEN,
    )


def discussion_comment(payload: PayloadNode) -> EventSummary | None:
    """A discussion was commented on."""
    discussion, comment = payload["discussion"], payload["comment"]
    kind = "reply" if comment["parent_id"].number else "comment"
    return EventSummary(
        title=f"{repository(payload)}New {kind} on discussion {numbered(discussion)}".rstrip(),
        url=comment["html_url"].text,
        text=excerpt(comment),
        color=Color.NEWS,
    )


FORMATTERS: Final[dict[str, dict[str, Formatter]]] = {
    "issues": {
        "opened": partial(_issue, "opened", Color.OPEN, whole=True),
        "reopened": partial(_issue, "reopened", Color.OPEN),
        "closed": issue_closed,
        "deleted": partial(_issue, "deleted", Color.CLOSED),
        "transferred": issue_transferred,
    },
    "issue_comment": {"created": issue_comment},
    "discussion": {
        "created": discussion_created,
        "answered": discussion_answered,
        "unanswered": partial(_discussion, "no longer answered", Color.MUTED),
        "closed": discussion_closed,
        "reopened": partial(_discussion, "reopened", Color.OPEN),
        "deleted": partial(_discussion, "deleted", Color.CLOSED),
    },
    "discussion_comment": {"created": discussion_comment},
}
