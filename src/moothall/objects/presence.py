"""Presences and activities (events: gateway events, presence update)."""

from enum import IntEnum, StrEnum
from hashlib import blake2b
from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects.ids import ApplicationId, EmojiId, GuildId
from moothall.objects.user import UserReference


class Status(StrEnum):
    """The status of a user. Others see INVISIBLE as OFFLINE."""

    ONLINE = "online"
    DND = "dnd"
    IDLE = "idle"
    INVISIBLE = "invisible"
    OFFLINE = "offline"


class ActivityType(IntEnum):
    """The type of an activity."""

    PLAYING = 0
    STREAMING = 1
    LISTENING = 2
    WATCHING = 3
    CUSTOM = 4
    COMPETING = 5


class ActivityFlags:
    """The bits of an activity's `flags`."""

    INSTANCE: Final = 1 << 0
    JOIN: Final = 1 << 1
    SPECTATE: Final = 1 << 2
    JOIN_REQUEST: Final = 1 << 3
    SYNC: Final = 1 << 4
    PLAY: Final = 1 << 5
    PARTY_PRIVACY_FRIENDS: Final = 1 << 6
    PARTY_PRIVACY_VOICE_CHANNEL: Final = 1 << 7
    EMBEDDED: Final = 1 << 8


class ActivityTimestamps(Struct, frozen=True, kw_only=True):
    """The start and end of an activity, in milliseconds since the Unix epoch, as numbers."""

    start: int | UnsetType = UNSET
    end: int | UnsetType = UNSET


class ActivityEmoji(Struct, frozen=True, kw_only=True):
    """The emoji of a custom status."""

    name: str
    id: EmojiId | UnsetType = UNSET
    animated: bool | UnsetType = UNSET


class ActivityParty(Struct, frozen=True, kw_only=True):
    """A party; `size` is (current, maximum)."""

    id: str | UnsetType = UNSET
    size: tuple[int, int] | UnsetType = UNSET


class ActivityAssets(Struct, frozen=True, kw_only=True):
    """Images of an activity and their texts."""

    large_image: str | UnsetType = UNSET
    large_text: str | UnsetType = UNSET
    large_url: str | UnsetType = UNSET
    small_image: str | UnsetType = UNSET
    small_text: str | UnsetType = UNSET
    small_url: str | UnsetType = UNSET
    invite_cover_image: str | UnsetType = UNSET


class ActivitySecrets(Struct, frozen=True, kw_only=True):
    """Secrets for joining an activity."""

    join: str | UnsetType = UNSET
    spectate: str | UnsetType = UNSET
    match: str | UnsetType = UNSET


class Activity(Struct, frozen=True, kw_only=True):
    """An activity of a user. A bot may set name, type, url and state."""

    id: str
    """Distinguishes the activities of one user: `activity_id`."""
    name: str
    type: int
    url: str | UnsetType | None = UNSET
    created_at: int | UnsetType = UNSET
    timestamps: ActivityTimestamps | UnsetType | None = UNSET
    application_id: ApplicationId | UnsetType | None = UNSET
    status_display_type: int | UnsetType | None = UNSET
    details: str | UnsetType | None = UNSET
    details_url: str | UnsetType | None = UNSET
    state: str | UnsetType | None = UNSET
    state_url: str | UnsetType | None = UNSET
    emoji: ActivityEmoji | UnsetType | None = UNSET
    party: ActivityParty | UnsetType | None = UNSET
    assets: ActivityAssets | UnsetType | None = UNSET
    secrets: ActivitySecrets | UnsetType | None = UNSET
    instance: bool | UnsetType = UNSET
    flags: int | UnsetType = UNSET
    buttons: list[str] | UnsetType = UNSET
    """The labels of the buttons."""


_CUSTOM_ID: Final = "custom"


def activity_id(name: str, kind: int, application_id: ApplicationId | None, position: int = 0) -> str:
    """The id of an activity: "custom" for a custom status, else 16 hexadecimal digits.

    It is the same for as long as a client shows the same thing, whatever changes in its details. `position` is the
    number of activities before it in the client's list that would have the same id.
    """
    if kind == ActivityType.CUSTOM and not position:
        return _CUSTOM_ID
    source = f"{kind} {application_id} {position} {name}"
    return blake2b(source.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


class ClientStatus(Struct, frozen=True, kw_only=True):
    """The status by kind of client; a kind that is not connected is absent."""

    desktop: str | UnsetType = UNSET
    mobile: str | UnsetType = UNSET
    web: str | UnsetType = UNSET
    vr: str | UnsetType = UNSET


class Presence(Struct, frozen=True, kw_only=True):
    """The status and activities of a user. `guild_id` is absent in a guild's own list."""

    user: UserReference
    guild_id: GuildId | UnsetType = UNSET
    status: str
    activities: list[Activity]
    client_status: ClientStatus
