"""Request bodies of scheduled events and their validation (resources: guild scheduled event)."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId
from moothall.objects.images import ImageData
from moothall.objects.scheduled_event import EntityType
from moothall.objects.text import clean_name
from moothall.objects.wire import Timestamp
from moothall.resources.scheduled_event.recurrence import RecurrenceRuleInput, check_rule

Name = Annotated[str, Meta(min_length=1, max_length=limits.EVENT_NAME_MAX)]
Description = Annotated[str, Meta(max_length=limits.EVENT_DESCRIPTION_MAX)]


class EntityMetadata(Struct, frozen=True, kw_only=True):
    """The location of an external event."""

    location: Annotated[str, Meta(max_length=limits.EVENT_LOCATION_MAX)] | None = None


class CreateScheduledEvent(Struct, frozen=True, kw_only=True):
    """A new event; a null field equals an absent one."""

    name: Name
    privacy_level: Literal[2]
    scheduled_start_time: Timestamp
    entity_type: Literal[1, 2, 3]
    channel_id: ChannelId | UnsetType | None = UNSET
    entity_metadata: EntityMetadata | UnsetType | None = UNSET
    scheduled_end_time: Timestamp | UnsetType | None = UNSET
    description: Description | UnsetType | None = UNSET
    image: ImageData | UnsetType | None = UNSET
    recurrence_rule: RecurrenceRuleInput | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check the fields that the entity type requires or forbids, the rule, and that the event starts later."""
        _check_name(self.name, form_errors)
        _check_location(self.entity_metadata, form_errors)
        if isinstance(self.recurrence_rule, RecurrenceRuleInput):
            check_rule(self.recurrence_rule, form_errors)
        check_requirements(
            self.entity_type,
            channel_id=self.channel_id or None,
            location=location_of(self.entity_metadata),
            end=self.scheduled_end_time or None,
            form_errors=form_errors,
        )
        if int(self.entity_type) != EntityType.EXTERNAL and location_of(self.entity_metadata) is not None:
            form_errors.add("entity_metadata", FormCode.BASE_TYPE_CHOICES, "Only external events have a location.")
        check_start(self.scheduled_start_time, form_errors)
        check_end(self.scheduled_start_time, self.scheduled_end_time or None, form_errors)


class ModifyScheduledEvent(Struct, frozen=True, kw_only=True):
    """Changes to an event; absent fields stay as they are."""

    name: Name | UnsetType = UNSET
    privacy_level: Literal[2] | UnsetType = UNSET
    scheduled_start_time: Timestamp | UnsetType = UNSET
    entity_type: Literal[1, 2, 3] | UnsetType | None = UNSET
    status: Literal[1, 2, 3, 4] | UnsetType | None = UNSET
    channel_id: ChannelId | UnsetType | None = UNSET
    entity_metadata: EntityMetadata | UnsetType | None = UNSET
    scheduled_end_time: Timestamp | UnsetType | None = UNSET
    description: Description | UnsetType | None = UNSET
    image: ImageData | UnsetType | None = UNSET
    recurrence_rule: RecurrenceRuleInput | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check what does not depend on the stored event."""
        if isinstance(self.name, str):
            _check_name(self.name, form_errors)
        _check_location(self.entity_metadata, form_errors)
        if isinstance(self.recurrence_rule, RecurrenceRuleInput):
            check_rule(self.recurrence_rule, form_errors)


class CreateException(Struct, frozen=True, kw_only=True):
    """An exception for one occurrence; a null time leaves that of the rule."""

    original_scheduled_start_time: Timestamp
    scheduled_start_time: Timestamp | None = None
    scheduled_end_time: Timestamp | None = None
    is_canceled: bool | None = None


class ModifyException(Struct, frozen=True, kw_only=True):
    """An exception anew: what is absent or null gets its default, for a time that of the rule."""

    scheduled_start_time: Timestamp | None = None
    scheduled_end_time: Timestamp | None = None
    is_canceled: bool | None = None


class RespondToOccurrence(Struct, frozen=True, kw_only=True):
    """A user's response to one occurrence: 0 uninterested, 1 interested."""

    response: Literal[0, 1] = 1


def location_of(metadata: EntityMetadata | UnsetType | None) -> str | None:
    """The location of a request, cleaned for storage; None without one."""
    if not isinstance(metadata, EntityMetadata) or metadata.location is None:
        return None
    return clean_name(metadata.location) or None


def check_requirements(
    entity_type: int,
    *,
    channel_id: ChannelId | None,
    location: str | None,
    end: Timestamp | None,
    form_errors: FormErrors,
) -> None:
    """Add an error for each field that an entity type requires or forbids (field requirements by entity type)."""
    if entity_type != EntityType.EXTERNAL:
        if channel_id is None:
            form_errors.add("channel_id", *FieldError.required())
        return
    if channel_id is not None:
        form_errors.add("channel_id", FormCode.BASE_TYPE_CHOICES, "External events have no channel.")
    if location is None and "entity_metadata" not in form_errors.nested():
        form_errors.add("entity_metadata.location", *FieldError.required())
    if end is None:
        form_errors.add("scheduled_end_time", *FieldError.required())


def check_start(start: Timestamp, form_errors: FormErrors) -> None:
    """Add an error for an event that would start in the past."""
    if start <= Timestamp.now():
        form_errors.add(
            "scheduled_start_time", FormCode.GUILD_SCHEDULED_EVENT_SCHEDULE_PAST, "Cannot schedule event in the past."
        )


def check_end(start: Timestamp, end: Timestamp | None, form_errors: FormErrors) -> None:
    """Add an error for an event that would end before it starts."""
    if end is not None and end <= start:
        form_errors.add("scheduled_end_time", FormCode.BASE_TYPE_CHOICES, "The end must be after the start.")


def _check_name(name: str, form_errors: FormErrors) -> None:
    if not clean_name(name):
        form_errors.add("name", *FieldError.length(1, limits.EVENT_NAME_MAX))


def _check_location(metadata: EntityMetadata | UnsetType | None, form_errors: FormErrors) -> None:
    if isinstance(metadata, EntityMetadata) and metadata.location is not None and not clean_name(metadata.location):
        form_errors.add("entity_metadata.location", *FieldError.length(1, limits.EVENT_LOCATION_MAX))
