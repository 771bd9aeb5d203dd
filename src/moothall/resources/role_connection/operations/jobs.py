"""Jobs that remove linked roles from members whose values do not match any more.

A step checks the claims of one guild under its lock, so that it never overwrites roles that a request changes.
"""

from collections.abc import Iterable
from typing import ClassVar, Final

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, enqueue_later, job
from moothall.objects.ids import ApplicationId, GuildId, RoleId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.role_connection import queries
from moothall.resources.role_connection.operations.recheck import recheck_claims
from moothall.resources.role_connection.queries import ClaimRow

_BATCH: Final = 100
_NONE: Final = Snowflake(0)


@job
class RecheckUser(Job, frozen=True, kw_only=True):
    """Checks all claims of a user, one guild in each step."""

    kind: ClassVar[str] = "recheck linked roles of user"
    user_id: UserId
    guild_id: GuildId = GuildId(_NONE)
    """The guild of the next step; 0 before the first."""
    only: bool = False
    """Whether it ends with this guild."""

    @property
    def lock(self) -> Snowflake | None:
        """The guild."""
        return self.guild_id or None

    async def step(self, ctx: Context) -> Job | None:
        """Check the claims in one guild, and find the next."""
        if self.guild_id:
            claims = await queries.select_claims_of_member(ctx.tx, self.guild_id, self.user_id)
            await enqueue_later(ctx, recheck_times(await recheck_claims(ctx, self.guild_id, claims)))
        next_id = None if self.only else await queries.select_next_guild(ctx.tx, self.user_id, self.guild_id)
        return None if next_id is None else structs.replace(self, guild_id=next_id)


def recheck_times(claims: Iterable[ClaimRow]) -> list[tuple[Job, Timestamp]]:
    """The jobs that check claims again once they expire, for those that do."""
    return [
        (RecheckUser(user_id=claim.user_id, guild_id=claim.guild_id, only=True), Timestamp(claim.expires_at + 1))
        for claim in claims
        if claim.expires_at is not None
    ]


@job
class RecheckRole(Job, frozen=True, kw_only=True):
    """Checks all claims of a linked role, after its requirements changed or it ended."""

    kind: ClassVar[str] = "recheck linked role"
    guild_id: GuildId
    role_id: RoleId
    after: UserId = UserId(_NONE)

    @property
    def lock(self) -> Snowflake | None:
        """The guild."""
        return self.guild_id

    async def step(self, ctx: Context) -> Job | None:
        """Check the next `_BATCH` claims."""
        claims = await queries.select_claims_of_role(ctx.tx, self.guild_id, self.role_id, self.after, _BATCH)
        await enqueue_later(ctx, recheck_times(await recheck_claims(ctx, self.guild_id, claims)))
        return structs.replace(self, after=claims[-1].user_id) if claims else None


@job
class RecheckApplication(Job, frozen=True, kw_only=True):
    """Checks all claims of linked roles that refer to an application, after its metadata records changed."""

    kind: ClassVar[str] = "recheck linked roles of application"
    application_id: ApplicationId
    guild_id: GuildId = GuildId(_NONE)
    role_id: RoleId = RoleId(_NONE)

    async def step(self, ctx: Context) -> Job | None:
        """Enqueue the check of the next linked role."""
        following = await queries.select_next_of_application(ctx.tx, self.application_id, self.guild_id, self.role_id)
        if following is None:
            return None
        guild_id, role_id = following
        await enqueue(ctx, RecheckRole(guild_id=guild_id, role_id=role_id))
        return structs.replace(self, guild_id=guild_id, role_id=role_id)


@job
class DeleteRoleConnections(Job, frozen=True, kw_only=True):
    """Deletes what a deleted application had stored for users, and checks the linked roles that refer to it."""

    kind: ClassVar[str] = "delete role connections"
    application_id: ApplicationId

    async def step(self, ctx: Context) -> Job | None:
        """Delete some hundred rows."""
        if await queries.delete_some_connections(ctx.tx, self.application_id):
            return self
        await enqueue(ctx, RecheckApplication(application_id=self.application_id))
        return None
