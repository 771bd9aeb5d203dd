"""Request bodies of emojis and their validation."""

import re
from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import RoleId
from moothall.objects.images import EmojiImage

_NAME: Final = re.compile("[A-Za-z0-9_]*")

EmojiName = Annotated[str, Meta(min_length=limits.EMOJI_NAME_MIN, max_length=limits.EMOJI_NAME_MAX)]
EmojiRoles = Annotated[list[RoleId | None], Meta(max_length=limits.ROLES_PER_GUILD)]
"""The roles that may use an emoji; an empty list, or one with @everyone, allows every member."""


def _check_name(name: str, form_errors: FormErrors) -> None:
    if not _NAME.fullmatch(name):
        form_errors.add("name", FormCode.STRING_TYPE_REGEX, "String value did not match validation regex.")


class CreateApplicationEmoji(Struct, frozen=True, kw_only=True):
    """A new emoji of an application."""

    name: EmojiName
    image: EmojiImage

    def check(self, form_errors: FormErrors) -> None:
        """Refuse names with other characters than letters, digits and underscores."""
        _check_name(self.name, form_errors)


class CreateGuildEmoji(CreateApplicationEmoji, frozen=True, kw_only=True):
    """A new emoji of a guild."""

    roles: EmojiRoles | UnsetType | None = UNSET


class ModifyApplicationEmoji(Struct, frozen=True, kw_only=True):
    """Changes to an emoji; absent fields stay as they are."""

    name: EmojiName | UnsetType = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Refuse names with other characters than letters, digits and underscores."""
        if isinstance(self.name, str):
            _check_name(self.name, form_errors)


class ModifyGuildEmoji(ModifyApplicationEmoji, frozen=True, kw_only=True):
    """Changes to a guild's emoji; absent fields stay as they are, null roles allow every member."""

    roles: EmojiRoles | UnsetType | None = UNSET
