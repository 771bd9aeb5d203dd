"""Membership screening operations: reading, changing and submitting the form."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, UnsetType, structs

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.api.jobs import enqueue
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.features import Feature
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.guild import Guild
from moothall.objects.ids import JoinRequestId
from moothall.objects.json_object import JsonObject
from moothall.objects.screening import FormField, JoinRequest, JoinRequestStatus, ScreeningForm
from moothall.objects.text import clean, clean_name
from moothall.objects.wire import Timestamp, to_plain
from moothall.resources.guild.join_request.operations import submit_join_request
from moothall.resources.guild.membership.operations import admit_member
from moothall.resources.guild.operations import change_guild
from moothall.resources.guild.screening import queries
from moothall.resources.guild.screening.jobs import AdmitPendingMembers
from moothall.resources.guild.screening.rules import check_response
from moothall.resources.member.queries import get_member

_AUDIT_KEYS: Final = {
    "description": "member_verification_description",
    "form_fields": "member_verification_form_fields",
}
"""The audit log keys of the form's fields, which differ from those of the guild in the same kind of entry."""


async def get_form(ctx: Context) -> ScreeningForm:
    """The form of the guild entered; an empty form if it has none."""
    form = await queries.select_form(ctx.tx, ctx.guild.id)
    return form or ScreeningForm(version=Timestamp(ctx.guild.id.created_ms), description=None, form_fields=[])


async def modify_screening(
    ctx: Context,
    *,
    enabled: bool | UnsetType | None,
    description: str | UnsetType | None,
    fields: list[FormField] | UnsetType,
) -> ScreeningForm:
    """Change the form of the guild entered, and whether screening is enabled; returns the changed form.

    A changed form has a new version, and responses to an older one are refused. Disabling screening enqueues a job that
    admits all pending members. A request that changes nothing is neither recorded nor announced. Raises Refusal:
    400/50035.
    """
    before = await get_form(ctx)
    after = before
    if description is not UNSET:
        after = structs.replace(after, description=clean(description or "").strip() or None)
    if fields is not UNSET:
        after = structs.replace(after, form_fields=_clean_fields(fields))
    if after != before:
        after = structs.replace(after, version=Timestamp(max(ctx.now, before.version + 1)))
        await queries.upsert_form(ctx.tx, ctx.guild.id, after)
        changes = [
            structs.replace(change, key=_AUDIT_KEYS[change.key]) for change in differences(before, after, _AUDIT_KEYS)
        ]
        await ctx.audit(AuditLogEvent.GUILD_UPDATE, target=ctx.guild.id, changes=changes)
    features = set(ctx.guild.row.features)
    if enabled is not UNSET and bool(enabled) != (Feature.MEMBER_VERIFICATION_GATE_ENABLED in features):
        await admit_pending_if_disabled(
            ctx, await change_guild(ctx, features=sorted(features ^ {Feature.MEMBER_VERIFICATION_GATE_ENABLED}))
        )
    return after


async def admit_pending_if_disabled(ctx: Context, after: Guild) -> None:
    """Enqueue the admission of all pending members if screening is disabled in `after` but was enabled in the guild."""
    gate = Feature.MEMBER_VERIFICATION_GATE_ENABLED
    if gate in ctx.guild.row.features and gate not in after.features:
        await enqueue(ctx, AdmitPendingMembers(guild_id=after.id))


def _clean_fields(fields: Sequence[FormField]) -> list[FormField]:
    form_errors = FormErrors()
    made = []
    for index, field in enumerate(fields):
        label = clean_name(field.label)
        if not label:
            form_errors.add(["form_fields", index, "label"], *FieldError.length(1, None))
        lists: dict[str, list[str]] = {}
        for name in ("values", "choices"):
            lines = getattr(field, name)
            if lines is not UNSET:
                lists[name] = [clean(line).strip() for line in lines]
                at = form_errors.at(["form_fields", index, name])
                for line_index, line in enumerate(lists[name]):
                    if not line:
                        at.add([line_index], *FieldError.length(1, None))
        if lists.get("choices") == []:
            form_errors.add(["form_fields", index, "choices"], *FieldError.length(1, limits.SCREENING_CHOICES_MAX))
        made.append(structs.replace(field, label=label, description=clean(field.description or "") or None, **lists))
    form_errors.raise_if_any()
    return made


def _response(field: FormField, *, response: str | int | bool | None) -> JsonObject:
    """A field with the response to it, as join requests show both: what was left open is left out."""
    shown = {**to_plain(field), "response": response}
    return {name: value for name, value in shown.items() if value is not None}


async def submit_form(ctx: Context, version: Timestamp, responses: Sequence[object]) -> JoinRequest:
    """Check the actor's responses to the form of the guild entered, in the order of its fields.

    A form of rules alone admits the actor at once; otherwise the responses become a join request for review. Nothing
    changes and nothing is emitted for an actor who is not pending. Raises Refusal: 400/50035 for responses to an older
    form, and for invalid responses.
    """
    form = await get_form(ctx)
    form_errors = FormErrors()
    if version != form.version:
        form_errors.add("version", FormCode.BASE_TYPE_CHOICES, "The form has changed since.")
    answered: list[dict[str, object]] = []
    for index, field in enumerate(form.form_fields):
        response = responses[index] if index < len(responses) else None
        at = form_errors.at(["form_fields", index, "response"])
        answered.append(_response(field, response=check_response(field, response, at)))
    # Responses belong to fields by their position, so the valid ones alone would belong to other fields.
    form_errors.raise_if_any()
    row = await get_member(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    if row.pending and form.reviewed:
        return await submit_join_request(ctx, answered)
    if row.pending:
        await admit_member(ctx, ctx.guild, row)
    request_id = JoinRequestId(ctx.ids.next())
    return JoinRequest(
        id=request_id,
        join_request_id=request_id,
        guild_id=ctx.guild.id,
        user_id=row.user_id,
        created_at=ctx.now,
        reviewed_at=ctx.now,
        application_status=JoinRequestStatus.APPROVED,
    )
