"""Events of commits and refs: push, create, delete, commit_comment."""

from typing import Final

from moothall.objects import limits
from moothall.resources.webhook.github.reading import (
    Color,
    Part,
    Teller,
    VisibilityFrames,
    excerpt,
    label,
    link,
    repository,
    short_hash,
)
from moothall.resources.webhook.validation import fit_text

_SHOWN_COMMITS: Final = 10
_SUMMARY_MAX: Final = 72
_PREFIXES: Final = (("refs/heads/", "branch"), ("refs/tags/", "tag"))


def _ref(full: str) -> tuple[str, str]:
    """What a ref is, and its name."""
    for prefix, kind in _PREFIXES:
        if full.startswith(prefix):
            return kind, full.removeprefix(prefix)
    return "ref", full


def _access(payload: Part, name: str) -> str:
    named = payload["repository"]
    at = named["full_name"].text or named["name"].text
    return f"[{':'.join(part for part in (at, name) if part)}] "


def _in_repository(payload: Part, kind: str, name: str) -> str:
    url = payload["repository"]["html_url"].text
    if not url or not name:
        return url
    return f"{url}/{'releases/tag' if kind == 'tag' else 'tree'}/{name}"


def push(payload: Part) -> VisibilityFrames | None:
    """Commits that came to a branch, a branch or tag that came, went or was moved."""
    kind, name = _ref(payload["ref"].text)
    if payload["deleted"].is_true:
        return VisibilityFrames(title=f"{repository(payload)}{kind.capitalize()} deleted: {name}", color=Color.CLOSED)
    commits = [commit for commit in payload["commits"] if commit["distinct"].value is not False]
    head = short_hash(payload["after"].text) or short_hash(payload["head_commit"]["id"].text)
    forced, created = payload["forced"].is_true, payload["created"].is_true
    url = payload["compare"].text or _in_repository(payload, kind, name)
    if not commits and not (forced or created or payload["head_commit"]):
        return None
    if created and (kind == "tag" or not commits):
        title = f"{repository(payload)}New {kind}: {name}"
        return VisibilityFrames(
            title=title, url=_in_repository(payload, kind, name), text=_at(payload, head), color=Color.NEWS
        )
    if forced:
        title = f"{_access(payload, name)}{kind.capitalize()} force-pushed to {head or 'another commit'}"
        return VisibilityFrames(title=title, url=url, text=_listed(commits), color=Color.WARNING)
    if not commits:
        title = f"{_access(payload, name)}{kind.capitalize()} moved to {head or 'another commit'}"
        return VisibilityFrames(title=title, url=url, text=_at(payload, head), color=Color.NEWS)
    if len(commits) == 1:
        title, url = f"{_access(payload, name)}1 new commit", commits[0]["url"].text or url
    else:
        title = f"{_access(payload, name)}{len(commits)} new commits"
    return VisibilityFrames(title=title, url=url, text=_listed(commits), color=Color.NEWS)


def _at(payload: Part, head: str) -> str:
    commit = payload["head_commit"]
    if commit:
        return _line(commit)
    return f"at `{head}`" if head else ""


def _listed(commits: list[Part]) -> str:
    # The last ones are where the branch stands now.
    lines = [_line(commit) for commit in commits[-_SHOWN_COMMITS:]]
    left = len(commits) - len(lines)
    more = [f"… and {left} earlier"] if left > 0 else []
    return fit_text("\n".join([*more, *lines]), limits.EMBED_DESCRIPTION_MAX)


def _line(commit: Part) -> str:
    shown = short_hash(commit["id"].text)
    author = commit["author"]["username"].text or commit["author"]["name"].text
    summary = label(fit_text(commit["message"].line, _SUMMARY_MAX))
    start = link(f"`{shown}`", commit["url"].text) if shown else ""
    return " ".join(part for part in (start, summary, f"- {label(author)}" if author else "") if part)


def create(payload: Part) -> VisibilityFrames | None:
    """A new branch or tag."""
    kind, name = payload["ref_type"].text or "ref", payload["ref"].text
    if kind == "repository":
        return None
    url = _in_repository(payload, kind, name)
    return VisibilityFrames(title=f"{repository(payload)}New {kind} created: {name}", url=url, color=Color.NEWS)


def delete(payload: Part) -> VisibilityFrames | None:
    """A branch or tag that is gone."""
    kind, name = payload["ref_type"].text or "ref", payload["ref"].text
    return VisibilityFrames(title=f"{repository(payload)}{kind.capitalize()} deleted: {name}", color=Color.CLOSED)


def commit_comment(payload: Part) -> VisibilityFrames | None:
    """Somebody said something about a commit, or a line of it."""
    comment = payload["comment"]
    path, line = comment["path"].text, comment["line"].number
    where = f" ({path}{f':{line}' if line else ''})" if path else ""
    title = f"{repository(payload)}New comment on commit {short_hash(comment['commit_id'].text)}".rstrip()
    return VisibilityFrames(title=title + where, url=comment["html_url"].text, text=excerpt(comment), color=Color.NEWS)


TELLERS: Final[dict[str, dict[str, Teller]]] = {
    "push": {"": push},
    "create": {"": create},
    "delete": {"": delete},
    "commit_comment": {"created": commit_comment, "": commit_comment},
}
