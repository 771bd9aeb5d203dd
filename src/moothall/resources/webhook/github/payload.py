"""Reading payloads in which any value may be missing or of another type, and formatting text."""

from collections.abc import Callable, Iterator
from typing import Any, Final

from msgspec import Struct

from moothall.objects.embed import EmbedInput
from moothall.resources.webhook.validation import FieldSource, LinkSource, build_embed, truncate_text

_SHORT_HASH: Final = 7
_HEX: Final = frozenset("0123456789abcdef")


class PayloadNode(Struct, frozen=True):
    """A value in a payload. A missing one is an empty node, an empty text, 0 or False."""

    value: Any

    def __getitem__(self, key: str) -> "PayloadNode":
        return PayloadNode(self.value.get(key) if isinstance(self.value, dict) else None)

    def __bool__(self) -> bool:
        return bool(self.value)

    def __iter__(self) -> Iterator["PayloadNode"]:
        return map(PayloadNode, self.value if isinstance(self.value, list) else ())

    def __len__(self) -> int:
        return len(self.value) if isinstance(self.value, list) else 0

    @property
    def text(self) -> str:
        """The trimmed text; empty if the value is no text."""
        return self.value.strip() if isinstance(self.value, str) else ""

    @property
    def line(self) -> str:
        """The first line of the text."""
        return self.text.partition("\n")[0].strip()

    @property
    def number(self) -> int:
        """The integer; 0 if the value is none."""
        return self.value if isinstance(self.value, int) and not isinstance(self.value, bool) else 0

    @property
    def is_true(self) -> bool:
        """Whether the value is `true`."""
        return self.value is True


class EventSummary(Struct, frozen=True, kw_only=True):
    """The title, link, text and fields of the embed for an event."""

    title: str
    url: str = ""
    text: str = ""
    color: int
    thumbnail: str = ""
    fields: tuple[FieldSource, ...] = ()


Formatter = Callable[[PayloadNode], EventSummary | None]
"""Formats the payload of an event; None if the event gets no message."""


class Color:
    """Embed colours by outcome."""

    OPEN: Final = 0x1A7F37
    MERGED: Final = 0x8250DF
    CLOSED: Final = 0xCF222E
    MUTED: Final = 0x6E7781
    NEWS: Final = 0x0969DA
    WARNING: Final = 0xBF8700
    STAR: Final = 0xEAC54F


def summary_embed(payload: PayloadNode, summary: EventSummary) -> EmbedInput | None:
    """Build the embed for an event, with its sender as the author."""
    sender = payload["sender"]
    return build_embed(
        title=summary.title,
        url=summary.url,
        description=summary.text,
        color=summary.color,
        author=LinkSource(sender["login"].text, sender["html_url"].text, sender["avatar_url"].text),
        thumbnail=summary.thumbnail,
        fields=summary.fields,
    )


def repository(payload: PayloadNode) -> str:
    """Return the prefix of titles, `[owner/name] `; empty if the repository is not known."""
    named = payload["repository"]
    name = named["full_name"].text or named["name"].text or payload["organization"]["login"].text
    return f"[{name}] " if name else ""


def numbered(item: PayloadNode) -> str:
    """Return the number and title of an issue, pull request or discussion: `#12 Title`."""
    number = item["number"].number
    title = item["title"].line
    return f"#{number} {title}".strip() if number else title


def short_hash(commit: str) -> str:
    """Return the first seven digits of a commit's hash; empty if the text is no hash."""
    commit = commit.strip().lower()
    return commit[:_SHORT_HASH] if len(commit) >= _SHORT_HASH and set(commit) <= _HEX else ""


def excerpt(item: PayloadNode, maximum: int = 500) -> str:
    """Return the beginning of the `body`."""
    return truncate_text(item["body"].text, maximum)


def escape_markdown(text: str) -> str:
    """Escape the Markdown characters of a text."""
    for char in "\\[]*_`~":
        text = text.replace(char, f"\\{char}")
    return text


def link(text: str, url: str) -> str:
    """Return a Markdown link; only the text if the URL is invalid."""
    return (
        f"[{text}]({url.replace(')', '%29')})" if url.startswith(("https://", "http://")) and " " not in url else text
    )


def spaced(name: str) -> str:
    """Replace underscores by spaces: `changes_requested` becomes "changes requested"."""
    return name.replace("_", " ")
