"""Roles (topics: permissions, role object)."""

from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import IntegrationId, RoleId, Snowflake, UserId
from moothall.objects.permissions import PermissionSet


class RoleFlags:
    """The bits of a role's `flags`."""

    IN_PROMPT: Final = 1 << 0
    """The role is an option of an onboarding prompt."""


class RoleColors(Struct, frozen=True, kw_only=True):
    """A role's colours as 0xRRGGBB: one, a gradient of two, or the holographic three."""

    primary_color: int = 0
    secondary_color: int | None = None
    tertiary_color: int | None = None


class RoleTags(Struct, frozen=True, kw_only=True):
    """The object that manages a role. The three boolean tags are present as null when true."""

    bot_id: UserId | UnsetType = UNSET
    integration_id: IntegrationId | UnsetType = UNSET
    premium_subscriber: UnsetType | None = UNSET
    subscription_listing_id: Snowflake | UnsetType = UNSET
    available_for_purchase: UnsetType | None = UNSET
    guild_connections: UnsetType | None = UNSET


class Role(Struct, frozen=True, kw_only=True):
    """A role. `color` equals `colors.primary_color`; the @everyone role has the guild's id and position 0."""

    id: RoleId
    name: str
    color: int
    colors: RoleColors
    hoist: bool
    icon: str | None = None
    unicode_emoji: str | None = None
    position: int
    permissions: PermissionSet
    managed: bool
    mentionable: bool
    flags: int = 0
    tags: RoleTags | UnsetType = UNSET


def is_linked(role: Role) -> bool:
    """Whether members claim the role themselves, by requirements on their connections: it is not added by hand."""
    return role.tags is not UNSET and role.tags.guild_connections is None


class PartialRole(Struct, frozen=True, kw_only=True):
    """The role object of the audit log's `$add` and `$remove`."""

    id: RoleId
    name: str
