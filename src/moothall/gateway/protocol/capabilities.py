"""What clients of people can do, as they say in Identify."""

from enum import IntFlag


class Capability(IntFlag):
    """The bits of `capabilities` of Identify that change READY and events of people; others are ignored."""

    LAZY_USER_NOTES = 1 << 0
    VERSIONED_READ_STATES = 1 << 2
    VERSIONED_USER_GUILD_SETTINGS = 1 << 3
    DEDUPE_USER_OBJECTS = 1 << 4
    PRIORITIZED_READY_PAYLOAD = 1 << 5
    """Only together with DEDUPE_USER_OBJECTS: READY_SUPPLEMENTAL has members and presences."""
    NON_CHANNEL_READ_STATES = 1 << 7
    USER_SETTINGS_PROTO = 1 << 9
    """Settings are a protocol buffer, in READY and in events."""
    CLIENT_STATE_V2 = 1 << 10
    """The fields of a guild are in `properties`, in READY and in GUILD_CREATE."""
    PASSIVE_GUILD_UPDATE = 1 << 11
    """Of large guilds the session receives what it has subscribed to, and PASSIVE_UPDATE_V1 about the rest."""
    PASSIVE_GUILD_UPDATE_V2 = 1 << 14
    """The same with PASSIVE_UPDATE_V2, which has changes only. It supersedes the other one."""
