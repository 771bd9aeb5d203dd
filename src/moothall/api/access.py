"""The access checks of endpoints: the values of their `permission`.

Permission bits are required in the guild of `{guild_id}` or in the channel of `{channel_id}`, with its overwrites.
Resources may add checks (a webhook's token) by subclassing `Access`.
"""

from collections.abc import Mapping
from typing import Any, TypeAlias

from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.permissions import Permissions, names

PathValues: TypeAlias = Mapping[str, Any]
"""The ids and other values of a path, by name."""


class Access:
    """An access check."""

    label: str = ""
    """Its name in documents, as in `x-permission`."""
    needs_actor: bool = True
    """Whether a request without a token is refused with 401."""
    takes_operators: bool = False
    """Whether tokens of operators are accepted, which are refused everywhere else."""
    own_credentials: bool = False
    """Whether the endpoint reads the Authorization header itself, as `ctx.credentials`, because it is not a token."""

    error_schema: str = "Error"
    """The schema of what `refusal` returns, in the OpenAPI document."""

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Enter the guild or channel in the path and check the actor's authority. Raises Refusal."""
        raise NotImplementedError

    def refusal(self, refusal: Refusal) -> Refusal:
        """A refusal in the shape that callers of these endpoints expect: the API's own, unless another protocol's."""
        return refusal


class Public(Access):
    """Any caller. A token is optional, but must be valid."""

    label = "public"
    needs_actor = False

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Accept every caller."""


class SignedIn(Access):
    """Any user or bot."""

    label = "signed-in"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Accept any authenticated caller."""


class Person(Access):
    """A user with a session token."""

    label = "person"

    async def check(self, ctx: Context, path: PathValues) -> None:  # noqa: ARG002 any path
        """Raises Refusal: 403/20001 for bots and access tokens."""
        if ctx.actor.kind is not TokenKind.SESSION:
            raise Refusal(errors.BOTS_CANNOT_USE)


async def enter(ctx: Context, path: PathValues) -> None:
    """Enter the guild or channel in the path. Raises Refusal as `Context.enter_guild` and `enter_channel` do."""
    if "guild_id" in path:
        await ctx.enter_guild(path["guild_id"])
    elif "channel_id" in path:
        await ctx.enter_channel(path["channel_id"])


class Member(Access):
    """Members of the guild in the path, or users who may view the channel in it."""

    label = "member"

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Enter the guild or channel, without further conditions."""
        await enter(ctx, path)


class ByField(Member):
    """Members. The operation requires a permission for each field."""

    label = "by field"


class RequiredPermissions(Access):
    """Members with all permission bits of at least one of `alternatives`."""

    def __init__(self, *alternatives: int) -> None:
        self.alternatives = alternatives
        self.label = "|".join(" + ".join(names(bits)) for bits in alternatives)

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Enter the guild or channel. Raises Refusal: 403/50013 without the permissions, 60003 without MFA."""
        await enter(ctx, path)
        permissions = ctx.permissions
        for bits in self.alternatives:
            if permissions & bits == bits:
                ctx.require_mfa(bits)
                return
        raise Refusal(errors.MISSING_PERMISSIONS)


PUBLIC = Public()
SIGNED_IN = SignedIn()
PERSON = Person()
MEMBER = Member()
BY_FIELD = ByField()
VIEWER = RequiredPermissions(Permissions.VIEW_CHANNEL)


def any_of(*alternatives: int) -> Access:
    """The access check for members with all bits of at least one of `alternatives`."""
    return RequiredPermissions(*alternatives)


def as_access(permission: Access | int) -> Access:
    """The access check of an endpoint's `permission`."""
    return permission if isinstance(permission, Access) else RequiredPermissions(permission)
