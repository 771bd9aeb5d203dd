"""Looking into payloads of which any part may be missing, or something else than expected."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct

from moothall.objects.embed import EmbedInput
from moothall.resources.webhook.validation import Cell, Link, fit_embed, fit_text

_SHORT_HASH: Final = 7
_HEX: Final = frozenset("0123456789abcdef")


class Part(Struct, frozen=True):
    """A part of a payload. What is not there is an empty part, an empty text, 0 or False."""

    value: Any

    def __getitem__(self, key: str) -> "Part":
        return Part(self.value.get(key) if isinstance(self.value, dict) else None)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __iter__(self) -> Iterator["Part"]:
        return map(Part, self.value if isinstance(self.value, list) else ())

    def __len__(self) -> int:
        return len(self.value) if isinstance(self.value, list) else 0

    @property
    def text(self) -> str:
        """The text."""
        return self.value.strip() if isinstance(self.value, str) else ""

    @property
    def line(self) -> str:
        """The text's first line."""
        return self.text.partition("\n")[0].strip()

    @property
    def number(self) -> int:
        """The whole number, however large."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else 0

    @property
    def is_true(self) -> bool:
        """Whether it is true itself, not merely something."""
        return self.value is True


class VisibilityFrames(Struct, frozen=True, kw_only=True):
    """What is worth telling of an event."""

    title: str
    url: str = ""
    text: str = ""
    color: int
    thumbnail: str = ""
    cells: tuple[Cell, ...] = ()


Teller = Callable[[Part], VisibilityFrames | None]
"""Tells of one event's payload; None if nothing is worth a message."""


class Color:
    """Colours by what has become of something."""

    OPEN: Final = 0x1A7F37
    MERGED: Final = 0x8250DF
    CLOSED: Final = 0xCF222E
    MUTED: Final = 0x6E7781
    NEWS: Final = 0x0969DA
    WARNING: Final = 0xBF8700
    STAR: Final = 0xEAC54F


def embed_of(payload: Part, told: VisibilityFrames) -> EmbedInput | None:
    """The embed for an event, with whoever caused it as its author."""
    sender = payload["sender"]
    return fit_embed(
        title=told.title,
        url=told.url,
        description=told.text,
        color=told.color,
        author=Link(sender["login"].text, sender["html_url"].text, sender["avatar_url"].text),
        thumbnail=told.thumbnail,
        cells=told.cells,
    )


def repository(payload: Part) -> str:
    """How titles name the repository: `[owner/name] `; nothing if it is not known."""
    named = payload["repository"]
    name = named["full_name"].text or named["name"].text or payload["organization"]["login"].text
    return f"[{name}] " if name else ""


def numbered(item: Part) -> str:
    """An issue, pull request or discussion as titles name it: `#12 Title`."""
    number = item["number"].number
    title = item["title"].line
    return f"#{number} {title}".strip() if number else title


def short_hash(commit: str) -> str:
    """How people write a commit's hash; nothing for what is none."""
    commit = commit.strip().lower()
    return commit[:_SHORT_HASH] if len(commit) >= _SHORT_HASH and set(commit) <= _HEX else ""


def excerpt(item: Part, maximum: int = 500) -> str:
    """The beginning of what somebody wrote."""
    return fit_text(item["body"].text, maximum)


def label(text: str) -> str:
    """A text that can stand between the brackets of a link, or in bold."""
    for char in "\\[]*_`~":
        text = text.replace(char, f"\\{char}")
    return text


def link(text: str, url: str) -> str:
    """A link in Markdown; only the text without a URL."""
    return (
        f"[{text}]({url.replace(')', '%29')})" if url.startswith(("https://", "http://")) and " " not in url else text
    )


def words(name: str) -> str:
    """A state as people say it: `changes_requested` is "changes requested"."""
    return name.replace("_", " ")
