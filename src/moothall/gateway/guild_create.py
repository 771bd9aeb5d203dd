"""GUILD_CREATE: a guild as one session may see it."""

from collections.abc import Callable, Iterable
from typing import Final

from msgspec import UNSET, Struct, UnsetType, structs
from sqlalchemy import bindparam, select

from moothall.gateway.guild_view import GuildView, MemberView
from moothall.gateway.session import Session
from moothall.gateway.threads import active_threads
from moothall.kernel.guild_state import GuildStates
from moothall.objects.channel import Channel
from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.intents import Intent
from moothall.objects.member import Member
from moothall.objects.presence import Presence
from moothall.objects.scheduled_event import ScheduledEvent
from moothall.objects.soundboard import SoundboardSound
from moothall.objects.stage_instance import StageInstance
from moothall.objects.voice import VoiceState
from moothall.objects.wire import Timestamp, encode
from moothall.resources.channel.objects import channel_objects
from moothall.resources.guild.objects import guild_json
from moothall.resources.member.queries import count_members, get_members, member_objects
from moothall.resources.scheduled_event.queries import event_object, select_live_events
from moothall.resources.stage_instance.queries import select_stages, stage_object
from moothall.resources.voice.queries import VoiceStateRow, voice_state_object
from moothall.storage.database import Query, Reader
from moothall.storage.rows import MemberRow
from moothall.storage.schema import members, voice_states

_MAX_THRESHOLD: Final = 250
LARGE_GUILD: Final = 75_000
"""With more members than this, GUILD_CREATE lists the session's own and those in voice only."""

_select_all = Query(
    select(members)
    .where(members.c.guild_id == bindparam("guild_id"))
    .order_by(members.c.user_id)
    .limit(_MAX_THRESHOLD),
    into=MemberRow,
)
_select_voice_states = Query(
    select(voice_states).where(voice_states.c.guild_id == bindparam("guild_id")).order_by(voice_states.c.user_id),
    into=VoiceStateRow,
)


async def voice_in(reader: Reader, guild_id: GuildId, channel_ids: frozenset[int]) -> list[VoiceState]:
    """Who is in some voice channels, as VOICE_STATE_UPDATE tells it."""
    rows = [r for r in await reader.all(_select_voice_states, guild_id=guild_id) if r.channel_id in channel_ids]
    found = await get_members(reader, guild_id, [row.user_id for row in rows])
    known = {m.user.id: m for m in await member_objects(reader, list(found.values())) if m.user is not UNSET}
    return [
        voice_state_object(row, known[row.user_id], deaf=known[row.user_id].deaf, mute=known[row.user_id].mute)
        for row in rows
        if row.user_id in known
    ]


async def stages_in(reader: Reader, guild_id: GuildId, channel_ids: frozenset[int]) -> list[StageInstance]:
    """What is live in some channels."""
    return [stage_object(row) for row in await select_stages(reader, guild_id) if row.channel_id in channel_ids]


async def events_in(
    reader: Reader, guild_id: GuildId, channel_ids: frozenset[int], *, anywhere: bool = False
) -> list[ScheduledEvent]:
    """The events in some channels that are not over; `anywhere` adds the external ones."""
    return [
        event_object(row)
        for row in await select_live_events(reader, guild_id)
        if (anywhere if row.channel_id is None else row.channel_id in channel_ids)
    ]


class _Extras(Struct):
    """What GUILD_CREATE has beyond the guild object."""

    joined_at: Timestamp | None
    large: bool
    unavailable: bool | UnsetType
    member_count: int
    voice_states: list[VoiceState]
    members: list[Member]
    channels: list[Channel]
    threads: list[Channel]
    presences: list[Presence]
    stage_instances: list[StageInstance]
    guild_scheduled_events: list[ScheduledEvent]
    soundboard_sounds: list[SoundboardSound]


class GuildCreateReader:
    """Reads what GUILD_CREATE tells. The guild object itself is encoded once for each version of the guild."""

    def __init__(self, states: GuildStates) -> None:
        self._states = states
        self.presences_of: Callable[[Iterable[int]], list[Presence]] = lambda _: []
        """Who of the users named is online."""

    async def read(
        self,
        reader: Reader,
        view: GuildView,
        member: MemberView,
        visible: frozenset[int],
        session: Session,
        *,
        joined: bool,
    ) -> bytes | None:
        """The `d`; None if the guild or the membership is gone."""
        guild_id = GuildId(Snowflake(view.id))
        state = await self._states.state(reader, guild_id)
        if state is None:
            return None
        count = await count_members(reader, guild_id)
        # Whoever may not see a voice channel does not know who is in it.
        in_voice = [r for r in await reader.all(_select_voice_states, guild_id=guild_id) if r.channel_id in visible]
        listed = await self._members(reader, guild_id, session, view, count, in_voice)
        own = listed.get(UserId(Snowflake(session.user_id)))
        if own is None:
            return None
        known = await state.channels(reader)
        channels = [known[ChannelId(Snowflake(c))] for c in sorted(visible) if c in known]
        wants_presences = session.intents & Intent.GUILD_PRESENCES
        extras = _Extras(
            joined_at=own.joined_at,
            large=count > session.large_threshold,
            unavailable=UNSET if joined else False,
            member_count=count,
            voice_states=[_voice_state(row, listed) for row in in_voice if row.user_id in listed],
            members=await member_objects(reader, list(listed.values())),
            channels=await channel_objects(reader, channels),
            threads=await active_threads(reader, view, member, visible),
            presences=self.presences_of(map(int, listed)) if wants_presences else [],
            stage_instances=await stages_in(reader, guild_id, visible),
            guild_scheduled_events=await events_in(reader, guild_id, visible, anywhere=True),
            soundboard_sounds=await state.sounds(reader),
        )
        return guild_json(state)[:-1] + b"," + encode(extras)[1:]

    async def _members(
        self,
        reader: Reader,
        guild_id: GuildId,
        session: Session,
        view: GuildView,
        count: int,
        in_voice: list[VoiceStateRow],
    ) -> dict[UserId, MemberRow]:
        if session.intents & Intent.GUILD_PRESENCES and count <= LARGE_GUILD:
            if count <= session.large_threshold:
                return {row.user_id: row for row in await reader.all(_select_all, guild_id=guild_id)}
            wanted = {UserId(Snowflake(u.user_id)) for u in view.members.values()}
        else:
            wanted = set()
        wanted.add(UserId(Snowflake(session.user_id)))
        wanted.update(row.user_id for row in in_voice)
        found = await get_members(reader, guild_id, wanted)
        return {user_id: found[user_id] for user_id in sorted(found)}


def _voice_state(row: VoiceStateRow, listed: dict[UserId, MemberRow]) -> VoiceState:
    member = listed[row.user_id]
    return structs.replace(voice_state_object(row, UNSET, deaf=member.deaf, mute=member.mute), guild_id=UNSET)
