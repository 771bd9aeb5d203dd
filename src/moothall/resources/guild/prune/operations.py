"""Finding and removing inactive members (api.md, Prune)."""

from collections.abc import Iterable, Sequence
from typing import Final

import msgspec
from msgspec import Struct

from moothall.kernel.context import Context
from moothall.kernel.hooks import Fires
from moothall.kernel.pipeline import too_many
from moothall.kernel.unit_of_work import run
from moothall.objects.audit_log import AuditLogEvent, AuditLogOptions
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import GuildId, RoleId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.guild.membership.operations import remove_members
from moothall.resources.guild.prune import queries
from moothall.resources.member.events import GuildMemberRemove
from moothall.resources.user.queries import get_users
from moothall.resources.voice.events import VoiceStateUpdate

PRUNING: Final[Fires] = (GuildMemberRemove, VoiceStateUpdate)
"""What a row declares to fire if it may prune."""

_BATCH: Final = 250
"""Members removed in one transaction: others wait for milliseconds, however many there are in all."""

_MAX_AT_ONCE: Final = 3
"""Prunings that run side by side in a process. Each keeps a connection to the database while it lasts."""

_DAY: Final = 86_400_000
_read_ids = msgspec.json.Decoder(list[int]).decode


class Prunings:
    """The guilds that are being pruned by this process."""

    def __init__(self) -> None:
        self.guilds: set[GuildId] = set()


class Rule(Struct, frozen=True):
    """Whom a pruning removes: members not seen `since`, whose stored list of roles is one of `role_lists`."""

    since: Timestamp
    role_lists: tuple[str, ...]


def read_roles(ctx: Context, given: Iterable[str]) -> list[RoleId]:
    """The roles of `include_roles`. Raises Refusal 400/50035 for what is no role of the guild."""
    form_errors = FormErrors()
    roles = []
    for index, text in enumerate(part for part in given if part.strip()):
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


async def find_rule(ctx: Context, guild_id: GuildId, days: int, include_roles: Iterable[RoleId]) -> Rule:
    """Who counts as inactive and prunable: members with none but the included roles, below the actor."""
    allowed = {int(role) for role in include_roles}
    lists = []
    for listed in await queries.select_role_lists(ctx.tx, guild_id):
        held = _read_ids(listed)
        if allowed.issuperset(held) and ctx.member.outranks(0, held):
            lists.append(listed)
    return Rule(Timestamp(ctx.now - days * _DAY), tuple(lists))


async def find_inactive(ctx: Context, guild_id: GuildId, rule: Rule) -> list[UserId]:
    """Whom a rule would remove now. Who is connected has been seen, however long ago they connected."""
    found = await queries.select_inactive(
        ctx.tx, guild_id, owner_id=ctx.guild.owner_id, since=rule.since, role_lists=rule.role_lists
    )
    here = ctx.services.presences.is_connected
    return [user_id for user_id in found if not here(user_id)]


async def prune(ctx: Context, guild_id: GuildId, days: int, include_roles: Iterable[RoleId]) -> int:
    """Remove every inactive member, batch by batch, each in a transaction of its own; how many they were.

    The audit entry stands with the first batch, which for most guilds is the only one. If it breaks
    off, those who were not reached are still members, and pruning again goes on. Raises Refusal 429
    while this guild, or several others, are being pruned.
    """
    running = ctx.services.extra.setdefault(Prunings, Prunings()).guilds
    if guild_id in running or len(running) >= _MAX_AT_ONCE:
        raise too_many(5.0, "shared", [])
    running.add(guild_id)
    try:
        return await _prune(ctx, guild_id, days, include_roles)
    finally:
        running.discard(guild_id)


async def _prune(ctx: Context, guild_id: GuildId, days: int, include_roles: Iterable[RoleId]) -> int:
    rule = await find_rule(ctx, guild_id, days, include_roles)
    inactive = await find_inactive(ctx, guild_id, rule)
    removed = 0
    for start in range(0, len(inactive), _BATCH):
        batch, rest = inactive[start : start + _BATCH], len(inactive) - start - _BATCH
        removed += await _remove_batch(ctx, guild_id, rule, batch, days, rest=max(rest, 0), first=start == 0)
    return removed


async def _remove_batch(
    outer: Context, guild_id: GuildId, rule: Rule, batch: Sequence[UserId], days: int, *, rest: int, first: bool
) -> int:
    async def work(ctx: Context) -> int:
        # Somebody may have been seen, or been given a role, since they were found.
        rows = await queries.select_inactive_among(
            ctx.tx,
            guild_id,
            batch,
            owner_id=outer.guild.owner_id,
            since=rule.since,
            role_lists=rule.role_lists,
        )
        await remove_members(ctx, guild_id, rows, await get_users(ctx.tx, [row.user_id for row in rows]))
        if first and (rows or rest):
            options = AuditLogOptions(delete_member_days=str(days), members_removed=str(len(rows) + rest))
            await ctx.audit(AuditLogEvent.MEMBER_PRUNE, options=options, guild_id=guild_id)
        return len(rows)

    return await run(outer.services, outer.actor, work, fires=PRUNING, lock=guild_id, reason=outer.reason)
