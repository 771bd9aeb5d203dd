"""Operations: the steps by which a deleted guild comes back, or is deleted for good."""

from collections.abc import Iterable
from typing import ClassVar, Final

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, job
from moothall.objects.ids import GuildId, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.guild.jobs import enqueue_guild_purge
from moothall.resources.guild_deletion import queries
from moothall.resources.guild_deletion.queries import DeletedGuildRow
from moothall.resources.member.events import GuildOpen

_OPENED_AT_ONCE: Final = 100


async def show_guild(ctx: Context, row: DeletedGuildRow, owner_id: UserId) -> None:
    """Move a guild back whose members are back, and let a job send their sessions GUILD_CREATE.

    A vanity URL code that another guild has meanwhile is not restored.
    """
    code = row.vanity_url_code
    if code is not None and await queries.is_vanity_taken(ctx.tx, code):
        code = None
    await queries.show_guild(ctx.tx, row, version=ctx.ids.next(), owner_id=owner_id, vanity_url_code=code)
    await enqueue(ctx, OpenGuild(guild_id=row.id))


def open_guild(ctx: Context, guild_id: GuildId, user_ids: Iterable[UserId]) -> None:
    """Let sessions of users receive GUILD_CREATE of a guild; those that have it receive nothing."""
    for user_id in user_ids:
        ctx.emit(GuildOpen(user_id=user_id, guild_id=guild_id))


class _OfGuild(Job, frozen=True, kw_only=True):
    guild_id: GuildId

    @property
    def lock(self) -> GuildId:
        """The guild's."""
        return self.guild_id


@job
class HideMembers(_OfGuild, frozen=True, kw_only=True):
    """Moves the members of a deleted guild out of reach, so that nothing lists them or counts them."""

    kind: ClassVar[str] = "hide_members"

    async def step(self, ctx: Context) -> Job | None:
        """Move the next members; end if the guild is restored meanwhile."""
        row = await queries.select_deleted(ctx.tx, self.guild_id)
        if row is None or row.restoring:
            return None
        return self if await queries.hide_some_members(ctx.tx, self.guild_id) else None


@job
class RestoreGuild(_OfGuild, frozen=True, kw_only=True):
    """Moves the members of a deleted guild back, and then the guild."""

    kind: ClassVar[str] = "restore_guild"
    owner_id: UserId

    async def step(self, ctx: Context) -> Job | None:
        """Move the next members, or the guild once there are none left."""
        row = await queries.select_deleted(ctx.tx, self.guild_id)
        if row is None:
            return None
        if await queries.show_some_members(ctx.tx, self.guild_id):
            return self
        await show_guild(ctx, row, self.owner_id)
        return None


@job
class OpenGuild(_OfGuild, frozen=True, kw_only=True):
    """Sends the sessions of a restored guild's members GUILD_CREATE, some members at a time."""

    kind: ClassVar[str] = "open_guild"
    after: int = 0

    async def step(self, ctx: Context) -> Job | None:
        """Open the guild for the next members; end if it is deleted again."""
        if not await queries.is_present(ctx.tx, self.guild_id):
            return None
        user_ids = await queries.select_members_after(ctx.tx, self.guild_id, self.after, _OPENED_AT_ONCE)
        open_guild(ctx, self.guild_id, user_ids)
        if len(user_ids) < _OPENED_AT_ONCE:
            return None
        return OpenGuild(guild_id=self.guild_id, after=int(user_ids[-1]))


@job
class DeleteGuildForGood(_OfGuild, frozen=True, kw_only=True):
    """Deletes a guild that no operator has restored in time."""

    kind: ClassVar[str] = "delete_guild_for_good"
    deletes_at: Timestamp
    """Another moment in the guild's row means that it was restored, and deleted again."""

    async def step(self, ctx: Context) -> Job | None:
        """Delete what is left of the guild, by the job that purges guilds."""
        row = await queries.select_deleted(ctx.tx, self.guild_id)
        if row is None or row.deletes_at != self.deletes_at or row.restoring:
            return None
        await queries.delete_for_good(ctx.tx, self.guild_id)
        await enqueue_guild_purge(ctx, self.guild_id)
        return None
