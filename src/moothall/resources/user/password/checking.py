"""Checking passwords, with a count of the wrong ones that cannot be raced and locks only strangers out.

A stranger's wrong passwords are counted for what they logged in by, for the account and for their network. A device
that has logged in to the account before has a count of its own (OWASP's device cookies): a browser by the cookie
that it was given then, an API client by its network, a session by its token.
"""

import base64
import binascii
import hashlib
from contextlib import AsyncExitStack
from typing import Final

from msgspec import Struct

from moothall.kernel.context import Context, Services
from moothall.kernel.pipeline import too_many
from moothall.kernel.secrets import Passwords, SecretBox, SecretUnreadable, TooManyPasswords, new_token
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, UserId
from moothall.resources.user.password import queries
from moothall.resources.user.password.throttle import Attempt, AttemptThrottle, Limit, TooManyAttempts
from moothall.storage.rows import UserRow

_MAX_OF_LOGIN: Final = 10
_MAX_OF_DEVICE: Final = 10
_MAX_OF_DEVICES: Final = 50
"""All devices of one account together: who was in it once and collected cookies does not guess faster by them."""
_MAX_OF_NETWORK: Final = 50

_ABOUT: Final = b"login device"
_NONCE: Final = 24


class Device(Struct, frozen=True):
    """A browser that has logged in to an account before."""

    user_id: UserId
    nonce: str

    @classmethod
    def new(cls, user_id: UserId) -> "Device":
        """The browser that has just logged in."""
        return cls(user_id, new_token(_NONCE))

    def seal(self, box: SecretBox) -> str:
        """The text by which the server knows it again."""
        text = f"{int(self.user_id)} {self.nonce}"
        return base64.urlsafe_b64encode(box.encrypt(text.encode(), about=_ABOUT)).decode()

    @classmethod
    def unseal(cls, box: SecretBox, text: str) -> "Device | None":
        """What `seal` made a text of; None for any other text."""
        try:
            opened = box.decrypt(base64.urlsafe_b64decode(text), about=_ABOUT).decode()
        except (binascii.Error, ValueError, SecretUnreadable):
            return None
        user_id, _, nonce = opened.partition(" ")
        return cls(UserId(Snowflake(int(user_id))), nonce)


class PasswordThrottle(AttemptThrottle):
    """Counts wrong passwords."""


async def check_login(ctx: Context, login: str, row: UserRow | None, password: str, *, device: Device | None) -> bool:
    """Whether a password is that of the account `row` that a login name leads to, None for no account.

    `login` is the name without the case and accents that do not matter, `device` the browser that it comes from, if
    that is known. Nothing tells an account that exists from one that does not. Raises Refusal: 429 after too many
    wrong passwords, 503 while too many wait to be hashed.
    """
    user_id = UserId(Snowflake(0)) if row is None else row.id
    network = Limit(f"network {ctx.ip}", _MAX_OF_NETWORK)
    known = await queries.is_known(ctx.tx, user_id, ctx.ip)
    if row is not None and device is not None and device.user_id == row.id:
        return await _check_known(ctx, row, password, f"browser {device.nonce}")
    if row is not None and known:
        return await _check_known(ctx, row, password, f"account {int(row.id)} from {ctx.ip}", network)
    # What was typed may be long; of a name without an account only this is counted.
    digest = hashlib.blake2b(login.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    stored = None if row is None else row.password_hash
    throttle = _throttle_of(ctx.services)
    try:
        async with AsyncExitStack() as stack:
            attempts = [
                await stack.enter_async_context(throttle.attempt(Limit(f"login {digest}", _MAX_OF_LOGIN), network))
            ]
            if row is not None:
                try:
                    of_account = Limit(f"account {int(row.id)}", _MAX_OF_LOGIN)
                    attempts.append(await stack.enter_async_context(throttle.attempt(of_account, waits=False)))
                except TooManyAttempts:
                    # A 429 here would tell that the account's other name was tried: that both are one's.
                    stored = None
            return await _verify(ctx, stored, password, attempts)
    except TooManyAttempts as problem:
        raise too_many(problem.seconds, "user", []) from None


async def check_own(ctx: Context, row: UserRow, password: str) -> bool:
    """Whether a password is that of the account whose session makes the request. Raises Refusal: 429, 503."""
    return await _check_known(ctx, row, password, f"session {ctx.actor.token_hash.hex()}")


async def hash_password(ctx: Context, password: str) -> str:
    """The text to store of a password. Raises Refusal 503 while too many wait to be hashed."""
    try:
        return await passwords_of(ctx).hash(password)
    except TooManyPasswords:
        raise Refusal(errors.OVERLOADED) from None


def passwords_of(ctx: Context) -> Passwords:
    """The threads that hash passwords."""
    passwords: Passwords = ctx.services.extra[Passwords]
    return passwords


async def _check_known(ctx: Context, row: UserRow, password: str, device: str, *others: Limit) -> bool:
    throttle = _throttle_of(ctx.services)
    of_devices = Limit(f"devices of {int(row.id)}", _MAX_OF_DEVICES)
    try:
        async with throttle.attempt(Limit(device, _MAX_OF_DEVICE), of_devices, *others) as attempt:
            fits = await _verify(ctx, row.password_hash, password, [attempt])
    except TooManyAttempts as problem:
        raise too_many(problem.seconds, "user", []) from None
    if fits:
        throttle.forget(device)
    return fits


async def _verify(ctx: Context, stored: str | None, password: str, attempts: list[Attempt]) -> bool:
    try:
        fits = await passwords_of(ctx).verify(stored, password)
    except TooManyPasswords:
        for attempt in attempts:
            attempt.give_back()
        raise Refusal(errors.OVERLOADED) from None
    if fits:
        for attempt in attempts:
            attempt.give_back()
    return fits


def _throttle_of(services: Services) -> AttemptThrottle:
    throttle: AttemptThrottle = services.extra.setdefault(PasswordThrottle, PasswordThrottle())
    return throttle
