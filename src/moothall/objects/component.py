"""Components in responses (api.md, Components); fields that were not set and have no default are absent."""

from collections.abc import Iterator, Sequence

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.component_types import (
    ButtonStyle,
    ComponentType,
    MediaLoadingState,
    SeparatorSpacing,
    TextInputStyle,
)
from moothall.objects.ids import AttachmentId, EmojiId, Snowflake


class Component(Struct, frozen=True, kw_only=True, tag_field="type", tag=0):
    """The fields of every component. `id` is unique in its message or modal."""

    id: int


class ComponentEmoji(Struct, frozen=True, kw_only=True):
    """The emoji of a button or an option: a guild's emoji by id, a standard emoji by its character."""

    id: EmojiId | UnsetType = UNSET
    name: str
    animated: bool | UnsetType = UNSET


class UnfurledMedia(Struct, frozen=True, kw_only=True):
    """An image, video or file. External media have no dimensions, as the server does not fetch them."""

    id: Snowflake
    url: str
    proxy_url: str
    height: int | None = None
    width: int | None = None
    placeholder: str | UnsetType = UNSET
    placeholder_version: int | UnsetType = UNSET
    content_type: str | None = None
    loading_state: int = MediaLoadingState.UNKNOWN
    flags: int | UnsetType = UNSET
    attachment_id: AttachmentId | UnsetType = UNSET


class Button(Component, frozen=True, kw_only=True, tag=int(ComponentType.BUTTON)):
    """A button."""

    style: ButtonStyle
    label: str | UnsetType = UNSET
    emoji: ComponentEmoji | UnsetType = UNSET
    custom_id: str | UnsetType = UNSET
    sku_id: Snowflake | UnsetType = UNSET
    url: str | UnsetType = UNSET
    disabled: bool | UnsetType = UNSET


class ComponentOption(Struct, frozen=True, kw_only=True):
    """An option of a radio or checkbox group."""

    label: str
    value: str
    description: str | UnsetType = UNSET
    default: bool | UnsetType = UNSET


class SelectOption(ComponentOption, frozen=True, kw_only=True):
    """An option of a string select."""

    emoji: ComponentEmoji | UnsetType = UNSET


class DefaultValue(Struct, frozen=True, kw_only=True):
    """A default value of a select; `type` is user, role or channel."""

    id: Snowflake
    type: str


class Select(Component, frozen=True, kw_only=True, tag=-1):
    """The fields of every select menu. `required` is present in modals, `disabled` in messages."""

    custom_id: str
    placeholder: str | UnsetType = UNSET
    min_values: int = 1
    max_values: int = 1
    required: bool | UnsetType = UNSET
    disabled: bool | UnsetType = UNSET


class StringSelect(Select, frozen=True, kw_only=True, tag=int(ComponentType.STRING_SELECT)):
    """A select menu of given options."""

    options: list[SelectOption]


class EntitySelect(Select, frozen=True, kw_only=True, tag=-2):
    """The fields of selects whose options are users, roles or channels."""

    default_values: list[DefaultValue] | UnsetType = UNSET


class UserSelect(EntitySelect, frozen=True, kw_only=True, tag=int(ComponentType.USER_SELECT)):
    """A select menu of users."""


class RoleSelect(EntitySelect, frozen=True, kw_only=True, tag=int(ComponentType.ROLE_SELECT)):
    """A select menu of roles."""


class MentionableSelect(EntitySelect, frozen=True, kw_only=True, tag=int(ComponentType.MENTIONABLE_SELECT)):
    """A select menu of users and roles."""


class ChannelSelect(EntitySelect, frozen=True, kw_only=True, tag=int(ComponentType.CHANNEL_SELECT)):
    """A select menu of channels."""

    channel_types: list[int] | UnsetType = UNSET


RowChild = Button | StringSelect | UserSelect | RoleSelect | MentionableSelect | ChannelSelect


class ActionRow(Component, frozen=True, kw_only=True, tag=int(ComponentType.ACTION_ROW)):
    """Up to five buttons, or one select."""

    components: list[RowChild]


class TextDisplay(Component, frozen=True, kw_only=True, tag=int(ComponentType.TEXT_DISPLAY)):
    """A Markdown text."""

    content: str


class Thumbnail(Component, frozen=True, kw_only=True, tag=int(ComponentType.THUMBNAIL)):
    """A small image beside a section."""

    media: UnfurledMedia
    description: str | None = None
    spoiler: bool = False


class Section(Component, frozen=True, kw_only=True, tag=int(ComponentType.SECTION)):
    """Text displays with an accessory beside them."""

    components: list[TextDisplay]
    accessory: Button | Thumbnail


class GalleryItem(Struct, frozen=True, kw_only=True):
    """An image or video of a gallery."""

    media: UnfurledMedia
    description: str | None = None
    spoiler: bool = False


class MediaGallery(Component, frozen=True, kw_only=True, tag=int(ComponentType.MEDIA_GALLERY)):
    """Up to ten images and videos."""

    items: list[GalleryItem]


class File(Component, frozen=True, kw_only=True, tag=int(ComponentType.FILE)):
    """One of the message's files, with its name and its size in bytes."""

    file: UnfurledMedia
    spoiler: bool = False
    name: str | None = None
    size: int | None = None


class Separator(Component, frozen=True, kw_only=True, tag=int(ComponentType.SEPARATOR)):
    """Space between components, with or without a dividing line."""

    divider: bool = True
    spacing: SeparatorSpacing = SeparatorSpacing.SMALL


ContainerChild = ActionRow | TextDisplay | Section | MediaGallery | Separator | File


class Container(Component, frozen=True, kw_only=True, tag=int(ComponentType.CONTAINER)):
    """A frame around components; `accent_color` is RGB."""

    components: list[ContainerChild]
    accent_color: int | None = None
    spoiler: bool = False


MessageComponent = ActionRow | TextDisplay | Section | MediaGallery | Separator | File | Container
"""Top-level components of a message: action rows, and with IS_COMPONENTS_V2 all of these."""


class TextInput(Component, frozen=True, kw_only=True, tag=int(ComponentType.TEXT_INPUT)):
    """A text input. `label` belongs to the deprecated form inside an action row."""

    custom_id: str
    style: TextInputStyle
    label: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    required: bool = True
    value: str | UnsetType = UNSET
    placeholder: str | UnsetType = UNSET


class FileUpload(Component, frozen=True, kw_only=True, tag=int(ComponentType.FILE_UPLOAD)):
    """A file upload."""

    custom_id: str
    min_values: int = 1
    max_values: int = 1
    required: bool = True
    file_types: list[str] | UnsetType = UNSET


class RadioGroup(Component, frozen=True, kw_only=True, tag=int(ComponentType.RADIO_GROUP)):
    """A group of options of which exactly one is chosen."""

    custom_id: str
    options: list[ComponentOption]
    required: bool = True


class CheckboxGroup(Component, frozen=True, kw_only=True, tag=int(ComponentType.CHECKBOX_GROUP)):
    """A group of options of which several can be chosen."""

    custom_id: str
    options: list[ComponentOption]
    min_values: int = 1
    max_values: int
    required: bool = True


class Checkbox(Component, frozen=True, kw_only=True, tag=int(ComponentType.CHECKBOX)):
    """A single checkbox."""

    custom_id: str
    default: bool = False


class ModalRow(Component, frozen=True, kw_only=True, tag=int(ComponentType.ACTION_ROW)):
    """An action row with a text input, the deprecated form in modals."""

    components: list[TextInput]


LabelChild = (
    TextInput
    | StringSelect
    | UserSelect
    | RoleSelect
    | MentionableSelect
    | ChannelSelect
    | FileUpload
    | RadioGroup
    | CheckboxGroup
    | Checkbox
)
"""The components that have a value when a modal is submitted."""


class Label(Component, frozen=True, kw_only=True, tag=int(ComponentType.LABEL)):
    """A component of a modal with a label and a description."""

    label: str
    description: str | UnsetType = UNSET
    component: LabelChild


ModalComponent = Label | ModalRow | TextDisplay


class Modal(Struct, frozen=True, kw_only=True):
    """A form that an application shows to a user."""

    custom_id: str
    title: str
    components: list[ModalComponent]


def walk(components: Sequence[Component]) -> Iterator[Component]:
    """Iterate over all components in display order, each parent before its children."""
    for component in components:
        yield component
        if isinstance(component, ActionRow | ModalRow | Container):
            yield from walk(component.components)
        elif isinstance(component, Section):
            yield from component.components
            yield component.accessory
        elif isinstance(component, Label):
            yield component.component


def texts_of(components: Sequence[Component]) -> list[str]:
    """The contents of all text displays; their mentions count like those of a message."""
    return [component.content for component in walk(components) if isinstance(component, TextDisplay)]
