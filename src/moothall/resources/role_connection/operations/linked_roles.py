"""Operations on linked roles: their requirements, and members who claim them."""

from collections.abc import Mapping, Sequence

from msgspec import UNSET, structs

from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.api.jobs import enqueue, enqueue_later
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ApplicationId, RoleId, Snowflake
from moothall.objects.role import Role, RoleTags, is_linked
from moothall.objects.role_connection import (
    APPLICATION,
    CheckedRequirement,
    LinkedRole,
    MetadataRecord,
    Requirement,
)
from moothall.resources.application.queries import ApplicationRow, select_applications
from moothall.resources.guild.membership.operations import role_changes
from moothall.resources.guild.role.events import GuildRoleUpdate
from moothall.resources.guild.role.operations import find_role
from moothall.resources.guild.role.queries import update_role
from moothall.resources.integration.queries import select_application_ids
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.member.queries import get_member, member_object, update_member
from moothall.resources.role_connection import queries
from moothall.resources.role_connection.lookup import (
    application_objects,
    read_user_connections,
    referenced_applications,
)
from moothall.resources.role_connection.operations.jobs import RecheckRole, RecheckUser, recheck_times
from moothall.resources.role_connection.queries import ClaimRow, LinkedRoleRow
from moothall.resources.role_connection.requests import RequirementInput
from moothall.resources.role_connection.rules import judge_requirement, judge_rules, requirement_value
from moothall.storage.rows import MemberRow


async def list_linked_roles(ctx: Context) -> list[LinkedRole]:
    """The linked roles of the guild entered, with the applications that they refer to."""
    rows = [row for row in await queries.select_linked_roles(ctx.tx, ctx.guild.id) if row.role_id in ctx.guild.roles]
    applications = await select_applications(ctx.tx, referenced_applications(rows))
    objects = await application_objects(ctx, applications.values())
    return [
        LinkedRole(
            role_id=row.role_id,
            rules=row.rules,
            applications={
                application_id.wire(): objects[application_id]
                for application_id in sorted(referenced_applications([row]))
                if application_id in objects
            },
        )
        for row in rows
    ]


async def get_rules(ctx: Context, role_id: RoleId) -> list[list[Requirement]]:
    """The requirements of a role; none for a role that is not linked. Raises Refusal: 404/10011."""
    find_role(ctx, role_id)
    row = await queries.select_linked_role(ctx.tx, ctx.guild.id, role_id)
    return [] if row is None else row.rules


async def set_rules(
    ctx: Context, role_id: RoleId, body: Sequence[Sequence[RequirementInput]]
) -> list[list[Requirement]]:
    """Replace the requirements of a role, which makes it a linked role; an empty list ends that.

    Members who claimed the role and do not meet the new requirements lose it by a job; those of a role that is not
    linked any more keep it. Raises Refusal: 404/10011, 403/50013 for a role not below the actor's highest, 400/50028
    for @everyone and managed roles, 400/50035.
    """
    before = find_role(ctx, role_id)
    if not ctx.member.outranks_role(before):
        raise Refusal(errors.MISSING_PERMISSIONS)
    if before.managed or before.id == ctx.guild.everyone.id:
        raise Refusal(errors.INVALID_ROLE)
    rules = await _read_rules(ctx, body)
    if rules == await get_rules(ctx, role_id):
        return rules
    if rules:
        await queries.upsert_linked_role(ctx.tx, LinkedRoleRow(ctx.guild.id, role_id, rules))
    else:
        await queries.delete_linked_role(ctx.tx, ctx.guild.id, role_id)
    await enqueue(ctx, RecheckRole(guild_id=ctx.guild.id, role_id=role_id))
    await _tag_role(ctx, before, linked=bool(rules))
    return rules


async def _tag_role(ctx: Context, before: Role, *, linked: bool) -> None:
    tags = RoleTags() if before.tags is UNSET else before.tags
    tags = structs.replace(tags, guild_connections=None if linked else UNSET)
    after = structs.replace(before, tags=UNSET if tags == RoleTags() else tags)
    if after != before:
        await update_role(ctx.tx, ctx.guild.id, before, after)
    await ctx.audit(AuditLogEvent.ROLE_UPDATE, target=before.id)
    ctx.emit(GuildRoleUpdate(guild_id=ctx.guild.id, role=after))


async def _read_rules(ctx: Context, body: Sequence[Sequence[RequirementInput]]) -> list[list[Requirement]]:
    """The valid requirements of a request. Applications must be in the guild and have a page that verifies users."""
    requested = {
        requirement.application_id for rule in body for requirement in rule if requirement.application_id is not None
    }
    installed = set(await select_application_ids(ctx.tx, ctx.guild.id, sorted(requested))) if requested else set()
    applications = await select_applications(ctx.tx, installed)
    records = await queries.select_metadata(ctx.tx, installed)
    form_errors = FormErrors()
    rules = [
        [
            _read_requirement(requirement, applications, records, form_errors.at([rule_index, index]))
            for index, requirement in enumerate(rule)
        ]
        for rule_index, rule in enumerate(body)
    ]
    form_errors.raise_if_any()
    return [[requirement for requirement in rule if requirement is not None] for rule in rules]


def _read_requirement(
    body: RequirementInput,
    applications: Mapping[ApplicationId, ApplicationRow],
    records: Mapping[ApplicationId, Sequence[MetadataRecord]],
    form_errors: FormErrors,
) -> Requirement | None:
    if body.connection_type != APPLICATION:
        # Users' other connections are never verified here, so that anybody could claim the role.
        form_errors.add("connection_type", *FieldError.choices([APPLICATION]))
        return None
    if body.application_id is None:
        form_errors.add("application_id", *FieldError.required())
        return None
    application = applications.get(body.application_id)
    if application is None or not application.role_connections_verification_url:
        message = "This application is not in the guild, or has no verification page."
        form_errors.add("application_id", FormCode.BASE_TYPE_CHOICES, message)
        return None
    if body.connection_metadata_field is None:
        return Requirement(application_id=application.id)
    return _read_field_requirement(body, application.id, records.get(application.id, ()), form_errors)


def _read_field_requirement(
    body: RequirementInput,
    application_id: ApplicationId,
    listed: Sequence[MetadataRecord],
    form_errors: FormErrors,
) -> Requirement | None:
    record = next((each for each in listed if each.key == body.connection_metadata_field), None)
    if record is None:
        form_errors.add("connection_metadata_field", *FieldError.choices([each.key for each in listed]))
        return None
    if body.operator not in {None, record.type}:
        form_errors.add("operator", *FieldError.choices([str(int(record.type))]))
        return None
    value = requirement_value(record.type, body.value)
    if value is None:
        form_errors.add("value", FormCode.BASE_TYPE_BAD_TYPE, "This value does not fit the type of the field.")
        return None
    return Requirement(
        connection_metadata_field=record.key, operator=record.type, value=value, application_id=application_id
    )


async def check_eligibility(ctx: Context, role_id: RoleId) -> list[list[CheckedRequirement]]:
    """The requirements of a linked role, each with whether the actor meets it. Raises Refusal: 404/10011."""
    row = await _find_linked_role(ctx, role_id)
    application_ids = referenced_applications([row])
    applications = await select_applications(ctx.tx, application_ids)
    objects = await application_objects(ctx, applications.values())
    connections = (await read_user_connections(ctx, application_ids, [ctx.actor.user_id]))[ctx.actor.user_id]

    def check(requirement: Requirement) -> CheckedRequirement:
        records = connections.records.get(requirement.application_id, ())
        record = next((each for each in records if each.key == requirement.connection_metadata_field), None)
        return CheckedRequirement(
            **structs.asdict(requirement),
            application=objects.get(requirement.application_id),
            name=UNSET if record is None else record.name,
            description=UNSET if record is None else record.description,
            result=judge_requirement(requirement, connections, ctx.now).met,
        )

    return [[check(requirement) for requirement in rule] for rule in row.rules]


async def claim_role(ctx: Context, role_id: RoleId) -> None:
    """Add a linked role to the actor, who meets its requirements; does nothing if they have claimed it.

    Raises Refusal: 404/10011, 403/20001 for bots, 403/50013 for guests and users who do not meet the requirements.
    """
    row = await _find_linked_role(ctx, role_id)
    member = await _find_own_member(ctx)
    connections = await read_user_connections(ctx, referenced_applications([row]), [member.user_id])
    verdict = judge_rules(row.rules, connections[member.user_id], ctx.now)
    if not verdict.met:
        raise Refusal(errors.MISSING_PERMISSIONS)
    claim = ClaimRow(ctx.guild.id, role_id, member.user_id, verdict.expires_at)
    await queries.upsert_claims(ctx.tx, [claim])
    # Values that changed meanwhile are seen by this check: that of the change may have been over before the claim was.
    await enqueue(ctx, RecheckUser(user_id=member.user_id, guild_id=ctx.guild.id, only=True))
    await enqueue_later(ctx, recheck_times([claim]))
    if role_id not in member.roles:
        await _change_roles(ctx, member, add=role_id)


async def unclaim_role(ctx: Context, role_id: RoleId) -> None:
    """Remove a linked role from the actor; does nothing if they do not have it.

    Raises Refusal: 404/10011, 403/20001 for bots, 403/50013 for guests.
    """
    await _find_linked_role(ctx, role_id)
    member = await _find_own_member(ctx)
    await queries.delete_claims(ctx.tx, [ClaimRow(ctx.guild.id, role_id, member.user_id, None)])
    if role_id in member.roles:
        await _change_roles(ctx, member, remove=role_id)


async def unlink_deleted_role(ctx: Context, role_id: RoleId) -> None:
    """Delete the requirements of a role that was deleted; a job deletes its claims."""
    role = ctx.guild.roles.get(role_id)
    if role is not None and is_linked(role) and await queries.delete_linked_role(ctx.tx, ctx.guild.id, role_id):
        await enqueue(ctx, RecheckRole(guild_id=ctx.guild.id, role_id=role_id))


async def _find_linked_role(ctx: Context, role_id: RoleId) -> LinkedRoleRow:
    find_role(ctx, role_id)
    row = await queries.select_linked_role(ctx.tx, ctx.guild.id, role_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_ROLE)
    return row


async def _find_own_member(ctx: Context) -> MemberRow:
    if ctx.actor.kind is not TokenKind.SESSION:
        raise Refusal(errors.BOTS_CANNOT_USE)
    member = await get_member(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    # A role would make a guest a full member.
    if member is None or member.guest_channel_id is not None:
        raise Refusal(errors.MISSING_PERMISSIONS)
    return member


async def _change_roles(
    ctx: Context, member: MemberRow, *, add: RoleId | None = None, remove: RoleId | None = None
) -> None:
    # A deleted role may still be in the row until its job removes it: do not write it back.
    roles = [Snowflake(role) for role in member.roles if role in ctx.guild.roles and role != remove]
    if add is not None:
        roles.append(Snowflake(add))
    # A role makes a temporary membership permanent.
    after = structs.replace(member, roles=roles, temporary=member.temporary and not roles)
    await update_member(ctx.tx, ctx.guild.id, member.user_id, roles=roles, temporary=after.temporary)
    changes = role_changes(ctx, member.roles, roles)
    await ctx.audit(AuditLogEvent.MEMBER_ROLE_UPDATE, target=member.user_id, changes=changes)
    ctx.emit(GuildMemberUpdate(guild_id=ctx.guild.id, member=await member_object(ctx.tx, after)))
