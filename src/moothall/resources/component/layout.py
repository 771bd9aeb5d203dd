"""Layout and content components: rows, sections, texts, media, containers, labels (api.md, Components)."""

from collections.abc import Mapping, Sequence
from hashlib import blake2b
from typing import Any, Final, cast

from msgspec import UNSET

from moothall.api.request.form import as_integer
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
    validator: ComponentValidator,
    _body: inputs.ActionRowInput,
    number: int,
    _at: Path,
    children: Sequence[Component],
) -> ActionRow | ModalRow:
    """An action row of a message or of a modal."""
    if validator.modal:
        return ModalRow(id=number, components=cast("list[TextInput]", children))
    return ActionRow(id=number, components=cast("list[RowChild]", children))


def check_width(validator: ComponentValidator, body: Mapping[str, object], at: Path) -> None:
    """A row has room for five buttons, or one other component."""
    children = body.get("components")
    if not isinstance(children, list):
        return
    width = 0
    for index, child in enumerate(children[:_ROW_WIDTH]):
        kind = as_integer(child.get("type")) if isinstance(child, dict) else None
        if kind not in _FITS_IN_ROWS:
            continue
        width += 1 if kind == ComponentType.BUTTON else _ROW_WIDTH
        if width > _ROW_WIDTH:
            validator.add(
                (*at, "components", index),
                FormCode.COMPONENT_LAYOUT_WIDTH_EXCEEDED,
                "The specified component exceeds the maximum width",
            )


def build_section(
    _validator: ComponentValidator,
    _body: inputs.SectionInput,
    number: int,
    _at: Path,
    children: Sequence[Component],
) -> Section:
    """A section: texts and an accessory, which is the last child."""
    *texts, accessory = children
    return Section(id=number, components=cast("list[TextDisplay]", texts), accessory=cast("Any", accessory))


def build_container(
    _validator: ComponentValidator,
    body: inputs.ContainerInput,
    number: int,
    _at: Path,
    children: Sequence[Component],
) -> Container:
    """A container."""
    return Container(
        id=number,
        components=cast("list[ContainerChild]", children),
        accent_color=body.accent_color,
        spoiler=bool(body.spoiler),
    )


def build_text_display(
    validator: ComponentValidator, body: inputs.TextDisplayInput, number: int, at: Path, _: Sequence[Component]
) -> TextDisplay:
    """A text display. Its markdown is not changed; its length counts towards the limit of the message."""
    content = clean(body.content)
    if not content.strip():
        validator.add((*at, "content"), *FieldError.required())
    validator.text += len(content)
    return TextDisplay(id=number, content=content)


def build_separator(
    _validator: ComponentValidator, body: inputs.SeparatorInput, number: int, _at: Path, _: Sequence[Component]
) -> Separator:
    """A separator."""
    return Separator(id=number, divider=body.divider is not False, spacing=body.spacing or SeparatorSpacing.SMALL)


def media_id(url: str) -> Snowflake:
    """The id of a media item of another server: equal URLs have equal ids."""
    return Snowflake(int.from_bytes(blake2b(url.encode(), digest_size=8).digest()) >> 1)


def _media(validator: ComponentValidator, body: inputs.MediaInput, at: Path) -> UnfurledMedia:
    url = validator.url(body.url, (*at, "url"), MEDIA_SCHEMES)
    return UnfurledMedia(id=media_id(url), url=url, proxy_url=url)


def _alt(description: str | None) -> str | None:
    return clean(description) or None if description else None


def build_thumbnail(
    validator: ComponentValidator, body: inputs.ThumbnailInput, number: int, at: Path, _: Sequence[Component]
) -> Thumbnail:
    """A thumbnail. Whether its file is an image is checked by `resolve_media`."""
    return Thumbnail(
        id=number,
        media=_media(validator, body.media, (*at, "media")),
        description=_alt(body.description),
        spoiler=bool(body.spoiler),
    )


def build_media_gallery(
    validator: ComponentValidator, body: inputs.MediaGalleryInput, number: int, at: Path, _: Sequence[Component]
) -> MediaGallery:
    """A media gallery."""
    return MediaGallery(
        id=number,
        items=[
            GalleryItem(
                media=_media(validator, item.media, (*at, "items", index, "media")),
                description=_alt(item.description),
                spoiler=bool(item.spoiler),
            )
            for index, item in enumerate(body.items)
        ],
    )


def build_file(
    validator: ComponentValidator, body: inputs.FileInput, number: int, at: Path, _: Sequence[Component]
) -> File:
    """A file of the message, by `attachment://name`; of an edited message also by its URL."""
    url = body.file.url
    if url.partition("?")[0] not in validator.file_urls:
        validator.url(url, (*at, "file", "url"), (ATTACHMENT.partition(":")[0],))
    return File(id=number, file=UnfurledMedia(id=media_id(url), url=url, proxy_url=url), spoiler=bool(body.spoiler))


def build_label(
    _validator: ComponentValidator, body: inputs.LabelInput, number: int, _at: Path, children: Sequence[Component]
) -> Label:
    """A label with its component."""
    return Label(
        id=number,
        label=body.label,
        description=text(body.description) if body.description else UNSET,
        component=cast("LabelChild", children[0]),
    )
