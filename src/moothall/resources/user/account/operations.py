"""How accounts come to be, who may enter them, and how they change."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any, Final

from msgspec import UNSET, Struct

from moothall.kernel.context import Context
from moothall.kernel.hooks import Fires, Hook
from moothall.objects import errors
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import FormErrors, Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import UserId
from moothall.objects.text import search_key, username_error
from moothall.resources.user import queries
from moothall.resources.user.auth_session.client import UNKNOWN_CLIENT, LoginClient
from moothall.resources.user.auth_session.operations import begin_session
from moothall.resources.user.auth_session.queries import delete_session
from moothall.resources.user.events import SessionsClose, UserUpdate
from moothall.resources.user.objects import current_user
from moothall.storage.database import ConstraintFailed, StorageConflict
from moothall.storage.rows import UserRow

_EMAIL_TAKEN: Final = (FormCode.EMAIL_ALREADY_REGISTERED, "Email is already registered.")
_TAKEN: Final = "Username is unavailable. Try adding numbers, letters, underscores or periods."
_PUBLIC: Final = frozenset({"username", "global_name", "avatar", "banner", "accent_color"})
"""What others see: a change of it is told in every guild."""

PROFILE_CHANGED: Final = Hook[[Context, UserRow], None]("profile changed")
"""What else happens when something of an account changes that others see."""
AUTHORIZATIONS_ENDING: Final = Hook[[Context], None]("authorizations ending")
"""Ends everything that the caller has authorized applications to do."""
CHANGING_ACCOUNT: Final[Fires] = (UserUpdate, PROFILE_CHANGED)
"""What a row declares to fire if it may change an account."""


class Login(Struct, frozen=True):
    """A session token and whose it is."""

    token: str
    user_id: UserId


async def check_names(
    ctx: Context, form_errors: FormErrors, *, username: str | None, email: EmailAddress | None, own: UserId | None
) -> None:
    """Report a username or an email address that cannot be had; `own` is who may keep theirs."""
    if username is not None:
        wrong = username_error(username, reserved=ctx.services.limits.reserved_words)
        if wrong is not None:
            form_errors.add("username", *wrong)
        else:
            holder = await queries.select_by_username(ctx.tx, search_key(username))
            if holder is not None and holder.id != own:
                form_errors.add("username", FormCode.USERNAME_ALREADY_TAKEN, _TAKEN)
    if email is not None:
        holder = await queries.select_by_email(ctx.tx, email.key)
        if holder is not None and holder.id != own:
            form_errors.add("email", *_EMAIL_TAKEN)


async def find_by_login(ctx: Context, login: str) -> UserRow | None:
    """The person with a username or an email address; None if there is none."""
    try:
        email = EmailAddress.from_wire(login)
    except ValueError:
        return await queries.select_by_username(ctx.tx, search_key(login))
    return await queries.select_by_email(ctx.tx, email.key)


async def create_account(
    ctx: Context,
    *,
    username: str,
    password_hash: str | None,
    email: EmailAddress | None = None,
    global_name: str | None = None,
    vouched: bool = False,
) -> UserId:
    """Make a person's account; `vouched` if the operator knows that the address is this person's.

    Raises Refusal (50035) for a name or address that cannot be had. A vouched address is taken from an account
    that holds it unverified.
    """
    form_errors = FormErrors()
    if email is not None and vouched:
        await _release_email(ctx, email, own=None)
    await check_names(ctx, form_errors, username=username, email=email, own=None)
    form_errors.raise_if_any()
    user_id = UserId(ctx.ids.next())
    with _repeated_if_taken():
        await queries.insert_user(
            ctx.tx,
            id=user_id,
            username=username,
            username_key=search_key(username),
            global_name=global_name,
            email=None if email is None else str(email),
            email_key=None if email is None else email.key,
            password_hash=password_hash,
            # No mail is sent, so nothing that the person does proves an address: the operator vouches for it.
            verified=vouched and email is not None,
        )
    return user_id


async def log_in(
    ctx: Context, user_id: UserId, *, seconds: int | None = None, client: LoginClient = UNKNOWN_CLIENT
) -> Login:
    """A new session token of someone who has shown who they are, for so many seconds or until it is ended."""
    return Login(await begin_session(ctx, user_id, client, seconds=seconds), user_id)


async def log_out(ctx: Context) -> None:
    """End the session token of the request, and the gateway sessions that it opened."""
    await queries.delete_token(ctx.tx, ctx.actor.token_hash)
    await delete_session(ctx.tx, ctx.actor.token_hash)
    ctx.emit(SessionsClose(user_id=ctx.actor.user_id, token_hash=ctx.actor.token_hash.hex()))


async def edit_account(ctx: Context, row: UserRow, changes: dict[str, Any]) -> UserRow:
    """Change columns of an account and tell its sessions, and its guilds if others see the difference.

    Columns that keep their value are left alone; if none changes, nobody is told. A new email address, or another
    spelling of it, is unverified unless `changes` say that it is verified.
    """
    if changes.get("email", row.email) != row.email:
        changes = {"verified": False, **changes}
    changes = {name: value for name, value in changes.items() if getattr(row, name) != value}
    if not changes:
        return row
    if "username" in changes:
        changes["username_key"] = search_key(changes["username"])
        await queries.update_username_key_in_guilds(ctx.tx, row.id, changes["username_key"])
    if not changes.keys().isdisjoint({"email", "verified"}):
        # Written together: the row may have changed since it was read, and no other address becomes verified by that.
        email = changes.get("email", row.email)
        changes["email"] = None if email is None else str(email)
        changes["email_key"] = None if email is None else EmailAddress(email).key
        changes["verified"] = changes.get("verified", row.verified)
    with _repeated_if_taken():
        await queries.update_user(ctx.tx, row.id, **changes)
    for name, value in changes.items():
        setattr(row, name, value)
    ctx.emit(UserUpdate(user=current_user(row)))
    if _PUBLIC & changes.keys():
        await PROFILE_CHANGED(ctx, row)
    return row


async def verify_email(ctx: Context, row: UserRow, email: EmailAddress | None = None) -> tuple[UserRow, UserRow | None]:
    """Record that the operator vouches for the email address of a person; `email` becomes theirs, None is their own.

    An account that holds the address unverified loses it. Returns the account and the one that lost the address.
    Raises Refusal (50035) for a person without an address, and for one that is another account's verified address.
    """
    if email is None:
        if row.email is None:
            refuse_field("email", FormCode.BASE_TYPE_REQUIRED, f"{row.username} has no email address.")
        email = EmailAddress(row.email)
    loser = await _release_email(ctx, email, own=row.id)
    if loser is not None and loser.verified:
        refuse_field("email", *_EMAIL_TAKEN)
    return await edit_account(ctx, row, {"email": str(email), "verified": True}), loser


async def revoke_email(ctx: Context, row: UserRow) -> UserRow:
    """Record that the operator vouches no more for the email address of a person, who keeps it unverified."""
    return await edit_account(ctx, row, {"verified": False})


async def get_person(ctx: Context, username: str) -> UserRow:
    """The person with a username. Raises Refusal 404/10013 if there is none."""
    row = await queries.select_by_username(ctx.tx, search_key(username))
    if row is None:
        raise Refusal(errors.UNKNOWN_USER)
    return row


async def _release_email(ctx: Context, email: EmailAddress, *, own: UserId | None) -> UserRow | None:
    """Take an address from another account that holds it unverified; that account, also where it holds it verified."""
    holder = await queries.select_by_email(ctx.tx, email.key)
    if holder is None or holder.id == own:
        return None
    return holder if holder.verified else await edit_account(ctx, holder, {"email": None})


@contextmanager
def _repeated_if_taken() -> Iterator[None]:
    """Repeat the transaction where another one took the name or address since `check_names`, which then reports it."""
    try:
        yield
    except ConstraintFailed as error:
        raise StorageConflict(str(error)) from error


def only(names: Iterable[str], body: Struct) -> dict[str, Any]:
    """The fields of a body that were sent, of those named."""
    return {name: getattr(body, name) for name in names if getattr(body, name) is not UNSET}
