"""Gateway guilds: a guild as one session may see it, in GUILD_CREATE and READY (events: gateway guild object)."""

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.objects.activity import EmbeddedActivityInstance
from moothall.objects.channel import Channel
from moothall.objects.guild_profile import GuildIdentity
from moothall.objects.ids import GuildId
from moothall.objects.member import Member
from moothall.objects.presence import Presence
from moothall.objects.scheduled_event import ScheduledEvent
from moothall.objects.soundboard import SoundboardSound
from moothall.objects.stage_instance import StageInstance
from moothall.objects.voice import VoiceState
from moothall.objects.wire import Timestamp, encode


class GuildFields(Struct, kw_only=True):
    """The fields of a gateway guild beyond the guild object."""

    hub_type: int | UnsetType | None
    """The kind of student hub: None, as there are none. UNSET where the guild has `properties`, which have it."""
    profile: GuildIdentity | UnsetType | None
    """The tag that members may wear; UNSET as `hub_type`."""
    joined_at: Timestamp | None
    large: bool
    unavailable: bool | UnsetType = UNSET
    member_count: int
    voice_states: list[VoiceState] | UnsetType
    members: list[Member] | UnsetType
    channels: list[Channel]
    threads: list[Channel]
    presences: list[Presence] | UnsetType
    stage_instances: list[StageInstance]
    guild_scheduled_events: list[ScheduledEvent]
    soundboard_sounds: list[SoundboardSound] | UnsetType
    activity_instances: list[EmbeddedActivityInstance] | UnsetType


class GuildSnapshot(Struct, frozen=True):
    """A guild as one session may see it, when it was read."""

    id: GuildId
    guild: bytes
    """The guild object as JSON, its fields in `properties` for a session that takes them so."""
    fields: GuildFields
    state_version: int = 0
    """The number of the last event of the guild that it has surely; 0 if it is unknown."""

    def guild_create(self, *, joined: bool) -> bytes:
        """The `d` of GUILD_CREATE.

        `joined` omits `unavailable`, by which client libraries know a guild just joined from a reconnection.
        """
        return self._encode(self.fields if joined else structs.replace(self.fields, unavailable=False))

    def in_ready(self, *, with_members: bool, with_voice: bool) -> bytes:
        """The guild as JSON of READY: with members and presences or not, with voice states and Activities or not."""
        fields = structs.replace(self.fields)
        if not with_members:
            fields.members = fields.presences = UNSET
        if not with_voice:
            fields.voice_states = fields.activity_instances = UNSET
        return self._encode(fields)

    def _encode(self, fields: GuildFields) -> bytes:
        return self.guild[:-1] + b"," + encode(fields)[1:]
