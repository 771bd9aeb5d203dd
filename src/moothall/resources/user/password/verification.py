"""Verification of passwords. Wrong ones are counted before they are compared, and lock only unknown devices out.

Wrong passwords of unknown devices are counted by login name, account and network. A device that has logged in to the
account before has its own count (OWASP's device cookies): a browser by its cookie, an API client by its network, a
session by its token.
"""

import base64
import binascii
import hashlib
from contextlib import AsyncExitStack
from typing import Final

from msgspec import Struct

from moothall.api.context import Context
from moothall.api.pipeline import too_many_requests
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import Snowflake, UserId
from moothall.resources.user.password import queries
from moothall.resources.user.password.throttle import Attempt, AttemptThrottle, Limit, TooManyAttempts
from moothall.runtime.budgets import Overloaded, WorkRefused
from moothall.runtime.secrets import SecretBox, SecretUnreadable, new_token
from moothall.storage.rows import UserRow

_FAILURES_OF_LOGIN_MAX: Final = 10
_FAILURES_OF_DEVICE_MAX: Final = 10
_FAILURES_OF_DEVICES_MAX: Final = 50
"""For all devices of an account together, so that several device cookies allow no faster guessing."""
_FAILURES_OF_NETWORK_MAX: Final = 50

_ABOUT: Final = b"login device"
_NONCE: Final = 24


class Device(Struct, frozen=True):
    """A browser that has logged in to an account before."""

    user_id: UserId
    nonce: str

    @classmethod
    def new(cls, user_id: UserId) -> "Device":
        """A browser that has just logged in."""
        return cls(user_id, new_token(_NONCE))

    def seal(self, box: SecretBox) -> str:
        """The encrypted text for the device's cookie."""
        text = f"{int(self.user_id)} {self.nonce}"
        return base64.urlsafe_b64encode(box.encrypt(text.encode(), about=_ABOUT)).decode()

    @classmethod
    def unseal(cls, box: SecretBox, text: str) -> "Device | None":
        """Decrypt the text of `seal`; None for any other text."""
        try:
            opened = box.decrypt(base64.urlsafe_b64decode(text), about=_ABOUT).decode()
        except (binascii.Error, ValueError, SecretUnreadable):
            return None
        user_id, _, nonce = opened.partition(" ")
        return cls(UserId(Snowflake(int(user_id))), nonce)


class PasswordThrottle(AttemptThrottle):
    """Counts wrong passwords."""


async def check_login(ctx: Context, login: str, row: UserRow | None, password: str, *, device: Device | None) -> bool:
    """Whether a password is that of the account `row`; False for None, which takes the same time.

    `login` is the normalised login name, `device` the browser, if it is known. Responses do not reveal whether an
    account exists. Raises Refusal: 429 after too many wrong passwords, 503 while too many wait to be hashed.
    """
    user_id = UserId(Snowflake(0)) if row is None else row.id
    network = Limit(f"network {ctx.ip}", _FAILURES_OF_NETWORK_MAX)
    known = await queries.is_known(ctx.tx, user_id, ctx.ip)
    if row is not None and device is not None and device.user_id == row.id:
        return await _check_known(ctx, row, password, f"browser {device.nonce}")
    if row is not None and known:
        return await _check_known(ctx, row, password, f"account {int(row.id)} from {ctx.ip}", network)
    # A digest, because the login name may be long. Without an account only this is counted.
    digest = hashlib.blake2b(login.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    stored = None if row is None else row.password_hash
    throttle = ctx.services.resources[PasswordThrottle]
    try:
        async with AsyncExitStack() as stack:
            attempts = [
                await stack.enter_async_context(
                    throttle.attempt(Limit(f"login {digest}", _FAILURES_OF_LOGIN_MAX), network)
                )
            ]
            if row is not None:
                try:
                    of_account = Limit(f"account {int(row.id)}", _FAILURES_OF_LOGIN_MAX)
                    attempts.append(await stack.enter_async_context(throttle.attempt(of_account, waits=False)))
                except TooManyAttempts:
                    # A 429 here would reveal that both login names belong to one account.
                    stored = None
            return await _verify(ctx, stored, password, attempts)
    except TooManyAttempts as problem:
        raise too_many_requests(problem.seconds, "user", []) from None


async def check_own(ctx: Context, row: UserRow, password: str) -> bool:
    """Whether a password is that of the account whose session makes the request. Raises Refusal: 429, 503."""
    return await _check_known(ctx, row, password, f"session {ctx.actor.token_hash.hex()}")


async def hash_password(ctx: Context, password: str) -> str:
    """Hash a password for storage. Raises Refusal 503 while too many wait to be hashed."""
    try:
        return await ctx.services.passwords.hash(password, ctx.payer)
    except Overloaded:
        raise Refusal(errors.OVERLOADED) from None


async def _check_known(ctx: Context, row: UserRow, password: str, device: str, *others: Limit) -> bool:
    throttle = ctx.services.resources[PasswordThrottle]
    of_devices = Limit(f"devices of {int(row.id)}", _FAILURES_OF_DEVICES_MAX)
    try:
        async with throttle.attempt(Limit(device, _FAILURES_OF_DEVICE_MAX), of_devices, *others) as attempt:
            matches = await _verify(ctx, row.password_hash, password, [attempt])
    except TooManyAttempts as problem:
        raise too_many_requests(problem.seconds, "user", []) from None
    if matches:
        throttle.forget(device)
    return matches


async def _verify(ctx: Context, stored: str | None, password: str, attempts: list[Attempt]) -> bool:
    try:
        matches = await ctx.services.passwords.verify(stored, password, ctx.payer)
    except WorkRefused as problem:
        for attempt in attempts:
            attempt.discard()
        if isinstance(problem, Overloaded):
            raise Refusal(errors.OVERLOADED) from None
        raise
    if matches:
        for attempt in attempts:
            attempt.discard()
    return matches
