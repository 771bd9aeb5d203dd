"""Request bodies of the role endpoints (api.md, Create Guild Role)."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import RoleId
from moothall.objects.images import ImageData
from moothall.objects.permissions import PermissionSet
from moothall.objects.text import clean_name, is_standard_emoji

_Color = Annotated[int, Meta(ge=0, le=limits.COLOR_MAX)]


class RoleColorsRequest(Struct, frozen=True, kw_only=True):
    """A role's colours. A null `primary_color` is 0; any `tertiary_color` selects the three holographic colours."""

    primary_color: _Color | UnsetType | None = UNSET
    secondary_color: _Color | UnsetType | None = UNSET
    tertiary_color: _Color | UnsetType | None = UNSET


class RoleSettings(Struct, frozen=True, kw_only=True):
    """The fields of a role that requests can set. `colors.primary_color` takes precedence over `color`."""

    name: Annotated[str, Meta(min_length=1, max_length=limits.ROLE_NAME_MAX)] | UnsetType | None = UNSET
    permissions: PermissionSet | UnsetType | None = UNSET
    color: _Color | UnsetType | None = UNSET
    colors: RoleColorsRequest | UnsetType | None = UNSET
    hoist: bool | UnsetType | None = UNSET
    icon: ImageData | UnsetType | None = UNSET
    unicode_emoji: Annotated[str, Meta(max_length=100)] | UnsetType | None = UNSET
    mentionable: bool | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check that the name is not blank, and that the emoji is a standard one."""
        if isinstance(self.name, str) and not clean_name(self.name):
            form_errors.add("name", *FieldError.length(1, limits.ROLE_NAME_MAX))
        if isinstance(self.unicode_emoji, str) and not is_standard_emoji(self.unicode_emoji):
            form_errors.add("unicode_emoji", FormCode.EMOJI_INVALID, "Unknown unicode emoji.")


class CreateGuildRole(RoleSettings, frozen=True, kw_only=True):
    """A new role. Absent and null fields have defaults; that of `permissions` is the permissions of @everyone."""


class ModifyGuildRole(RoleSettings, frozen=True, kw_only=True):
    """Changes to a role: an absent field stays. Null removes the icon or the emoji and leaves any other field."""


class RolePosition(Struct, frozen=True, kw_only=True):
    """The new position of one role; without a position it stays."""

    id: RoleId
    position: Annotated[int, Meta(ge=0, le=(1 << 31) - 1)] | UnsetType | None = UNSET
