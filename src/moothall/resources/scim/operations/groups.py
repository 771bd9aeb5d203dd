"""Operations on the groups of a provider."""

from collections.abc import Iterable, Mapping
from typing import Final

from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import enqueue_later
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.wire import Timestamp
from moothall.resources.identity_provider.queries import ProviderRow
from moothall.resources.operator_log.operations import record_act
from moothall.resources.scim import queries
from moothall.resources.scim.errors import ScimRefusal, invalid_value
from moothall.resources.scim.jobs import ApplyProvisionedGroups
from moothall.resources.scim.objects import MEMBERS_MAX, GroupDocument, read_group
from moothall.resources.scim.patches import MemberChanges, Operation, patch_document, patch_members
from moothall.resources.scim.queries import GroupResourceRow
from moothall.storage.database import ConstraintFailed, StorageConflict

GROUPS_MAX: Final = 2_000
"""Groups of a provider."""


async def create_group(ctx: Context, provider: ProviderRow, document: GroupDocument) -> GroupResourceRow:
    """Store a group, and give its members what it gives.

    Raises ScimRefusal: 409 (uniqueness) for a name that another group has, 400 for an unknown member and for too many.
    """
    present = await queries.select_groups(ctx.tx, provider.id)
    if any(row.display_name == document.display_name for row in present):
        raise _not_unique(document.display_name)
    if len(present) >= GROUPS_MAX:
        raise ScimRefusal(400, f"There are {GROUPS_MAX} groups already.", scim_type="tooMany")
    member_ids = await _known(ctx, provider, {member.value for member in document.members or ()})
    row = GroupResourceRow(
        provider_id=provider.id,
        id=ctx.ids.next(),
        display_name=document.display_name,
        external_id=document.external_id,
        version=1,
        created_at=ctx.now,
        updated_at=ctx.now,
    )
    try:
        await queries.insert_group(ctx.tx, row)
    except ConstraintFailed as error:
        raise StorageConflict(str(error)) from error
    await queries.insert_members(ctx.tx, provider.id, row.id, member_ids)
    await _apply(ctx, provider, member_ids)
    changes = {"display_name": (None, row.display_name), "members": (0, len(member_ids))}
    await record_act(ctx, "scim.add_group", row.id, changes={"provider": (None, provider.name), **changes})
    return row


async def replace_group(
    ctx: Context, provider: ProviderRow, row: GroupResourceRow, document: GroupDocument
) -> GroupResourceRow:
    """Replace a group and its members; the same again changes nothing. Raises ScimRefusal as `create_group`."""
    members = MemberChanges(replaced=True, added={member.value for member in document.members or ()})
    return await _change(ctx, provider, row, document, members)


async def patch_group(
    ctx: Context, provider: ProviderRow, row: GroupResourceRow, operations: list[Operation]
) -> GroupResourceRow:
    """Change a group by operations; members are added and removed. Raises ScimRefusal as `create_group`."""
    others, members = patch_members(operations)
    document: JsonObject = {"displayName": row.display_name, "externalId": row.external_id}
    return await _change(ctx, provider, row, read_group(patch_document(document, others)), members)


async def delete_group(ctx: Context, provider: ProviderRow, row: GroupResourceRow) -> None:
    """Delete a group, which takes from its members what it has given."""
    member_ids = await queries.select_member_ids(ctx.tx, provider.id, row.id)
    await queries.delete_group(ctx.tx, provider.id, row.id)
    await _apply(ctx, provider, member_ids)
    changes = {"display_name": (row.display_name, None), "members": (len(member_ids), 0)}
    await record_act(ctx, "scim.remove_group", row.id, changes={"provider": (provider.name, None), **changes})


async def _change(
    ctx: Context, provider: ProviderRow, row: GroupResourceRow, document: GroupDocument, changes: MemberChanges
) -> GroupResourceRow:
    before = await queries.select_member_ids(ctx.tx, provider.id, row.id)
    kept = set() if changes.replaced else before - _ids(changes.removed)
    new = _ids(changes.added) - kept
    if any(Snowflake.read(each) is None for each in changes.added):
        raise invalid_value("A member is not a user of this provider.")
    after = kept | (new & before) | await _known(ctx, provider, {str(int(each)) for each in new - before})
    if len(after) > MEMBERS_MAX:
        raise invalid_value(f"A group has up to {MEMBERS_MAX} members.")
    renamed = document.display_name != row.display_name
    if renamed:
        other = await queries.select_group_by_name(ctx.tx, provider.id, document.display_name)
        if other is not None:
            raise _not_unique(document.display_name)
    if after == before and not renamed and document.external_id == row.external_id:
        return row
    await queries.delete_members(ctx.tx, provider.id, row.id, before - after)
    await queries.insert_members(ctx.tx, provider.id, row.id, after - before)
    columns: JsonObject = {
        "display_name": document.display_name,
        "external_id": document.external_id,
        "version": row.version + 1,
        "updated_at": ctx.now,
    }
    try:
        await queries.update_group(ctx.tx, provider.id, row.id, **columns)
    except ConstraintFailed as error:
        raise StorageConflict(str(error)) from error
    await _apply(ctx, provider, after | before if renamed else after ^ before)
    logged: Mapping[str, tuple[object, object]] = {
        "provider": (None, provider.name),
        "display_name": (row.display_name, document.display_name),
        "members": (len(before), len(after)),
    }
    await record_act(ctx, "scim.change_group", row.id, changes=logged)
    return structs.replace(row, **columns)


async def _apply(ctx: Context, provider: ProviderRow, user_ids: Iterable[UserId]) -> None:
    """Enqueue what gives people what their groups say, for each of them."""
    jobs = [(ApplyProvisionedGroups(provider_id=provider.id, user_id=each), Timestamp(0)) for each in sorted(user_ids)]
    if jobs:
        await enqueue_later(ctx, jobs)
        ctx.after_commit.append(ctx.services.jobs_due.set)


async def _known(ctx: Context, provider: ProviderRow, texts: set[str]) -> set[UserId]:
    """The ids of users of the provider. Raises ScimRefusal 400 if one is not."""
    user_ids = _ids(texts)
    known = await queries.select_known(ctx.tx, provider.id, user_ids) if user_ids else set()
    if len(user_ids) < len(texts) or known != user_ids:
        raise invalid_value("A member is not a user of this provider.")
    return known


def _ids(texts: set[str]) -> set[UserId]:
    return {UserId(user_id) for each in texts if (user_id := Snowflake.read(each)) is not None}


def _not_unique(name: str) -> ScimRefusal:
    return ScimRefusal(409, f"There is a group {name} already.", scim_type="uniqueness")
