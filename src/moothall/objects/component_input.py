"""Components in requests: null equals absent, and unknown keys are ignored.

Children are not decoded (`Any`): the allowed types depend on the position, and an error of one child must not hide
errors of the others. `resources.component` decodes them.
"""

from typing import Annotated, Any

from msgspec import Meta, Struct

from moothall.objects import limits
from moothall.objects.component_types import ButtonStyle, SeparatorSpacing, TextInputStyle
from moothall.objects.ids import EmojiId, Snowflake

CustomId = Annotated[str, Meta(min_length=1, max_length=limits.CUSTOM_ID_MAX)]
Placeholder = Annotated[str, Meta(max_length=limits.SELECT_PLACEHOLDER_MAX)]
OptionText = Annotated[str, Meta(min_length=1, max_length=limits.OPTION_TEXT_MAX)]
Description = Annotated[str, Meta(max_length=limits.OPTION_TEXT_MAX)]
MediaDescription = Annotated[str, Meta(max_length=limits.MEDIA_DESCRIPTION_MAX)]


class ComponentInput(Struct, frozen=True, kw_only=True):
    """The fields of every component; an id of 0 equals an absent one."""

    id: Annotated[int, Meta(ge=0, le=limits.COMPONENT_ID_MAX)] | None = None


class EmojiInput(Struct, frozen=True, kw_only=True):
    """An emoji of a button or an option."""

    id: EmojiId | None = None
    name: Annotated[str, Meta(max_length=limits.COMPONENT_EMOJI_NAME_MAX)] | None = None
    animated: bool | None = None


class MediaInput(Struct, frozen=True, kw_only=True):
    """A media item; only its URL can be set."""

    url: Annotated[str, Meta(max_length=limits.MEDIA_URL_MAX)]


class ActionRowInput(ComponentInput, frozen=True, kw_only=True):
    """An action row."""

    components: Any


class ButtonInput(ComponentInput, frozen=True, kw_only=True):
    """A button."""

    style: ButtonStyle
    label: Annotated[str, Meta(max_length=limits.BUTTON_LABEL_MAX)] | None = None
    emoji: EmojiInput | None = None
    custom_id: CustomId | None = None
    sku_id: Snowflake | None = None
    url: Annotated[str, Meta(max_length=limits.BUTTON_URL_MAX)] | None = None
    disabled: bool | None = None


class OptionInput(Struct, frozen=True, kw_only=True):
    """An option of a radio or checkbox group."""

    label: OptionText
    value: OptionText
    description: Description | None = None
    default: bool | None = None


class SelectOptionInput(OptionInput, frozen=True, kw_only=True):
    """An option of a string select."""

    emoji: EmojiInput | None = None


class SelectInput(ComponentInput, frozen=True, kw_only=True):
    """The fields of every select."""

    custom_id: CustomId
    placeholder: Placeholder | None = None
    min_values: Annotated[int, Meta(ge=0, le=limits.SELECT_VALUES_MAX)] | None = None
    max_values: Annotated[int, Meta(ge=1, le=limits.SELECT_VALUES_MAX)] | None = None
    required: bool | None = None
    disabled: bool | None = None


class StringSelectInput(SelectInput, frozen=True, kw_only=True):
    """A string select."""

    options: Annotated[list[SelectOptionInput], Meta(min_length=1, max_length=limits.SELECT_OPTIONS_MAX)]


class DefaultValueInput(Struct, frozen=True, kw_only=True):
    """A default value of a select."""

    id: Snowflake
    type: str


class EntitySelectInput(SelectInput, frozen=True, kw_only=True):
    """A select of users, roles or both."""

    default_values: Annotated[list[DefaultValueInput], Meta(max_length=limits.SELECT_VALUES_MAX)] | None = None


class ChannelSelectInput(EntitySelectInput, frozen=True, kw_only=True):
    """A select of channels."""

    channel_types: Annotated[list[int], Meta(max_length=limits.CHANNEL_TYPES_LISTED)] | None = None


class SectionInput(ComponentInput, frozen=True, kw_only=True):
    """A section."""

    components: Any
    accessory: Any


class TextDisplayInput(ComponentInput, frozen=True, kw_only=True):
    """A text display."""

    content: Annotated[str, Meta(min_length=1, max_length=limits.DISPLAYED_TEXT_MAX)]


class ThumbnailInput(ComponentInput, frozen=True, kw_only=True):
    """A thumbnail."""

    media: MediaInput
    description: MediaDescription | None = None
    spoiler: bool | None = None


class GalleryItemInput(Struct, frozen=True, kw_only=True):
    """An item of a gallery."""

    media: MediaInput
    description: MediaDescription | None = None
    spoiler: bool | None = None


class MediaGalleryInput(ComponentInput, frozen=True, kw_only=True):
    """A gallery."""

    items: Annotated[list[GalleryItemInput], Meta(min_length=1, max_length=limits.GALLERY_ITEMS_MAX)]


class FileInput(ComponentInput, frozen=True, kw_only=True):
    """A file; its name and size cannot be set."""

    file: MediaInput
    spoiler: bool | None = None


class SeparatorInput(ComponentInput, frozen=True, kw_only=True):
    """A separator."""

    divider: bool | None = None
    spacing: SeparatorSpacing | None = None


class ContainerInput(ComponentInput, frozen=True, kw_only=True):
    """A container."""

    components: Any
    accent_color: Annotated[int, Meta(ge=0, le=limits.COLOR_MAX)] | None = None
    spoiler: bool | None = None


class LabelInput(ComponentInput, frozen=True, kw_only=True):
    """A label."""

    label: Annotated[str, Meta(min_length=1, max_length=limits.LABEL_TEXT_MAX)]
    description: Annotated[str, Meta(max_length=limits.LABEL_DESCRIPTION_MAX)] | None = None
    component: Any


class TextInputInput(ComponentInput, frozen=True, kw_only=True):
    """A text input."""

    custom_id: CustomId
    style: TextInputStyle
    label: Annotated[str, Meta(min_length=1, max_length=limits.LABEL_TEXT_MAX)] | None = None
    min_length: Annotated[int, Meta(ge=0, le=limits.TEXT_INPUT_MAX)] | None = None
    max_length: Annotated[int, Meta(ge=1, le=limits.TEXT_INPUT_MAX)] | None = None
    required: bool | None = None
    value: Annotated[str, Meta(max_length=limits.TEXT_INPUT_MAX)] | None = None
    placeholder: Annotated[str, Meta(max_length=limits.TEXT_INPUT_PLACEHOLDER_MAX)] | None = None


class FileUploadInput(ComponentInput, frozen=True, kw_only=True):
    """A file upload."""

    custom_id: CustomId
    min_values: Annotated[int, Meta(ge=0, le=limits.FILE_UPLOAD_VALUES_MAX)] | None = None
    max_values: Annotated[int, Meta(ge=1, le=limits.FILE_UPLOAD_VALUES_MAX)] | None = None
    required: bool | None = None
    file_types: Annotated[list[str], Meta(max_length=limits.FILE_TYPES_MAX)] | None = None


class RadioGroupInput(ComponentInput, frozen=True, kw_only=True):
    """A radio group."""

    custom_id: CustomId
    options: Annotated[
        list[OptionInput], Meta(min_length=limits.RADIO_OPTIONS_MIN, max_length=limits.GROUP_OPTIONS_MAX)
    ]
    required: bool | None = None


class CheckboxGroupInput(ComponentInput, frozen=True, kw_only=True):
    """A checkbox group."""

    custom_id: CustomId
    options: Annotated[list[OptionInput], Meta(min_length=1, max_length=limits.GROUP_OPTIONS_MAX)]
    min_values: Annotated[int, Meta(ge=0, le=limits.GROUP_OPTIONS_MAX)] | None = None
    max_values: Annotated[int, Meta(ge=1, le=limits.GROUP_OPTIONS_MAX)] | None = None
    required: bool | None = None


class CheckboxInput(ComponentInput, frozen=True, kw_only=True):
    """A checkbox."""

    custom_id: CustomId
    default: bool | None = None


class ModalInput(Struct, frozen=True, kw_only=True):
    """A modal."""

    custom_id: CustomId
    title: Annotated[str, Meta(min_length=1, max_length=limits.MODAL_TITLE_MAX)]
    components: Any
