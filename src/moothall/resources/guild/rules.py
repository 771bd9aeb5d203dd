"""Pure decisions about guilds: which features a request toggles, which images it may set, what is told of a change."""

from collections.abc import Collection, Iterable
from typing import Final

from msgspec import structs

from moothall.kernel.audit import differences
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
"""Images, by the key that the audit log knows them under."""
_NOT_AUDITED: Final = frozenset({"id", "version", "vanity_url_uses"})

COMMUNITY_CHANNELS: Final = ("rules_channel_id", "public_updates_channel_id")
IMAGES: Final = tuple(_HASH_KEYS)
"""The images that a guild can have."""
_WIDE: Final = frozenset({"splash", "discovery_splash", "banner"})
"""Those that are 16:9."""
_FEATURE_OF: Final = {
    "splash": Feature.INVITE_SPLASH,
    "discovery_splash": Feature.DISCOVERABLE,
    "banner": Feature.BANNER,
}
_FEATURE_OF_MOVING: Final = {"icon": Feature.ANIMATED_ICON, "banner": Feature.ANIMATED_BANNER}
_ASPECT: Final = 16 / 9
_ASPECT_TOLERANCE: Final = 0.02


def changes_between(before: GuildRow, after: GuildRow) -> list[AuditLogChange]:
    """What the audit log says of a changed guild."""
    keys = [name for name in GuildRow.__struct_fields__ if name not in _NOT_AUDITED]
    return [
        structs.replace(change, key=_HASH_KEYS.get(change.key, change.key))
        for change in differences(before, after, keys)
    ]


def toggled(held: Collection[str], wanted: Iterable[str | None]) -> tuple[list[str], frozenset[str]]:
    """The features after a request that lists `wanted`, and which of those that requests may change did change.

    Others are kept, whatever the list says of them. COMMUNITY brings NEWS and takes it away again, and
    a guild that is no community any more is not discoverable either.
    """
    asked = {name for name in wanted if name is not None and name in CHANGEABLE}
    if Feature.COMMUNITY in held and Feature.COMMUNITY not in asked:
        asked.discard(Feature.DISCOVERABLE)
    before = {name for name in held if name in CHANGEABLE}
    changed = frozenset(asked ^ before)
    if not changed:
        return list(held), changed
    features = {name for name in held if name not in CHANGEABLE} | asked
    if Feature.COMMUNITY in changed:
        features = features | {Feature.NEWS} if Feature.COMMUNITY in asked else features - {Feature.NEWS}
    return sorted(features), changed


def check_discoverable(row: GuildRow, form_errors: FormErrors) -> None:
    """A discoverable guild is a community, says what it is about, scans what everybody posts and asks for an email."""
    for problem in _undiscoverable(row).values():
        form_errors.add("features", FormCode.BASE_TYPE_CHOICES, f"To be discoverable, the guild must {problem}.")


def check_still_discoverable(before: GuildRow, after: GuildRow, form_errors: FormErrors) -> None:
    """A discoverable guild that has what this takes keeps it; one that an operator made without is left alone."""
    if not _undiscoverable(before):
        for field, problem in _undiscoverable(after).items():
            form_errors.add(field, FormCode.BASE_TYPE_CHOICES, f"A discoverable guild must {problem}.")


def _undiscoverable(row: GuildRow) -> dict[str, str]:
    """What a guild would have to do to be discoverable, by the field that says whether it does."""
    wanted = {
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
    return {field: problem for field, (problem, is_done) in wanted.items() if not is_done}


def check_community(row: GuildRow, fields: Collection[str], form_errors: FormErrors) -> None:
    """A community has a channel for its rules and one for notices to its moderators; asked of those in `fields`."""
    for field in COMMUNITY_CHANNELS:
        if field in fields and getattr(row, field) is None:
            form_errors.add(field, FormCode.BASE_TYPE_REQUIRED, "A Community guild needs this channel.")


def check_image(field: str, image: ImageData, features: Collection[str], form_errors: FormErrors) -> None:
    """Whether a guild with some features may have an image.

    Raises Refusal: 400/50101 where the feature is missing. Its form errors go to `form_errors`.
    """
    info = image.info
    needed = _FEATURE_OF.get(field)
    moving = _FEATURE_OF_MOVING.get(field)
    if needed is not None and needed not in features:
        raise Refusal(errors.MORE_BOOSTS_REQUIRED)
    if moving is None and (info.animated or info.format == "gif"):
        form_errors.add(field, FormCode.IMAGE_INVALID, "This image must be a png or jpeg.")
    elif info.animated and moving not in features:
        raise Refusal(errors.MORE_BOOSTS_REQUIRED)
    if field in _WIDE and abs(info.width / info.height / _ASPECT - 1) > _ASPECT_TOLERANCE:
        form_errors.add(field, FormCode.IMAGE_INVALID, "This image must be 16:9.")
