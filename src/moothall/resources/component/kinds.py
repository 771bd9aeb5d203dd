"""The table of component types. A new type is one entry here and two structs in `objects`."""

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any, Final, NamedTuple

from moothall.objects import component_input as inputs
from moothall.objects import limits
from moothall.objects.component import Component
from moothall.objects.component_types import ComponentPosition, ComponentType
from moothall.resources.component import interactive, layout
from moothall.resources.component.validator import ComponentValidator, Path

Build = Callable[[ComponentValidator, Any, int, Path, Sequence[Component]], Component]
"""Builds a component of a response from the validator, the converted input, its id, its path and its children."""


Check = Callable[[ComponentValidator, Mapping[str, object], Path], None]
"""Checks several children of a component together; the component may be invalid."""


class Slot(NamedTuple):
    """A key of a component that contains others: a list of `low` to `high`, or one if there are no bounds."""

    key: str
    position: ComponentPosition
    low: int | None = None
    high: int | None = None


class Kind(NamedTuple):
    """A component type."""

    input_type: type[inputs.ComponentInput]
    build: Build
    positions: ComponentPosition
    slots: tuple[Slot, ...] = ()
    check: Check | None = None


_T, _P = ComponentType, ComponentPosition
_TOP: Final = _P.LAYOUT | _P.CONTAINER
_FIELD: Final = _P.ROW | _P.LABEL

KINDS: Final[Mapping[int, Kind]] = MappingProxyType(
    {
        _T.ACTION_ROW: Kind(
            inputs.ActionRowInput,
            layout.build_action_row,
            _TOP | _P.LEGACY | _P.MODAL,
            (Slot("components", _P.ROW, 1, limits.BUTTONS_PER_ROW),),
            layout.check_width,
        ),
        _T.BUTTON: Kind(inputs.ButtonInput, interactive.build_button, _P.ROW | _P.ACCESSORY),
        _T.STRING_SELECT: Kind(inputs.StringSelectInput, interactive.build_string_select, _FIELD),
        _T.TEXT_INPUT: Kind(inputs.TextInputInput, interactive.build_text_input, _P.MODAL_ROW | _P.LABEL),
        _T.USER_SELECT: Kind(inputs.EntitySelectInput, interactive.build_user_select, _FIELD),
        _T.ROLE_SELECT: Kind(inputs.EntitySelectInput, interactive.build_role_select, _FIELD),
        _T.MENTIONABLE_SELECT: Kind(inputs.EntitySelectInput, interactive.build_mentionable_select, _FIELD),
        _T.CHANNEL_SELECT: Kind(inputs.ChannelSelectInput, interactive.build_channel_select, _FIELD),
        _T.SECTION: Kind(
            inputs.SectionInput,
            layout.build_section,
            _TOP,
            (Slot("components", _P.SECTION, 1, limits.SECTION_CHILDREN_MAX), Slot("accessory", _P.ACCESSORY)),
        ),
        _T.TEXT_DISPLAY: Kind(inputs.TextDisplayInput, layout.build_text_display, _TOP | _P.SECTION | _P.MODAL),
        _T.THUMBNAIL: Kind(inputs.ThumbnailInput, layout.build_thumbnail, _P.ACCESSORY),
        _T.MEDIA_GALLERY: Kind(inputs.MediaGalleryInput, layout.build_media_gallery, _TOP),
        _T.FILE: Kind(inputs.FileInput, layout.build_file, _TOP),
        _T.SEPARATOR: Kind(inputs.SeparatorInput, layout.build_separator, _TOP),
        _T.CONTAINER: Kind(
            inputs.ContainerInput,
            layout.build_container,
            _P.LAYOUT,
            (Slot("components", _P.CONTAINER, 1, limits.COMPONENTS_V2_MAX),),
        ),
        _T.LABEL: Kind(inputs.LabelInput, layout.build_label, _P.MODAL, (Slot("component", _P.LABEL),)),
        _T.FILE_UPLOAD: Kind(inputs.FileUploadInput, interactive.build_file_upload, _P.LABEL),
        _T.RADIO_GROUP: Kind(inputs.RadioGroupInput, interactive.build_radio_group, _P.LABEL),
        _T.CHECKBOX_GROUP: Kind(inputs.CheckboxGroupInput, interactive.build_checkbox_group, _P.LABEL),
        _T.CHECKBOX: Kind(inputs.CheckboxInput, interactive.build_checkbox, _P.LABEL),
    }
)

CHOICES: Final = MappingProxyType(
    {position: {int(kind): entry for kind, entry in KINDS.items() if position in entry.positions} for position in _P}
)
"""The types that are allowed at each position."""
