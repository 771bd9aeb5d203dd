"""Events of what people talk about: issues, discussions, and the comments on both and on pull requests."""

from functools import partial
from typing import Final

from moothall.resources.webhook.github.reading import (
    Color,
    Part,
    Teller,
    VisibilityFrames,
    excerpt,
    numbered,
    repository,
    words,
)


def _issue(verb: str, color: int, payload: Part, *, whole: bool = False) -> VisibilityFrames | None:
    issue = payload["issue"]
    return VisibilityFrames(
        title=f"{repository(payload)}Issue {verb}: {numbered(issue)}",
        url=issue["html_url"].text,
        text=excerpt(issue) if whole else "",
        color=color,
    )


def issue_closed(payload: Part) -> VisibilityFrames | None:
    """An issue is closed: as done, or for another reason."""
    reason = payload["issue"]["state_reason"].text
    if reason in {"", "completed"}:
        return _issue("closed", Color.MERGED, payload)
    return _issue(f"closed as {words(reason)}", Color.MUTED, payload)


def issue_transferred(payload: Part) -> VisibilityFrames | None:
    """An issue has gone to another repository."""
    where = payload["changes"]["new_repository"]["full_name"].text
    return _issue(f"transferred to {where}" if where else "transferred", Color.NEWS, payload)


def issue_comment(payload: Part) -> VisibilityFrames | None:
    """Somebody said something about an issue, or about a pull request as a whole."""
    issue, comment = payload["issue"], payload["comment"]
    kind = "pull request" if issue["pull_request"] else "issue"
    return VisibilityFrames(
        title=f"{repository(payload)}New comment on {kind} {numbered(issue)}".rstrip(),
        url=comment["html_url"].text,
        text=excerpt(comment),
        color=Color.NEWS,
    )


def _discussion(verb: str, color: int, payload: Part, *, whole: bool = False) -> VisibilityFrames | None:
    discussion = payload["discussion"]
    return VisibilityFrames(
        title=f"{repository(payload)}Discussion {verb}: {numbered(discussion)}",
        url=discussion["html_url"].text,
        text=excerpt(discussion) if whole else "",
        color=color,
    )


def discussion_created(payload: Part) -> VisibilityFrames | None:
    """A new discussion."""
    category = payload["discussion"]["category"]["name"].text
    return _discussion(f"started in {category}" if category else "started", Color.OPEN, payload, whole=True)


def discussion_closed(payload: Part) -> VisibilityFrames | None:
    """A discussion is closed, for some reason."""
    reason = payload["discussion"]["state_reason"].text
    return _discussion(f"closed as {words(reason)}" if reason else "closed", Color.MUTED, payload)


def discussion_answered(payload: Part) -> VisibilityFrames | None:
    """A comment was chosen as a discussion's answer."""
    discussion, answer = payload["discussion"], payload["answer"]
    author = answer["user"]["login"].text
    text = excerpt(answer)
    return VisibilityFrames(
        title=f"{repository(payload)}Discussion answered: {numbered(discussion)}",
        url=answer["html_url"].text or discussion["answer_html_url"].text or discussion["html_url"].text,
        text=f"{author}: {text}" if author and text else text,
        color=Color.OPEN,
    )


def discussion_comment(payload: Part) -> VisibilityFrames | None:
    """Somebody said something in a discussion."""
    discussion, comment = payload["discussion"], payload["comment"]
    kind = "reply" if comment["parent_id"].number else "comment"
    return VisibilityFrames(
        title=f"{repository(payload)}New {kind} on discussion {numbered(discussion)}".rstrip(),
        url=comment["html_url"].text,
        text=excerpt(comment),
        color=Color.NEWS,
    )


TELLERS: Final[dict[str, dict[str, Teller]]] = {
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
