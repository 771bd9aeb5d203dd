"""Reports over HTTP: as people make them, in the paths and bodies of usual clients, and as operators close them."""

from typing import Annotated, Any, Final, NoReturn

import msgspec
from msgspec import Meta, Struct

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import get, post
from moothall.api.operators import OperatorAuthority, may_act, may_read
from moothall.api.ratelimit import Rate
from moothall.objects import errors
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.locales import preferred_locale
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.report import operations, queries
from moothall.resources.report.evidence import Evidence, guild_evidence, message_evidence, user_evidence
from moothall.resources.report.menu import DESCRIPTION, DESCRIPTION_MAX, ENGLISH, LANGUAGES, Menu, menu_of, reason_of
from moothall.resources.report.operations import Outcome
from moothall.resources.report.queries import ReportRow
from moothall.resources.user.queries import select_user

_READS, _ACTS = may_read(OperatorPermission.REPORTS), may_act(OperatorPermission.REPORTS)
_RATE: Final = Rate(5, 60.0)
_Text = Annotated[str, Meta(max_length=DESCRIPTION_MAX)]


class SubmitReport(Struct, frozen=True, kw_only=True):
    """The way that a reporter has gone through a menu, and what is reported."""

    version: Annotated[str, Meta(max_length=32)]
    variant: Annotated[str, Meta(max_length=256)]
    name: Annotated[str, Meta(max_length=64)]
    language: Annotated[str, Meta(max_length=32)] = ENGLISH
    breadcrumbs: Annotated[list[int], Meta(min_length=1, max_length=20)]
    """Ids of nodes, from the root to the reason."""
    elements: Annotated[dict[str, Annotated[list[_Text], Meta(max_length=10)]], Meta(max_length=10)] | None = None
    """What was entered, by the names of elements: `description` has the reporter's words."""
    channel_id: ChannelId | None = None
    message_id: MessageId | None = None
    guild_id: GuildId | None = None
    reported_user_id: UserId | None = None


class CreatedReport(Struct, frozen=True):
    """The id of a report."""

    report_id: Snowflake


class AdministeredReport(Struct, frozen=True, kw_only=True):
    """A report, as operators see it."""

    id: Snowflake
    name: str
    """`message`, `user` or `guild`."""
    reason: str
    reporter_id: UserId | None
    """Null once the account of the reporter is deleted."""
    user_id: UserId
    """Whom it is about: the author of the message, the user, the owner of the guild."""
    guild_id: GuildId | None
    channel_id: ChannelId | None
    target_id: Snowflake
    description: str
    created_at: Timestamp
    state: str
    """`open` or `closed`."""
    closed_at: Timestamp | None
    closed_by: UserId | None
    """The operator; null for a command."""
    outcome: str | None
    note: str | None


class AdministeredReportWithEvidence(AdministeredReport, frozen=True, kw_only=True):
    """A report with what was reported, as it was at that moment."""

    evidence: JsonObject
    """The message, the profile of the user, or the guild."""


class CloseReport(Struct, frozen=True):
    """What was done, and a note for operators."""

    outcome: Outcome
    note: Annotated[str, Meta(max_length=1000)] | None = None


class ClosedReport(AdministeredReport, frozen=True, kw_only=True):
    """A report that was just closed."""

    reporter_notified: bool
    """Whether a mail is sent to the reporter: not without a mail server, and without a confirmed address."""


@get("/reporting/menu/{name}", permission=PERSON)
async def get_report_menu(
    ctx: Context, name: str, *, variant: Annotated[str, Meta(max_length=256)] | None = None
) -> Menu:
    """Return the menu by which a `message`, a `user` or a `guild` is reported, in the caller's language.

    There is one variant, whatever is asked for.
    """
    del variant
    row = await select_user(ctx.tx, ctx.actor.user_id)
    language = preferred_locale(None if row is None else row.locale, LANGUAGES) or ENGLISH
    menu = menu_of(name, language)
    if menu is None:
        raise Refusal(errors.NOT_FOUND)
    return menu


@post("/reporting/{name}", permission=PERSON, rate=_RATE, status=200)
async def create_report(ctx: Context, name: str, body: SubmitReport) -> CreatedReport:
    """Report a `message`, a `user` or a `guild` to the operators, with what it is at this moment.

    Ten a day, and what the caller can see. While a report of the same thing is open, its id is returned.
    """
    if menu_of(name, ENGLISH) is None:
        raise Refusal(errors.NOT_FOUND)
    if body.name != name:
        refuse_field("name", FormCode.BASE_TYPE_CHOICES, f"The menu is that of a {name}.")
    reason = reason_of(name, body.breadcrumbs)
    if reason is None:
        refuse_field("breadcrumbs", FormCode.BASE_TYPE_CHOICES, "They lead to no reason of this menu.")
    description = "\n".join((body.elements or {}).get(DESCRIPTION, []))
    if len(description) > DESCRIPTION_MAX:
        refuse_field(("elements", DESCRIPTION), FormCode.BASE_TYPE_MAX_LENGTH, f"At most {DESCRIPTION_MAX} characters.")
    evidence = await _evidence(ctx, name, body)
    return CreatedReport(await operations.create_report(ctx, name, reason, evidence, description))


async def _evidence(ctx: Context, name: str, body: SubmitReport) -> Evidence:
    if name == "user":
        if body.reported_user_id is None:
            _require("reported_user_id")
        return await user_evidence(ctx, body.reported_user_id)
    if name == "guild":
        if body.guild_id is None:
            _require("guild_id")
        return await guild_evidence(ctx, body.guild_id)
    if body.channel_id is None:
        _require("channel_id")
    if body.message_id is None:
        _require("message_id")
    return await message_evidence(ctx, body.channel_id, body.message_id)


def _require(name: str) -> NoReturn:
    refuse_field(name, FormCode.BASE_TYPE_REQUIRED, "This field is required")


@get("/admin/v1/reports", permission=_READS)
async def list_reports(
    ctx: Context,
    *,
    closed: bool = False,
    before: Snowflake | None = None,
    limit: Annotated[int, Meta(ge=1, le=100)] = 50,
) -> list[AdministeredReport]:
    """List open reports, or closed ones, newest first; none about the operator who asks."""
    me = ctx.resource(OperatorAuthority).user_id
    rows = await queries.select_reports(ctx.tx, closed=closed, not_about=me, before=before, maximum=limit)
    return [AdministeredReport(**_fields(row)) for row in rows]


@get("/admin/v1/reports/{report_id}", permission=_READS)
async def get_report(ctx: Context, report_id: Snowflake) -> AdministeredReportWithEvidence:
    """Return a report with what was reported, as it was at that moment."""
    row = await operations.get_report(ctx, report_id)
    return AdministeredReportWithEvidence(**_fields(row), evidence=msgspec.json.decode(row.evidence))


@post("/admin/v1/reports/{report_id}/close", permission=_ACTS, audit_reason=True, status=200)
async def close_report(ctx: Context, report_id: Snowflake, body: CloseReport) -> ClosedReport:
    """Close a report with what was done, of which its reporter is notified by mail. It is deleted 90 days later."""
    notified = await operations.close_report(ctx, report_id, body.outcome, body.note)
    return ClosedReport(**_fields(await operations.get_report(ctx, report_id)), reporter_notified=notified)


def _fields(row: ReportRow) -> dict[str, Any]:
    hidden = {"network", "evidence"}
    fields = {name: getattr(row, name) for name in row.__struct_fields__ if name not in hidden}
    return {**fields, "state": "open" if row.closed_at is None else "closed"}
