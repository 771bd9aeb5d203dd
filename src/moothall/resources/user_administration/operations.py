"""Operations of operators on accounts. Each is a row of their log."""

from moothall.api.authenticate import TokenKind
from moothall.api.context import Context
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import refuse_field
from moothall.objects.wire import Timestamp
from moothall.resources.account_deletion.operations import delete_account, end_suspension, suspend_account
from moothall.resources.operator.operations import check_may_act_on
from moothall.resources.operator_log.operations import record_act
from moothall.resources.user.account import operations as accounts
from moothall.resources.user.account_mail.operations import create_link
from moothall.resources.user.account_mail.queries import LinkPurpose
from moothall.resources.user.auth_session.operations import delete_tokens_of_kind
from moothall.storage.rows import UserRow


async def suspend_user(ctx: Context, row: UserRow) -> None:
    """Suspend an account, with all its logins: `suspend_account`. Raises Refusal as `check_may_act_on`."""
    await check_may_act_on(ctx, row.id)
    before = state_of(row)
    await suspend_account(ctx, row)
    await record_act(ctx, "user.suspend", row.id, changes={"state": (before, state_of(row))})


async def restore_user(ctx: Context, row: UserRow) -> None:
    """Let a user log in again, and call off the deletion of the account. Raises Refusal as `check_may_act_on`."""
    await check_may_act_on(ctx, row.id)
    before = state_of(row)
    await end_suspension(ctx, row)
    await record_act(ctx, "user.restore", row.id, changes={"state": (before, state_of(row))})


async def delete_user(ctx: Context, row: UserRow, *, days: int) -> None:
    """Delete an account in so many days: `delete_account`. Raises Refusal as that and `check_may_act_on`."""
    await check_may_act_on(ctx, row.id)
    before = state_of(row)
    await delete_account(ctx, row, days=days)
    changes = {"state": (before, state_of(row)), "deletes_at": (None, row.deletes_at and row.deletes_at.wire())}
    await record_act(ctx, "user.delete", row.id, changes=changes)


async def log_out_user(ctx: Context, row: UserRow) -> None:
    """End all logins of an account. Raises Refusal as `check_may_act_on`."""
    await check_may_act_on(ctx, row.id)
    await delete_tokens_of_kind(ctx, row.id, TokenKind.SESSION)
    await record_act(ctx, "user.log_out", row.id)


async def approve_user(ctx: Context, row: UserRow) -> None:
    """Let the user of a new account log in: `approve_account`."""
    before = state_of(row)
    await accounts.approve_account(ctx, row)
    await record_act(ctx, "user.approve", row.id, changes={"state": (before, state_of(row))})


async def create_reset_link(ctx: Context, row: UserRow, *, minutes: int) -> tuple[str, Timestamp]:
    """Make a link for a new password of an account, to be passed on to its owner; return it, and when it expires.

    Raises Refusal as `check_may_act_on`, and 50035 for a suspended account.
    """
    await check_may_act_on(ctx, row.id)
    if row.suspended:
        refuse_field("user_id", "ACCOUNT_SUSPENDED", f"{row.username} is disabled: end the suspension first.")
    made = await create_link(ctx, row.id, LinkPurpose.RESET, minutes=minutes)
    await record_act(ctx, "user.reset_password", row.id, changes={"minutes": (None, minutes)})
    return made


async def verify_address(
    ctx: Context, row: UserRow, address: EmailAddress | None = None
) -> tuple[UserRow, UserRow | None]:
    """Vouch for the address of an account: `verify_email`. Raises Refusal as `check_may_act_on` and `verify_email`."""
    await check_may_act_on(ctx, row.id)
    before = row.verified
    row, loser = await accounts.verify_email(ctx, row, address)
    changes = {"verified": (before, True), "taken_from": (None, None if loser is None else str(int(loser.id)))}
    await record_act(ctx, "user.verify_address", row.id, changes=changes)
    return row, loser


async def revoke_address(ctx: Context, row: UserRow) -> UserRow:
    """Mark the address of an account as unverified. Raises Refusal as `check_may_act_on`."""
    await check_may_act_on(ctx, row.id)
    before = row.verified
    row = await accounts.revoke_email(ctx, row)
    await record_act(ctx, "user.verify_address", row.id, changes={"verified": (before, False)})
    return row


def state_of(row: UserRow) -> str:
    """The state of an account: suspended by an operator, closed by its user, pending or active."""
    if row.suspended:
        return "suspended"
    if row.disabled:
        return "closed"
    return "pending" if row.pending else "active"
