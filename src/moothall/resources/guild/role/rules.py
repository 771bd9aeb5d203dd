"""Pure decisions about roles: the fields that a request sets, the order of roles, and audit log changes."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Final

from msgspec import UNSET, UnsetType, structs

from moothall.api.audit import differences
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogChange
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.features import Feature
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import RoleId
from moothall.objects.images import ImageData
from moothall.objects.json_object import JsonObject
from moothall.objects.role import Role, RoleColors
from moothall.objects.text import clean_name
from moothall.resources.guild.role.requests import RoleColorsRequest, RoleSettings

_AUDITED: Final = {
    "name": "name",
    "permissions": "permissions",
    "color": "color",
    "colors": "colors",
    "hoist": "hoist",
    "mentionable": "mentionable",
    "icon": "icon_hash",
    "unicode_emoji": "unicode_emoji",
    "position": "position",
}
"""The audited fields of a role, with their keys in the audit log."""


def role_audit_changes(before: Role | None, after: Role | None) -> list[AuditLogChange]:
    """The audit log changes for a created, changed or deleted role."""
    return [structs.replace(change, key=_AUDITED[change.key]) for change in differences(before, after, tuple(_AUDITED))]


def requested_settings(body: RoleSettings, features: Collection[str], before: Role | None = None) -> JsonObject:
    """The fields of a role that a request sets, except its colours.

    The present emoji of the role `before` requires no feature. Raises Refusal: 400/50101 for an icon or emoji without
    ROLE_ICONS, 400/50035 for an animated icon.
    """
    settings: dict[str, object] = {}
    if isinstance(body.name, str):
        settings["name"] = clean_name(body.name)
    if body.permissions is not UNSET and body.permissions is not None:
        settings["permissions"] = body.permissions
    if isinstance(body.hoist, bool):
        settings["hoist"] = body.hoist
    if isinstance(body.mentionable, bool):
        settings["mentionable"] = body.mentionable
    present_emoji = None if before is None else before.unicode_emoji
    new_emoji = isinstance(body.unicode_emoji, str) and body.unicode_emoji != present_emoji
    if (body.icon or new_emoji) and Feature.ROLE_ICONS not in features:
        raise Refusal(errors.MORE_BOOSTS_REQUIRED)
    if body.icon is not UNSET:
        settings["icon"] = None if body.icon is None else _icon(body.icon)
    if body.unicode_emoji is not UNSET:
        settings["unicode_emoji"] = body.unicode_emoji
    return settings


def _icon(image: ImageData) -> str:
    form_errors = FormErrors()
    if image.info.animated:
        form_errors.add("icon", FormCode.IMAGE_INVALID, "A role's icon cannot be animated.")
    form_errors.raise_if_any()
    return image.hash


def requested_colors(body: RoleSettings, before: RoleColors, features: Collection[str]) -> RoleColors:
    """A role's colours after a request. Its present colours require no feature.

    Raises Refusal: 400/50101 for a second or third colour without ENHANCED_ROLE_COLORS.
    """
    requested = body.colors
    if requested is UNSET or requested is None:
        if not isinstance(body.color, int) or body.color == before.primary_color:
            return before
        requested = RoleColorsRequest(primary_color=body.color)
    colors = RoleColors(
        primary_color=_or(requested.primary_color, before.primary_color) or 0,
        secondary_color=_or(requested.secondary_color, before.secondary_color),
        tertiary_color=_or(requested.tertiary_color, before.tertiary_color),
    )
    if colors == before:
        return before
    enhanced = isinstance(requested.secondary_color, int) or isinstance(requested.tertiary_color, int)
    if enhanced and Feature.ENHANCED_ROLE_COLORS not in features:
        raise Refusal(errors.MORE_BOOSTS_REQUIRED)
    if isinstance(requested.tertiary_color, int):
        primary, secondary, tertiary = limits.HOLOGRAPHIC
        return RoleColors(primary_color=primary, secondary_color=secondary, tertiary_color=tertiary)
    # Any other colour ends the holographic style, whose three colours only occur together.
    return RoleColors(
        primary_color=_or(requested.primary_color, before.primary_color) or 0,
        secondary_color=_or(requested.secondary_color, before.secondary_color),
    )


def _or(value: int | UnsetType | None, default: int | None) -> int | None:
    return default if value is UNSET else value


def keeps_highest_roles(roles: Iterable[Role], positions: Mapping[RoleId, int], below: Callable[[Role], bool]) -> bool:
    """Whether the roles for which `below` is false stay the highest, in their present order."""

    def order(ranked: Iterable[Role]) -> list[RoleId]:
        return [role.id for role in sorted(ranked, key=lambda role: (-role.position, role.id))]

    before = list(roles)
    top = order(role for role in before if not below(role))
    after = order(structs.replace(role, position=positions.get(role.id, role.position)) for role in before)
    return after[: len(top)] == top
