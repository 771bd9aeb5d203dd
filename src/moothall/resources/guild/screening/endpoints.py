"""Membership screening over HTTP, under the paths that public clients use (api.md, States)."""

from contextlib import suppress
from typing import Annotated, Any

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import get, patch, put
from moothall.api.request.form import read_plain
from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.ids import GuildId
from moothall.objects.permissions import Permissions
from moothall.objects.screening import FieldType, FormField, JoinRequest, ScreeningForm
from moothall.objects.wire import Timestamp
from moothall.resources.guild.events import GuildUpdate
from moothall.resources.guild.join_request.events import SUBMIT_EVENTS
from moothall.resources.guild.membership.operations import ADMIT_EVENTS
from moothall.resources.guild.screening import operations

_Choice = Annotated[str, Meta(min_length=1, max_length=limits.SCREENING_CHOICE_MAX)]
_Value = Annotated[str, Meta(min_length=1, max_length=limits.SCREENING_VALUE_MAX)]


class FieldRequest(Struct, frozen=True, kw_only=True):
    """A field of the form."""

    field_type: FieldType
    label: Annotated[str, Meta(min_length=1, max_length=limits.SCREENING_LABEL_MAX)]
    description: Annotated[str, Meta(max_length=limits.SCREENING_DESCRIPTION_MAX)] | UnsetType | None = UNSET
    values: Annotated[list[_Value], Meta(max_length=limits.SCREENING_VALUES_MAX)] | UnsetType | None = UNSET
    choices: Annotated[list[_Choice], Meta(max_length=limits.SCREENING_CHOICES_MAX)] | UnsetType | None = UNSET
    placeholder: Annotated[str, Meta(max_length=limits.SCREENING_PLACEHOLDER_MAX)] | UnsetType | None = UNSET
    required: bool | UnsetType | None = UNSET


_Fields = Annotated[list[FieldRequest], Meta(max_length=limits.SCREENING_FIELDS_MAX)]


class ModifyScreening(Struct, frozen=True, kw_only=True):
    """Changes to screening: an absent field stays, null clears or disables."""

    enabled: bool | UnsetType | None = UNSET
    description: Annotated[str, Meta(max_length=limits.SCREENING_DESCRIPTION_MAX)] | UnsetType | None = UNSET
    form_fields: _Fields | str | UnsetType | None = UNSET
    """A list, or its JSON as a string, which older clients send."""

    def parsed_fields(self) -> list[FieldRequest] | UnsetType:
        """The fields, from a list or a string. Raises Refusal: 400/50035."""
        if not isinstance(self.form_fields, str):
            return [] if self.form_fields is None else self.form_fields
        value: object = None
        # A string that is not JSON, not valid Unicode or nested too deeply is refused as "not a list" below.
        with suppress(msgspec.DecodeError, UnicodeError, RecursionError):
            value = msgspec.json.decode(self.form_fields)
        form_errors = FormErrors()
        fields: list[FieldRequest] = read_plain(_Fields, value, ["form_fields"], form_errors)
        form_errors.raise_if_any()
        return fields


class FieldAnswer(Struct, frozen=True, kw_only=True):
    """The response to one field of the form; clients send the field's own members too."""

    response: Any = None


class CreateJoinRequest(Struct, frozen=True, kw_only=True):
    """The responses to a form, in the order of its fields, and the version of the form."""

    version: Timestamp
    form_fields: Annotated[list[FieldAnswer], Meta(max_length=limits.SCREENING_FIELDS_MAX)]


@get("/guilds/{guild_id}/member-verification", permission=MEMBER)
async def get_guild_member_verification(ctx: Context, guild_id: GuildId) -> ScreeningForm:
    """Get the screening form."""
    return await operations.get_form(ctx)


@patch(
    "/guilds/{guild_id}/member-verification",
    permission=Permissions.MANAGE_GUILD,
    audit_reason=True,
    fires=(GuildUpdate,),
)
async def modify_guild_member_verification(ctx: Context, guild_id: GuildId, body: ModifyScreening) -> ScreeningForm:
    """Change, enable or disable membership screening."""
    fields = body.parsed_fields()
    return await operations.modify_screening(
        ctx,
        enabled=body.enabled,
        description=body.description,
        fields=fields if isinstance(fields, UnsetType) else [_field(field) for field in fields],
    )


def _field(field: FieldRequest) -> FormField:
    return FormField(
        field_type=field.field_type,
        label=field.label,
        description=field.description or None,
        values=(field.values or []) if field.field_type == "TERMS" else UNSET,
        choices=(field.choices or []) if field.field_type == "MULTIPLE_CHOICE" else UNSET,
        placeholder=(field.placeholder or None) if field.field_type in {"TEXT_INPUT", "PARAGRAPH"} else UNSET,
        required=True if field.required is UNSET else bool(field.required),
    )


@put("/guilds/{guild_id}/requests/@me", permission=MEMBER, fires=(*ADMIT_EVENTS, *SUBMIT_EVENTS))
async def create_guild_join_request(ctx: Context, guild_id: GuildId, body: CreateJoinRequest) -> JoinRequest:
    """Submit the caller's responses to the screening form: they are admitted, or their request awaits review."""
    return await operations.submit_form(ctx, body.version, [field.response for field in body.form_fields])
