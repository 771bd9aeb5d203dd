"""What shows and what holds: rows, sections, texts, media, containers, labels (api.md, Components)."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, cast

from msgspec import UNSET

from moothall.objects import component_input as inputs
from moothall.objects.component import (
    ActionRow,
    Component,
    Container,
    ContainerChild,
    File,
    GalleryItem,
    Label,
    LabelChild,
    MediaGallery,
    ModalRow,
    RowChild,
    Section,
    Separator,
    TextDisplay,
    TextInput,
    Thumbnail,
    UnfurledMedia,
)
from moothall.objects.component_types import ComponentType, SeparatorSpacing
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import Snowflake
from moothall.objects.text import clean
from moothall.resources.component.validator import ATTACHMENT, MEDIA_SCHEMES, ComponentValidator, Path, text

_ROW_WIDTH: Final = 5
_FITS_IN_ROWS: Final = frozenset(range(ComponentType.BUTTON, ComponentType.CHANNEL_SELECT + 1))


def build_action_row(
    notes: ComponentValidator, _given: inputs.ActionRowInput, number: int, _at: Path, children: Sequence[Component]
) -> ActionRow | ModalRow:
    """A row."""
    if notes.modal:
        return ModalRow(id=number, components=cast("list[TextInput]", children))
    return ActionRow(id=number, components=cast("list[RowChild]", children))


def check_width(notes: ComponentValidator, given: Mapping[str, Any], at: Path) -> None:
    """A row is full with five buttons, or with one of anything else."""
    children = given.get("components")
    if not isinstance(children, list):
        return
    width = 0
    for index, child in enumerate(children[:_ROW_WIDTH]):
        kind = child.get("type") if isinstance(child, dict) else None
        if type(kind) is not int or kind not in _FITS_IN_ROWS:
            continue
        width += 1 if kind == ComponentType.BUTTON else _ROW_WIDTH
        if width > _ROW_WIDTH:
            notes.add(
                (*at, "components", index),
                FormCode.COMPONENT_LAYOUT_WIDTH_EXCEEDED,
                "The specified component exceeds the maximum width",
            )


def build_section(
    _notes: ComponentValidator, _given: inputs.SectionInput, number: int, _at: Path, children: Sequence[Component]
) -> Section:
    """Texts with an accessory, which is the last child."""
    *texts, accessory = children
    return Section(id=number, components=cast("list[TextDisplay]", texts), accessory=cast("Any", accessory))


def build_container(
    _notes: ComponentValidator, given: inputs.ContainerInput, number: int, _at: Path, children: Sequence[Component]
) -> Container:
    """A frame around components."""
    return Container(
        id=number,
        components=cast("list[ContainerChild]", children),
        accent_color=given.accent_color,
        spoiler=bool(given.spoiler),
    )


def build_text_display(
    notes: ComponentValidator, given: inputs.TextDisplayInput, number: int, at: Path, _: Sequence[Component]
) -> TextDisplay:
    """A text, whose markdown is not touched; it counts towards what a message may show."""
    content = clean(given.content)
    if not content.strip():
        notes.add((*at, "content"), *FieldError.required())
    notes.text += len(content)
    return TextDisplay(id=number, content=content)


def build_separator(
    _notes: ComponentValidator, given: inputs.SeparatorInput, number: int, _at: Path, _: Sequence[Component]
) -> Separator:
    """Space between components."""
    return Separator(id=number, divider=given.divider is not False, spacing=given.spacing or SeparatorSpacing.SMALL)


def media_id(url: str) -> Snowflake:
    """The id of a foreign media item: equal URLs are the same item."""
    return Snowflake(int.from_bytes(blake2b(url.encode(), digest_size=8).digest()) >> 1)


def _media(notes: ComponentValidator, given: inputs.MediaInput, at: Path) -> UnfurledMedia:
    url = notes.url(given.url, (*at, "url"), MEDIA_SCHEMES)
    return UnfurledMedia(id=media_id(url), url=url, proxy_url=url)


def _alt(given: str | None) -> str | None:
    return clean(given) or None if given else None


def build_thumbnail(
    notes: ComponentValidator, given: inputs.ThumbnailInput, number: int, at: Path, _: Sequence[Component]
) -> Thumbnail:
    """A small picture. Whether a file is one is seen when it is known which file that is."""
    return Thumbnail(
        id=number,
        media=_media(notes, given.media, (*at, "media")),
        description=_alt(given.description),
        spoiler=bool(given.spoiler),
    )


def build_media_gallery(
    notes: ComponentValidator, given: inputs.MediaGalleryInput, number: int, at: Path, _: Sequence[Component]
) -> MediaGallery:
    """Pictures and videos."""
    return MediaGallery(
        id=number,
        items=[
            GalleryItem(
                media=_media(notes, item.media, (*at, "items", index, "media")),
                description=_alt(item.description),
                spoiler=bool(item.spoiler),
            )
            for index, item in enumerate(given.items)
        ],
    )


def build_file(
    notes: ComponentValidator, given: inputs.FileInput, number: int, at: Path, _: Sequence[Component]
) -> File:
    """One of the message's files, by name; of a message that is edited, also by its URL."""
    url = given.file.url
    if url.partition("?")[0] not in notes.own_files:
        notes.url(url, (*at, "file", "url"), (ATTACHMENT.partition(":")[0],))
    return File(id=number, file=UnfurledMedia(id=media_id(url), url=url, proxy_url=url), spoiler=bool(given.spoiler))


def build_label(
    _notes: ComponentValidator, given: inputs.LabelInput, number: int, _at: Path, children: Sequence[Component]
) -> Label:
    """A component of a modal with what is written above it."""
    return Label(
        id=number,
        label=given.label,
        description=text(given.description) if given.description else UNSET,
        component=cast("LabelChild", children[0]),
    )
