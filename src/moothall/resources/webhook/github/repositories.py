"""Events of repositories and the people around them: fork, member, public, release, watch."""

from functools import partial
from typing import Final

from moothall.resources.webhook.github.reading import (
    Color,
    Part,
    Teller,
    VisibilityFrames,
    excerpt,
    repository,
)


def fork(payload: Part) -> VisibilityFrames | None:
    """Somebody has a copy of the repository."""
    forkee = payload["forkee"]
    name = forkee["full_name"].text or forkee["name"].text
    return VisibilityFrames(
        title=f"{repository(payload)}Fork created: {name}", url=forkee["html_url"].text, color=Color.NEWS
    )


def _member(verb: str, color: int, payload: Part) -> VisibilityFrames | None:
    member = payload["member"]
    return VisibilityFrames(
        title=f"{repository(payload)}{verb}: {member['login'].text}",
        url=member["html_url"].text,
        color=color,
        thumbnail=member["avatar_url"].text,
    )


def public(payload: Part) -> VisibilityFrames | None:
    """A private repository is open to all."""
    url = payload["repository"]["html_url"].text
    return VisibilityFrames(title=f"{repository(payload)}The repository is public now", url=url, color=Color.OPEN)


def release_published(payload: Part) -> VisibilityFrames | None:
    """A new release, or one to try out."""
    release = payload["release"]
    name = release["name"].line or release["tag_name"].line
    kind = "pre-release" if release["prerelease"].is_true else "release"
    return VisibilityFrames(
        title=f"{repository(payload)}New {kind} published: {name}",
        url=release["html_url"].text,
        text=excerpt(release, 1500),
        color=Color.OPEN,
    )


def watch(payload: Part) -> VisibilityFrames | None:
    """Somebody has given a star: GitHub's watch is that."""
    url = payload["repository"]["html_url"].text
    return VisibilityFrames(title=f"{repository(payload)}New star added", url=url, color=Color.STAR)


TELLERS: Final[dict[str, dict[str, Teller]]] = {
    "fork": {"": fork},
    "member": {
        "added": partial(_member, "New collaborator", Color.OPEN),
        "removed": partial(_member, "Collaborator removed", Color.CLOSED),
    },
    "public": {"": public},
    "release": {"published": release_published},
    "watch": {"started": watch},
}
