"""Reading the guilds of GUILD_CREATE and READY, each with the fields that one session may see."""

from typing import Final

from msgspec import UNSET, structs

from moothall.authority.guild_states import GuildStates
from moothall.gateway.audience.guild_view import GuildView, MemberView
from moothall.gateway.sessions.session import Session
from moothall.gateway.snapshot.guild_snapshot import GuildFields, GuildSnapshot
from moothall.gateway.snapshot.queries import select_all_members, select_voice_states
from moothall.gateway.snapshot.source import OnlinePresences
from moothall.gateway.snapshot.threads import active_threads
from moothall.objects.activity import EmbeddedActivityInstance
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.intents import Intent
from moothall.objects.scheduled_event import ScheduledEvent
from moothall.objects.stage_instance import StageInstance
from moothall.objects.voice import VoiceState
from moothall.resources.activity.objects import instance_objects
from moothall.resources.activity.queries import select_instances_in_guild
from moothall.resources.channel.objects import channel_objects
from moothall.resources.guild.objects import guild_identity, guild_json, guild_json_with_properties
from moothall.resources.member.queries import count_members_at, get_members, member_objects
from moothall.resources.scheduled_event.queries import event_object, select_live_events
from moothall.resources.stage_instance.queries import select_stages, stage_object
from moothall.resources.voice.queries import VoiceStateRow, voice_state_object
from moothall.storage.database import Reader
from moothall.storage.rows import MemberRow

MAX_GUILD_WITH_MEMBER_LIST: Final = 75_000
"""In a guild with more members, GUILD_CREATE lists only the session's own member and those in voice."""


async def read_voice_states(reader: Reader, guild_id: GuildId, channel_ids: frozenset[ChannelId]) -> list[VoiceState]:
    """The voice states in some channels, with members, as VOICE_STATE_UPDATE has them."""
    rows = [row for row in await select_voice_states(reader, guild_id) if row.channel_id in channel_ids]
    member_rows = await get_members(reader, guild_id, [row.user_id for row in rows])
    objects = await member_objects(reader, list(member_rows.values()))
    members = {member.user.id: member for member in objects if member.user is not UNSET}
    return [
        voice_state_object(row, member, deaf=member.deaf, mute=member.mute)
        for row in rows
        if (member := members.get(row.user_id)) is not None
    ]


async def read_stage_instances(
    reader: Reader, guild_id: GuildId, channel_ids: frozenset[ChannelId]
) -> list[StageInstance]:
    """The stage instances of some channels."""
    return [stage_object(row) for row in await select_stages(reader, guild_id) if row.channel_id in channel_ids]


async def read_scheduled_events(
    reader: Reader, guild_id: GuildId, channel_ids: frozenset[ChannelId], *, external: bool = False
) -> list[ScheduledEvent]:
    """The scheduled and active events of some channels; `external` adds those of the guild without a channel."""
    return [
        event_object(row)
        for row in await select_live_events(reader, guild_id)
        if (external if row.channel_id is None else row.channel_id in channel_ids)
    ]


async def read_activity_instances(
    reader: Reader, guild_id: GuildId, channel_ids: frozenset[ChannelId] | None = None
) -> list[EmbeddedActivityInstance]:
    """The Activity instances in some channels and threads of a guild; with None in all."""
    rows = await select_instances_in_guild(reader, guild_id)
    return await instance_objects(reader, [row for row in rows if channel_ids is None or row.channel_id in channel_ids])


class GuildReader:
    """Reads guilds of GUILD_CREATE and READY, whose guild object is encoded once for each version of the guild."""

    def __init__(self, states: GuildStates) -> None:
        self._states = states

    async def read(
        self,
        reader: Reader,
        view: GuildView,
        member: MemberView,
        visible: frozenset[ChannelId],
        session: Session,
        online: OnlinePresences,
    ) -> GuildSnapshot | None:
        """A guild with the channels of `visible`; None if the guild or the member is deleted."""
        guild_id = view.id
        state = await self._states.state(reader, guild_id)
        if state is None:
            return None
        # Before what events change: so that is at least as new.
        count, state_version = await count_members_at(reader, guild_id)
        # Voice states in channels that the member may not view are omitted.
        in_voice = [row for row in await select_voice_states(reader, guild_id) if row.channel_id in visible]
        listed = await self._members(reader, guild_id, session, view, count, in_voice)
        own = listed.get(session.user_id)
        if own is None:
            return None
        all_channels = await state.channels(reader)
        channels = [all_channels[channel_id] for channel_id in sorted(visible) if channel_id in all_channels]
        threads = await active_threads(reader, view, member, visible)
        places = visible.union(thread.id for thread in threads)
        with_presences = session.intents & Intent.GUILD_PRESENCES
        fields = GuildFields(
            hub_type=UNSET if session.takes_guild_properties else None,
            profile=UNSET if session.takes_guild_properties else guild_identity(state.row),
            joined_at=own.joined_at,
            large=count > session.large_threshold,
            member_count=count,
            voice_states=[_voice_state(row, listed) for row in in_voice if row.user_id in listed],
            members=await member_objects(reader, list(listed.values())),
            channels=await channel_objects(reader, channels),
            threads=threads,
            presences=online(listed) if with_presences else [],
            stage_instances=await read_stage_instances(reader, guild_id, visible),
            guild_scheduled_events=await read_scheduled_events(reader, guild_id, visible, external=True),
            soundboard_sounds=UNSET if session.takes_guild_properties else await state.sounds(reader),
            activity_instances=await read_activity_instances(reader, guild_id, places),
        )
        guild = guild_json_with_properties(state) if session.takes_guild_properties else guild_json(state)
        return GuildSnapshot(guild_id, guild, fields, state_version)

    async def _members(
        self,
        reader: Reader,
        guild_id: GuildId,
        session: Session,
        view: GuildView,
        count: int,
        in_voice: list[VoiceStateRow],
    ) -> dict[UserId, MemberRow]:
        if session.intents & Intent.GUILD_PRESENCES and count <= MAX_GUILD_WITH_MEMBER_LIST:
            if count <= session.large_threshold:
                return {row.user_id: row for row in await select_all_members(reader, guild_id)}
            # People subscribe to member lists instead.
            user_ids = set(view.members) if session.bot else set()
        else:
            user_ids = set()
        user_ids.add(session.user_id)
        user_ids.update(row.user_id for row in in_voice)
        rows = await get_members(reader, guild_id, user_ids)
        return {user_id: rows[user_id] for user_id in sorted(rows)}


def _voice_state(row: VoiceStateRow, listed: dict[UserId, MemberRow]) -> VoiceState:
    member = listed[row.user_id]
    return structs.replace(voice_state_object(row, UNSET, deaf=member.deaf, mute=member.mute), guild_id=UNSET)
