"""Settings that change while the server runs, over HTTP."""

from typing import Any, Final

import msgspec
from msgspec import Struct

from moothall.api import unit_of_work
from moothall.api.context import Context
from moothall.api.endpoint import get, patch, post
from moothall.api.operators import may_act, may_read
from moothall.api.ratelimit import Rate
from moothall.objects import errors
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import Refusal
from moothall.objects.ids import UserId
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.mail.delivery import DeliveryFailed, deliver
from moothall.resources.mail.messages import MailKind, build_message, language_of
from moothall.resources.mail.sender import MailSender
from moothall.resources.operator_log.operations import record_act
from moothall.resources.server_setting import operations, queries
from moothall.resources.server_setting.requests import ModifyServerSettings
from moothall.resources.server_setting.running import NAMES, RunningSettings
from moothall.storage.database import StorageError

_MAIL, _STORAGE = may_act(OperatorPermission.OPERATORS), may_act(OperatorPermission.SETTINGS)
_CHECK_RATE: Final = Rate(5, 10.0)
_PROBLEM_MAX: Final = 300


class ServerSetting(Struct, frozen=True):
    """A setting: its value, that of the configuration, and who has changed it."""

    name: str
    value: Any
    configured: Any
    changed_at: Timestamp | None
    changed_by: UserId | None
    """Null if it is as configured, and if a command has changed it."""


class SendTestMail(Struct, frozen=True):
    """The address that the test message goes to."""

    address: EmailAddress


class ServiceCheck(Struct, frozen=True, kw_only=True):
    """Whether something that the server needs works, and what is wrong with it."""

    ok: bool
    where: str
    """The mail server, or where files are stored."""
    problem: str | None = None
    answer: str | None = None
    """What the mail server said when it took the message."""
    free_bytes: int | None = None
    """The space on the disk of a folder."""


@get("/admin/v1/settings", permission=may_read(OperatorPermission.SETTINGS))
async def list_server_settings(ctx: Context) -> list[ServerSetting]:
    """List the settings that can change while the server runs, with their values."""
    return await _settings(ctx)


@patch("/admin/v1/settings", permission=may_act(OperatorPermission.SETTINGS), audit_reason=True)
async def modify_server_settings(ctx: Context, body: ModifyServerSettings) -> list[ServerSetting]:
    """Change settings, in force at once; null brings back the configuration's value."""
    await operations.modify_settings(ctx, body)
    return await _settings(ctx)


@post("/admin/v1/mail/test", permission=_MAIL, rate=_CHECK_RATE, writes=False, status=200)
async def send_test_mail(ctx: Context, body: SendTestMail) -> ServiceCheck:
    """Send a test message by the mail server in force, at once, and say what it answered."""
    config = ctx.services.resources[MailSender].config
    if config is None:
        raise Refusal(errors.FEATURE_DISABLED, message="No mail server is set.")
    language, mail_id = language_of(ctx.header("accept-language")), int(ctx.ids.next())
    message = build_message(config, MailKind.TEST, language, str(body.address), {}, mail_id=mail_id)

    async def record(inner: Context) -> None:
        await record_act(inner, "mail.test", changes={"address": (None, str(body.address))})

    await unit_of_work.run(ctx.services, ctx.actor, record, fires=())
    try:
        answer = await deliver(config, message, str(body.address))
    except DeliveryFailed as failure:
        return ServiceCheck(ok=False, where=config.where, problem=str(failure))
    return ServiceCheck(ok=True, where=config.where, answer=answer)


@post("/admin/v1/storage/check", permission=_STORAGE, rate=_CHECK_RATE, writes=False, status=200)
async def check_storage(ctx: Context) -> ServiceCheck:
    """Store a file where files are stored, read it, and delete it again."""
    blobs, key, content = ctx.services.blobs, f"checks/{int(ctx.ids.next())}", b"moothall"
    try:
        await blobs.put(key, content, ctx.payer)
        problem = None if await blobs.get(key) == content else "What was stored is not what was read."
        await blobs.delete(key)
        free_bytes = await blobs.free_bytes()
    except (StorageError, OSError) as failure:
        return ServiceCheck(ok=False, where=blobs.where, problem=str(failure)[:_PROBLEM_MAX])
    return ServiceCheck(ok=problem is None, where=blobs.where, problem=problem, free_bytes=free_bytes)


async def _settings(ctx: Context) -> list[ServerSetting]:
    rows = {row.name: row for row in await queries.select_settings(ctx.tx)}
    running = ctx.services.resources[RunningSettings]
    values = operations.in_force(running, {name: msgspec.json.decode(row.value) for name, row in rows.items()})
    return [
        ServerSetting(
            name=name,
            value=operations.shown(name, values[name]),
            configured=running.configured_value(name),
            changed_at=None if row is None else row.changed_at,
            changed_by=None if row is None else row.changed_by,
        )
        for name in NAMES
        for row in [rows.get(name)]
    ]
