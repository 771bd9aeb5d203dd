"""Mentions in a message, and which of them notify (resources: message, allowed mentions).

Mentions in code blocks and inline code are ignored, as clients display them as code.
"""

import re
from collections.abc import Collection, Sequence
from typing import Final

from msgspec import Struct

from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId, RoleId, Snowflake, UserId
from moothall.objects.message import AllowedMentions

PARSE_KINDS: Final = ("users", "roles", "everyone")

# A run of backticks, up to the next run of the same length; a backslash before it escapes it.
_CODE: Final = re.compile(r"(?<![\\`])(`+)(?!`)[\s\S]*?[^`]\1(?!`)")
_MENTION: Final = re.compile(r"<(@!?|@&|#)([0-9]{1,20})>|@(everyone|here)")


class Mentions(Struct, frozen=True, kw_only=True):
    """The ids that a text mentions, each once, in the order of the text."""

    users: list[UserId] = []
    roles: list[RoleId] = []
    channels: list[ChannelId] = []
    everyone: bool = False
    """Whether @everyone or @here is mentioned."""


def without_code(content: str) -> str:
    """A text with a space in place of each code block and inline code."""
    return _CODE.sub(" ", content) if "`" in content else content


def parse_mentions(content: str) -> Mentions:
    """Every mention of a text outside of code. The caller checks whether the mentioned ids exist."""
    if "<" not in content and "@" not in content:
        return Mentions()
    content = without_code(content)
    users: dict[UserId, None] = {}
    roles: dict[RoleId, None] = {}
    channels: dict[ChannelId, None] = {}
    everyone = False
    for sigil, digits, _ in _MENTION.findall(content):
        if not sigil:
            everyone = True
            continue
        try:
            snowflake = Snowflake.from_wire(digits)
        except ValueError:
            continue
        if sigil == "@&":
            roles[RoleId(snowflake)] = None
        elif sigil == "#":
            channels[ChannelId(snowflake)] = None
        else:
            users[UserId(snowflake)] = None
    return Mentions(users=list(users), roles=list(roles), channels=list(channels), everyone=everyone)


def parse_all_mentions(texts: Sequence[str]) -> Mentions:
    """The mentions of several texts; a code block of one text does not extend into the next."""
    all_mentions = [parse_mentions(text) for text in texts]
    return Mentions(
        users=list(dict.fromkeys(user for mentions in all_mentions for user in mentions.users)),
        roles=list(dict.fromkeys(role for mentions in all_mentions for role in mentions.roles)),
        channels=list(dict.fromkeys(channel for mentions in all_mentions for channel in mentions.channels)),
        everyone=any(mentions.everyone for mentions in all_mentions),
    )


def check_allowed_mentions(allowed: AllowedMentions, errors: FormErrors) -> None:
    """Validate the allowed mentions of a request and add errors below `allowed_mentions`.

    Errors are an unknown kind, more than 100 ids, and a kind that is both parsed and listed.
    """
    at = errors.at("allowed_mentions")
    parse = allowed.parse or []
    for index, kind in enumerate(parse):
        if kind not in PARSE_KINDS:
            at.add(("parse", index), *FieldError.choices(PARSE_KINDS))
    listed: tuple[tuple[str, Collection[Snowflake]], ...] = (
        ("users", allowed.users or []),
        ("roles", allowed.roles or []),
    )
    for kind, ids in listed:
        if len(ids) > limits.ALLOWED_MENTIONS_MAX:
            at.add(kind, *FieldError.length(None, limits.ALLOWED_MENTIONS_MAX))
        if ids and kind in parse:
            at.add(
                "",
                FormCode.MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE,
                f'parse:["{kind}"] and {kind}: [ids...] are mutually exclusive.',
            )


def allow(mentions: Mentions, allowed: AllowedMentions | None, *, default: Collection[str] = PARSE_KINDS) -> Mentions:
    """The mentions of a text that notify.

    Without `allowed` these are the kinds in `default` (for webhooks only users); with it, the kinds in `parse` and the
    listed users and roles. The caller checks whether the author may mention @everyone or a role. Channels are kept, as
    they do not notify.
    """
    parse: Collection[str] = default
    users: Collection[UserId] = ()
    roles: Collection[RoleId] = ()
    if allowed is not None:
        parse, users, roles = allowed.parse or (), allowed.users or (), allowed.roles or ()
    return Mentions(
        users=mentions.users if "users" in parse else [user for user in mentions.users if user in users],
        roles=mentions.roles if "roles" in parse else [role for role in mentions.roles if role in roles],
        channels=mentions.channels,
        everyone=mentions.everyone and "everyone" in parse,
    )


def pings_author(allowed: AllowedMentions | None) -> bool:
    """Whether a reply mentions the author of the message it replies to; by default it does."""
    return allowed is None or bool(allowed.replied_user)
