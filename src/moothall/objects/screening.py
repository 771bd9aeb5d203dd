"""Membership screening: the rules that new members have to accept (the public Membership Screening)."""

from typing import Literal

from msgspec import Struct

from moothall.objects.ids import GuildId, UserId
from moothall.objects.wire import Timestamp


class FormField(Struct, frozen=True, kw_only=True):
    """A field of the form; `values` are the guild's rules, one per line."""

    field_type: Literal["TERMS"]
    label: str
    description: str | None = None
    values: list[str]
    required: bool


class ScreeningForm(Struct, frozen=True, kw_only=True):
    """A guild's screening form. `version` is the time of its last change, which responses repeat."""

    version: Timestamp
    description: str | None
    form_fields: list[FormField]


class JoinRequest(Struct, frozen=True, kw_only=True):
    """The result of submitting the form; a member who accepts the rules is admitted at once."""

    guild_id: GuildId
    user_id: UserId
    created_at: Timestamp
    application_status: Literal["APPROVED"] = "APPROVED"
    rejection_reason: str | None = None
