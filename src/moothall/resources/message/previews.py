"""The link previews among the embeds of a message, which follow those that its author sent.

An author's embed has the type `rich` and no `provider`, which requests cannot set. Every preview has another type or a
provider.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

from msgspec import Raw, Struct

from moothall.objects.limits import EMBEDS_MAX
from moothall.objects.links import find_links
from moothall.objects.wire import decoder
from moothall.resources.message.body import NONE, Text

_OWN_TYPE: Final = "rich"


class _Origin(Struct, frozen=True):
    type: str = _OWN_TYPE
    url: str = ""
    provider: Any = None


class SplitEmbeds(Struct, frozen=True):
    """The embeds of a message as JSON objects: those that its author sent, and the previews by their link."""

    own: list[Raw]
    previews: dict[str, Raw]


_lists: Final = decoder(list[Raw])
_origins: Final = decoder(_Origin)


def split_embeds(embeds: Raw) -> SplitEmbeds:
    """Split the `embeds` of a stored message."""
    own: list[Raw] = []
    previews: dict[str, Raw] = {}
    for embed in _lists.decode(embeds) if embeds != NONE else ():
        origin = _origins.decode(embed)
        if origin.type == _OWN_TYPE and origin.provider is None:
            own.append(embed)
        else:
            previews[origin.url] = embed
    return SplitEmbeds(own, previews)


def join_embeds(own: Sequence[Raw], previews: Iterable[Raw]) -> Raw:
    """The `embeds` of a message, of which there are at most `EMBEDS_MAX`."""
    embeds = [*own, *previews][:EMBEDS_MAX]
    return Raw(b"[%b]" % b",".join(bytes(embed) for embed in embeds)) if embeds else NONE


def keep_previews(stored: Raw, own: Raw | None, content: str) -> Raw:
    """The embeds of an edited message: the author's, new ones if not None, and the previews of links that remain."""
    split = split_embeds(stored)
    if own is None and not split.previews:
        return stored
    remaining = _of_links(split.previews, find_links(content)) if split.previews else []
    return join_embeds(split.own if own is None else _lists.decode(own), remaining)


def add_previews(text: Text, previews: Mapping[str, Collection[Raw]]) -> Text | None:
    """A message's text with previews of the links that it has; None if nothing changes."""
    split = split_embeds(text.embeds)
    fetched = {link: next(iter(embeds)) for link, embeds in previews.items() if embeds}
    embeds = join_embeds(split.own, _of_links(split.previews | fetched, find_links(text.content)))
    if embeds == text.embeds:
        return None
    return Text(
        content=text.content,
        embeds=embeds,
        attachments=text.attachments,
        components=text.components,
        message_snapshots=text.message_snapshots,
    )


def links_without_preview(text: Text) -> list[str]:
    """The links of a message that have no preview."""
    links = find_links(text.content)
    if not links or text.embeds == NONE:
        return links
    previews = split_embeds(text.embeds).previews
    return [link for link in links if link not in previews]


def _of_links(previews: Mapping[str, Raw], links: Iterable[str]) -> list[Raw]:
    return [previews[link] for link in links if link in previews]
