"""Request bodies of role connections and linked roles."""

import re
from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ApplicationId
from moothall.objects.locales import LOCALES
from moothall.objects.role_connection import MetadataType

_KEY: Final = re.compile(r"[a-z0-9_]+")
_Name = Annotated[str, Meta(min_length=1, max_length=limits.METADATA_NAME_MAX)]
_Description = Annotated[str, Meta(min_length=1, max_length=limits.METADATA_DESCRIPTION_MAX)]


class MetadataRecordInput(Struct, frozen=True, kw_only=True):
    """A metadata field of an application."""

    type: MetadataType
    key: Annotated[str, Meta(min_length=1, max_length=limits.METADATA_KEY_MAX)]
    name: _Name
    name_localizations: dict[str, str] | UnsetType | None = UNSET
    description: _Description
    description_localizations: dict[str, str] | UnsetType | None = UNSET


MetadataBody = Annotated[list[MetadataRecordInput], Meta(max_length=limits.METADATA_RECORDS_MAX)] | None
"""The records of an application; null means none."""


class UpdateRoleConnection(Struct, frozen=True, kw_only=True):
    """What an application stores for a user. What is absent or null is deleted."""

    platform_name: Annotated[str, Meta(max_length=limits.PLATFORM_NAME_MAX)] | None = None
    platform_username: Annotated[str, Meta(max_length=limits.PLATFORM_USERNAME_MAX)] | None = None
    metadata: dict[str, str | int | float | bool | None] | None = None


class RequirementInput(Struct, frozen=True, kw_only=True):
    """What a user must have for a linked role. Without a field, any role connection of the application will do."""

    connection_type: Annotated[str, Meta(max_length=limits.METADATA_KEY_MAX)]
    connection_metadata_field: Annotated[str, Meta(max_length=limits.METADATA_KEY_MAX)] | None = None
    operator: MetadataType | None = None
    value: Annotated[str, Meta(max_length=limits.METADATA_VALUE_MAX)] | None = None
    application_id: ApplicationId | None = None


RulesBody = Annotated[
    list[Annotated[list[RequirementInput], Meta(min_length=1, max_length=limits.LINKED_ROLE_REQUIREMENTS_MAX)]],
    Meta(max_length=limits.LINKED_ROLE_RULES_MAX),
]
"""Any of the lists suffices, each of whose requirements must all be met; an empty list unlinks the role."""


def check_records(records: Sequence[MetadataRecordInput], form_errors: FormErrors) -> None:
    """Check the characters of keys, that no two are equal, and the texts in other languages."""
    for index, record in enumerate(records):
        at = form_errors.at([index])
        if not _KEY.fullmatch(record.key):
            at.add("key", FormCode.STRING_TYPE_REGEX, "String value did not match validation regex.")
        if any(record.key == other.key for other in records[:index]):
            at.add("key", FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "Another record has this key.")
        _check_texts(record.name_localizations, at.at("name_localizations"), limits.METADATA_NAME_MAX)
        _check_texts(
            record.description_localizations, at.at("description_localizations"), limits.METADATA_DESCRIPTION_MAX
        )


def _check_texts(texts: dict[str, str] | UnsetType | None, form_errors: FormErrors, maximum: int) -> None:
    for locale, text in (texts or {}).items():
        if locale not in LOCALES:
            form_errors.add([locale], *FieldError.choices(sorted(LOCALES)))
        elif not 1 <= len(text) <= maximum:
            form_errors.add([locale], *FieldError.length(1, maximum))
