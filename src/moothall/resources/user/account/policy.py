"""Who may register an account, and with which address: the operator's settings."""

import ipaddress
from datetime import UTC, date, datetime
from enum import IntEnum
from typing import Final

from moothall.api.context import Context, Limits
from moothall.objects import errors
from moothall.objects.clock import CLOCK
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.resources.user.registration_token.queries import is_good
from moothall.runtime.secrets import hash_token

_AGE_MAX: Final = 150
INVALID_TOKEN: Final = (FormCode.INVALID_TOKEN, "This invitation has been used, or it is not valid any more.")


class Pending(IntEnum):
    """What a new account waits for before its user can log in."""

    NOTHING = 0
    VERIFICATION = 1
    APPROVAL = 2


REQUIRED_ACTIONS: Final = {Pending.VERIFICATION: "verify_email", Pending.APPROVAL: "await_approval"}


def pending_of(limits: Limits) -> Pending:
    """What a new account waits for."""
    waits = {"domain": Pending.VERIFICATION, "approval": Pending.APPROVAL}
    return waits.get(limits.registration, Pending.NOTHING)


_NO_PASSWORDS: Final = "There are no passwords here. Log in with one of the other ways."


def check_passwords(ctx: Context) -> None:
    """Refuse (403/40006) where people do not log in with passwords."""
    if not ctx.services.limits.password_login:
        raise Refusal(errors.FEATURE_DISABLED, message=_NO_PASSWORDS)


def check_open(ctx: Context) -> None:
    """Refuse (403/40006) where registration is closed, or closed to the network of the request."""
    limits = ctx.services.limits
    if limits.registration == "closed":
        raise Refusal(errors.FEATURE_DISABLED)
    if limits.blocked_networks and is_blocked(limits, ctx.ip):
        raise Refusal(errors.FEATURE_DISABLED, message="Accounts cannot be registered from your network.")


def is_blocked(limits: Limits, network: str) -> bool:
    """Whether an address, or the /64 of an IPv6 address, is in a blocked network, or a blocked one in it."""
    try:
        own = ipaddress.ip_network(network, strict=False)
    except ValueError:
        return False
    if isinstance(own, ipaddress.IPv6Network) and own.network_address.ipv4_mapped is not None:
        own = ipaddress.ip_network(own.network_address.ipv4_mapped)
    return any(own.version == each.version and own.overlaps(each) for each in limits.blocked_networks)


def check_address(limits: Limits, form_errors: FormErrors, email: EmailAddress | None) -> None:
    """Add a form error for an address of a domain that the operator does not take."""
    if email is None:
        return
    domain = email.rpartition("@")[2]
    if any(domain == each or domain.endswith(f".{each}") for each in limits.blocked_address_domains):
        form_errors.add("email", FormCode.EMAIL_DOMAIN_BLOCKED, "Addresses of this domain are not taken here.")
    elif limits.registration == "domain" and domain not in limits.registration_domains:
        domains = ", ".join(limits.registration_domains)
        form_errors.add("email", FormCode.EMAIL_DOMAIN_NOT_ALLOWED, f"Use an address of {domains}.")


def check_age(limits: Limits, form_errors: FormErrors, date_of_birth: str | None) -> None:
    """Add a form error for who is too young, and without a date of birth where one is asked for (`2000-12-31`)."""
    if limits.registration_min_age <= 0:
        return
    if not date_of_birth:
        form_errors.add("date_of_birth", *FieldError.required())
        return
    try:
        born = date.fromisoformat(date_of_birth)
    except ValueError:
        form_errors.add("date_of_birth", FormCode.DATE_OF_BIRTH_INVALID, "Write it as year, month and day: 2000-12-31.")
        return
    today = datetime.fromtimestamp(CLOCK.now_ms() / 1000, UTC).date()
    age = today.year - born.year - ((today.month, today.day) < (born.month, born.day))
    if not 0 <= age <= _AGE_MAX:
        form_errors.add("date_of_birth", FormCode.DATE_OF_BIRTH_INVALID, "Enter the day on which you were born.")
    elif age < limits.registration_min_age:
        needed = f"You must be at least {limits.registration_min_age} years old to register here."
        form_errors.add("date_of_birth", FormCode.DATE_OF_BIRTH_UNDERAGE, needed)


def check_consent(limits: Limits, form_errors: FormErrors, *, consent: bool) -> None:
    """Add a form error for who does not accept the terms, where there are some."""
    if limits.terms_url is not None and not consent:
        form_errors.add("consent", FormCode.CONSENT_REQUIRED, "Accept the terms to register.")


async def check_registration(
    ctx: Context, form_errors: FormErrors, *, email: EmailAddress | None, token: str | None
) -> None:
    """Add form errors for what a registration needs and has not: an address of a domain, an invitation."""
    limits = ctx.services.limits
    if limits.registration == "domain" and email is None:
        form_errors.add("email", *FieldError.required())
    check_address(limits, form_errors, email)
    if limits.registration == "token":
        if not token:
            form_errors.add("registration_token", *FieldError.required())
        elif not await is_good(ctx.tx, hash_token(token), ctx.now):
            form_errors.add("registration_token", *INVALID_TOKEN)
