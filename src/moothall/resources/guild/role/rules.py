"""Pure decisions about roles: what a request makes of one, and which changes are told."""

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any, Final

from msgspec import UNSET, UnsetType, structs

from moothall.kernel.audit import differences
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogChange
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.features import Feature
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import RoleId
from moothall.objects.images import ImageData
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
"""The fields that the audit log tells of, by the key that it knows them under."""


def changes_between(before: Role | None, after: Role | None) -> list[AuditLogChange]:
    """What the audit log says of a new, a changed or a deleted role."""
    return [structs.replace(change, key=_AUDITED[change.key]) for change in differences(before, after, tuple(_AUDITED))]


def settings_of(body: RoleSettings, features: Collection[str], before: Role | None = None) -> dict[str, Any]:
    """The fields of a role that a request sets, colours aside.

    The emoji that the role had `before` needs no feature. Raises Refusal: 400/50101 for an icon or emoji without
    ROLE_ICONS, 50035 for an icon that moves.
    """
    given: dict[str, Any] = {}
    if isinstance(body.name, str):
        given["name"] = clean_name(body.name)
    if body.permissions is not UNSET and body.permissions is not None:
        given["permissions"] = body.permissions
    if isinstance(body.hoist, bool):
        given["hoist"] = body.hoist
    if isinstance(body.mentionable, bool):
        given["mentionable"] = body.mentionable
    held = None if before is None else before.unicode_emoji
    new_emoji = isinstance(body.unicode_emoji, str) and body.unicode_emoji != held
    if (body.icon or new_emoji) and Feature.ROLE_ICONS not in features:
        raise Refusal(errors.MORE_BOOSTS_REQUIRED)
    if body.icon is not UNSET:
        given["icon"] = None if body.icon is None else _icon(body.icon)
    if body.unicode_emoji is not UNSET:
        given["unicode_emoji"] = body.unicode_emoji
    return given


def _icon(image: ImageData) -> str:
    form_errors = FormErrors()
    if image.info.animated:
        form_errors.add("icon", FormCode.IMAGE_INVALID, "A role's icon cannot be animated.")
    form_errors.raise_if_any()
    return image.hash


def colors_of(body: RoleSettings, before: RoleColors, features: Collection[str]) -> RoleColors:
    """A role's colours after a request; those that it has need no feature.

    Raises Refusal: 400/50101 for a second or third colour without ENHANCED_ROLE_COLORS.
    """
    asked = body.colors
    if asked is UNSET or asked is None:
        if not isinstance(body.color, int) or body.color == before.primary_color:
            return before
        asked = RoleColorsRequest(primary_color=body.color)
    given = RoleColors(
        primary_color=_or(asked.primary_color, before.primary_color) or 0,
        secondary_color=_or(asked.secondary_color, before.secondary_color),
        tertiary_color=_or(asked.tertiary_color, before.tertiary_color),
    )
    if given == before:
        return before
    enhanced = isinstance(asked.secondary_color, int) or isinstance(asked.tertiary_color, int)
    if enhanced and Feature.ENHANCED_ROLE_COLORS not in features:
        raise Refusal(errors.MORE_BOOSTS_REQUIRED)
    if isinstance(asked.tertiary_color, int):
        primary, secondary, tertiary = limits.HOLOGRAPHIC
        return RoleColors(primary_color=primary, secondary_color=secondary, tertiary_color=tertiary)
    # Any other colour ends the holographic style: its three go together only.
    return RoleColors(
        primary_color=_or(asked.primary_color, before.primary_color) or 0,
        secondary_color=_or(asked.secondary_color, before.secondary_color),
    )


def _or(value: int | UnsetType | None, otherwise: int | None) -> int | None:
    return otherwise if value is UNSET else value


def keeps_the_top(roles: Iterable[Role], positions: Mapping[RoleId, int], below: Callable[[Role], bool]) -> bool:
    """Whether the roles that are not `below` somebody stay the highest, in the order that they have."""

    def order(ranked: Iterable[Role]) -> list[RoleId]:
        return [role.id for role in sorted(ranked, key=lambda role: (-role.position, role.id))]

    before = list(roles)
    top = order(role for role in before if not below(role))
    after = order(structs.replace(role, position=positions.get(role.id, role.position)) for role in before)
    return after[: len(top)] == top
