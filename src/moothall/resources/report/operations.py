"""Operations: report something, and close a report, which is a row of the operators' log."""

from enum import StrEnum
from typing import Final

from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.api.operators import OperatorAuthority
from moothall.api.pipeline import too_many_requests
from moothall.objects import errors
from moothall.objects.email_address import EmailAddress
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import Snowflake
from moothall.objects.wire import Timestamp
from moothall.resources.mail.messages import MailKind, language_of
from moothall.resources.mail.operations import send_mail
from moothall.resources.operator_log.operations import record_act
from moothall.resources.report import queries
from moothall.resources.report.evidence import Evidence
from moothall.resources.report.jobs import DeleteReport
from moothall.resources.report.queries import ReportRow
from moothall.resources.user.queries import lock_user, select_user

_DAY_MS: Final = 86_400_000
PER_ACCOUNT: Final = 10
"""Reports of an account in a day."""
PER_NETWORK: Final = 50
"""Reports from one network in a day."""
KEPT_DAYS: Final = 90
"""How long a closed report is kept."""
KEPT_OPEN_DAYS: Final = 365
"""How long a report is kept in any case."""


class Outcome(StrEnum):
    """What was done about a report. The values are stored."""

    NO_VIOLATION = "no_violation"
    WARNED = "warned"
    CONTENT_REMOVED = "content_removed"
    ACCOUNT_CLOSED = "account_closed"
    GUILD_CHANGED = "guild_changed"
    OTHER = "other"


_OUTCOMES: Final = {
    "en": {
        Outcome.NO_VIOLATION: "The operators have found nothing that breaks the rules.",
        Outcome.WARNED: "Whom it is about was warned.",
        Outcome.CONTENT_REMOVED: "What you have reported was removed.",
        Outcome.ACCOUNT_CLOSED: "The account was closed.",
        Outcome.GUILD_CHANGED: "The server that it is about was changed.",
        Outcome.OTHER: "The operators have dealt with it.",
    },
    "de": {
        Outcome.NO_VIOLATION: "Die Betreiber haben nichts gefunden, was gegen die Regeln verstößt.",
        Outcome.WARNED: "Wen sie betrifft, wurde verwarnt.",
        Outcome.CONTENT_REMOVED: "Was du gemeldet hast, wurde entfernt.",
        Outcome.ACCOUNT_CLOSED: "Das Konto wurde gesperrt.",
        Outcome.GUILD_CHANGED: "Der Server, den sie betrifft, wurde geändert.",
        Outcome.OTHER: "Die Betreiber haben sich darum gekümmert.",
    },
}


async def create_report(ctx: Context, name: str, reason: str, evidence: Evidence, description: str) -> Snowflake:
    """Store a report of the caller with its evidence; return its id.

    While a report of the same thing by the same user is open, its id is returned and nothing is stored. Raises Refusal:
    50035 for what is the caller's own, 429 beyond the limits of a day by account and network.
    """
    reporter_id = ctx.actor.user_id
    if evidence.user_id == reporter_id:
        refuse_field("breadcrumbs", FormCode.BASE_TYPE_CHOICES, "You cannot report yourself.")
    # Locked, so that two requests at once cannot both count the last but one.
    await lock_user(ctx.tx, reporter_id)
    same = await queries.select_same(ctx.tx, reporter_id, name, evidence.target_id)
    if same is not None:
        return same
    since = Timestamp(ctx.now - _DAY_MS)
    if await queries.count_of_reporter(ctx.tx, reporter_id, since) >= PER_ACCOUNT or (
        ctx.ip and await queries.count_of_network(ctx.tx, ctx.ip, since) >= PER_NETWORK
    ):
        raise too_many_requests(_DAY_MS / 1000 / PER_ACCOUNT, "user", [])
    report_id = ctx.ids.next()
    await queries.insert_report(
        ctx.tx,
        ReportRow(
            id=report_id,
            name=name,
            reason=reason,
            reporter_id=reporter_id,
            network=ctx.ip or None,
            user_id=evidence.user_id,
            guild_id=evidence.guild_id,
            channel_id=evidence.channel_id,
            target_id=evidence.target_id,
            description=description,
            evidence=evidence.content,
            created_at=ctx.now,
            closed_at=None,
            closed_by=None,
            outcome=None,
            note=None,
        ),
    )
    await enqueue(ctx, DeleteReport(report_id=report_id), at=Timestamp(ctx.now + KEPT_OPEN_DAYS * _DAY_MS))
    return report_id


async def get_report(ctx: Context, report_id: Snowflake) -> ReportRow:
    """Read a report. Raises Refusal: 404 for an unknown one, and for one about the operator who asks."""
    row = await queries.select_report(ctx.tx, report_id)
    authority = ctx.find_resource(OperatorAuthority)
    if row is None or (authority is not None and row.user_id == authority.user_id):
        raise Refusal(errors.NOT_FOUND)
    return row


async def close_report(ctx: Context, report_id: Snowflake, outcome: Outcome, note: str | None) -> bool:
    """Close a report with what was done, and tell the reporter by mail; return whether they are notified.

    It is deleted later, with its evidence. Raises Refusal: as `get_report`, 50035 for a report that is closed.
    """
    row = await get_report(ctx, report_id)
    authority = ctx.find_resource(OperatorAuthority)
    operator_id = None if authority is None else authority.user_id
    if not await queries.close_open_report(ctx.tx, report_id, ctx.now, operator_id, outcome, note):
        refuse_field("report_id", FormCode.BASE_TYPE_CHOICES, "This report is closed.")
    notified = await _tell_reporter(ctx, row, outcome)
    await enqueue(ctx, DeleteReport(report_id=report_id), at=Timestamp(ctx.now + KEPT_DAYS * _DAY_MS))
    # The note is not in the log, which is never deleted: it may be about people.
    changes = {"state": ("open", "closed"), "outcome": (None, outcome.value), "reporter_notified": (None, notified)}
    await record_act(ctx, "report.close", report_id, changes=changes)
    return notified


async def _tell_reporter(ctx: Context, row: ReportRow, outcome: Outcome) -> bool:
    reporter = None if row.reporter_id is None else await select_user(ctx.tx, row.reporter_id)
    if reporter is None or reporter.email is None or not reporter.verified or reporter.suspended:
        return False
    values = {
        "name": reporter.username,
        "date": row.created_at.wire()[:10],
        "outcome": _OUTCOMES[language_of(reporter.locale)][outcome],
    }
    return await send_mail(
        ctx, MailKind.REPORT_CLOSED, EmailAddress(reporter.email), values, user_id=reporter.id, locale=reporter.locale
    )
