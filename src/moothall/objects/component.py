"""Components as answers show them (api.md, Components): what was not given and has no default is absent."""

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
    """What every component has. `id` is unique in its message or modal."""

    id: int


class ComponentEmoji(Struct, frozen=True, kw_only=True):
    """The emoji of a button or an option: a guild's own by id, a standard one by its character."""

    id: EmojiId | UnsetType = UNSET
    name: str
    animated: bool | UnsetType = UNSET


class UnfurledMedia(Struct, frozen=True, kw_only=True):
    """A picture, video or file. What is not one of the message's files has no measures: nobody fetches it."""

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
    """Something to click."""

    style: ButtonStyle
    label: str | UnsetType = UNSET
    emoji: ComponentEmoji | UnsetType = UNSET
    custom_id: str | UnsetType = UNSET
    sku_id: Snowflake | UnsetType = UNSET
    url: str | UnsetType = UNSET
    disabled: bool | UnsetType = UNSET


class ComponentOption(Struct, frozen=True, kw_only=True):
    """A choice of a radio or checkbox group."""

    label: str
    value: str
    description: str | UnsetType = UNSET
    default: bool | UnsetType = UNSET


class SelectOption(ComponentOption, frozen=True, kw_only=True):
    """A choice of a string select."""

    emoji: ComponentEmoji | UnsetType = UNSET


class DefaultValue(Struct, frozen=True, kw_only=True):
    """Someone or something that is chosen from the start; `type` is user, role or channel."""

    id: Snowflake
    type: str


class Select(Component, frozen=True, kw_only=True, tag=-1):
    """What every select menu has. `required` is told of in modals, `disabled` in messages."""

    custom_id: str
    placeholder: str | UnsetType = UNSET
    min_values: int = 1
    max_values: int = 1
    required: bool | UnsetType = UNSET
    disabled: bool | UnsetType = UNSET


class StringSelect(Select, frozen=True, kw_only=True, tag=int(ComponentType.STRING_SELECT)):
    """A choice among texts."""

    options: list[SelectOption]


class EntitySelect(Select, frozen=True, kw_only=True, tag=-2):
    """What the selects have that are filled by themselves."""

    default_values: list[DefaultValue] | UnsetType = UNSET


class UserSelect(EntitySelect, frozen=True, kw_only=True, tag=int(ComponentType.USER_SELECT)):
    """A choice among people."""


class RoleSelect(EntitySelect, frozen=True, kw_only=True, tag=int(ComponentType.ROLE_SELECT)):
    """A choice among roles."""


class MentionableSelect(EntitySelect, frozen=True, kw_only=True, tag=int(ComponentType.MENTIONABLE_SELECT)):
    """A choice among people and roles."""


class ChannelSelect(EntitySelect, frozen=True, kw_only=True, tag=int(ComponentType.CHANNEL_SELECT)):
    """A choice among channels."""

    channel_types: list[int] | UnsetType = UNSET


RowChild = Button | StringSelect | UserSelect | RoleSelect | MentionableSelect | ChannelSelect


class ActionRow(Component, frozen=True, kw_only=True, tag=int(ComponentType.ACTION_ROW)):
    """Up to five buttons, or one select."""

    components: list[RowChild]


class TextDisplay(Component, frozen=True, kw_only=True, tag=int(ComponentType.TEXT_DISPLAY)):
    """Markdown."""

    content: str


class Thumbnail(Component, frozen=True, kw_only=True, tag=int(ComponentType.THUMBNAIL)):
    """A small picture."""

    media: UnfurledMedia
    description: str | None = None
    spoiler: bool = False


class Section(Component, frozen=True, kw_only=True, tag=int(ComponentType.SECTION)):
    """Texts with something beside them."""

    components: list[TextDisplay]
    accessory: Button | Thumbnail


class GalleryItem(Struct, frozen=True, kw_only=True):
    """One picture or video of a gallery."""

    media: UnfurledMedia
    description: str | None = None
    spoiler: bool = False


class MediaGallery(Component, frozen=True, kw_only=True, tag=int(ComponentType.MEDIA_GALLERY)):
    """Up to ten pictures and videos."""

    items: list[GalleryItem]


class File(Component, frozen=True, kw_only=True, tag=int(ComponentType.FILE)):
    """One of the message's files, with its name and its size in bytes."""

    file: UnfurledMedia
    spoiler: bool = False
    name: str | None = None
    size: int | None = None


class Separator(Component, frozen=True, kw_only=True, tag=int(ComponentType.SEPARATOR)):
    """Space between components, with a line or without."""

    divider: bool = True
    spacing: SeparatorSpacing = SeparatorSpacing.SMALL


ContainerChild = ActionRow | TextDisplay | Section | MediaGallery | Separator | File


class Container(Component, frozen=True, kw_only=True, tag=int(ComponentType.CONTAINER)):
    """A frame around components; `accent_color` is RGB."""

    components: list[ContainerChild]
    accent_color: int | None = None
    spoiler: bool = False


MessageComponent = ActionRow | TextDisplay | Section | MediaGallery | Separator | File | Container
"""What stands at the top of a message: action rows, and with IS_COMPONENTS_V2 the others."""


class TextInput(Component, frozen=True, kw_only=True, tag=int(ComponentType.TEXT_INPUT)):
    """Something to type into. `label` is of the deprecated form, where it stands in an action row."""

    custom_id: str
    style: TextInputStyle
    label: str | None = None
    min_length: int | None = None
    max_length: int | None = None
    required: bool = True
    value: str | UnsetType = UNSET
    placeholder: str | UnsetType = UNSET


class FileUpload(Component, frozen=True, kw_only=True, tag=int(ComponentType.FILE_UPLOAD)):
    """Where files are handed in."""

    custom_id: str
    min_values: int = 1
    max_values: int = 1
    required: bool = True
    file_types: list[str] | UnsetType = UNSET


class RadioGroup(Component, frozen=True, kw_only=True, tag=int(ComponentType.RADIO_GROUP)):
    """A choice of exactly one."""

    custom_id: str
    options: list[ComponentOption]
    required: bool = True


class CheckboxGroup(Component, frozen=True, kw_only=True, tag=int(ComponentType.CHECKBOX_GROUP)):
    """A choice of several."""

    custom_id: str
    options: list[ComponentOption]
    min_values: int = 1
    max_values: int
    required: bool = True


class Checkbox(Component, frozen=True, kw_only=True, tag=int(ComponentType.CHECKBOX)):
    """Yes or no."""

    custom_id: str
    default: bool = False


class ModalRow(Component, frozen=True, kw_only=True, tag=int(ComponentType.ACTION_ROW)):
    """The deprecated way to a text input in a modal."""

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
"""What an answer to a modal consists of."""


class Label(Component, frozen=True, kw_only=True, tag=int(ComponentType.LABEL)):
    """A component of a modal with what is written above it."""

    label: str
    description: str | UnsetType = UNSET
    component: LabelChild


ModalComponent = Label | ModalRow | TextDisplay


class Modal(Struct, frozen=True, kw_only=True):
    """A form that an application shows to somebody."""

    custom_id: str
    title: str
    components: list[ModalComponent]


def walk(components: Sequence[Component]) -> Iterator[Component]:
    """Every component, parents first, in the order that they are shown."""
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
    """What the text displays say, whose mentions count as a message's."""
    return [component.content for component in walk(components) if isinstance(component, TextDisplay)]
