"""Onboarding over HTTP (api.md, Other guild endpoints)."""

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import get, post, put
from moothall.objects.ids import GuildId
from moothall.objects.onboarding import Onboarding, OnboardingAnswers
from moothall.objects.permissions import Permissions
from moothall.resources.guild.onboarding import operations
from moothall.resources.guild.onboarding.requests import ModifyOnboarding, OnboardingResponses
from moothall.resources.member.events import GuildMemberUpdate


@get("/guilds/{guild_id}/onboarding", permission=MEMBER)
async def get_guild_onboarding(ctx: Context, guild_id: GuildId) -> Onboarding:
    """Get a guild's onboarding with the caller's responses."""
    return await operations.with_own_responses(ctx, await operations.read_onboarding(ctx))


@put(
    "/guilds/{guild_id}/onboarding",
    permission=Permissions.MANAGE_GUILD | Permissions.MANAGE_ROLES,
    audit_reason=True,
)
async def modify_guild_onboarding(ctx: Context, guild_id: GuildId, body: ModifyOnboarding) -> Onboarding:
    """Change a guild's onboarding. Enabling it requires seven channels, five of which @everyone can write in."""
    return await operations.modify_onboarding(ctx, body)


@post("/guilds/{guild_id}/onboarding-responses", permission=MEMBER, fires=(GuildMemberUpdate,))
async def create_guild_onboarding_responses(
    ctx: Context, guild_id: GuildId, body: OnboardingResponses
) -> OnboardingAnswers:
    """Submit responses; earlier ones to other prompts outside of onboarding stay."""
    return await operations.submit_responses(ctx, body, replace_all=False)


@put("/guilds/{guild_id}/onboarding-responses", permission=MEMBER, fires=(GuildMemberUpdate,))
async def update_guild_onboarding_responses(
    ctx: Context, guild_id: GuildId, body: OnboardingResponses
) -> OnboardingAnswers:
    """Replace all responses, removing the roles of options that are no longer chosen."""
    return await operations.submit_responses(ctx, body, replace_all=True)
