"""Request bodies of guild templates."""

from typing import Annotated

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError
from moothall.objects.images import ImageData
from moothall.objects.text import clean_name
from moothall.resources.guild.requests import GuildName, check_guild_name

_Name = Annotated[
    str, Meta(extra_json_schema={"minLength": limits.TEMPLATE_NAME_MIN, "maxLength": limits.TEMPLATE_NAME_MAX})
]
"""Its length is counted without surrounding whitespace."""
_Description = Annotated[str, Meta(max_length=limits.TEMPLATE_DESCRIPTION_MAX)]


def _check_name(name: str | UnsetType, form_errors: FormErrors) -> None:
    if name is not UNSET and not limits.TEMPLATE_NAME_MIN <= len(clean_name(name)) <= limits.TEMPLATE_NAME_MAX:
        form_errors.add("name", *FieldError.length(limits.TEMPLATE_NAME_MIN, limits.TEMPLATE_NAME_MAX))


class CreateGuildTemplate(Struct, frozen=True, kw_only=True):
    """A new template."""

    name: _Name
    description: _Description | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check the name's length without surrounding whitespace."""
        _check_name(self.name, form_errors)


class ModifyGuildTemplate(Struct, frozen=True, kw_only=True):
    """Changes to a template: an absent field stays; null removes the description."""

    name: _Name | UnsetType = UNSET
    description: _Description | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check the name's length without surrounding whitespace."""
        _check_name(self.name, form_errors)


class CreateGuildFromTemplate(Struct, frozen=True, kw_only=True):
    """A new guild with the roles, channels and settings of a template."""

    name: GuildName
    icon: ImageData | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check the name's length without surrounding whitespace."""
        check_guild_name(self.name, form_errors)
