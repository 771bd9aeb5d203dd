"""SCIM 2.0 over HTTP: each provider has its base URL, `/api/scim/v2/NAME`."""

from typing import Annotated, Final

from msgspec import Meta

from moothall.api.context import Context
from moothall.api.endpoint import Response, delete, get, patch, post, put
from moothall.api.ratelimit import Rate
from moothall.api.request.body import ContentTypes
from moothall.api.request.parameters import Header
from moothall.objects.ids import Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.resources.identity_provider.queries import ProviderRow, select_provider_by_name
from moothall.resources.scim import operations, queries
from moothall.resources.scim.access import SCIM_ACTS, SCIM_READS
from moothall.resources.scim.errors import ScimRefusal, no_resource
from moothall.resources.scim.filters import parse_filter
from moothall.resources.scim.listing import group_documents, list_groups, list_users, user_documents
from moothall.resources.scim.objects import read_group, read_user
from moothall.resources.scim.patches import read_operations
from moothall.resources.scim.queries import GroupResourceRow, UserResourceRow
from moothall.resources.scim.rendering import (
    ALL,
    CONTENT_TYPE,
    Selection,
    check_version,
    group_document,
    list_response,
    response,
)
from moothall.resources.scim.schemas import PAGE_MAX, resource_types, schemas, service_provider_config
from moothall.resources.user.account.operations import EDIT_ACCOUNT_EVENTS
from moothall.resources.user.events import SessionsClose

_RATE: Final = Rate(500, 10.0)
_FIRES: Final = (SessionsClose, *EDIT_ACCOUNT_EVENTS)
_NAME_MAX: Final = 32
_SKIPPED_MAX: Final = 1 << 31
IfMatch = Annotated[str | None, Header("if-match")]
Names = Annotated[str, Meta(max_length=1000)]


Document = Annotated[JsonObject, ContentTypes(CONTENT_TYPE)]
"""A resource, or operations on one."""


@get("/scim/v2/{provider_name}/{resource_type}", permission=SCIM_READS, rate=_RATE)
async def get_scim_unknown(ctx: Context, provider_name: str, resource_type: str) -> Response:
    """Answer, in the shape of SCIM, that there is no such type of resources."""
    await _provider(ctx, provider_name)
    raise ScimRefusal(404, f"There are no resources of the type {resource_type[:_NAME_MAX]}.")


@post("/scim/v2/{provider_name}/{resource_type}", permission=SCIM_READS, rate=_RATE, writes=False)
async def post_scim_unknown(ctx: Context, provider_name: str, resource_type: str) -> Response:
    """Answer, in the shape of SCIM, that bulk operations and searches of all types are not supported."""
    await _provider(ctx, provider_name)
    raise ScimRefusal(501, f"{resource_type[:_NAME_MAX]} is not supported.")


@get("/scim/v2/{provider_name}/ServiceProviderConfig", permission=SCIM_READS, rate=_RATE)
async def get_scim_configuration(ctx: Context, provider_name: str) -> Response:
    """Return what of SCIM is supported."""
    return response(service_provider_config(_base(ctx, await _provider(ctx, provider_name))))


@get("/scim/v2/{provider_name}/ResourceTypes", permission=SCIM_READS, rate=_RATE)
async def list_scim_resource_types(ctx: Context, provider_name: str) -> Response:
    """List the types of resources."""
    documents = resource_types(_base(ctx, await _provider(ctx, provider_name)))
    return list_response(documents, total=len(documents))


@get("/scim/v2/{provider_name}/ResourceTypes/{resource_type}", permission=SCIM_READS, rate=_RATE)
async def get_scim_resource_type(ctx: Context, provider_name: str, resource_type: str) -> Response:
    """Return a type of resources."""
    return _one(resource_types(_base(ctx, await _provider(ctx, provider_name))), resource_type)


@get("/scim/v2/{provider_name}/Schemas", permission=SCIM_READS, rate=_RATE)
async def list_scim_schemas(ctx: Context, provider_name: str) -> Response:
    """List the schemas of users and groups."""
    documents = schemas(_base(ctx, await _provider(ctx, provider_name)))
    return list_response(documents, total=len(documents))


@get("/scim/v2/{provider_name}/Schemas/{schema_name}", permission=SCIM_READS, rate=_RATE)
async def get_scim_schema(ctx: Context, provider_name: str, schema_name: str) -> Response:
    """Return a schema."""
    return _one(schemas(_base(ctx, await _provider(ctx, provider_name))), schema_name)


@get("/scim/v2/{provider_name}/Users", permission=SCIM_READS, rate=_RATE)
async def list_scim_users(
    ctx: Context,
    provider_name: str,
    *,
    filter: Names = "",  # noqa: A002 the name of the protocol
    startIndex: int = 1,  # noqa: N803
    count: int = PAGE_MAX,
    attributes: Names = "",
    excludedAttributes: Names = "",  # noqa: N803
) -> Response:
    """List the accounts that a provider manages, by their ids: those that a filter matches."""
    provider = await _provider(ctx, provider_name)
    condition = parse_filter(filter) if filter else None
    skipped, size = max(1, startIndex) - 1, min(PAGE_MAX, max(0, count))
    base = _base(ctx, provider)
    documents, total = await list_users(ctx, provider, base, condition, skipped=min(skipped, _SKIPPED_MAX), count=size)
    selection = Selection(attributes, excludedAttributes)
    return list_response(documents, total=total, start=skipped + 1, selection=selection)


@post("/scim/v2/{provider_name}/Users", permission=SCIM_ACTS, rate=_RATE, fires=_FIRES, status=201)
async def create_scim_user(ctx: Context, provider_name: str, body: Document) -> Response:
    """Make the account of a person whom a provider knows."""
    provider = await _provider(ctx, provider_name)
    row = await operations.create_user(ctx, provider, read_user(body))
    return await _user(ctx, provider, row, status=201)


@get("/scim/v2/{provider_name}/Users/{resource_id}", permission=SCIM_READS, rate=_RATE)
async def get_scim_user(
    ctx: Context,
    provider_name: str,
    resource_id: str,
    *,
    attributes: Names = "",
    excludedAttributes: Names = "",  # noqa: N803
) -> Response:
    """Return an account that a provider manages."""
    provider = await _provider(ctx, provider_name)
    row = await _find_user(ctx, provider, resource_id)
    return await _user(ctx, provider, row, selection=Selection(attributes, excludedAttributes))


@put("/scim/v2/{provider_name}/Users/{resource_id}", permission=SCIM_ACTS, rate=_RATE, fires=_FIRES)
async def replace_scim_user(
    ctx: Context, provider_name: str, resource_id: str, body: Document, if_match: IfMatch = None
) -> Response:
    """Replace what a provider says of a person; an account that is not active any more is logged out at once."""
    provider = await _provider(ctx, provider_name)
    row = await _find_user(ctx, provider, resource_id)
    check_version(if_match, row.version)
    return await _user(ctx, provider, await operations.replace_user(ctx, provider, row, read_user(body)))


@patch("/scim/v2/{provider_name}/Users/{resource_id}", permission=SCIM_ACTS, rate=_RATE, fires=_FIRES)
async def modify_scim_user(
    ctx: Context, provider_name: str, resource_id: str, body: Document, if_match: IfMatch = None
) -> Response:
    """Change what a provider says of a person by operations."""
    provider = await _provider(ctx, provider_name)
    row = await _find_user(ctx, provider, resource_id)
    check_version(if_match, row.version)
    return await _user(ctx, provider, await operations.patch_user(ctx, provider, row, read_operations(body)))


@delete("/scim/v2/{provider_name}/Users/{resource_id}", permission=SCIM_ACTS, rate=_RATE, fires=_FIRES)
async def delete_scim_user(ctx: Context, provider_name: str, resource_id: str, if_match: IfMatch = None) -> None:
    """Close an account, end its logins, and delete it in `account_deletion_days`."""
    provider = await _provider(ctx, provider_name)
    row = await _find_user(ctx, provider, resource_id)
    check_version(if_match, row.version)
    await operations.delete_user(ctx, provider, row)


@get("/scim/v2/{provider_name}/Groups", permission=SCIM_READS, rate=_RATE)
async def list_scim_groups(
    ctx: Context,
    provider_name: str,
    *,
    filter: Names = "",  # noqa: A002 the name of the protocol
    startIndex: int = 1,  # noqa: N803
    count: int = PAGE_MAX,
    attributes: Names = "",
    excludedAttributes: Names = "",  # noqa: N803
) -> Response:
    """List the groups of a provider, by their ids: those that a filter matches."""
    provider = await _provider(ctx, provider_name)
    condition = parse_filter(filter) if filter else None
    selection = Selection(attributes, excludedAttributes)
    skipped, size = max(1, startIndex) - 1, min(PAGE_MAX, max(0, count))
    base = _base(ctx, provider)
    documents, total = await list_groups(ctx, provider, base, condition, selection, skipped=skipped, count=size)
    return list_response(documents, total=total, start=skipped + 1, selection=selection)


@post("/scim/v2/{provider_name}/Groups", permission=SCIM_ACTS, rate=_RATE, status=201)
async def create_scim_group(ctx: Context, provider_name: str, body: Document) -> Response:
    """Add a group of a provider; its members get what operators have set for its name."""
    provider = await _provider(ctx, provider_name)
    row = await operations.create_group(ctx, provider, read_group(body))
    return await _group(ctx, provider, row, status=201)


@get("/scim/v2/{provider_name}/Groups/{resource_id}", permission=SCIM_READS, rate=_RATE)
async def get_scim_group(
    ctx: Context,
    provider_name: str,
    resource_id: str,
    *,
    attributes: Names = "",
    excludedAttributes: Names = "",  # noqa: N803
) -> Response:
    """Return a group of a provider with its members."""
    provider = await _provider(ctx, provider_name)
    row = await _find_group(ctx, provider, resource_id)
    return await _group(ctx, provider, row, selection=Selection(attributes, excludedAttributes))


@put("/scim/v2/{provider_name}/Groups/{resource_id}", permission=SCIM_ACTS, rate=_RATE)
async def replace_scim_group(
    ctx: Context, provider_name: str, resource_id: str, body: Document, if_match: IfMatch = None
) -> Response:
    """Replace a group and its members."""
    provider = await _provider(ctx, provider_name)
    row = await _find_group(ctx, provider, resource_id)
    check_version(if_match, row.version)
    return await _group(ctx, provider, await operations.replace_group(ctx, provider, row, read_group(body)))


@patch("/scim/v2/{provider_name}/Groups/{resource_id}", permission=SCIM_ACTS, rate=_RATE)
async def modify_scim_group(
    ctx: Context, provider_name: str, resource_id: str, body: Document, if_match: IfMatch = None
) -> Response:
    """Change a group, and add and remove members, by operations."""
    provider = await _provider(ctx, provider_name)
    row = await _find_group(ctx, provider, resource_id)
    check_version(if_match, row.version)
    return await _group(ctx, provider, await operations.patch_group(ctx, provider, row, read_operations(body)))


@delete("/scim/v2/{provider_name}/Groups/{resource_id}", permission=SCIM_ACTS, rate=_RATE)
async def delete_scim_group(ctx: Context, provider_name: str, resource_id: str, if_match: IfMatch = None) -> None:
    """Delete a group, which takes from its members what it has given."""
    provider = await _provider(ctx, provider_name)
    row = await _find_group(ctx, provider, resource_id)
    check_version(if_match, row.version)
    await operations.delete_group(ctx, provider, row)


async def _provider(ctx: Context, name: str) -> ProviderRow:
    """Find a provider, also one that logs no one in. Raises ScimRefusal 404."""
    row = await select_provider_by_name(ctx.tx, name) if len(name) <= _NAME_MAX else None
    if row is None:
        raise ScimRefusal(404, "There is no identity provider of this name.")
    return row


async def _find_user(ctx: Context, provider: ProviderRow, text: str) -> UserResourceRow:
    resource_id = Snowflake.read(text)
    if resource_id is None:
        raise no_resource("user")
    row = await queries.select_user_resource(ctx.tx, provider.id, UserId(resource_id))
    if row is None or row.removed:
        raise no_resource("user")
    return row


async def _find_group(ctx: Context, provider: ProviderRow, text: str) -> GroupResourceRow:
    resource_id = Snowflake.read(text)
    row = None if resource_id is None else await queries.select_group(ctx.tx, provider.id, resource_id)
    if row is None:
        raise no_resource("group")
    return row


async def _user(
    ctx: Context, provider: ProviderRow, row: UserResourceRow, *, status: int = 200, selection: Selection = ALL
) -> Response:
    documents = await user_documents(ctx, provider, _base(ctx, provider), [row])
    return response(documents[0], status=status, selection=selection)


async def _group(
    ctx: Context, provider: ProviderRow, row: GroupResourceRow, *, status: int = 200, selection: Selection = ALL
) -> Response:
    base = _base(ctx, provider)
    if not selection.has("members"):
        return response(group_document(base, row), status=status, selection=selection)
    return response((await group_documents(ctx, provider, base, [row]))[0], status=status, selection=selection)


def _one(documents: list[JsonObject], document_id: str) -> Response:
    document = next((each for each in documents if each["id"] == document_id), None)
    if document is None:
        raise ScimRefusal(404, "There is no such document.")
    return response(document)


def _base(ctx: Context, provider: ProviderRow) -> str:
    return f"{ctx.services.limits.public_url}/api/scim/v2/{provider.name}"
