"""Membership screening: what new members have to answer, and the requests that moderators review."""

from enum import StrEnum
from typing import Literal

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import GuildId, JoinRequestId, UserId
from moothall.objects.json_object import JsonObject
from moothall.objects.user import User
from moothall.objects.wire import Timestamp

FieldType = Literal["TERMS", "TEXT_INPUT", "PARAGRAPH", "MULTIPLE_CHOICE"]


class FormField(Struct, frozen=True, kw_only=True):
    """A field of the form. `values` are the rules of TERMS, one per line, `choices` those of MULTIPLE_CHOICE."""

    field_type: FieldType
    label: str
    description: str | None = None
    values: list[str] | UnsetType = UNSET
    choices: list[str] | UnsetType = UNSET
    placeholder: str | UnsetType | None = UNSET
    required: bool


class ScreeningForm(Struct, frozen=True, kw_only=True):
    """A guild's screening form. `version` is the time of its last change, which responses repeat."""

    version: Timestamp
    description: str | None
    form_fields: list[FormField]

    @property
    def reviewed(self) -> bool:
        """Whether moderators review the responses: some field asks for more than agreement to rules."""
        return any(field.field_type != "TERMS" for field in self.form_fields)


class JoinRequestStatus(StrEnum):
    """The status of a join request."""

    STARTED = "STARTED"
    SUBMITTED = "SUBMITTED"
    REJECTED = "REJECTED"
    APPROVED = "APPROVED"


class JoinRequest(Struct, frozen=True, kw_only=True):
    """A member's responses to the form, and what moderators decided. The user's own copy has no `user`."""

    id: JoinRequestId
    join_request_id: JoinRequestId
    guild_id: GuildId
    user_id: UserId
    created_at: Timestamp
    reviewed_at: Timestamp | None = None
    application_status: JoinRequestStatus
    rejection_reason: str | None = None
    user: User | UnsetType | None = UNSET
    form_responses: list[JsonObject] | UnsetType = UNSET
    actioned_by_user: User | UnsetType | None = UNSET


class JoinRequestList(Struct, frozen=True, kw_only=True):
    """Join requests of a guild, and how many there are of the requested status."""

    guild_join_requests: list[JoinRequest]
    total: int
