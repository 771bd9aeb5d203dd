"""Prune operations: finding and removing inactive members (api.md, Prune)."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct

from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.api.pipeline import too_many_requests
from moothall.api.unit_of_work import run
from moothall.objects.audit_log import AuditLogEvent, AuditLogOptions
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.guild.membership.operations import remove_members
from moothall.resources.guild.prune import queries
from moothall.resources.guild.prune.cache import InactiveMembers
from moothall.resources.member.events import GuildMemberRemove
from moothall.resources.user.queries import get_users
from moothall.resources.voice.events import VOICE_EVENTS

PRUNE_EVENTS: Final[Fires] = (GuildMemberRemove, *VOICE_EVENTS)
"""The events of `prune_members`, which every row that calls it declares."""

_BATCH: Final = 100
"""Members removed in one transaction, which blocks other writers for milliseconds."""

_MAX_CONCURRENT: Final = 3
"""Concurrent prunes in a process. Each keeps a database connection until it ends."""

_DAY: Final = 86_400_000


class RunningPrunes:
    """The guilds that this process is pruning."""

    def __init__(self) -> None:
        self.guilds: set[GuildId] = set()


class PruneCriteria(Struct, frozen=True):
    """Which members a prune removes: those not seen since `since` whose stored role list is one of `role_lists`."""

    since: Timestamp
    role_lists: tuple[str, ...]


def parse_include_roles(ctx: Context, role_ids: Iterable[str]) -> list[RoleId]:
    """The role ids in `include_roles`; blank items are ignored. Raises Refusal: 400/50035 for an unknown role."""
    form_errors = FormErrors()
    roles = []
    for index, text in enumerate(part for part in role_ids if part.strip()):
        try:
            role_id = RoleId(Snowflake.from_wire(text.strip()))
        except ValueError as problem:
            form_errors.add(["include_roles", index], FormCode.NUMBER_TYPE_COERCE, str(problem))
            continue
        if role_id not in ctx.guild.roles:
            form_errors.add(
                ["include_roles", index], FormCode.BASE_TYPE_CHOICES, "This role does not exist in this guild."
            )
        roles.append(role_id)
    form_errors.raise_if_any()
    return roles


async def prune_criteria(ctx: Context, guild_id: GuildId, days: int, include_roles: Iterable[RoleId]) -> PruneCriteria:
    """The criteria for members below the actor, without other roles than the included ones, not seen for `days`."""
    allowed = {int(role) for role in include_roles}
    lists = []
    for listed, role_ids in await ctx.services.resources[InactiveMembers].role_lists(ctx.tx, guild_id):
        if allowed.issuperset(role_ids) and ctx.member.outranks(0, role_ids):
            lists.append(listed)
    return PruneCriteria(Timestamp(ctx.now - days * _DAY), tuple(lists))


async def find_prunable(ctx: Context, guild_id: GuildId, criteria: PruneCriteria) -> list[UserId]:
    """The members who meet the criteria now, without those connected to the gateway, who count as seen."""
    user_ids = await _inactive(ctx, guild_id, criteria)
    return sorted(user_ids - ctx.services.presences.connected_among(user_ids))


async def count_prunable(ctx: Context, guild_id: GuildId, criteria: PruneCriteria) -> int:
    """The number of members that `find_prunable` returns."""
    user_ids = await _inactive(ctx, guild_id, criteria)
    return len(user_ids) - len(ctx.services.presences.connected_among(user_ids))


async def _inactive(ctx: Context, guild_id: GuildId, criteria: PruneCriteria) -> frozenset[UserId]:
    return await ctx.services.resources[InactiveMembers].get(
        ctx.tx, guild_id, owner_id=ctx.guild.owner_id, since=criteria.since, role_lists=criteria.role_lists
    )


async def prune_members(ctx: Context, guild_id: GuildId, days: int, include_roles: Iterable[RoleId]) -> int:
    """Remove every inactive member in batches, each in a transaction of its own; returns how many were removed.

    The audit entry is written with the first batch, which is the only one in most guilds. If a batch fails, the members
    of later ones stay, and another prune removes them. Raises Refusal: 429 while this guild or `_MAX_CONCURRENT` others
    are being pruned.
    """
    running = ctx.services.resources[RunningPrunes].guilds
    if guild_id in running or len(running) >= _MAX_CONCURRENT:
        raise too_many_requests(5.0, "shared", [])
    running.add(guild_id)
    try:
        return await _prune_in_batches(ctx, guild_id, days, include_roles)
    finally:
        running.discard(guild_id)


async def _prune_in_batches(ctx: Context, guild_id: GuildId, days: int, include_roles: Iterable[RoleId]) -> int:
    criteria = await prune_criteria(ctx, guild_id, days, include_roles)
    user_ids = await find_prunable(ctx, guild_id, criteria)
    removed = 0
    for start in range(0, len(user_ids), _BATCH):
        batch, rest = user_ids[start : start + _BATCH], len(user_ids) - start - _BATCH
        removed += await _remove_batch(ctx, guild_id, criteria, batch, days, rest=max(rest, 0), first=start == 0)
    return removed


async def _remove_batch(
    outer: Context,
    guild_id: GuildId,
    criteria: PruneCriteria,
    batch: Sequence[UserId],
    days: int,
    *,
    rest: int,
    first: bool,
) -> int:
    """Remove one batch; `rest` is the number of members in later ones. The first batch writes the audit entry."""

    async def work(ctx: Context) -> int:
        # Members of the batch may have been seen or given a role since they were selected.
        rows = await queries.select_inactive_among(
            ctx.tx,
            guild_id,
            batch,
            owner_id=outer.guild.owner_id,
            since=criteria.since,
            role_lists=criteria.role_lists,
        )
        users = await get_users(ctx.tx, [row.user_id for row in rows])
        await remove_members(ctx, guild_id, rows, users)
        if first and (rows or rest):
            options = AuditLogOptions(delete_member_days=str(days), members_removed=str(len(rows) + rest))
            await ctx.audit(AuditLogEvent.MEMBER_PRUNE, options=options, guild_id=guild_id)
        return len(rows)

    return await run(outer.services, outer.actor, work, fires=PRUNE_EVENTS, lock=guild_id, reason=outer.reason)
