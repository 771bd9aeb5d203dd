"""The guild whose tag a user wears, over HTTP (resources: user, set guild identity)."""

from msgspec import UNSET, Struct, UnsetType

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import put
from moothall.objects.ids import GuildId
from moothall.objects.user import CurrentUser
from moothall.resources.primary_guild import operations
from moothall.resources.user.account.operations import EDIT_ACCOUNT_EVENTS
from moothall.resources.user.objects import own_view


class SetPrimaryGuild(Struct, frozen=True, kw_only=True):
    """The guild whose tag to wear. Null, or `identity_enabled` false, takes the tag off."""

    identity_guild_id: GuildId | UnsetType | None = UNSET
    """Absent: the one of before, to wear its tag again after it has changed."""
    identity_enabled: bool | UnsetType | None = UNSET


@put("/users/@me/clan", permission=PERSON, fires=EDIT_ACCOUNT_EVENTS)
async def set_guild_identity(ctx: Context, body: SetPrimaryGuild) -> CurrentUser:
    """Wear the tag of a guild that the caller is a member of, or take it off."""
    if body.identity_enabled is False or body.identity_guild_id is None:
        row = await operations.take_off(ctx)
    else:
        row = await operations.wear(ctx, None if body.identity_guild_id is UNSET else body.identity_guild_id)
    return own_view(row, ctx.actor)
