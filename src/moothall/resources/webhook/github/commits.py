"""Events of commits and refs: push, create, delete, commit_comment."""

from typing import Final

from moothall.objects import limits
from moothall.resources.webhook.github.payload import (
    Color,
    EventSummary,
    Formatter,
    PayloadNode,
    escape_markdown,
    excerpt,
    link,
    repository,
    short_hash,
)
from moothall.resources.webhook.validation import truncate_text

_SHOWN_COMMITS: Final = 10
_SUMMARY_MAX: Final = 72
_PREFIXES: Final = (("refs/heads/", "branch"), ("refs/tags/", "tag"))


def _ref(full: str) -> tuple[str, str]:
    """Return the kind of a ref (branch, tag) and its name."""
    for prefix, kind in _PREFIXES:
        if full.startswith(prefix):
            return kind, full.removeprefix(prefix)
    return "ref", full


def _ref_prefix(payload: PayloadNode, name: str) -> str:
    named = payload["repository"]
    at = named["full_name"].text or named["name"].text
    return f"[{':'.join(part for part in (at, name) if part)}] "


def _in_repository(payload: PayloadNode, kind: str, name: str) -> str:
    url = payload["repository"]["html_url"].text
    if not url or not name:
        return url
    return f"{url}/{'releases/tag' if kind == 'tag' else 'tree'}/{name}"


def push(payload: PayloadNode) -> EventSummary | None:
    """Commits were pushed, or a branch or tag was created, deleted or moved."""
    kind, name = _ref(payload["ref"].text)
    if payload["deleted"].is_true:
        return EventSummary(title=f"{repository(payload)}{kind.capitalize()} deleted: {name}", color=Color.CLOSED)
    commits = [commit for commit in payload["commits"] if commit["distinct"].value is not False]
    head = short_hash(payload["after"].text) or short_hash(payload["head_commit"]["id"].text)
    forced, created = payload["forced"].is_true, payload["created"].is_true
    url = payload["compare"].text or _in_repository(payload, kind, name)
    if not commits and not (forced or created or payload["head_commit"]):
        return None
    if created and (kind == "tag" or not commits):
        title = f"{repository(payload)}New {kind}: {name}"
        return EventSummary(
            title=title, url=_in_repository(payload, kind, name), text=_at(payload, head), color=Color.NEWS
        )
    if forced:
        title = f"{_ref_prefix(payload, name)}{kind.capitalize()} force-pushed to {head or 'another commit'}"
        return EventSummary(title=title, url=url, text=_listed(commits), color=Color.WARNING)
    if not commits:
        title = f"{_ref_prefix(payload, name)}{kind.capitalize()} moved to {head or 'another commit'}"
        return EventSummary(title=title, url=url, text=_at(payload, head), color=Color.NEWS)
    if len(commits) == 1:
        title, url = f"{_ref_prefix(payload, name)}1 new commit", commits[0]["url"].text or url
    else:
        title = f"{_ref_prefix(payload, name)}{len(commits)} new commits"
    return EventSummary(title=title, url=url, text=_listed(commits), color=Color.NEWS)


def _at(payload: PayloadNode, head: str) -> str:
    commit = payload["head_commit"]
    if commit:
        return _line(commit)
    return f"at `{head}`" if head else ""


def _listed(commits: list[PayloadNode]) -> str:
    # The last commits are the newest.
    lines = [_line(commit) for commit in commits[-_SHOWN_COMMITS:]]
    left = len(commits) - len(lines)
    more = [f"… and {left} earlier"] if left > 0 else []
    return truncate_text("\n".join([*more, *lines]), limits.EMBED_DESCRIPTION_MAX)


def _line(commit: PayloadNode) -> str:
    shown = short_hash(commit["id"].text)
    author = commit["author"]["username"].text or commit["author"]["name"].text
    summary = escape_markdown(truncate_text(commit["message"].line, _SUMMARY_MAX))
    start = link(f"`{shown}`", commit["url"].text) if shown else ""
    return " ".join(part for part in (start, summary, f"- {escape_markdown(author)}" if author else "") if part)


def create(payload: PayloadNode) -> EventSummary | None:
    """A branch or tag was created."""
    kind, name = payload["ref_type"].text or "ref", payload["ref"].text
    if kind == "repository":
        return None
    url = _in_repository(payload, kind, name)
    return EventSummary(title=f"{repository(payload)}New {kind} created: {name}", url=url, color=Color.NEWS)


def delete(payload: PayloadNode) -> EventSummary | None:
    """A branch or tag was deleted."""
    kind, name = payload["ref_type"].text or "ref", payload["ref"].text
    return EventSummary(title=f"{repository(payload)}{kind.capitalize()} deleted: {name}", color=Color.CLOSED)


def commit_comment(payload: PayloadNode) -> EventSummary | None:
    """A commit, or a line of it, was commented on."""
    comment = payload["comment"]
    path, line = comment["path"].text, comment["line"].number
    where = f" ({path}{f':{line}' if line else ''})" if path else ""
    title = f"{repository(payload)}New comment on commit {short_hash(comment['commit_id'].text)}".rstrip()
    return EventSummary(title=title + where, url=comment["html_url"].text, text=excerpt(comment), color=Color.NEWS)


FORMATTERS: Final[dict[str, dict[str, Formatter]]] = {
    "push": {"": push},
    "create": {"": create},
    "delete": {"": delete},
    "commit_comment": {"created": commit_comment, "": commit_comment},
}
