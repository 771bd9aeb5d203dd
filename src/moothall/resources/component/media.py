"""Files of a message in its components: names become unfurled media items (api.md, Unfurled media item)."""

from collections.abc import Mapping, Sequence
from typing import Final, cast
from urllib.parse import unquote

from msgspec import UNSET, Struct, structs

from moothall.objects.component import (
    Component,
    Container,
    File,
    GalleryItem,
    MediaGallery,
    MessageComponent,
    Section,
    Thumbnail,
    UnfurledMedia,
)
from moothall.objects.component_types import MediaFlags, MediaLoadingState
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.message import Attachment
from moothall.objects.message_types import AttachmentFlags
from moothall.resources.component.validator import ATTACHMENT, Path

_NOT_FOUND: Final = FieldError(
    FormCode.UNFURLED_MEDIA_ITEM_REFERENCED_ATTACHMENT_NOT_FOUND,
    "The referenced attachment is not among the files of this message",
)
_NOT_AN_IMAGE: Final = FieldError(FormCode.CONTENT_TYPE_INVALID, "A thumbnail must be an image.")


class ResolvedMedia(Struct, frozen=True):
    """Components with the files of the message, and the ids of those that they show."""

    components: list[MessageComponent]
    shown: frozenset[int]
    """Ids of attachments."""


def resolve_media(
    components: Sequence[MessageComponent], files: Mapping[str, Attachment], form_errors: FormErrors
) -> ResolvedMedia:
    """Components with the message's files in place of `attachment://name` and of their URLs.

    `files` are all that the message will have, by name. Errors for names of other files, and for thumbnails that are
    no images, are added to `form_errors` below `components`.
    """
    if not any(isinstance(component, _WITH_MEDIA) for component in components):
        return ResolvedMedia(list(components), frozenset())
    resolver = _Resolver(files, form_errors)
    with_media = [resolver.component(component, ("components", index)) for index, component in enumerate(components)]
    return ResolvedMedia(cast("list[MessageComponent]", with_media), frozenset(resolver.shown))


def require_all_shown(resolved: ResolvedMedia, attachments: Sequence[Attachment], form_errors: FormErrors) -> None:
    """Add an error for each attachment that no component shows, which IS_COMPONENTS_V2 requires."""
    for index, attachment in enumerate(attachments):
        if attachment.id not in resolved.shown:
            form_errors.add(
                ("attachments", index),
                FormCode.MESSAGE_CANNOT_USE_LEGACY_FIELDS_WITH_COMPONENTS_V2,
                f"No component shows {attachment.filename!r}, as one must with MessageFlags.IS_COMPONENTS_V2",
            )


_WITH_MEDIA: Final = (Section, MediaGallery, File, Container)


class _Resolver:
    def __init__(self, files: Mapping[str, Attachment], form_errors: FormErrors) -> None:
        self.shown: set[int] = set()
        self._files = files
        self._by_id = {attachment.id: attachment for attachment in files.values()}
        self._by_url = {_plain(attachment.url): attachment for attachment in files.values()}
        self._form_errors = form_errors

    def component(self, component: Component, at: Path) -> Component:
        if isinstance(component, Container):
            children = [
                self.component(child, (*at, "components", index)) for index, child in enumerate(component.components)
            ]
            return structs.replace(component, components=children)
        if isinstance(component, Section) and isinstance(component.accessory, Thumbnail):
            return structs.replace(component, accessory=self._thumbnail(component.accessory, (*at, "accessory")))
        if isinstance(component, MediaGallery):
            items = [self._item(item, (*at, "items", index)) for index, item in enumerate(component.items)]
            return structs.replace(component, items=items)
        if isinstance(component, File):
            return self._file(component, (*at, "file"))
        return component

    def _find(self, media: UnfurledMedia, at: Path, *, needed: bool = False) -> Attachment | None:
        if media.attachment_id is not UNSET:
            attachment = self._by_id.get(media.attachment_id)
        elif media.url.startswith(ATTACHMENT):
            name = media.url.removeprefix(ATTACHMENT)
            attachment = self._files.get(name) or self._files.get(unquote(name))
        else:
            attachment = self._by_url.get(_plain(media.url))
            if attachment is None and not needed:
                return None
        if attachment is None:
            self._form_errors.add((*at, "url"), *_NOT_FOUND)
            return None
        self.shown.add(attachment.id)
        return attachment

    def _media(self, media: UnfurledMedia, at: Path) -> UnfurledMedia:
        attachment = self._find(media, at)
        return media if attachment is None else media_of(attachment)

    def _item(self, item: GalleryItem, at: Path) -> GalleryItem:
        return structs.replace(item, media=self._media(item.media, (*at, "media")))

    def _thumbnail(self, thumbnail: Thumbnail, at: Path) -> Thumbnail:
        attachment = self._find(thumbnail.media, (*at, "media"))
        if attachment is None:
            return thumbnail
        if not (attachment.content_type or "").startswith("image/"):
            self._form_errors.add((*at, "media", "url"), *_NOT_AN_IMAGE)
        return structs.replace(thumbnail, media=media_of(attachment))

    def _file(self, file: File, at: Path) -> File:
        attachment = self._find(file.file, at, needed=True)
        if attachment is None:
            return file
        return structs.replace(file, file=media_of(attachment), name=attachment.filename, size=attachment.size)


def _plain(url: str) -> str:
    """A URL without its query, which makes it expire."""
    return url.partition("?")[0]


def media_of(attachment: Attachment) -> UnfurledMedia:
    """A file of a message as an unfurled media item."""
    animated = attachment.flags is not UNSET and attachment.flags & AttachmentFlags.IS_ANIMATED
    return UnfurledMedia(
        id=attachment.id,
        url=attachment.url,
        proxy_url=attachment.proxy_url,
        height=attachment.height or None,
        width=attachment.width or None,
        placeholder=attachment.placeholder,
        placeholder_version=attachment.placeholder_version,
        content_type=attachment.content_type or None,
        loading_state=MediaLoadingState.LOADED,
        flags=MediaFlags.IS_ANIMATED if animated else 0,
        attachment_id=attachment.id,
    )
