"""The operation that changes settings while the server runs."""

from collections.abc import Mapping
from typing import Any

import msgspec
from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import UserId
from moothall.resources.mail.operations import sends_mail
from moothall.resources.operator_log.operations import record_act
from moothall.resources.server_setting import queries
from moothall.resources.server_setting.requests import ModifyServerSettings
from moothall.resources.server_setting.running import RunningSettings, value_of


async def modify_settings(ctx: Context, body: ModifyServerSettings, *, by_setup: UserId | None = None) -> None:
    """Change settings; they are in force with the commit, in other processes within seconds.

    Raises Refusal 50035 for registration by domain without domains or without mail. Without a difference nothing is
    recorded. `by_setup` as in `record_act`.
    """
    running = ctx.services.resources[RunningSettings]
    rows = {row.name: row for row in await queries.select_settings(ctx.tx)}
    present = {name: msgspec.json.decode(row.value) for name, row in rows.items()}

    def in_force(name: str) -> Any:
        return present.get(name, value_of(running.configured, name))

    old: dict[str, object] = {}
    for name, value in structs.asdict(body).items():
        if value is UNSET:
            continue
        old[name] = in_force(name)
        if value is None:
            present.pop(name, None)
        else:
            present[name] = value
    _check_registration(ctx, in_force("registration"), in_force("registration_domains"))
    changes: Mapping[str, tuple[Any, Any]] = {
        name: (before, in_force(name)) for name, before in old.items() if before != in_force(name)
    }
    for name in old:
        if name not in present:
            await queries.delete_setting(ctx.tx, name)
        elif name in changes:
            text = msgspec.json.encode(present[name]).decode()
            await queries.upsert_setting(ctx.tx, name, text, ctx.now, by_setup or ctx.actor.user_id or None)
    if changes:
        await record_act(ctx, "setting.change", changes=changes, by_setup=by_setup)
    stored = await queries.select_settings(ctx.tx)
    ctx.tx.on_commit(lambda: running.apply(stored))


def _check_registration(ctx: Context, registration: str, domains: list[str]) -> None:
    form_errors = FormErrors()
    if registration == "domain":
        if not domains:
            form_errors.add("registration_domains", *FieldError.required())
        if not sends_mail(ctx):
            form_errors.add(
                "registration", FormCode.BASE_TYPE_CHOICES, "Addresses are confirmed by mail: no mail server is set."
            )
    form_errors.raise_if_any()
