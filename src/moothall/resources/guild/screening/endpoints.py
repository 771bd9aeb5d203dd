"""Membership screening over HTTP (the paths that public clients use; api.md, States)."""

from contextlib import suppress
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.kernel.access import MEMBER
from moothall.kernel.context import Context
from moothall.kernel.endpoint import get, patch, put
from moothall.kernel.form import describe_failure
from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.ids import GuildId
from moothall.objects.permissions import Permissions
from moothall.objects.screening import FormField, JoinRequest, ScreeningForm
from moothall.objects.wire import Timestamp, convert
from moothall.resources.guild.events import GuildUpdate
from moothall.resources.guild.membership.operations import ADMITTING
from moothall.resources.guild.screening import operations

_Value = Annotated[str, Meta(min_length=1, max_length=limits.SCREENING_VALUE_MAX)]


class FieldRequest(Struct, frozen=True, kw_only=True):
    """One thing to agree to."""

    field_type: Literal["TERMS"]
    label: Annotated[str, Meta(min_length=1, max_length=limits.SCREENING_LABEL_MAX)]
    description: Annotated[str, Meta(max_length=limits.SCREENING_DESCRIPTION_MAX)] | UnsetType | None = UNSET
    values: Annotated[list[_Value], Meta(max_length=limits.SCREENING_VALUES_MAX)] | UnsetType | None = UNSET
    required: bool | UnsetType | None = UNSET


_Fields = Annotated[list[FieldRequest], Meta(max_length=limits.SCREENING_FIELDS_MAX)]


class ModifyScreening(Struct, frozen=True, kw_only=True):
    """Changes to screening: what is absent stays, null clears or switches off."""

    enabled: bool | UnsetType | None = UNSET
    description: Annotated[str, Meta(max_length=limits.SCREENING_DESCRIPTION_MAX)] | UnsetType | None = UNSET
    form_fields: _Fields | str | UnsetType | None = UNSET
    """Also as the text of their JSON, as older clients send them."""

    def listed(self) -> list[FieldRequest] | UnsetType:
        """The fields, whichever way they were sent. Raises Refusal (50035)."""
        if not isinstance(self.form_fields, str):
            return [] if self.form_fields is None else self.form_fields
        given: object = None
        # Text that is no JSON, cannot be read as text, or is nested too deeply is no list either.
        with suppress(msgspec.DecodeError, UnicodeError, RecursionError):
            given = msgspec.json.decode(self.form_fields)
        try:
            fields: list[FieldRequest] = convert(given, _Fields)
        except msgspec.ValidationError:
            form_errors = FormErrors()
            describe_failure(_Fields, given, ["form_fields"], form_errors)
            raise form_errors.refusal() from None
        return fields


class FieldAnswer(Struct, frozen=True, kw_only=True):
    """The answer to one field of the form; clients repeat the field beside it."""

    response: Any = None


class CreateJoinRequest(Struct, frozen=True, kw_only=True):
    """The answers to a form, in the order of its fields, and the version of it that was answered."""

    version: Timestamp
    form_fields: Annotated[list[FieldAnswer], Meta(max_length=limits.SCREENING_FIELDS_MAX)]


@get("/guilds/{guild_id}/member-verification", permission=MEMBER)
async def get_guild_member_verification(ctx: Context, guild_id: GuildId) -> ScreeningForm:
    """What newcomers have to agree to."""
    return await operations.read_form(ctx)


@patch(
    "/guilds/{guild_id}/member-verification",
    permission=Permissions.MANAGE_GUILD,
    audit_reason=True,
    fires=(GuildUpdate,),
)
async def modify_guild_member_verification(ctx: Context, guild_id: GuildId, body: ModifyScreening) -> ScreeningForm:
    """Change what newcomers have to agree to, or whether they have to at all."""
    asked = body.listed()
    return await operations.modify_screening(
        ctx,
        enabled=body.enabled,
        description=body.description,
        fields=asked if isinstance(asked, UnsetType) else [_field(field) for field in asked],
    )


def _field(asked: FieldRequest) -> FormField:
    return FormField(
        field_type=asked.field_type,
        label=asked.label,
        description=asked.description or None,
        values=asked.values or [],
        required=True if asked.required is UNSET else bool(asked.required),
    )


@put("/guilds/{guild_id}/requests/@me", permission=MEMBER, fires=ADMITTING)
async def create_guild_join_request(ctx: Context, guild_id: GuildId, body: CreateJoinRequest) -> JoinRequest:
    """Agree to what a guild asks of newcomers, and take part from now on."""
    return await operations.answer_form(ctx, body.version, [answer.response for answer in body.form_fields])
