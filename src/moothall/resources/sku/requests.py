"""Request bodies of SKUs."""

from typing import Annotated, Literal

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ApplicationId
from moothall.objects.monetization import SkuFlags, SkuType
from moothall.objects.text import clean_name

_Name = Annotated[str, Meta(min_length=1, max_length=limits.SKU_NAME_MAX)]
_Flags = Annotated[int, Meta(ge=0, le=(1 << 31) - 1)]


def _check_name(name: str | UnsetType, form_errors: FormErrors) -> None:
    if name is not UNSET and not clean_name(name):
        form_errors.add("name", *FieldError.length(1, limits.SKU_NAME_MAX))


class CreateSku(Struct, frozen=True, kw_only=True):
    """A new SKU. A subscription is one of guilds or of users; of users without either flag."""

    application_id: ApplicationId
    type: Literal[2, 3, 5]
    name: _Name
    flags: _Flags | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check that the name is not blank, and that only subscriptions have their flags, and one of them."""
        _check_name(self.name, form_errors)
        subscriptions = (self.flags or 0) & SkuFlags.SUBSCRIPTIONS
        if subscriptions and (
            SkuType(self.type) is not SkuType.SUBSCRIPTION or subscriptions == SkuFlags.SUBSCRIPTIONS
        ):
            form_errors.add("flags", FormCode.BASE_TYPE_BAD_TYPE, "These flags do not fit the type.")


class ModifySku(Struct, frozen=True, kw_only=True):
    """Changes to an SKU: an absent field stays. Of the flags, only AVAILABLE changes."""

    name: _Name | UnsetType = UNSET
    flags: _Flags | UnsetType | None = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check that the name is not blank."""
        _check_name(self.name, form_errors)
