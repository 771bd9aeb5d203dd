"""Guild members (api.md, Guild member object)."""

from typing import Final

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.objects.ids import RoleId
from moothall.objects.permissions import PermissionSet
from moothall.objects.user import AvatarDecoration, Collectibles, User
from moothall.objects.wire import Timestamp


class MemberFlags:
    """The bits of a member's `flags`."""

    DID_REJOIN: Final = 1 << 0
    COMPLETED_ONBOARDING: Final = 1 << 1
    BYPASSES_VERIFICATION: Final = 1 << 2
    STARTED_ONBOARDING: Final = 1 << 3
    IS_GUEST: Final = 1 << 4
    STARTED_HOME_ACTIONS: Final = 1 << 5
    COMPLETED_HOME_ACTIONS: Final = 1 << 6
    AUTOMOD_QUARANTINED_USERNAME: Final = 1 << 7
    DM_SETTINGS_UPSELL_ACKNOWLEDGED: Final = 1 << 9
    AUTOMOD_QUARANTINED_GUILD_TAG: Final = 1 << 10

    QUARANTINED: Final = AUTOMOD_QUARANTINED_USERNAME | AUTOMOD_QUARANTINED_GUILD_TAG
    """The flags of members who may not interact, like timed out ones."""
    EDITABLE: Final = BYPASSES_VERIFICATION
    """The flags that a request may change; its other bits are ignored."""


class Member(Struct, frozen=True, kw_only=True):
    """A user in a guild.

    `user` is absent inside messages; `permissions` are present only inside interactions; `pending` is absent in events
    that only members who are not pending can cause, except GUILD_ events. A
    `communication_disabled_until` in the past means no timeout. `roles` does not include @everyone.
    """

    user: User | UnsetType = UNSET
    nick: str | None = None
    avatar: str | None = None
    banner: str | None = None
    roles: list[RoleId]
    joined_at: Timestamp | None
    premium_since: Timestamp | None = None
    deaf: bool = False
    mute: bool = False
    flags: int = 0
    pending: bool | UnsetType = UNSET
    permissions: PermissionSet | UnsetType = UNSET
    communication_disabled_until: Timestamp | None = None
    avatar_decoration_data: AvatarDecoration | None = None
    collectibles: Collectibles | None = None


def without_pending(member: Member) -> Member:
    """A member as in an event that only members who are not pending can cause."""
    return structs.replace(member, pending=UNSET)
