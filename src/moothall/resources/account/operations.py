"""How accounts come to be, who may enter them, and how they change."""

from collections.abc import Iterable
from typing import Any, Final

from msgspec import UNSET, Struct

from moothall.kernel.context import Context
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import UserId
from moothall.objects.text import search_key, username_error
from moothall.resources.auth_session.client import UNKNOWN_CLIENT, LoginClient
from moothall.resources.auth_session.operations import begin_session
from moothall.resources.auth_session.queries import delete_session
from moothall.resources.member.events import GuildMemberUpdate
from moothall.resources.user import queries
from moothall.resources.user.events import SessionsClose, UserUpdate
from moothall.resources.user.objects import current_user
from moothall.storage.rows import UserRow, member_from_row, user_from_row

_TAKEN: Final = "Username is unavailable. Try adding numbers, letters, underscores or periods."
_PUBLIC: Final = frozenset({"username", "global_name", "avatar", "banner", "accent_color"})
"""What others see: a change of it is told in every guild."""


class Login(Struct, frozen=True):
    """A session token and whose it is."""

    token: str
    user_id: UserId


async def check_names(
    ctx: Context, found: FormErrors, *, username: str | None, email: str | None, own: UserId | None
) -> None:
    """Report a username or an email address that cannot be had; `own` is who may keep theirs."""
    if username is not None:
        wrong = username_error(username, reserved=ctx.services.limits.reserved_words)
        if wrong is not None:
            found.add("username", *wrong)
        else:
            holder = await queries.select_by_username(ctx.tx, search_key(username))
            if holder is not None and holder.id != own:
                found.add("username", FormCode.USERNAME_ALREADY_TAKEN, _TAKEN)
    if email is not None:
        holder = await queries.select_by_email(ctx.tx, email.casefold())
        if holder is not None and holder.id != own:
            found.add("email", "EMAIL_ALREADY_REGISTERED", "Email is already registered.")


async def create_account(
    ctx: Context, *, username: str, password_hash: str | None, email: str | None = None, global_name: str | None = None
) -> UserId:
    """Make a person's account. Raises Refusal (50035) for a name or address that cannot be had."""
    found = FormErrors()
    await check_names(ctx, found, username=username, email=email, own=None)
    found.raise_if_any()
    user_id = UserId(ctx.ids.next())
    await queries.insert_user(
        ctx.tx,
        id=user_id,
        username=username,
        username_key=search_key(username),
        global_name=global_name,
        email=email,
        email_key=None if email is None else email.casefold(),
        password_hash=password_hash,
        # There is nobody to send a letter that would verify it; whoever runs the platform vouches for its people.
        verified=email is not None,
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

    Columns that keep their value are left alone; if none changes, nobody is told.
    """
    changes = {name: value for name, value in changes.items() if getattr(row, name) != value}
    if not changes:
        return row
    if "username" in changes:
        changes["username_key"] = search_key(changes["username"])
        await queries.rename_in_guilds(ctx.tx, row.id, changes["username_key"])
    if "email" in changes:
        changes["email_key"] = None if changes["email"] is None else changes["email"].casefold()
    await queries.update_user(ctx.tx, row.id, **changes)
    for name, value in changes.items():
        setattr(row, name, value)
    ctx.emit(UserUpdate(user=current_user(row)))
    if _PUBLIC & changes.keys():
        user = user_from_row(row)
        for member in await queries.select_memberships(ctx.tx, row.id):
            ctx.emit(GuildMemberUpdate(guild_id=member.guild_id, member=member_from_row(member, user)))
    return row


def only(names: Iterable[str], body: Struct) -> dict[str, Any]:
    """The fields of a body that were sent, of those named."""
    return {name: getattr(body, name) for name in names if getattr(body, name) is not UNSET}
