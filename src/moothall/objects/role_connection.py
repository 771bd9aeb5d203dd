"""Role connections: what applications know of users elsewhere, and roles that require it."""

from enum import IntEnum

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.application import IntegrationApplication
from moothall.objects.ids import ApplicationId, RoleId

APPLICATION = "application"
"""The `connection_type` of a requirement that an application checks."""


class MetadataType(IntEnum):
    """The type of a metadata value, with how it is compared with a guild's value."""

    INTEGER_LESS_THAN_OR_EQUAL = 1
    INTEGER_GREATER_THAN_OR_EQUAL = 2
    INTEGER_EQUAL = 3
    INTEGER_NOT_EQUAL = 4
    DATETIME_LESS_THAN_OR_EQUAL = 5
    DATETIME_GREATER_THAN_OR_EQUAL = 6
    BOOLEAN_EQUAL = 7
    BOOLEAN_NOT_EQUAL = 8


class MetadataRecord(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A metadata field of an application (resources: application role connection metadata)."""

    type: MetadataType
    key: str
    name: str
    name_localizations: dict[str, str] | UnsetType | None = UNSET
    description: str
    description_localizations: dict[str, str] | UnsetType | None = UNSET


class RoleConnection(Struct, frozen=True, kw_only=True):
    """What an application has stored for a user; without `platform_name` it has named no platform."""

    platform_name: str | UnsetType = UNSET
    platform_username: str | None = None
    metadata: dict[str, str]


class RoleConnectionApplication(IntegrationApplication, frozen=True, kw_only=True):
    """The application of a requirement, with the page at which it verifies users."""

    role_connections_verification_url: str | None


class Requirement(Struct, frozen=True, kw_only=True):
    """What a user must have for a linked role: a role connection, or a value of its metadata."""

    connection_type: str = APPLICATION
    connection_metadata_field: str | None = None
    operator: MetadataType | None = None
    value: str | None = None
    application_id: ApplicationId


class CheckedRequirement(Requirement, frozen=True, kw_only=True):
    """A requirement with whether the caller meets it. The field's name and description are absent without a field."""

    application: RoleConnectionApplication | None
    """None once the application was deleted."""
    name: str | UnsetType = UNSET
    description: str | UnsetType = UNSET
    result: bool


class LinkedRole(Struct, frozen=True, kw_only=True):
    """A linked role: any of `rules` suffices, each of which is a list of requirements that must all be met."""

    role_id: RoleId
    rules: list[list[Requirement]]
    applications: dict[str, RoleConnectionApplication]
    """By id."""
