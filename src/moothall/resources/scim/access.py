"""Who may use SCIM: programs with a token of an operator that may provision accounts (RFC 6750)."""

from moothall.api.access import Access, PathValues
from moothall.api.authenticate import TokenKind, authenticate
from moothall.api.context import Context
from moothall.api.operators import may_act, may_read
from moothall.objects.errors import Refusal
from moothall.objects.operator import OperatorPermission
from moothall.resources.scim.errors import ScimRefusal, scim_refusal


class ScimAccess(Access):
    """Operators' tokens with the permission `provisioning`, sent as a bearer token, as identity providers do."""

    label = "operator: provisioning"
    needs_actor = False
    own_credentials = True
    error_schema = "ScimError"

    def __init__(self, *, acts: bool) -> None:
        permission = OperatorPermission.PROVISIONING
        self._operator = may_act(permission) if acts else may_read(permission)

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Make the operator of the token the actor. Raises Refusal 401 for no token, 403 for one that may not."""
        scheme, _, token = (ctx.credentials or "").partition(" ")
        token = token.strip()
        try:
            if scheme.lower() != "bearer" or not token:
                raise _unauthorized()
            ctx.actor = await authenticate(ctx.tx, f"Operator {token}")
            if ctx.actor.kind is not TokenKind.OPERATOR:
                raise _unauthorized()
            await self._operator.check(ctx, path)
        except Refusal as refusal:
            raise (_unauthorized() if refusal.status == 401 else scim_refusal(refusal)) from None

    def refusal(self, refusal: Refusal) -> Refusal:
        """A refusal in the shape of SCIM."""
        return scim_refusal(refusal)


def _unauthorized() -> ScimRefusal:
    return ScimRefusal(
        401,
        "Send a token of an operator that has the permission provisioning.",
        headers={"www-authenticate": 'Bearer realm="scim"'},
    )


SCIM_READS = ScimAccess(acts=False)
SCIM_ACTS = ScimAccess(acts=True)
