"""Onboarding over HTTP (api.md, Other guild endpoints)."""

from moothall.kernel.access import MEMBER
from moothall.kernel.context import Context
from moothall.kernel.endpoint import get, post, put
from moothall.objects.ids import GuildId
from moothall.objects.onboarding import Onboarding, OnboardingAnswers
from moothall.objects.permissions import Permissions
from moothall.resources.guild.onboarding import answering, operations
from moothall.resources.guild.onboarding.requests import ModifyOnboarding, OnboardingResponses
from moothall.resources.member.events import GuildMemberUpdate


@get("/guilds/{guild_id}/onboarding", permission=MEMBER)
async def get_guild_onboarding(ctx: Context, guild_id: GuildId) -> Onboarding:
    """What a guild asks newcomers, the channels that they are opted into, and what the caller has answered."""
    return await answering.with_answers(ctx, await operations.read_onboarding(ctx))


@put(
    "/guilds/{guild_id}/onboarding",
    permission=Permissions.MANAGE_GUILD | Permissions.MANAGE_ROLES,
    audit_reason=True,
)
async def modify_guild_onboarding(ctx: Context, guild_id: GuildId, body: ModifyOnboarding) -> Onboarding:
    """Change what a guild asks newcomers. To be on, it has to offer seven channels, five of them to write in."""
    return await operations.modify_onboarding(ctx, body)


@post("/guilds/{guild_id}/onboarding-responses", permission=MEMBER, fires=(GuildMemberUpdate,))
async def create_guild_onboarding_responses(
    ctx: Context, guild_id: GuildId, body: OnboardingResponses
) -> OnboardingAnswers:
    """Answer what the guild asks newcomers; earlier answers to what it asks elsewhere stay."""
    return await answering.answer(ctx, body, everything=False)


@put("/guilds/{guild_id}/onboarding-responses", permission=MEMBER, fires=(GuildMemberUpdate,))
async def update_guild_onboarding_responses(
    ctx: Context, guild_id: GuildId, body: OnboardingResponses
) -> OnboardingAnswers:
    """Answer anew everything that the guild asks: what is not chosen any more is taken back."""
    return await answering.answer(ctx, body, everything=True)
