"""Links in the text of a message (resources: message, embeds)."""

import re
from typing import Final

from moothall.objects.mentions import without_code

LINKS_MAX: Final = 5
"""The number of links of a message that have previews."""
_LENGTH_MAX: Final = 2048

_LINK: Final = re.compile(r"<[a-zA-Z]+://[^ >\n]*>|https?://(?:(?!\|\|)[^\s<>])+", re.IGNORECASE)
_TRAILING: Final = ".,:;!?\"'*_~]"
"""Punctuation that ends a sentence or markup, not a link."""


def find_links(content: str) -> list[str]:
    """The first `LINKS_MAX` http and https links of a text, each once.

    Links in code and in angle brackets are left out. Those in spoilers are not, since clients hide their previews.
    """
    if "://" not in content:
        return []
    links: dict[str, None] = {}
    for match in _LINK.finditer(without_code(content)):
        link = _without_markup(match[0])
        if not link.startswith("<") and len(link) <= _LENGTH_MAX:
            links[link] = None
            if len(links) == LINKS_MAX:
                break
    return list(links)


def _without_markup(link: str) -> str:
    """A link without what follows it: punctuation, and closing parentheses that it does not open."""
    unopened = link.count(")") - link.count("(")
    end = len(link)
    while end:
        last = link[end - 1]
        if last == ")" and unopened > 0:
            unopened -= 1
        elif last not in _TRAILING:
            break
        end -= 1
    return link[:end]
