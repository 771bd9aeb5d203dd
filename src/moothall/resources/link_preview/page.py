"""What a page says about itself in its head: OpenGraph, Twitter cards, title, description, and where its oEmbed is.

The page is parsed as a stream of tags, without a tree, in time linear in its length whatever it nests. Blocking: run it
off the event loop.
"""

from collections.abc import Mapping
from typing import Any, Final

from msgspec import Struct

_PROPERTIES_MAX: Final = 200
_VALUE_MAX: Final = 4096
_TITLE_MAX: Final = 1024
_DECLARATION_BYTES: Final = 4096
"""The beginning of a page, in which it may declare its charset."""
_OEMBED: Final = "application/json+oembed"


class Page(Struct, frozen=True):
    """The metadata of a page."""

    properties: Mapping[str, str] = {}
    """The first value of each `property` or `name` of a meta element, by its name in lower case."""
    title: str = ""
    oembed: str = ""
    """The URL of its oEmbed document, perhaps relative."""
    base: str = ""
    """The URL that its links are relative to, itself perhaps relative."""

    def first(self, *names: str) -> str:
        """The value of the first of the properties that is there; "" without any."""
        return next((value for name in names if (value := self.properties.get(name))), "")


def parse_page(data: bytes, charset: str = "") -> Page:
    """Read the metadata of a page, of which `data` may be only the beginning. Anything at all is a page."""
    from lxml import etree  # noqa: PLC0415 most servers have fetched no page yet

    reader = _Reader()
    if not charset and b"charset" not in data[:_DECLARATION_BYTES].lower():
        charset = "utf-8"
    try:
        parser = etree.HTMLParser(target=reader, encoding=charset or None)
    except LookupError:
        parser = etree.HTMLParser(target=reader)
    try:
        parser.feed(data)
        parser.close()
    except etree.LxmlError:
        pass  # what was read so far counts
    return Page(reader.properties, " ".join("".join(reader.title).split()), reader.oembed, reader.base)


class _Reader:
    """The target of the parser, which calls it for each tag and text."""

    def __init__(self) -> None:
        self.properties: dict[str, str] = {}
        self.title: list[str] = []
        self.oembed = ""
        self.base = ""
        self._in_title = False
        self._title_length = 0

    def start(self, tag: str, attributes: Mapping[str, str]) -> None:
        """Read a start tag."""
        if tag == "meta":
            self._add_property(attributes)
        elif tag == "link" and not self.oembed and attributes.get("type", "").strip().lower() == _OEMBED:
            self.oembed = attributes.get("href", "")[:_VALUE_MAX]
        elif tag == "base" and not self.base:
            self.base = attributes.get("href", "")[:_VALUE_MAX]
        self._in_title = tag == "title" and not self.title

    def end(self, tag: str) -> None:
        """Read an end tag."""
        del tag
        self._in_title = False

    def data(self, text: str) -> None:
        """Read a part of a text."""
        if self._in_title and self._title_length < _TITLE_MAX:
            self.title.append(text[:_TITLE_MAX])
            self._title_length += len(text)

    def close(self) -> Any:
        """End the page."""

    def _add_property(self, attributes: Mapping[str, str]) -> None:
        name = attributes.get("property") or attributes.get("name") or ""
        value = attributes.get("content", "").strip()
        if name and value and len(self.properties) < _PROPERTIES_MAX:
            self.properties.setdefault(name.strip().lower()[:64], value[:_VALUE_MAX])
