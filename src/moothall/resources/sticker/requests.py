"""Request bodies of stickers and their validation."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError
from moothall.objects.text import clean, clean_name

StickerName = Annotated[str, Meta(min_length=limits.STICKER_NAME_MIN, max_length=limits.STICKER_NAME_MAX)]
StickerTags = Annotated[str, Meta(min_length=1, max_length=limits.STICKER_TAGS_MAX)]
Description = Annotated[str, Meta(max_length=limits.STICKER_DESCRIPTION_MAX)]


def _check(
    name: str | UnsetType, description: str | UnsetType | None, tags: str | UnsetType, form_errors: FormErrors
) -> None:
    if isinstance(name, str) and len(clean_name(name)) < limits.STICKER_NAME_MIN:
        form_errors.add("name", *FieldError.length(limits.STICKER_NAME_MIN, limits.STICKER_NAME_MAX))
    if isinstance(tags, str) and not clean(tags).strip():
        form_errors.add("tags", *FieldError.length(1, limits.STICKER_TAGS_MAX))
    if isinstance(description, str) and 0 < len(clean(description).strip()) < limits.STICKER_DESCRIPTION_MIN:
        form_errors.add(
            "description", *FieldError.length(limits.STICKER_DESCRIPTION_MIN, limits.STICKER_DESCRIPTION_MAX)
        )


class CreateGuildSticker(Struct, frozen=True, kw_only=True):
    """A new sticker; its file is another part of the form. The description may be empty."""

    name: StickerName
    tags: StickerTags
    description: Description | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Refuse blank names and tags, and descriptions of one character."""
        _check(self.name, self.description, self.tags, form_errors)


class ModifyGuildSticker(Struct, frozen=True, kw_only=True):
    """Changes to a sticker; absent fields stay as they are, a null description removes it."""

    name: StickerName | UnsetType = UNSET
    tags: StickerTags | UnsetType = UNSET
    description: Description | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Refuse blank names and tags, and descriptions of one character."""
        _check(self.name, self.description, self.tags, form_errors)
