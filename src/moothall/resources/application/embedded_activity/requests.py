"""Request bodies of an application's Activity."""

from collections.abc import Sequence
from typing import Annotated, Final

from msgspec import UNSET, Meta, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.activity import (
    ActivityLabel,
    ActivityPlatform,
    ActivitySurface,
    OrientationLock,
    ReleasePhase,
    UrlMapping,
)
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.url_mapping import prefix_error, target_error
from moothall.objects.wire import Timestamp

Platforms = Annotated[list[ActivityPlatform], Meta(max_length=len(ActivityPlatform))]
Country = Annotated[str, Meta(pattern=r"\A[A-Z]{2}\Z")]
Countries = Annotated[list[Country], Meta(max_length=limits.ACTIVITY_COUNTRIES_MAX)]
Address = Annotated[str, Meta(min_length=1, max_length=limits.ACTIVITY_MAPPING_MAX)]

_ROOT: Final = "/"
_REPEATED: Final = FieldError(FormCode.SET_TYPE_ALREADY_CONTAINS_VALUE, "The set already contains this value.")


class SetEmbedded(Struct, frozen=True):
    """Whether an application has an Activity."""

    embedded: bool


class PlatformConfigInput(Struct, frozen=True, kw_only=True):
    """The release of an Activity on one platform."""

    label_type: ActivityLabel = ActivityLabel.NONE
    label_until: Timestamp | None = None
    release_phase: ReleasePhase = ReleasePhase.IN_DEVELOPMENT
    omit_badge_from_surfaces: Annotated[list[ActivitySurface], Meta(max_length=len(ActivitySurface))] = []


class PlatformConfigsInput(Struct, frozen=True, kw_only=True):
    """The releases of an Activity by platform; the platforms left out are not released."""

    web: PlatformConfigInput | UnsetType = UNSET
    android: PlatformConfigInput | UnsetType = UNSET
    ios: PlatformConfigInput | UnsetType = UNSET


class ModifyEmbeddedActivityConfig(Struct, frozen=True, kw_only=True):
    """The settings of an Activity that a developer may change; absent fields stay as they are."""

    supported_platforms: Platforms | UnsetType | None = UNSET
    default_orientation_lock_state: OrientationLock | UnsetType = UNSET
    tablet_default_orientation_lock_state: OrientationLock | UnsetType = UNSET
    requires_age_gate: bool | UnsetType = UNSET
    client_platform_config: PlatformConfigsInput | UnsetType = UNSET
    shelf_rank: Annotated[int, Meta(ge=0, le=2**31 - 1)] | UnsetType = UNSET
    supported_locales: Countries | UnsetType = UNSET
    blocked_locales: Countries | UnsetType = UNSET

    def check(self, form_errors: FormErrors) -> None:
        """Check that platforms and countries are distinct."""
        for field in ("supported_platforms", "supported_locales", "blocked_locales"):
            values = getattr(self, field)
            if isinstance(values, list):
                _check_distinct(values, form_errors.at(field))


class UrlMappingInput(Struct, frozen=True):
    """A mapping from a prefix of paths to a target."""

    prefix: Address
    target: Address


class ModifyProxyConfig(Struct, frozen=True):
    """All URL mappings of an application. One with any mapping has one for `/`."""

    url_map: Annotated[list[UrlMappingInput], Meta(max_length=limits.ACTIVITY_URL_MAPPINGS_MAX)]

    def check(self, form_errors: FormErrors) -> None:
        """Check each prefix and target, that prefixes are distinct, and that one of them is `/`."""
        at = form_errors.at("url_map")
        prefixes = [mapping.prefix.rstrip("/") or _ROOT for mapping in self.url_map]
        for index, mapping in enumerate(self.url_map):
            if problem := prefix_error(mapping.prefix):
                at.add([index, "prefix"], FormCode.BASE_TYPE_BAD_TYPE, problem)
            elif prefixes[index] in prefixes[:index]:
                at.add([index, "prefix"], *_REPEATED)
            elif problem := target_error(UrlMapping(mapping.prefix, mapping.target)):
                at.add([index, "target"], FormCode.BASE_TYPE_BAD_TYPE, problem)
        if self.url_map and _ROOT not in prefixes:
            form_errors.add("url_map", FormCode.BASE_TYPE_REQUIRED, "The prefix / is needed.")

    def mappings(self) -> list[UrlMapping]:
        """The mappings in the order of the request."""
        return [UrlMapping(mapping.prefix.rstrip("/") or _ROOT, mapping.target) for mapping in self.url_map]


def _check_distinct(values: Sequence[str], form_errors: FormErrors) -> None:
    for index, value in enumerate(values):
        if value in values[:index]:
            form_errors.add([index], *_REPEATED)
