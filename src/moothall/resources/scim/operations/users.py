"""Operations on the accounts of a provider's people."""

from typing import Final

import msgspec
from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.ids import UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.text import clean_name
from moothall.resources.account_deletion.operations import delete_account, end_suspension, suspend_account
from moothall.resources.identity_provider.queries import ProviderRow
from moothall.resources.operator.operations import check_may_act_on
from moothall.resources.operator_log.operations import record_act
from moothall.resources.scim import queries
from moothall.resources.scim.errors import ScimRefusal, no_resource
from moothall.resources.scim.jobs import ApplyProvisionedGroups
from moothall.resources.scim.objects import UserAttributes, UserDocument, attributes_of, read_user
from moothall.resources.scim.patches import Operation, patch_document
from moothall.resources.scim.queries import UserResourceRow
from moothall.resources.single_sign_on.claims import Identity, username_from
from moothall.resources.single_sign_on.operations import bind_identity, make_account
from moothall.resources.single_sign_on.queries import select_identity
from moothall.resources.user.account.operations import edit_account, verify_email
from moothall.resources.user.account.policy import check_address
from moothall.resources.user.queries import select_by_email, select_user
from moothall.storage.database import ConstraintFailed, StorageConflict
from moothall.storage.rows import UserRow

_LOGGED: Final = ("user_name", "external_id", "display_name")


async def create_user(ctx: Context, provider: ProviderRow, document: UserDocument) -> UserResourceRow:
    """Make the account of a person, or take over that of one who has logged in with the provider before.

    Raises ScimRefusal 409 (uniqueness) for a userName that another resource has, and for an address that an account
    here has: its owner proves it at the first login.
    """
    attributes = attributes_of(document)
    key = attributes.user_name.casefold()
    if await queries.select_by_name(ctx.tx, provider.id, key) is not None:
        raise _not_unique(f"There is a user {attributes.user_name} already.")
    user_id = await _bound_account(ctx, provider, attributes)
    row = None if user_id is None else await queries.select_user_resource(ctx.tx, provider.id, user_id)
    if row is not None and not row.removed:
        raise _not_unique(f"There is a user with the externalId {attributes.external_id} already.")
    if user_id is None:
        user_id = await _make(ctx, provider, attributes)
    if row is None:
        row = UserResourceRow(
            provider_id=provider.id,
            user_id=user_id,
            user_name_key=key,
            external_id=attributes.external_id,
            attributes=_encode(attributes),
            deactivated=False,
            removed=False,
            version=1,
            created_at=ctx.now,
            updated_at=ctx.now,
            closed=False,
        )
        columns = structs.asdict(row)
        columns.pop("closed")
        try:
            await queries.insert_user_resource(ctx.tx, **columns)
        except ConstraintFailed as error:
            raise StorageConflict(str(error)) from error
    else:
        row = await _store(ctx, row, attributes, removed=False)
    changes = {name: (None, value) for name in _LOGGED if (value := getattr(attributes, name)) is not None}
    await record_act(ctx, "scim.add_user", user_id, changes={"provider": (None, provider.name), **changes})
    await _set_active(ctx, row, active=document.active is not False)
    return row


async def replace_user(
    ctx: Context, provider: ProviderRow, row: UserResourceRow, document: UserDocument
) -> UserResourceRow:
    """Replace what a provider says of a person; the same again changes nothing.

    Raises ScimRefusal 409 (uniqueness) as `create_user`.
    """
    before, attributes = stored_attributes(row), attributes_of(document)
    if attributes != before:
        key = attributes.user_name.casefold()
        other = await queries.select_by_name(ctx.tx, provider.id, key)
        if other is not None and other.user_id != row.user_id:
            raise _not_unique(f"There is a user {attributes.user_name} already.")
        await _change_account(ctx, row.user_id, before, attributes)
        if attributes.external_id is not None and attributes.external_id != before.external_id:
            await _bind(ctx, provider, attributes, row.user_id)
        row = await _store(ctx, row, attributes, removed=False)
        changes = {
            name: (getattr(before, name), getattr(attributes, name))
            for name in UserAttributes.__struct_fields__
            if name in _LOGGED and getattr(before, name) != getattr(attributes, name)
        }
        changes["provider"] = (None, provider.name)
        await record_act(ctx, "scim.change_user", row.user_id, changes=changes)
    if document.active is not None:
        await _set_active(ctx, row, active=document.active)
    return row


async def patch_user(
    ctx: Context, provider: ProviderRow, row: UserResourceRow, operations: list[Operation]
) -> UserResourceRow:
    """Change what a provider says of a person, by operations. Raises ScimRefusal as `replace_user`."""
    document: JsonObject = {**msgspec.json.decode(row.attributes), "active": not row.deactivated}
    patched = patch_document(document, operations)
    return await replace_user(ctx, provider, row, read_user(patched))


async def delete_user(ctx: Context, provider: ProviderRow, row: UserResourceRow) -> None:
    """Suspend the account of a person, end its logins, and delete it in `account_deletion_days`.

    Until then the provider can make it again, and operators can restore it. Raises Refusal as `delete_account`.
    """
    user = await _account(ctx, row.user_id)
    await check_may_act_on(ctx, user.id)
    deactivated = row.deactivated or not user.suspended
    await delete_account(ctx, user, days=ctx.services.limits.account_deletion_days)
    await queries.delete_memberships(ctx.tx, provider.id, user.id)
    await queries.update_user_resource(
        ctx.tx,
        provider.id,
        user.id,
        removed=True,
        deactivated=deactivated,
        user_name_key=f"\n{int(user.id)}",
        version=row.version + 1,
        updated_at=ctx.now,
    )
    await enqueue(ctx, ApplyProvisionedGroups(provider_id=provider.id, user_id=user.id))
    await record_act(ctx, "scim.remove_user", user.id, changes={"provider": (provider.name, None)})


def stored_attributes(row: UserResourceRow) -> UserAttributes:
    """What a provider has said of a person."""
    return msgspec.json.decode(row.attributes, type=UserAttributes)


async def _bound_account(ctx: Context, provider: ProviderRow, attributes: UserAttributes) -> UserId | None:
    """The account that the person of an externalId has here already, by a login or an earlier resource."""
    if attributes.external_id is None:
        return None
    identity = await select_identity(ctx.tx, provider.id, attributes.external_id)
    if identity is None:
        return None
    user = await select_user(ctx.tx, identity.user_id)
    if user is None or user.deleted:
        raise _not_unique("The account that this person had here was closed. `moothall provider release` forgets it.")
    return user.id


async def _make(ctx: Context, provider: ProviderRow, attributes: UserAttributes) -> UserId:
    address = attributes.address
    holder = None if address is None else await select_by_email(ctx.tx, address.key)
    if holder is not None and holder.verified:
        raise _not_unique(
            f"The account {holder.username} has the address {address}. Its owner links it at the first login, or an "
            "operator does by `moothall provider link`."
        )
    user_id = await make_account(ctx, _identity(provider, attributes))
    await _bind(ctx, provider, attributes, user_id)
    return user_id


async def _bind(ctx: Context, provider: ProviderRow, attributes: UserAttributes, user_id: UserId) -> None:
    """Let the person of an externalId log in to the account, unless another one has that identity."""
    if attributes.external_id is None:
        return
    present = await select_identity(ctx.tx, provider.id, attributes.external_id)
    if present is None:
        await bind_identity(ctx, _identity(provider, attributes), user_id)
    elif present.user_id != user_id:
        raise _not_unique(f"Another account belongs to the externalId {attributes.external_id}.")


def _identity(provider: ProviderRow, attributes: UserAttributes) -> Identity:
    return Identity(
        provider_id=provider.id,
        subject=attributes.external_id or "",
        session=None,
        name=attributes.user_name,
        username=username_from(attributes.user_name),
        global_name=clean_name(attributes.shown_name)[: limits.GLOBAL_NAME_MAX] or None,
        email=attributes.address,
        groups=(),
    )


async def _change_account(ctx: Context, user_id: UserId, before: UserAttributes, after: UserAttributes) -> None:
    """Carry a changed display name and address over to the account. The username stays: people know it."""
    if before.shown_name == after.shown_name and before.address == after.address:
        return
    user = await _account(ctx, user_id)
    await check_may_act_on(ctx, user_id)
    if before.shown_name != after.shown_name:
        name = clean_name(after.shown_name)[: limits.GLOBAL_NAME_MAX] or None
        user = await edit_account(ctx, user, {"global_name": name})
    address = after.address
    if address is not None and address != before.address:
        holder = await select_by_email(ctx.tx, address.key)
        if holder is not None and holder.verified and holder.id != user_id:
            raise _not_unique(f"The account {holder.username} has the address {address}.")
        form_errors = FormErrors()
        check_address(ctx.services.limits, form_errors, address)
        form_errors.raise_if_any()
        await verify_email(ctx, user, address)


async def _set_active(ctx: Context, row: UserResourceRow, *, active: bool) -> None:
    """Suspend the account of a resource, which ends its logins, or end the suspension if it is the provider's."""
    if active == (not row.deactivated):
        return
    user = await _account(ctx, row.user_id)
    await check_may_act_on(ctx, user.id)
    if active:
        await end_suspension(ctx, user)
    elif user.suspended:
        # An operator has suspended it: that is theirs to end.
        row.closed = True
        return
    else:
        await suspend_account(ctx, user)
    row.deactivated, row.closed = not active, user.suspended or user.disabled
    row.version += 1
    row.updated_at = ctx.now
    await queries.update_user_resource(
        ctx.tx,
        row.provider_id,
        row.user_id,
        deactivated=row.deactivated,
        version=row.version,
        updated_at=row.updated_at,
    )
    act = "scim.activate_user" if active else "scim.deactivate_user"
    await record_act(ctx, act, row.user_id, changes={"active": (not active, active)})


async def _store(ctx: Context, row: UserResourceRow, attributes: UserAttributes, *, removed: bool) -> UserResourceRow:
    columns: JsonObject = {
        "user_name_key": attributes.user_name.casefold(),
        "external_id": attributes.external_id,
        "attributes": _encode(attributes),
        "removed": removed,
        "version": row.version + 1,
        "updated_at": ctx.now,
    }
    try:
        await queries.update_user_resource(ctx.tx, row.provider_id, row.user_id, **columns)
    except ConstraintFailed as error:
        raise StorageConflict(str(error)) from error
    return structs.replace(row, **columns)


async def _account(ctx: Context, user_id: UserId) -> UserRow:
    user = await select_user(ctx.tx, user_id)
    if user is None or user.deleted:
        raise no_resource("user")
    return user


def _encode(attributes: UserAttributes) -> str:
    return msgspec.json.encode(attributes).decode()


def _not_unique(detail: str) -> ScimRefusal:
    return ScimRefusal(409, detail, scim_type="uniqueness")
