"""Pure decisions about guilds: the features and images that a request may set, and audit log changes."""

from collections.abc import Collection, Iterable
from typing import Final

from msgspec import structs

from moothall.api.audit import differences
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogChange
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.features import CHANGEABLE, Feature
from moothall.objects.form_codes import FormCode
from moothall.objects.guild import ExplicitContentFilterLevel, VerificationLevel
from moothall.objects.images import ImageData
from moothall.storage.rows import GuildRow

_HASH_KEYS: Final = {
    "icon": "icon_hash",
    "splash": "splash_hash",
    "discovery_splash": "discovery_splash_hash",
    "banner": "banner_hash",
}
"""The audit log keys of images."""
_NOT_AUDITED: Final = frozenset({"id", "version", "vanity_url_uses", "recent_changes"})

COMMUNITY_CHANNELS: Final = ("rules_channel_id", "public_updates_channel_id")
IMAGES: Final = tuple(_HASH_KEYS)
"""The images that a guild can have."""
_WIDE_IMAGES: Final = frozenset({"splash", "discovery_splash", "banner"})
"""The images that must be 16:9."""
_REQUIRED_FEATURE: Final = {
    "splash": Feature.INVITE_SPLASH,
    "discovery_splash": Feature.DISCOVERABLE,
    "banner": Feature.BANNER,
}
_ANIMATION_FEATURE: Final = {"icon": Feature.ANIMATED_ICON, "banner": Feature.ANIMATED_BANNER}
_ASPECT: Final = 16 / 9
_ASPECT_TOLERANCE: Final = 0.02


def guild_audit_changes(before: GuildRow, after: GuildRow) -> list[AuditLogChange]:
    """The audit log changes for a changed guild."""
    keys = [name for name in GuildRow.__struct_fields__ if name not in _NOT_AUDITED]
    return [
        structs.replace(change, key=_HASH_KEYS.get(change.key, change.key))
        for change in differences(before, after, keys)
    ]


def change_features(features: Collection[str], requested: Iterable[str | None]) -> tuple[list[str], frozenset[str]]:
    """The features after a request that lists `requested`, and the changeable ones that were added or removed.

    Features that requests cannot change are kept, listed or not. NEWS is added and removed together with COMMUNITY, and
    removing COMMUNITY removes DISCOVERABLE.
    """
    requested_changeable = {name for name in requested if name is not None and name in CHANGEABLE}
    if Feature.COMMUNITY in features and Feature.COMMUNITY not in requested_changeable:
        requested_changeable.discard(Feature.DISCOVERABLE)
    before = {name for name in features if name in CHANGEABLE}
    changed = frozenset(requested_changeable ^ before)
    if not changed:
        return list(features), changed
    result = {name for name in features if name not in CHANGEABLE} | requested_changeable
    if Feature.COMMUNITY in changed:
        result = result | {Feature.NEWS} if Feature.COMMUNITY in requested_changeable else result - {Feature.NEWS}
    return sorted(result), changed


def check_discoverable(row: GuildRow, form_errors: FormErrors) -> None:
    """Check that a guild that becomes discoverable meets every requirement."""
    for problem in _unmet_discovery_requirements(row).values():
        form_errors.add("features", FormCode.BASE_TYPE_CHOICES, f"To be discoverable, the guild must {problem}.")


def check_stays_discoverable(before: GuildRow, after: GuildRow, form_errors: FormErrors) -> None:
    """Check that a discoverable guild still meets the requirements, unless an operator made it so without them."""
    if not _unmet_discovery_requirements(before):
        for field, problem in _unmet_discovery_requirements(after).items():
            form_errors.add(field, FormCode.BASE_TYPE_CHOICES, f"A discoverable guild must {problem}.")


def _unmet_discovery_requirements(row: GuildRow) -> dict[str, str]:
    """The requirements of discovery that a guild does not meet, by field: what it must do."""
    requirements = {
        "features": ("be a Community guild", Feature.COMMUNITY in row.features),
        "description": ("have a description", bool(row.description)),
        "verification_level": (
            "ask members for a verified email address",
            row.verification_level >= VerificationLevel.LOW,
        ),
        "explicit_content_filter": (
            "scan the media of all members",
            row.explicit_content_filter == ExplicitContentFilterLevel.ALL_MEMBERS,
        ),
    }
    return {field: problem for field, (problem, is_done) in requirements.items() if not is_done}


def check_community(row: GuildRow, fields: Collection[str], form_errors: FormErrors) -> None:
    """Check that a community has those of its two required channels that are in `fields`."""
    for field in COMMUNITY_CHANNELS:
        if field in fields and getattr(row, field) is None:
            form_errors.add(field, FormCode.BASE_TYPE_REQUIRED, "A Community guild needs this channel.")


def check_image(field: str, image: ImageData, features: Collection[str], form_errors: FormErrors) -> None:
    """Check whether a guild with `features` may have an image; its form errors are added to `form_errors`.

    Raises Refusal: 400/50101 if the required feature is missing.
    """
    info = image.info
    needed = _REQUIRED_FEATURE.get(field)
    animation_feature = _ANIMATION_FEATURE.get(field)
    if needed is not None and needed not in features:
        raise Refusal(errors.MORE_BOOSTS_REQUIRED)
    if animation_feature is None and (info.animated or info.format == "gif"):
        form_errors.add(field, FormCode.IMAGE_INVALID, "This image must be a png or jpeg.")
    elif info.animated and animation_feature not in features:
        raise Refusal(errors.MORE_BOOSTS_REQUIRED)
    if field in _WIDE_IMAGES and abs(info.width / info.height / _ASPECT - 1) > _ASPECT_TOLERANCE:
        form_errors.add(field, FormCode.IMAGE_INVALID, "This image must be 16:9.")
