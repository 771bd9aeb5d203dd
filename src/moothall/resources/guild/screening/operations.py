"""The form that newcomers answer, and what their answer brings about."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET, UnsetType, structs

from moothall.kernel.audit import differences
from moothall.kernel.context import Context
from moothall.kernel.jobs import enqueue
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.features import Feature
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.guild import Guild
from moothall.objects.screening import FormField, JoinRequest, ScreeningForm
from moothall.objects.text import clean, clean_name
from moothall.objects.wire import Timestamp
from moothall.resources.guild.membership.operations import admit_member
from moothall.resources.guild.operations import change_guild
from moothall.resources.guild.screening import queries
from moothall.resources.guild.screening.jobs import AdmitPending
from moothall.resources.member.queries import get_member

_AUDIT_KEYS: Final = {
    "description": "member_verification_description",
    "form_fields": "member_verification_form_fields",
}
"""The form's fields, by the keys that set them apart from the guild's own in its audit entries."""


async def read_form(ctx: Context) -> ScreeningForm:
    """The form of the guild entered; where nobody made any, one that asks nothing."""
    found = await queries.select_form(ctx.tx, ctx.guild.id)
    return found or ScreeningForm(version=Timestamp(ctx.guild.id.created_ms), description=None, form_fields=[])


async def modify_screening(
    ctx: Context,
    *,
    enabled: bool | UnsetType | None,
    description: str | UnsetType | None,
    fields: list[FormField] | UnsetType,
) -> ScreeningForm:
    """Change the form of the guild entered, and whether there is screening; the form as it is then.

    A changed form has a new version, and answers to the old one are no good any more. When screening
    ends, all who are pending are let in soon afterwards. What changes nothing is neither recorded nor
    announced. Raises Refusal: 400/50035.
    """
    before = await read_form(ctx)
    after = before
    if description is not UNSET:
        after = structs.replace(after, description=clean(description or "").strip() or None)
    if fields is not UNSET:
        after = structs.replace(after, form_fields=_cleaned(fields))
    if after != before:
        after = structs.replace(after, version=Timestamp(max(ctx.now, before.version + 1)))
        await queries.write_form(ctx.tx, ctx.guild.id, after)
        changes = [
            structs.replace(change, key=_AUDIT_KEYS[change.key]) for change in differences(before, after, _AUDIT_KEYS)
        ]
        await ctx.audit(AuditLogEvent.GUILD_UPDATE, target=ctx.guild.id, changes=changes)
    held = set(ctx.guild.row.features)
    if enabled is not UNSET and bool(enabled) != (Feature.MEMBER_VERIFICATION_GATE_ENABLED in held):
        await end_screening(
            ctx, await change_guild(ctx, features=sorted(held ^ {Feature.MEMBER_VERIFICATION_GATE_ENABLED}))
        )
    return after


async def end_screening(ctx: Context, after: Guild) -> None:
    """Have all who are pending let in soon, if the guild entered screens nobody any more as it is `after` a change."""
    gate = Feature.MEMBER_VERIFICATION_GATE_ENABLED
    if gate in ctx.guild.row.features and gate not in after.features:
        await enqueue(ctx, AdmitPending(guild_id=after.id))


def _cleaned(fields: Sequence[FormField]) -> list[FormField]:
    form_errors = FormErrors()
    made = []
    for index, field in enumerate(fields):
        label = clean_name(field.label)
        values = [clean(value).strip() for value in field.values]
        if not label:
            form_errors.add(["form_fields", index, "label"], *FieldError.length(1, None))
        for access, value in enumerate(values):
            if not value:
                form_errors.add(["form_fields", index, "values", access], *FieldError.length(1, None))
        made.append(
            structs.replace(field, label=label, values=values, description=clean(field.description or "") or None)
        )
    form_errors.raise_if_any()
    return made


async def answer_form(ctx: Context, version: Timestamp, responses: Sequence[object]) -> JoinRequest:
    """Take the actor's answers to the form of the guild entered, in the order of its fields, and let them take part.

    Those who are not pending stay as they are, and nobody is told. Raises Refusal: 400/50035 for
    answers to an older form, and unless everything that is required was agreed to.
    """
    form = await read_form(ctx)
    form_errors = FormErrors()
    if version != form.version:
        form_errors.add("version", FormCode.BASE_TYPE_CHOICES, "The form has changed since.")
    for index, field in enumerate(form.form_fields):
        response = responses[index] if index < len(responses) else None
        if field.required and response is not True:
            form_errors.add(["form_fields", index, "response"], *FieldError.required())
    form_errors.raise_if_any()
    row = await get_member(ctx.tx, ctx.guild.id, ctx.actor.user_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_MEMBER)
    if row.pending:
        await admit_member(ctx, ctx.guild, row)
    return JoinRequest(guild_id=ctx.guild.id, user_id=row.user_id, created_at=ctx.now)
