"""Errors of single request fields: the public codes and their usual messages."""

from collections.abc import Collection
from typing import Final, NamedTuple


class FormCode:
    """The public codes of field errors."""

    BASE_TYPE_REQUIRED: Final = "BASE_TYPE_REQUIRED"
    BASE_TYPE_BAD_TYPE: Final = "BASE_TYPE_BAD_TYPE"
    BASE_TYPE_BAD_LENGTH: Final = "BASE_TYPE_BAD_LENGTH"
    BASE_TYPE_MIN_LENGTH: Final = "BASE_TYPE_MIN_LENGTH"
    BASE_TYPE_MAX_LENGTH: Final = "BASE_TYPE_MAX_LENGTH"
    BASE_TYPE_CHOICES: Final = "BASE_TYPE_CHOICES"
    NUMBER_TYPE_COERCE: Final = "NUMBER_TYPE_COERCE"
    NUMBER_TYPE_MIN: Final = "NUMBER_TYPE_MIN"
    NUMBER_TYPE_MAX: Final = "NUMBER_TYPE_MAX"
    STRING_TYPE_CONVERT: Final = "STRING_TYPE_CONVERT"
    STRING_TYPE_REGEX: Final = "STRING_TYPE_REGEX"
    BOOLEAN_TYPE_CONVERT: Final = "BOOLEAN_TYPE_CONVERT"
    ENUM_TYPE_COERCE: Final = "ENUM_TYPE_COERCE"
    LIST_TYPE_CONVERT: Final = "LIST_TYPE_CONVERT"
    LIST_ITEM_VALUE_REQUIRED: Final = "LIST_ITEM_VALUE_REQUIRED"
    SET_TYPE_ALREADY_CONTAINS_VALUE: Final = "SET_TYPE_ALREADY_CONTAINS_VALUE"
    MODEL_TYPE_CONVERT: Final = "MODEL_TYPE_CONVERT"
    UNION_TYPE_CHOICES: Final = "UNION_TYPE_CHOICES"
    DATE_TIME_TYPE_PARSE: Final = "DATE_TIME_TYPE_PARSE"
    MULTIPART_TYPE_PARSE: Final = "MULTIPART_TYPE_PARSE"
    URL_TYPE_INVALID_URL: Final = "URL_TYPE_INVALID_URL"
    URL_TYPE_INVALID_SCHEME: Final = "URL_TYPE_INVALID_SCHEME"
    CONTENT_TYPE_INVALID: Final = "CONTENT_TYPE_INVALID"
    IMAGE_INVALID: Final = "IMAGE_INVALID"
    EMOJI_INVALID: Final = "EMOJI_INVALID"
    EMAIL_TYPE_INVALID_EMAIL: Final = "EMAIL_TYPE_INVALID_EMAIL"
    EMAIL_ALREADY_REGISTERED: Final = "EMAIL_ALREADY_REGISTERED"
    USERNAME_INVALID_CHARACTERS: Final = "USERNAME_INVALID_CHARACTERS"
    USERNAME_INVALID_CONTAINS: Final = "USERNAME_INVALID_CONTAINS"
    USERNAME_ALREADY_TAKEN: Final = "USERNAME_ALREADY_TAKEN"
    PASSWORD_BAD_PASSWORD: Final = "PASSWORD_BAD_PASSWORD"  # noqa: S105 a code
    MAX_EMBED_SIZE_EXCEEDED: Final = "MAX_EMBED_SIZE_EXCEEDED"
    COMPONENT_CUSTOM_ID_DUPLICATED: Final = "COMPONENT_CUSTOM_ID_DUPLICATED"
    COMPONENT_ID_DUPLICATED: Final = "COMPONENT_ID_DUPLICATED"
    COMPONENT_TYPE_INVALID: Final = "COMPONENT_TYPE_INVALID"
    COMPONENT_LAYOUT_WIDTH_EXCEEDED: Final = "COMPONENT_LAYOUT_WIDTH_EXCEEDED"
    COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED: Final = "COMPONENT_MAX_TOTAL_COMPONENTS_EXCEEDED"
    COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED: Final = "COMPONENT_DISPLAYABLE_TEXT_SIZE_EXCEEDED"
    BUTTON_COMPONENT_CUSTOM_ID_REQUIRED: Final = "BUTTON_COMPONENT_CUSTOM_ID_REQUIRED"
    BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE: Final = "BUTTON_COMPONENT_CUSTOM_ID_URL_MUTUALLY_EXCLUSIVE"
    BUTTON_COMPONENT_INVALID_EMOJI: Final = "BUTTON_COMPONENT_INVALID_EMOJI"
    SELECT_COMPONENT_OPTION_VALUE_DUPLICATED: Final = "SELECT_COMPONENT_OPTION_VALUE_DUPLICATED"
    SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES: Final = "SELECT_COMPONENT_TOO_MANY_DEFAULT_VALUES"
    SELECT_COMPONENT_REQUIRED_ZERO_MIN_VALUES: Final = "SELECT_COMPONENT_REQUIRED_ZERO_MIN_VALUES"
    UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND: Final = "UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND"
    MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2: Final = "MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2"
    REPLIES_UNKNOWN_MESSAGE: Final = "REPLIES_UNKNOWN_MESSAGE"
    REPLIES_CANNOT_REFERENCE_OTHER_CHANNEL: Final = "REPLIES_CANNOT_REFERENCE_OTHER_CHANNEL"
    REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE: Final = "REPLIES_CANNOT_REPLY_TO_SYSTEM_MESSAGE"
    MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE: Final = "MESSAGE_ALLOWED_MENTIONS_PARSE_EXCLUSIVE"
    GUILD_SCHEDULED_EVENT_SCHEDULE_PAST: Final = "GUILD_SCHEDULED_EVENT_SCHEDULE_PAST"
    CHANNEL_PARENT_INVALID: Final = "CHANNEL_PARENT_INVALID"
    CHANNEL_PARENT_INVALID_TYPE: Final = "CHANNEL_PARENT_INVALID_TYPE"
    CHANNEL_PARENT_MAX_CHANNELS: Final = "CHANNEL_PARENT_MAX_CHANNELS"
    INTERACTIONS_ENDPOINT_URL_INVALID: Final = "APPLICATION_INTERACTIONS_ENDPOINT_URL_INVALID"


class FieldError(NamedTuple):
    """The code and message of a field error, to be unpacked into the arguments of `FormErrors.add`."""

    code: str
    message: str

    @classmethod
    def required(cls) -> "FieldError":
        """A required field is absent or null."""
        return cls(FormCode.BASE_TYPE_REQUIRED, "This field is required")

    @classmethod
    def length(cls, low: int | None, high: int | None) -> "FieldError":
        """A length outside of `low` to `high`, either of which may be None. Texts are counted in characters."""
        if low is None:
            return cls(FormCode.BASE_TYPE_MAX_LENGTH, f"Must be {high} or fewer in length.")
        if high is None:
            return cls(FormCode.BASE_TYPE_MIN_LENGTH, f"Must be {low} or more in length.")
        return cls(FormCode.BASE_TYPE_BAD_LENGTH, f"Must be between {low} and {high} in length.")

    @classmethod
    def too_small(cls, low: float) -> "FieldError":
        """A number below `low`."""
        return cls(FormCode.NUMBER_TYPE_MIN, f"int value should be greater than or equal to {low}.")

    @classmethod
    def too_large(cls, high: float) -> "FieldError":
        """A number above `high`."""
        return cls(FormCode.NUMBER_TYPE_MAX, f"int value should be less than or equal to {high}.")

    @classmethod
    def choices(cls, values: Collection[object]) -> "FieldError":
        """A value that is not in `values`."""
        return cls(FormCode.BASE_TYPE_CHOICES, f"Value must be one of ({', '.join(map(repr, values))}).")
