"""What newcomers have to agree to before they take part (the public Membership Screening)."""

from typing import Literal

from msgspec import Struct

from moothall.objects.ids import GuildId, UserId
from moothall.objects.wire import Timestamp


class FormField(Struct, frozen=True, kw_only=True):
    """One thing to agree to: `values` are the guild's rules, line by line."""

    field_type: Literal["TERMS"]
    label: str
    description: str | None = None
    values: list[str]
    required: bool


class ScreeningForm(Struct, frozen=True, kw_only=True):
    """A guild's form. `version` is when it was last changed; answers name the one that they are to."""

    version: Timestamp
    description: str | None
    form_fields: list[FormField]


class JoinRequest(Struct, frozen=True, kw_only=True):
    """What came of answering the form: whoever agrees is let in at once."""

    guild_id: GuildId
    user_id: UserId
    created_at: Timestamp
    application_status: Literal["APPROVED"] = "APPROVED"
    rejection_reason: str | None = None
