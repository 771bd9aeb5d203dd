"""Who a row lets in: the values of a row's `permission`.

A permission bit is looked up in the place that the path names: the guild of `{guild_id}`, or the
channel of `{channel_id}` with its overwrites. Resources may add ways of their own (a webhook's
token) by subclassing `Access`.
"""

from collections.abc import Mapping
from typing import Any

from moothall.kernel.authenticate import TokenKind
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.permissions import Permissions, names


class Access:
    """A way in."""

    label: str = ""
    """How documents name it, as in `x-permission`."""
    needs_actor: bool = True
    """Whether a request without a token is 401."""
    own_credentials: bool = False
    """Whether the Authorization header is the row's own to read, in `ctx.credentials`: it holds no token."""

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Let the actor in, having entered the place that the path names, or raise Refusal."""
        raise NotImplementedError


class Public(Access):
    """Anybody; a token that is given must still be valid."""

    label = "public"
    needs_actor = False

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Everyone may."""


class SignedIn(Access):
    """Any user or bot."""

    label = "signed-in"

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Being somebody is enough."""


class Person(Access):
    """A person with a session of their own."""

    label = "person"

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:  # noqa: ARG002 any path
        """Raises Refusal: 403/20001 for bots and access tokens."""
        if ctx.actor.kind is not TokenKind.SESSION:
            raise Refusal(errors.BOTS_CANNOT_USE)


async def enter(ctx: Context, path: Mapping[str, Any]) -> None:
    """Enter the guild or the channel that the path names, as a member who may see it."""
    if "guild_id" in path:
        await ctx.enter_guild(path["guild_id"])
    elif "channel_id" in path:
        await ctx.enter_channel(path["channel_id"])


class Member(Access):
    """Members of the guild in the path; for a channel those who may view it."""

    label = "member"

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Being in the place is enough."""
        await enter(ctx, path)


class ByField(Member):
    """Members; the operation asks for the permission of each field."""

    label = "by field"


class Needs(Access):
    """Members with every bit given, or any of several sets."""

    def __init__(self, *alternatives: int) -> None:
        self.alternatives = alternatives
        self.label = "|".join(" + ".join(names(bits)) for bits in alternatives)

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Every bit of one alternative, in the place of the path."""
        await enter(ctx, path)
        held = ctx.permissions
        for bits in self.alternatives:
            if held & bits == bits:
                ctx.require_mfa(bits)
                return
        raise Refusal(errors.MISSING_PERMISSIONS)


PUBLIC = Public()
SIGNED_IN = SignedIn()
PERSON = Person()
MEMBER = Member()
BY_FIELD = ByField()
VIEWER = Needs(Permissions.VIEW_CHANNEL)


def any_of(*alternatives: int) -> Access:
    """Any one of several sets of permission bits."""
    return Needs(*alternatives)


def as_access(permission: Access | int) -> Access:
    """What a row's `permission` means."""
    return permission if isinstance(permission, Access) else Needs(permission)
