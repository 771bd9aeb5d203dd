"""Mentions in a message: what its text names, and whom it may notify (resources: message, allowed mentions).

What stands in a code block or in inline code is no mention: clients show it as code, and nobody
expects to be notified by an example.
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

# A run of backticks, up to the next run of the same length; a backslash before it makes it plain text.
_CODE: Final = re.compile(r"(?<![\\`])(`+)(?!`)[\s\S]*?[^`]\1(?!`)")
_MENTION: Final = re.compile(r"<(@!?|@&|#)([0-9]{1,20})>|@(everyone|here)")


class Mentions(Struct, frozen=True, kw_only=True):
    """What a text names, each once, in the order of the text."""

    users: list[UserId] = []
    roles: list[RoleId] = []
    channels: list[ChannelId] = []
    everyone: bool = False
    """@everyone or @here."""


def parse_mentions(content: str) -> Mentions:
    """Every mention of a text outside code. Whether what it names exists is the caller's to look up."""
    if "<" not in content and "@" not in content:
        return Mentions()
    if "`" in content:
        content = _CODE.sub(" ", content)
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
    """The mentions of several texts; code that begins in one does not reach into the next."""
    found = [parse_mentions(text) for text in texts]
    return Mentions(
        users=list(dict.fromkeys(user for mentions in found for user in mentions.users)),
        roles=list(dict.fromkeys(role for mentions in found for role in mentions.roles)),
        channels=list(dict.fromkeys(channel for mentions in found for channel in mentions.channels)),
        everyone=any(mentions.everyone for mentions in found),
    )


def check_allowed_mentions(allowed: AllowedMentions, errors: FormErrors) -> None:
    """Note below `allowed_mentions` what is wrong with a request's wish.

    That is an unknown kind, more than 100 ids, or a kind that is parsed and listed at once.
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


def allow(found: Mentions, allowed: AllowedMentions | None, *, default: Collection[str] = PARSE_KINDS) -> Mentions:
    """The mentions of a text that may notify.

    Without a wish, those of the kinds in `default` do (for webhooks only users). With one, a kind
    does if it is parsed, and a user or role if it is listed. Whether the author may notify
    @everyone or a role is the caller's to ask. Channels notify nobody and stay as they are.
    """
    parse: Collection[str] = default
    users: Collection[UserId] = ()
    roles: Collection[RoleId] = ()
    if allowed is not None:
        parse, users, roles = allowed.parse or (), allowed.users or (), allowed.roles or ()
    return Mentions(
        users=found.users if "users" in parse else [user for user in found.users if user in users],
        roles=found.roles if "roles" in parse else [role for role in found.roles if role in roles],
        channels=found.channels,
        everyone=found.everyone and "everyone" in parse,
    )


def pings_author(allowed: AllowedMentions | None) -> bool:
    """Whether a reply mentions the author of what it replies to: yes, but for a wish that does not say so."""
    return allowed is None or bool(allowed.replied_user)
