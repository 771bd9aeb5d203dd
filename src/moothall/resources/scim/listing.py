"""Lists of users and groups: pages, and what filters match."""

from collections.abc import Iterable

from moothall.api.context import Context
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.resources.identity_provider.queries import ProviderRow
from moothall.resources.scim import queries
from moothall.resources.scim.errors import ScimRefusal
from moothall.resources.scim.filters import Filter
from moothall.resources.scim.objects import MEMBERS_MAX
from moothall.resources.scim.queries import GroupResourceRow, MemberName, UserResourceRow
from moothall.resources.scim.rendering import Selection, group_document, user_document
from moothall.storage.bulk import map_items

_BATCH = 200
_SCANNED_MAX = 20_000
"""Users of a provider that a filter without an index may look at."""


async def list_users(
    ctx: Context, provider: ProviderRow, base: str, condition: Filter | None, *, skipped: int, count: int
) -> tuple[list[JsonObject], int]:
    """A page of a provider's users that match, by their ids, and how many match in all.

    Raises ScimRefusal 400 (tooMany) for a filter that would look at more than 20,000 users.
    """
    if condition is None:
        rows = await queries.select_page(ctx.tx, provider.id, skipped=skipped, count=count) if count else []
        return await user_documents(ctx, provider, base, rows), await queries.count_users(ctx.tx, provider.id)
    candidates = await _candidates(ctx, provider, condition)
    if candidates is None:
        return await _scan(ctx, provider, base, condition, skipped=skipped, count=count)
    documents = [each for each in await user_documents(ctx, provider, base, candidates) if condition.matches(each)]
    return documents[skipped : skipped + count], len(documents)


async def list_groups(
    ctx: Context,
    provider: ProviderRow,
    base: str,
    condition: Filter | None,
    selection: Selection,
    *,
    skipped: int,
    count: int,
) -> tuple[list[JsonObject], int]:
    """A page of a provider's groups that match, by their ids, and how many match in all.

    Members are read if they are wanted, and a page ends with the group that has the 10,000th of them.
    """
    rows = await queries.select_groups(ctx.tx, provider.id)
    if condition is not None:
        matches = await map_items(ctx.tx, lambda row: condition.matches(group_document(base, row)), rows)
        rows = [row for row, matching in zip(rows, matches, strict=True) if matching]
    page = rows[skipped : skipped + count]
    if not selection.has("members"):
        return [group_document(base, row) for row in page], len(rows)
    counts = await queries.count_members(ctx.tx, provider.id)
    shown: list[GroupResourceRow] = []
    members = 0
    for row in page:
        members += counts.get(row.id, 0)
        if shown and members > MEMBERS_MAX:
            break
        shown.append(row)
    return await group_documents(ctx, provider, base, shown), len(rows)


async def user_documents(
    ctx: Context, provider: ProviderRow, base: str, rows: list[UserResourceRow]
) -> list[JsonObject]:
    """The JSON of users, with their groups."""
    memberships: dict[UserId, list[MemberName]] = {}
    if rows:
        for each in await queries.select_memberships(ctx.tx, provider.id, [row.user_id for row in rows]):
            memberships.setdefault(each.user_id, []).append(each)
    return await map_items(ctx.tx, lambda row: user_document(base, row, memberships.get(row.user_id, ())), rows)


async def group_documents(
    ctx: Context, provider: ProviderRow, base: str, rows: list[GroupResourceRow]
) -> list[JsonObject]:
    """The JSON of groups, with their members."""
    members: dict[Snowflake, list[MemberName]] = {}
    if rows:
        for each in await queries.select_members(ctx.tx, provider.id, [row.id for row in rows]):
            members.setdefault(each.group_id, []).append(each)
    return await map_items(ctx.tx, lambda row: group_document(base, row, members.get(row.id, ())), rows)


async def _candidates(ctx: Context, provider: ProviderRow, condition: Filter) -> list[UserResourceRow] | None:
    """The users that an index finds for a comparison for equality; None if there is no index for it."""
    value = condition.value
    if condition.attribute == "id" and isinstance(value, str):
        user_id = Snowflake.read(value)
        row = None if user_id is None else await queries.select_user_resource(ctx.tx, provider.id, UserId(user_id))
        return _visible([row])
    if condition.attribute == "username" and isinstance(value, str):
        return _visible([await queries.select_by_name(ctx.tx, provider.id, value.casefold())])
    if condition.attribute == "externalid" and isinstance(value, str):
        return await queries.select_by_external_id(ctx.tx, provider.id, value)
    return None


def _visible(rows: Iterable[UserResourceRow | None]) -> list[UserResourceRow]:
    return [row for row in rows if row is not None and not row.removed]


async def _scan(
    ctx: Context, provider: ProviderRow, base: str, condition: Filter, *, skipped: int, count: int
) -> tuple[list[JsonObject], int]:
    if await queries.count_users(ctx.tx, provider.id) > _SCANNED_MAX:
        raise ScimRefusal(400, "Filter by userName, externalId or id.", scim_type="tooMany")
    documents: list[JsonObject] = []
    total, after = 0, UserId(Snowflake(0))
    while rows := await queries.select_after(ctx.tx, provider.id, after, _BATCH):
        after = rows[-1].user_id
        matching = [each for each in await user_documents(ctx, provider, base, rows) if condition.matches(each)]
        documents += matching[max(0, skipped - total) : max(0, skipped + count - total)]
        total += len(matching)
    return documents, total
