"""Slack's markup into Markdown: links, mentions, dates and emphasis; code is left as it is."""

import re
from datetime import UTC, datetime
from typing import Final

_MAX_READ: Final = 16_384
"""Characters of a text that are looked at: four times the longest that can be shown."""

_CODE: Final = re.compile(r"```[\s\S]*?```|`[^`\n]+`")
_ANGLED: Final = re.compile(r"<([^<>\n]*)>")
_ENTITIES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_SPECIAL: Final = {"here": "@here", "channel": "@everyone", "everyone": "@everyone", "group": "@everyone"}
_OURS: Final = re.compile(r"[0-9]{1,20}")
"""Ids of this platform are numbers; Slack's are not, and name nobody here."""

_BEFORE: Final = r"(?<![\w\\*~])"
_AFTER: Final = r"(?![\w*~])"
_BOLD: Final = re.compile(rf"{_BEFORE}\*(?=\S)([^*\n]*[^*\s])\*{_AFTER}")
_STRIKE: Final = re.compile(rf"{_BEFORE}~(?=\S)([^~\n]*[^~\s])~{_AFTER}")

_DATE: Final = re.compile(r"!date\^(-?[0-9]{1,12})(?:\^([^|^]*))?(?:\^([^|]*))?")
_STYLES: Final = {
    "{date_num}": "d",
    "{date}": "D",
    "{date_short}": "D",
    "{date_long}": "F",
    "{date_pretty}": "D",
    "{date_short_pretty}": "D",
    "{date_long_pretty}": "F",
    "{time}": "t",
    "{time_secs}": "T",
    "{ago}": "R",
}
"""What a date's placeholder is shown as here."""
_PLACEHOLDER: Final = re.compile(r"\{[a-z_]+\}")
_HELD: Final = re.compile("\ue000([0-9]+)\ue001")


def translate(text: str) -> str:
    """A text of Slack's markup as Markdown.

    `*bold*` becomes `**bold**`, `~gone~` `~~gone~~`; `_it_` means the same to both. `<url|label>` is a
    link, `<!here>` and its kind the plain words, `<@U0G9QF9C6|name>` a name, `<@123>` a mention if the
    number is an id here, `<!date^..>` a moment in the reader's own time. Of a text that is far longer than
    anything shown, only the beginning is read.
    """
    held: list[str] = []

    def hold(piece: str) -> str:
        # What is done is put aside, so that nothing later mistakes a part of a URL for emphasis.
        held.append(piece)
        return f"\ue000{len(held) - 1}\ue001"

    text = text[:_MAX_READ].replace("\ue000", "").replace("\ue001", "")
    text = _CODE.sub(lambda found: hold(_unescape(_ANGLED.sub(_bare, found[0]))), text)
    text = _ANGLED.sub(lambda found: hold(_angled(found[1])), text)
    text = _BOLD.sub(r"**\1**", text)
    text = _STRIKE.sub(r"~~\1~~", text)
    return _HELD.sub(lambda found: held[int(found[1])], _unescape(text))


def plain(text: str) -> str:
    """A text of Slack's without markup, for where none is shown."""
    return _unescape(_ANGLED.sub(_bare, text[:_MAX_READ]))


def unescape(text: str) -> str:
    """A text that is no markup, with its three entities read."""
    return _unescape(text[:_MAX_READ])


def _unescape(text: str) -> str:
    for entity, char in _ENTITIES:
        text = text.replace(entity, char)
    return text


def _bare(found: re.Match[str]) -> str:
    target, _, label = found[1].partition("|")
    return label or target


def _angled(inner: str) -> str:
    target, _, marked = inner.partition("|")
    label = _unescape(marked)
    if target.startswith(("@", "#")):
        return _entity(target[0], target[1:], label)
    if target.startswith("!"):
        return _command(target, label)
    if "://" in target or target.startswith("mailto:"):
        url = _unescape(target)
        if target.startswith("mailto:"):
            address = url.removeprefix("mailto:")
            return label or address
        if not label or label == url:
            return url
        shown = translate(marked.replace("[", "(").replace("]", ")"))
        return f"[{shown}]({url.replace(')', '%29')})"
    # No markup after all: somebody forgot to escape.
    return _unescape(f"<{inner}>")


def _entity(sigil: str, target: str, label: str) -> str:
    if _OURS.fullmatch(target):
        return f"<{sigil}{target}>"
    return f"{sigil}{(label or target).lstrip(sigil)}"


def _command(target: str, label: str) -> str:
    date = _DATE.fullmatch(target)
    if date is not None:
        return _moment(int(date[1]), date[2] or "", date[3], label)
    name = target[1:].partition("^")[0]
    if name in _SPECIAL:
        return _SPECIAL[name]
    if label:
        return label if label.startswith("@") or name != "subteam" else f"@{label}"
    return f"@{target[1:].partition('^')[2] or name}"


def _moment(seconds: int, template: str, url: str | None, label: str) -> str:
    try:
        datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return label
    template = template or "{date}"
    known = _PLACEHOLDER.findall(template)
    if not known or any(name not in _STYLES for name in known):
        return label or f"<t:{seconds}>"
    shown = _PLACEHOLDER.sub(lambda found: f"<t:{seconds}:{_STYLES[found[0]]}>", template)
    # A moment inside a link's label would not be one: the link follows.
    return f"{shown} ({_unescape(url)})" if url else shown
