"""Request bodies of guild profiles."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError
from moothall.objects.guild_profile import BadgeType
from moothall.objects.images import ImageData
from moothall.objects.text import clean_name
from moothall.resources.guild.requests import GuildName, check_guild_name

_Color = Annotated[str, Meta(pattern=r"\A#[0-9a-fA-F]{6}\Z")]
_Tag = Annotated[str, Meta(extra_json_schema={"minLength": limits.GUILD_TAG_MIN, "maxLength": limits.GUILD_TAG_MAX})]


class ModifyGuildProfile(Struct, frozen=True, kw_only=True):
    """Changes to a guild's profile: an absent field stays, null clears it."""

    name: GuildName | UnsetType = UNSET
    icon: ImageData | UnsetType | None = UNSET
    description: Annotated[str, Meta(max_length=limits.GUILD_DESCRIPTION_MAX)] | UnsetType | None = UNSET
    tag: _Tag | UnsetType | None = UNSET
    """What members may wear behind their names: 2 to 4 characters."""
    badge: BadgeType | UnsetType = UNSET
    badge_color_primary: _Color | UnsetType | None = UNSET
    badge_color_secondary: _Color | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check lengths without surrounding whitespace."""
        check_guild_name(self.name, form_errors)
        if isinstance(self.tag, str) and not limits.GUILD_TAG_MIN <= len(clean_name(self.tag)) <= limits.GUILD_TAG_MAX:
            form_errors.add("tag", *FieldError.length(limits.GUILD_TAG_MIN, limits.GUILD_TAG_MAX))
