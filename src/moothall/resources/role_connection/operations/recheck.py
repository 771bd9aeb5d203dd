"""Checking claims of linked roles again, and removing the roles that members may not keep."""

from collections.abc import Sequence

from msgspec import structs

from moothall.api.context import Context
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import Refusal
from moothall.objects.ids import GuildId, RoleId, UserId
from moothall.objects.role import is_linked
from moothall.resources.guild.membership.operations import role_changes
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.member.queries import get_members, member_objects
from moothall.resources.role_connection import queries
from moothall.resources.role_connection.lookup import read_user_connections, referenced_applications
from moothall.resources.role_connection.queries import ClaimRow, LinkedRoleRow
from moothall.resources.role_connection.rules import Verdict, judge_rules
from moothall.storage.rows import MemberRow


async def recheck_claims(ctx: Context, guild_id: GuildId, claims: Sequence[ClaimRow]) -> list[ClaimRow]:
    """Remove linked roles from the members whose claims do not match any more, and delete these claims.

    A claim on a role that is not linked any more is deleted, and its member keeps the role. Returns the claims that
    stay and expire at another time than before. A fixed number of statements, whatever the number of claims. The
    transaction holds the lock of the guild.
    """
    try:
        await ctx.visit_guild(guild_id)
    except Refusal:
        # The job that deletes the guild deletes its claims.
        return []
    if not claims:
        return []
    linked = {row.role_id: row for row in await queries.select_linked_roles(ctx.tx, guild_id)}
    members = await get_members(ctx.tx, guild_id, {claim.user_id for claim in claims})
    ended, unmatched, renewed = [], [], []
    verdicts = await _judge(ctx, claims, linked)
    for claim, verdict in zip(claims, verdicts, strict=True):
        member = members.get(claim.user_id)
        if member is None or verdict is None or claim.role_id not in member.roles:
            ended.append(claim)
        elif not verdict.met:
            unmatched.append(claim)
        elif verdict.expires_at != claim.expires_at:
            renewed.append(structs.replace(claim, expires_at=verdict.expires_at))
    await queries.delete_claims(ctx.tx, [*ended, *unmatched])
    await queries.upsert_claims(ctx.tx, renewed)
    await _remove_roles(ctx, members, unmatched)
    return renewed


async def _judge(ctx: Context, claims: Sequence[ClaimRow], linked: dict[RoleId, LinkedRoleRow]) -> list[Verdict | None]:
    """The verdict on each claim; None for a role that is not linked any more."""
    application_ids = referenced_applications(linked.values())
    connections = await read_user_connections(ctx, application_ids, list({claim.user_id for claim in claims}))
    verdicts: list[Verdict | None] = []
    for claim in claims:
        role, row = ctx.guild.roles.get(claim.role_id), linked.get(claim.role_id)
        if role is None or row is None or not is_linked(role):
            verdicts.append(None)
        else:
            verdicts.append(judge_rules(row.rules, connections[claim.user_id], ctx.now))
    return verdicts


async def _remove_roles(ctx: Context, members: dict[UserId, MemberRow], claims: Sequence[ClaimRow]) -> None:
    removed: dict[UserId, set[RoleId]] = {}
    for claim in claims:
        removed.setdefault(claim.user_id, set()).add(claim.role_id)
    after = [
        structs.replace(members[user_id], roles=[role for role in members[user_id].roles if role not in role_ids])
        for user_id, role_ids in removed.items()
    ]
    if not after:
        return
    await queries.update_roles(ctx.tx, after)
    await ctx.audit_each(
        AuditLogEvent.MEMBER_ROLE_UPDATE,
        [(row.user_id, role_changes(ctx, members[row.user_id].roles, row.roles)) for row in after],
    )
    for member in await member_objects(ctx.tx, after):
        ctx.emit(GuildMemberUpdate(guild_id=ctx.guild.id, member=member))
