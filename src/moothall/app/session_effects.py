"""What gateway sessions change beside the gateway: voice states, Activities, when users were last active."""

from functools import partial

from msgspec import Raw

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 both register endpoints
from moothall.api.context import Services
from moothall.app.voice_states import VoiceStates, server_of_call
from moothall.bus import Audience, Bus, Envelope
from moothall.bus.unix import WriterBus
from moothall.gateway.activity_sessions import ActivitySessions
from moothall.gateway.node import GatewayNode
from moothall.gateway.sessions.callbacks import GatewayCallbacks, VoiceStateRequest
from moothall.gateway.sessions.control_messages import VoiceServer
from moothall.gateway.writer_calls import (
    CheckActivitiesCall,
    IdentifyCall,
    LeaveActivitiesCall,
    OfflineCall,
    SessionEndCall,
    TokensCall,
    VoiceCall,
    WriterCalls,
)
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.wire import encode
from moothall.resources.activity.operations import clear_activities, leave_activities, leave_forbidden
from moothall.resources.call.operations.sessions import clear_calls, handle_call_update, leave_call_of_session
from moothall.resources.call.queries import CallVoiceStateRow
from moothall.resources.guild.membership.operations import leave_if_temporary, remove_departed_guests
from moothall.resources.member.activity import ActivityRecorder
from moothall.resources.user.auth_session.usage import TokenUseRecorder
from moothall.resources.voice.operations.sessions import clear_voice, handle_voice_update, leave_voice


class SessionEffects:
    """Carries out what sessions ask for and leave behind, in the process that writes; those of workers as well."""

    def __init__(self, usage: TokenUseRecorder, *, node: str) -> None:
        """`node` marks the voice connections of this process's own sessions."""
        self._usage = usage
        self._node = node

    def connect(self, services: Services, activity_sessions: ActivitySessions, voice: VoiceStates | None) -> None:
        """Set what is built after the gateway, which has this object's callbacks. Before its first session."""
        self._services = services
        self._activity_sessions = activity_sessions
        self._voice = voice

    def callbacks(self) -> GatewayCallbacks:
        """The callbacks of the gateway of the process that writes."""
        return GatewayCallbacks(
            on_voice_state_update=self.update_voice_state,
            on_session_end=self.end_session,
            on_activity_timeout=self.time_out_activity,
            on_identify=self.record_activity,
            on_offline=self.leave_temporary_guilds,
            on_token_use=self._usage.record,
        )

    async def update_voice_state(self, request: VoiceStateRequest, node: str | None = None) -> None:
        """Join, leave or change a voice channel or call; `node` is the worker that has the session.

        Who joins a call leaves the guilds' voice channels that they are in with the session, and the other way round.
        """
        node = self._node if node is None else node
        if request.guild_id is not None:
            await self._update_in_guild(request, request.guild_id, node)
        elif request.channel_id is not None:
            await self._update_in_call(request, request.channel_id, node)
        else:
            # Hanging up ends a call on all devices.
            await leave_call_of_session(self._services, request.user_id, None)
            await self._leave_voice(request.user_id, request.session_id)

    async def _update_in_guild(self, request: VoiceStateRequest, guild_id: GuildId, node: str) -> None:
        voice = self._voice
        before = None if voice is None else voice.state_of(guild_id, request.user_id)
        updated = await handle_voice_update(
            self._services,
            user_id=request.user_id,
            session_id=request.session_id,
            guild_id=guild_id,
            channel_id=request.channel_id,
            self_mute=request.self_mute,
            self_deaf=request.self_deaf,
            self_video=request.self_video,
            node=node,
        )
        if updated and voice is not None and before is not None:
            voice.joined_again(guild_id, request.user_id, request.session_id, before)
        if updated and request.channel_id is None:
            await remove_departed_guests(self._services, [(guild_id, request.user_id)])
        elif updated:
            await leave_call_of_session(self._services, request.user_id, request.session_id)
            if voice is None:
                self._announce_silence(request)

    async def _update_in_call(self, request: VoiceStateRequest, channel_id: ChannelId, node: str) -> None:
        voice, server_id = self._voice, server_of_call(channel_id)
        before = None if voice is None else voice.state_of(server_id, request.user_id)
        state = CallVoiceStateRow(
            user_id=request.user_id,
            channel_id=channel_id,
            session_id=request.session_id,
            self_deaf=request.self_deaf,
            self_mute=request.self_mute,
            self_video=request.self_video,
            node=node,
        )
        if not await handle_call_update(self._services, state):
            return
        await self._leave_voice(request.user_id, request.session_id)
        if voice is None:
            self._announce_silence(request)
        elif before is not None:
            voice.joined_again(server_id, request.user_id, request.session_id, before)

    async def _leave_voice(self, user_id: UserId, session_id: str) -> None:
        """Leave the voice channels that a session is in."""
        await remove_departed_guests(self._services, await leave_voice(self._services, user_id, session_id))

    def _announce_silence(self, request: VoiceStateRequest) -> None:
        """Tell a session that no sound is carried, so that its client does not wait for a voice server."""
        message = VoiceServer(
            user_id=request.user_id,
            session_id=request.session_id,
            guild_id=request.guild_id,
            channel_id=request.channel_id if request.guild_id is None else None,
            token="",
            is_carried=False,
        )
        envelope = Envelope(name="VOICE_SERVER", data=Raw(encode(message)), audience=Audience.NODE)
        self._services.bus.publish([envelope])

    async def end_session(self, user_id: UserId, session_id: str) -> None:
        """End what a session took part in: Activities, a voice connection and a call."""
        await self._activity_sessions.end_session(user_id, session_id)
        await leave_call_of_session(self._services, user_id, session_id)
        await self._leave_voice(user_id, session_id)

    async def leave_activities(self, user_id: UserId, session_id: str) -> None:
        """End what a worker's session took part in, but for its voice connection, which the writer ends."""
        await self._activity_sessions.end_session(user_id, session_id)

    async def time_out_activity(self, user_id: UserId, session_id: str) -> None:
        """End the Activity of a session that has been disconnected for too long."""
        await self._activity_sessions.time_out(user_id, session_id)

    async def record_activity(self, user_id: UserId) -> None:
        """Note that a user was active in all of their guilds."""
        self._services.resources[ActivityRecorder].seen_everywhere(user_id)

    async def leave_temporary_guilds(self, user_id: UserId, _guild_ids: frozenset[GuildId]) -> None:
        """Remove a user who went offline from the guilds in which they are a temporary member."""
        await leave_if_temporary(self._services, user_id)

    def writer_calls(self, bus: Bus, gateway: GatewayNode) -> WriterCalls:
        """What this process does for the sessions of workers, and when a worker has ended."""
        calls = WriterCalls(
            bus,
            {
                VoiceCall: lambda call: self.update_voice_state(call.request, call.node),
                SessionEndCall: lambda call: self.end_session(call.user_id, call.session_id),
                OfflineCall: lambda call: self.leave_temporary_guilds(call.user_id, frozenset()),
                IdentifyCall: lambda call: self.record_activity(call.user_id),
                TokensCall: self._record_tokens,
                LeaveActivitiesCall: lambda call: leave_activities(self._services, call.user_id, call.session_id),
                CheckActivitiesCall: lambda call: leave_forbidden(self._services, call.node, call.guild_id),
            },
        )

        def handle_end(node: str) -> None:
            if gateway.cluster_presences is not None:
                gateway.cluster_presences.announce_end(node)
            calls.add(partial(self._end_sessions_of, node))

        if isinstance(bus, WriterBus):
            bus.on_leave = handle_end
        return calls

    async def _end_sessions_of(self, node: str) -> None:
        """End what the sessions of a worker took part in."""
        await remove_departed_guests(self._services, await clear_voice(self._services, node))
        await clear_calls(self._services, node)
        await clear_activities(self._services, node)

    async def _record_tokens(self, call: TokensCall) -> None:
        for token_hash in call.hashes:
            self._usage.record(bytes.fromhex(token_hash))
