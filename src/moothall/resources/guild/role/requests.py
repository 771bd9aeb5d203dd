"""What requests say about roles (api.md, Create Guild Role)."""

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
    """A role's colours. A null `primary_color` is 0; a `tertiary_color` of any value makes it the holographic three."""

    primary_color: _Color | UnsetType | None = UNSET
    secondary_color: _Color | UnsetType | None = UNSET
    tertiary_color: _Color | UnsetType | None = UNSET


class RoleSettings(Struct, frozen=True, kw_only=True):
    """What a role can be set to. `color` says the same as `colors.primary_color`, which wins."""

    name: Annotated[str, Meta(min_length=1, max_length=limits.ROLE_NAME_MAX)] | UnsetType | None = UNSET
    permissions: PermissionSet | UnsetType | None = UNSET
    color: _Color | UnsetType | None = UNSET
    colors: RoleColorsRequest | UnsetType | None = UNSET
    hoist: bool | UnsetType | None = UNSET
    icon: ImageData | UnsetType | None = UNSET
    unicode_emoji: Annotated[str, Meta(max_length=100)] | UnsetType | None = UNSET
    mentionable: bool | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """A name of blanks is none, and the emoji is a standard one."""
        if isinstance(self.name, str) and not clean_name(self.name):
            form_errors.add("name", *FieldError.length(1, limits.ROLE_NAME_MAX))
        if isinstance(self.unicode_emoji, str) and not is_standard_emoji(self.unicode_emoji):
            form_errors.add("unicode_emoji", FormCode.EMOJI_INVALID, "Unknown unicode emoji.")


class CreateGuildRole(RoleSettings, frozen=True, kw_only=True):
    """A new role. What is absent or null has its default; the permissions' are those of @everyone."""


class ModifyGuildRole(RoleSettings, frozen=True, kw_only=True):
    """Changes to a role: what is absent stays. Null removes the icon or the emoji and changes nothing else."""


class RolePosition(Struct, frozen=True, kw_only=True):
    """Where one role goes; without a position it stays."""

    id: RoleId | UnsetType | None = UNSET
    position: Annotated[int, Meta(ge=0, le=(1 << 31) - 1)] | UnsetType | None = UNSET
