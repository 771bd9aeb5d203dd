"""Conversion of Slack's markup to Markdown: links, mentions, dates and emphasis; code stays as it is."""

import re
from datetime import UTC, datetime
from typing import Final

_MAX_READ: Final = 16_384
"""The limit of characters read of a text: four times the longest that a message can have."""

_CODE: Final = re.compile(r"```[\s\S]*?```|`[^`\n]+`")
_ANGLED: Final = re.compile(r"<([^<>\n]*)>")
_ENTITIES: Final = (("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"))
_SPECIAL: Final = {"here": "@here", "channel": "@everyone", "everyone": "@everyone", "group": "@everyone"}
_SNOWFLAKE: Final = re.compile(r"[0-9]{1,20}")
"""Ids here are numbers. Slack's are not, and match no user here."""

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
"""The timestamp style of each date placeholder."""
_PLACEHOLDER: Final = re.compile(r"\{[a-z_]+\}")
_MARK: Final = re.compile("\ue000([0-9]+)\ue001")


def translate(text: str) -> str:
    """Convert Slack's markup to Markdown.

    `*bold*` becomes `**bold**`, `~strike~` becomes `~~strike~~`; `_italic_` is the same in both. `<url|label>` becomes
    a link, `<!here>` becomes `@here`, `<@U0G9QF9C6|name>` becomes a name, `<@123>` a mention, `<!date^..>` a timestamp.
    Only the first 16,384 characters are converted.
    """
    converted: list[str] = []

    def mark(piece: str) -> str:
        # Converted pieces are replaced by marks, so that later patterns do not match inside of a URL.
        converted.append(piece)
        return f"\ue000{len(converted) - 1}\ue001"

    text = text[:_MAX_READ].replace("\ue000", "").replace("\ue001", "")
    text = _CODE.sub(lambda match: mark(_unescape(_ANGLED.sub(_bare, match[0]))), text)
    text = _ANGLED.sub(lambda match: mark(_angled(match[1])), text)
    text = _BOLD.sub(r"**\1**", text)
    text = _STRIKE.sub(r"~~\1~~", text)
    return _MARK.sub(lambda match: converted[int(match[1])], _unescape(text))


def plain(text: str) -> str:
    """Convert Slack's markup to plain text."""
    return _unescape(_ANGLED.sub(_bare, text[:_MAX_READ]))


def unescape(text: str) -> str:
    """Replace Slack's three entities in a plain text."""
    return _unescape(text[:_MAX_READ])


def _unescape(text: str) -> str:
    for entity, char in _ENTITIES:
        text = text.replace(entity, char)
    return text


def _bare(match: re.Match[str]) -> str:
    target, _, label = match[1].partition("|")
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
    # Not markup, but an unescaped "<".
    return _unescape(f"<{inner}>")


def _entity(sigil: str, target: str, label: str) -> str:
    if _SNOWFLAKE.fullmatch(target):
        return f"<{sigil}{target}>"
    return f"{sigil}{(label or target).lstrip(sigil)}"


def _command(target: str, label: str) -> str:
    date = _DATE.fullmatch(target)
    if date is not None:
        return _timestamp(int(date[1]), date[2] or "", date[3], label)
    name = target[1:].partition("^")[0]
    if name in _SPECIAL:
        return _SPECIAL[name]
    if label:
        return label if label.startswith("@") or name != "subteam" else f"@{label}"
    return f"@{target[1:].partition('^')[2] or name}"


def _timestamp(seconds: int, template: str, url: str | None, label: str) -> str:
    try:
        datetime.fromtimestamp(seconds, UTC)
    except (ValueError, OverflowError, OSError):
        return label
    template = template or "{date}"
    known = _PLACEHOLDER.findall(template)
    if not known or any(name not in _STYLES for name in known):
        return label or f"<t:{seconds}>"
    shown = _PLACEHOLDER.sub(lambda match: f"<t:{seconds}:{_STYLES[match[0]]}>", template)
    # A timestamp has no effect in the label of a link, so the link follows it.
    return f"{shown} ({_unescape(url)})" if url else shown
