"""Onboarding over HTTP (api.md, Other guild endpoints)."""

from moothall.kernel.access import MEMBER
from moothall.kernel.context import Context
from moothall.kernel.endpoint import get, put
from moothall.objects.ids import GuildId
from moothall.objects.onboarding import Onboarding
from moothall.objects.permissions import Permissions
from moothall.resources.onboarding import operations
from moothall.resources.onboarding.requests import ModifyOnboarding


@get("/guilds/{guild_id}/onboarding", permission=MEMBER)
async def get_guild_onboarding(ctx: Context, guild_id: GuildId) -> Onboarding:
    """What a guild asks newcomers, and the channels that they are opted into."""
    return await operations.read_onboarding(ctx)


@put(
    "/guilds/{guild_id}/onboarding",
    permission=Permissions.MANAGE_GUILD | Permissions.MANAGE_ROLES,
    audit_reason=True,
)
async def modify_guild_onboarding(ctx: Context, guild_id: GuildId, body: ModifyOnboarding) -> Onboarding:
    """Change what a guild asks newcomers. To be on, it has to offer seven channels, five of them to write in."""
    return await operations.modify_onboarding(ctx, body)
