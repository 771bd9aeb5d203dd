"""The job that gives people what the groups say of which a provider tells by SCIM."""

from typing import ClassVar

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, job
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.resources.identity_provider.queries import select_provider
from moothall.resources.single_sign_on.operations import apply_groups_in, differing_guilds
from moothall.resources.user.queries import select_user


@job
class ApplyProvisionedGroups(Job, frozen=True, kw_only=True):
    """Gives one person memberships and roles, or takes them, a guild in a step."""

    kind: ClassVar[str] = "apply_provisioned_groups"
    provider_id: Snowflake
    user_id: UserId
    guild_id: GuildId | None = None
    """The guild that the next step changes."""
    done: list[GuildId] = []
    """Guilds that were changed, or that did not take the person."""

    @property
    def lock(self) -> GuildId | None:
        """The guild to change."""
        return self.guild_id

    async def step(self, ctx: Context) -> Job | None:
        """Find the next guild in which something differs, or change it."""
        provider, user = await select_provider(ctx.tx, self.provider_id), await select_user(ctx.tx, self.user_id)
        if provider is None or user is None or user.deleted:
            return None
        if self.guild_id is not None:
            await apply_groups_in(ctx, self.guild_id, self.user_id, provider)
            return structs.replace(self, guild_id=None, done=[*self.done, self.guild_id])
        differing = await differing_guilds(ctx.tx, provider, self.user_id, ())
        next_id = next((guild_id for guild_id in differing if guild_id not in self.done), None)
        return None if next_id is None else structs.replace(self, guild_id=next_id)
