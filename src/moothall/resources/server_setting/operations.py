"""The operation that changes settings while the server runs."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.api.operators import OperatorAuthority
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import UserId
from moothall.objects.images import ImageData
from moothall.objects.operator import OperatorPermission
from moothall.resources.operator_log.operations import record_act
from moothall.resources.server_setting import mail, queries
from moothall.resources.server_setting.mail import check_mail
from moothall.resources.server_setting.requests import ModifyServerSettings
from moothall.resources.server_setting.running import NAMES, RunningSettings
from moothall.resources.user.factor.proof import require_proof


async def modify_settings(ctx: Context, body: ModifyServerSettings, *, by_setup: UserId | None = None) -> None:
    """Change settings; they are in force with the commit, in other processes within seconds.

    Another mail server ends the login at the one before, and one that goes takes all settings of mail along.
    Raises Refusal 50035 for registration by domain without domains or without mail, and for settings of mail that
    contradict each other; 403/50013 where an operator changes these who does not make operators. Without a difference
    nothing is recorded. `by_setup` as in `record_act`.
    """
    running = ctx.services.resources[RunningSettings]
    rows = {row.name: row for row in await queries.select_settings(ctx.tx)}
    before = {name: msgspec.json.decode(row.value) for name, row in rows.items()}
    present = before | _requested(ctx, body)
    names = {name for name, value in structs.asdict(body).items() if value is not UNSET}
    if names & set(mail.NAMES):
        await check_may_change_mail(ctx)
        if present.get("smtp_host") is None:
            names |= set(mail.NAMES)
            present |= {name: None for name in mail.NAMES if getattr(body, name) in (UNSET, None)}
        elif present["smtp_host"] != before.get("smtp_host"):
            # The password is for the host before.
            names |= set(mail.LOGIN)
            present |= {name: None for name in mail.LOGIN if getattr(body, name) is UNSET}
    present = {name: value for name, value in present.items() if value is not None}

    old, new = (in_force(running, changed) for changed in (before, present))
    check_mail(present, new)
    _check_registration(new)
    changes: Mapping[str, tuple[Any, Any]] = {
        name: (shown(name, old[name]), shown(name, new[name])) for name in sorted(names) if old[name] != new[name]
    }
    for name in sorted(names):
        if name not in present:
            await queries.delete_setting(ctx.tx, name)
        elif name in changes or (name in mail.NAMES and present[name] != before.get(name)):
            text = msgspec.json.encode(present[name]).decode()
            await queries.upsert_setting(ctx.tx, name, text, ctx.now, by_setup or ctx.actor.user_id or None)
    if changes:
        await record_act(ctx, "setting.change", changes=changes, by_setup=by_setup)
    stored = await queries.select_settings(ctx.tx)
    ctx.tx.on_commit(lambda: running.apply(stored))


def _requested(ctx: Context, body: ModifyServerSettings) -> dict[str, Any]:
    """The values of a body as they are stored; None brings back that of the configuration."""
    requested: dict[str, Any] = {name: value for name, value in structs.asdict(body).items() if value is not UNSET}
    if isinstance(body.instance_icon, ImageData):
        requested["instance_icon"] = body.instance_icon.hash
    if isinstance(body.smtp_password, str):
        requested["smtp_password"] = mail.seal_password(ctx.services.box, body.smtp_password)
    if isinstance(body.mail_from, EmailAddress):
        requested["mail_from"] = str(body.mail_from)
    return requested


def in_force(running: RunningSettings, changed: Mapping[str, Any]) -> dict[str, Any]:
    """The values in force, by name, where operators have changed some of them."""
    values = {name: changed.get(name, running.configured_value(name)) for name in NAMES}
    return values | mail.mail_values(changed, running.configured_mail)


def shown(name: str, value: object) -> object:
    """A value for the log and for operators: a password as stars."""
    return "***" if name == "smtp_password" and value is not None else value


async def check_may_change_mail(ctx: Context) -> None:
    """Refuse (403/50013) operators who do not make operators, and (401/60003) those without a fresh proof.

    Who chooses the mail server reads the links for new passwords of all others.
    """
    authority = ctx.find_resource(OperatorAuthority)
    if authority is not None:
        authority.require(OperatorPermission.OPERATORS)
        await require_proof(ctx)


def _check_registration(values: Mapping[str, Any]) -> None:
    form_errors = FormErrors()
    if values["registration"] == "domain":
        if not values["registration_domains"]:
            form_errors.add("registration_domains", *FieldError.required())
        if values["smtp_host"] is None:
            form_errors.add(
                "registration", FormCode.BASE_TYPE_CHOICES, "Addresses are confirmed by mail: no mail server is set."
            )
    form_errors.raise_if_any()
