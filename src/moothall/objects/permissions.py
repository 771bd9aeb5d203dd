"""Permissions: every public bit, and the computation of a member's permissions (topics: permissions).

The functions work on plain integers, as the gateway calls them for each recipient of each event. A full computation is

    base_permissions -> channel_permissions -> timed_out (only during a timeout) -> implicit
"""

from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Final, Self

_MAX_DIGITS = 20


class PermissionSet(int):
    """A set of permission bits. A wire scalar: a decimal string in responses, a string or a number in requests."""

    __slots__ = ()

    def wire(self) -> str:
        """The form in responses: a decimal string."""
        return str(int(self))

    @classmethod
    def from_wire(cls, value: object) -> Self:
        """Read permission bits from a request; unknown bits are dropped.

        Raises ValueError if it is not an integer of at least zero.
        """
        if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) <= _MAX_DIGITS:
            value = int(value)
        if isinstance(value, int) and not isinstance(value, bool) and value >= 0:
            return cls(value & Permissions.ALL)
        text = repr(value)
        raise ValueError(f"Value {text if len(text) <= 40 else text[:37] + '...'} is not a permission bit set.")


class Permissions:
    """Every public permission as a constant; combining them with `|` yields a plain integer."""

    NONE: Final = PermissionSet(0)

    CREATE_INSTANT_INVITE: Final = PermissionSet(1 << 0)
    KICK_MEMBERS: Final = PermissionSet(1 << 1)
    BAN_MEMBERS: Final = PermissionSet(1 << 2)
    ADMINISTRATOR: Final = PermissionSet(1 << 3)
    MANAGE_CHANNELS: Final = PermissionSet(1 << 4)
    MANAGE_GUILD: Final = PermissionSet(1 << 5)
    ADD_REACTIONS: Final = PermissionSet(1 << 6)
    VIEW_AUDIT_LOG: Final = PermissionSet(1 << 7)
    PRIORITY_SPEAKER: Final = PermissionSet(1 << 8)
    STREAM: Final = PermissionSet(1 << 9)
    VIEW_CHANNEL: Final = PermissionSet(1 << 10)
    SEND_MESSAGES: Final = PermissionSet(1 << 11)
    SEND_TTS_MESSAGES: Final = PermissionSet(1 << 12)
    MANAGE_MESSAGES: Final = PermissionSet(1 << 13)
    EMBED_LINKS: Final = PermissionSet(1 << 14)
    ATTACH_FILES: Final = PermissionSet(1 << 15)
    READ_MESSAGE_HISTORY: Final = PermissionSet(1 << 16)
    MENTION_EVERYONE: Final = PermissionSet(1 << 17)
    USE_EXTERNAL_EMOJIS: Final = PermissionSet(1 << 18)
    VIEW_GUILD_INSIGHTS: Final = PermissionSet(1 << 19)
    CONNECT: Final = PermissionSet(1 << 20)
    SPEAK: Final = PermissionSet(1 << 21)
    MUTE_MEMBERS: Final = PermissionSet(1 << 22)
    DEAFEN_MEMBERS: Final = PermissionSet(1 << 23)
    MOVE_MEMBERS: Final = PermissionSet(1 << 24)
    USE_VAD: Final = PermissionSet(1 << 25)
    CHANGE_NICKNAME: Final = PermissionSet(1 << 26)
    MANAGE_NICKNAMES: Final = PermissionSet(1 << 27)
    MANAGE_ROLES: Final = PermissionSet(1 << 28)
    MANAGE_WEBHOOKS: Final = PermissionSet(1 << 29)
    MANAGE_GUILD_EXPRESSIONS: Final = PermissionSet(1 << 30)
    USE_APPLICATION_COMMANDS: Final = PermissionSet(1 << 31)
    REQUEST_TO_SPEAK: Final = PermissionSet(1 << 32)
    MANAGE_EVENTS: Final = PermissionSet(1 << 33)
    MANAGE_THREADS: Final = PermissionSet(1 << 34)
    CREATE_PUBLIC_THREADS: Final = PermissionSet(1 << 35)
    CREATE_PRIVATE_THREADS: Final = PermissionSet(1 << 36)
    USE_EXTERNAL_STICKERS: Final = PermissionSet(1 << 37)
    SEND_MESSAGES_IN_THREADS: Final = PermissionSet(1 << 38)
    USE_EMBEDDED_ACTIVITIES: Final = PermissionSet(1 << 39)
    MODERATE_MEMBERS: Final = PermissionSet(1 << 40)
    VIEW_CREATOR_MONETIZATION_ANALYTICS: Final = PermissionSet(1 << 41)
    USE_SOUNDBOARD: Final = PermissionSet(1 << 42)
    CREATE_GUILD_EXPRESSIONS: Final = PermissionSet(1 << 43)
    CREATE_EVENTS: Final = PermissionSet(1 << 44)
    USE_EXTERNAL_SOUNDS: Final = PermissionSet(1 << 45)
    SEND_VOICE_MESSAGES: Final = PermissionSet(1 << 46)
    SET_VOICE_CHANNEL_STATUS: Final = PermissionSet(1 << 48)
    SEND_POLLS: Final = PermissionSet(1 << 49)
    USE_EXTERNAL_APPS: Final = PermissionSet(1 << 50)
    PIN_MESSAGES: Final = PermissionSet(1 << 51)
    BYPASS_SLOWMODE: Final = PermissionSet(1 << 52)

    # Bit 47 is unassigned.
    ALL: Final = PermissionSet((1 << 53) - 1 & ~(1 << 47))
    """Every permission, as the owner and administrators have."""

    DEFAULT: Final = PermissionSet(
        CREATE_INSTANT_INVITE
        | ADD_REACTIONS
        | STREAM
        | VIEW_CHANNEL
        | SEND_MESSAGES
        | EMBED_LINKS
        | ATTACH_FILES
        | READ_MESSAGE_HISTORY
        | MENTION_EVERYONE
        | USE_EXTERNAL_EMOJIS
        | CONNECT
        | SPEAK
        | USE_VAD
        | CHANGE_NICKNAME
        | USE_APPLICATION_COMMANDS
        | REQUEST_TO_SPEAK
        | CREATE_PUBLIC_THREADS
        | CREATE_PRIVATE_THREADS
        | USE_EXTERNAL_STICKERS
        | SEND_MESSAGES_IN_THREADS
        | USE_EMBEDDED_ACTIVITIES
        | USE_SOUNDBOARD
        | CREATE_GUILD_EXPRESSIONS
        | CREATE_EVENTS
        | USE_EXTERNAL_SOUNDS
        | SEND_VOICE_MESSAGES
        | SET_VOICE_CHANNEL_STATUS
        | SEND_POLLS
        | USE_EXTERNAL_APPS
    )
    """The permissions of the @everyone role in a new guild."""

    ELEVATED: Final = PermissionSet(
        KICK_MEMBERS
        | BAN_MEMBERS
        | ADMINISTRATOR
        | MANAGE_CHANNELS
        | MANAGE_GUILD
        | MANAGE_MESSAGES
        | MANAGE_ROLES
        | MANAGE_WEBHOOKS
        | MANAGE_GUILD_EXPRESSIONS
        | MANAGE_THREADS
        | VIEW_CREATOR_MONETIZATION_ANALYTICS
    )
    """The permissions that need two-factor authentication in a guild with the MFA level ELEVATED."""

    TEXT: Final = PermissionSet(
        CREATE_INSTANT_INVITE
        | MANAGE_CHANNELS
        | ADD_REACTIONS
        | VIEW_CHANNEL
        | SEND_MESSAGES
        | SEND_TTS_MESSAGES
        | MANAGE_MESSAGES
        | EMBED_LINKS
        | ATTACH_FILES
        | READ_MESSAGE_HISTORY
        | MENTION_EVERYONE
        | USE_EXTERNAL_EMOJIS
        | MANAGE_ROLES
        | MANAGE_WEBHOOKS
        | USE_APPLICATION_COMMANDS
        | MANAGE_THREADS
        | CREATE_PUBLIC_THREADS
        | CREATE_PRIVATE_THREADS
        | USE_EXTERNAL_STICKERS
        | SEND_MESSAGES_IN_THREADS
        | USE_EMBEDDED_ACTIVITIES
        | SEND_VOICE_MESSAGES
        | SEND_POLLS
        | USE_EXTERNAL_APPS
        | PIN_MESSAGES
        | BYPASS_SLOWMODE
    )
    """The permissions that apply to text-like channels."""

    VOICE_ONLY: Final = PermissionSet(
        PRIORITY_SPEAKER
        | STREAM
        | CONNECT
        | SPEAK
        | MUTE_MEMBERS
        | DEAFEN_MEMBERS
        | MOVE_MEMBERS
        | USE_VAD
        | REQUEST_TO_SPEAK
        | USE_SOUNDBOARD
        | USE_EXTERNAL_SOUNDS
        | SET_VOICE_CHANNEL_STATUS
    )
    """The permissions that apply only to voice and stage channels."""

    CHANNEL: Final = PermissionSet(TEXT | VOICE_ONLY | MANAGE_EVENTS | CREATE_EVENTS)
    """The permissions that overwrites of a channel can allow or deny; the others apply to the guild only."""


BY_NAME: Final[Mapping[str, PermissionSet]] = MappingProxyType(
    {
        name: bits
        for name, bits in vars(Permissions).items()
        if isinstance(bits, PermissionSet) and bits.bit_count() == 1
    }
)
"""Single permissions by name, in the order of their bits."""


def names(bits: int) -> list[str]:
    """The names of the permissions in a set, lowest bit first; unknown bits are left out."""
    return [name for name, bit in BY_NAME.items() if bits & bit]


# The functions below run for each recipient of each event, so they use module-level plain integers:
# an attribute lookup or an operation on a subclass of int would cost more than the arithmetic.
_ALL = int(Permissions.ALL)
_ADMINISTRATOR = int(Permissions.ADMINISTRATOR)
_CHANNEL = int(Permissions.CHANNEL)
_GUILD_ONLY = _ALL & ~_CHANNEL
_VIEW = int(Permissions.VIEW_CHANNEL)
_CONNECT = int(Permissions.CONNECT)
_SEND = int(Permissions.SEND_MESSAGES)
_SEND_IN_THREADS = int(Permissions.SEND_MESSAGES_IN_THREADS)
_WHILE_TIMED_OUT = int(Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY)
_GUEST = _CHANNEL & ~int(
    Permissions.CREATE_INSTANT_INVITE
    | Permissions.MANAGE_CHANNELS
    | Permissions.MANAGE_ROLES
    | Permissions.MANAGE_WEBHOOKS
    | Permissions.MANAGE_MESSAGES
    | Permissions.MANAGE_THREADS
    | Permissions.MANAGE_EVENTS
    | Permissions.CREATE_EVENTS
    | Permissions.MUTE_MEMBERS
    | Permissions.DEAFEN_MEMBERS
    | Permissions.MOVE_MEMBERS
)
_NEEDS_SENDING = int(
    Permissions.MENTION_EVERYONE | Permissions.SEND_TTS_MESSAGES | Permissions.ATTACH_FILES | Permissions.EMBED_LINKS
)
_NEEDS_CONNECT = int(Permissions.VOICE_ONLY | Permissions.MANAGE_CHANNELS | Permissions.MANAGE_ROLES)


def base_permissions(*, owner: bool, everyone: int, roles: Iterable[int]) -> int:
    """A member's permissions in the guild, without overwrites.

    `everyone` are the bits of the @everyone role, `roles` those of the member's roles. The owner and administrators
    have every permission.
    """
    if owner:
        return _ALL
    bits = int(everyone)
    for role in roles:
        bits |= role
    return _ALL if bits & _ADMINISTRATOR else bits


def channel_permissions(
    base: int,
    *,
    everyone_id: int,
    role_ids: Collection[int],
    user_id: int,
    overwrites: Mapping[int, tuple[int, int]],
) -> int:
    """A member's explicit permissions in a channel: `base` with the channel's overwrites applied.

    `overwrites` maps the id of a role or user to (allow, deny). Applied are first the overwrite of @everyone (whose id
    is the guild's), then those of all the member's roles together, then the member's own. Overwrites do not change
    permissions that apply to the guild only (KICK_MEMBERS, ADMINISTRATOR...). For a thread pass its parent's
    overwrites.
    """
    if base & _ADMINISTRATOR:
        return _ALL
    if not overwrites:
        return base
    bits = base
    if overwrite := overwrites.get(everyone_id):
        bits = bits & ~overwrite[1] | overwrite[0]
    allow = deny = 0
    for role_id in role_ids:
        if role_id != everyone_id and (overwrite := overwrites.get(role_id)):
            allow |= overwrite[0]
            deny |= overwrite[1]
    bits = bits & ~deny | allow
    if overwrite := overwrites.get(user_id):
        bits = bits & ~overwrite[1] | overwrite[0]
    return base & _GUILD_ONLY | bits & _CHANNEL


def timed_out(bits: int) -> int:
    """A member's permissions during a timeout; administrators and the owner are exempt."""
    return bits if bits & _ADMINISTRATOR else bits & _WHILE_TIMED_OUT


def guest_permissions(bits: int) -> int:
    """A guest's permissions in the channel that they were invited to, without invites, management and moderation."""
    return bits & _GUEST


def implicit(bits: int, *, voice: bool = False, thread: bool = False) -> int:
    """Remove permissions that have no effect without another one (implicit permissions).

    Without VIEW_CHANNEL none are left. Without SEND_MESSAGES those that need it are removed; in a `thread`
    SEND_MESSAGES follows SEND_MESSAGES_IN_THREADS. In a `voice` (or stage) channel without CONNECT the voice
    permissions, MANAGE_CHANNELS and MANAGE_ROLES are removed.
    """
    if bits & _ADMINISTRATOR:
        return _ALL
    if not bits & _VIEW:
        return 0
    if thread:
        bits = bits | _SEND if bits & _SEND_IN_THREADS else bits & ~_SEND
    if not bits & _SEND:
        bits &= ~_NEEDS_SENDING
    if voice and not bits & _CONNECT:
        bits &= ~_NEEDS_CONNECT
    return bits
