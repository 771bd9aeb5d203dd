"""Events of repositories: fork, member, public, release, watch."""

from functools import partial
from typing import Final

from moothall.resources.webhook.github.payload import Color, EventSummary, Formatter, PayloadNode, excerpt, repository


def fork(payload: PayloadNode) -> EventSummary | None:
    """The repository was forked."""
    forkee = payload["forkee"]
    name = forkee["full_name"].text or forkee["name"].text
    return EventSummary(
        title=f"{repository(payload)}Fork created: {name}", url=forkee["html_url"].text, color=Color.NEWS
    )


def _member(verb: str, color: int, payload: PayloadNode) -> EventSummary | None:
    member = payload["member"]
    return EventSummary(
        title=f"{repository(payload)}{verb}: {member['login'].text}",
        url=member["html_url"].text,
        color=color,
        thumbnail=member["avatar_url"].text,
    )


def public(payload: PayloadNode) -> EventSummary | None:
    """A private repository was made public."""
    url = payload["repository"]["html_url"].text
    return EventSummary(title=f"{repository(payload)}The repository is public now", url=url, color=Color.OPEN)


def release_published(payload: PayloadNode) -> EventSummary | None:
    """A release or pre-release was published."""
    release = payload["release"]
    name = release["name"].line or release["tag_name"].line
    kind = "pre-release" if release["prerelease"].is_true else "release"
    return EventSummary(
        title=f"{repository(payload)}New {kind} published: {name}",
        url=release["html_url"].text,
        text=excerpt(release, 1500),
        color=Color.OPEN,
    )


def watch(payload: PayloadNode) -> EventSummary | None:
    """The repository was starred, which GitHub calls watch."""
    url = payload["repository"]["html_url"].text
    return EventSummary(title=f"{repository(payload)}New star added", url=url, color=Color.STAR)


FORMATTERS: Final[dict[str, dict[str, Formatter]]] = {
    "fork": {"": fork},
    "member": {
        "added": partial(_member, "New collaborator", Color.OPEN),
        "removed": partial(_member, "Collaborator removed", Color.CLOSED),
    },
    "public": {"": public},
    "release": {"published": release_published},
    "watch": {"started": watch},
}
