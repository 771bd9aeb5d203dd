"""Membership screening over HTTP, under the paths that public clients use (api.md, States)."""

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
from moothall.resources.guild.membership.operations import ADMIT_EVENTS
from moothall.resources.guild.screening import operations

_Value = Annotated[str, Meta(min_length=1, max_length=limits.SCREENING_VALUE_MAX)]


class FieldRequest(Struct, frozen=True, kw_only=True):
    """A field of the form."""

    field_type: Literal["TERMS"]
    label: Annotated[str, Meta(min_length=1, max_length=limits.SCREENING_LABEL_MAX)]
    description: Annotated[str, Meta(max_length=limits.SCREENING_DESCRIPTION_MAX)] | UnsetType | None = UNSET
    values: Annotated[list[_Value], Meta(max_length=limits.SCREENING_VALUES_MAX)] | UnsetType | None = UNSET
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
        try:
            fields: list[FieldRequest] = convert(value, _Fields)
        except msgspec.ValidationError:
            form_errors = FormErrors()
            describe_failure(_Fields, value, ["form_fields"], form_errors)
            raise form_errors.refusal() from None
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
        values=field.values or [],
        required=True if field.required is UNSET else bool(field.required),
    )


@put("/guilds/{guild_id}/requests/@me", permission=MEMBER, fires=ADMIT_EVENTS)
async def create_guild_join_request(ctx: Context, guild_id: GuildId, body: CreateJoinRequest) -> JoinRequest:
    """Submit the caller's responses to the screening form, which ends their pending state."""
    return await operations.submit_form(ctx, body.version, [field.response for field in body.form_fields])
