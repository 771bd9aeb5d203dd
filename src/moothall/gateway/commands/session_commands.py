"""The commands of a session that has started: its presence, its voice state, and what it asks for."""

from moothall.gateway.account_bounds import AccountBounds
from moothall.gateway.delivery.hub import Hub
from moothall.gateway.member_lists.chunks import send_member_chunks
from moothall.gateway.presence.local import Presences
from moothall.gateway.protocol.commands import (
    CallConnectCommand,
    RequestChannelInfoCommand,
    RequestGuildMembersCommand,
    RequestSoundboardSoundsCommand,
    UpdatePresenceCommand,
    UpdateVoiceStateCommand,
)
from moothall.gateway.sessions.callbacks import GatewayCallbacks, VoiceStateRequest
from moothall.gateway.sessions.connection import Connection
from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.user_presence import SessionPresence
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.source import GatewaySource
from moothall.objects.ids import ChannelId
from moothall.objects.wire import encode


class SessionCommands:
    """Carries out commands of sessions."""

    def __init__(
        self,
        settings: GatewaySettings,
        hub: Hub,
        source: GatewaySource,
        presences: Presences,
        bounds: AccountBounds,
        callbacks: GatewayCallbacks,
    ) -> None:
        self._settings = settings
        self._hub = hub
        self._source = source
        self._presences = presences
        self._bounds = bounds
        self._callbacks = callbacks

    async def update_presence(self, session: Session, command: UpdatePresenceCommand) -> None:
        """Opcode 3."""
        session.presence = SessionPresence.from_command(command, bot=session.bot)
        self._presences.update(session.user_id)
        if not session.bot:
            self._presences.announce_sessions(session.user_id)

    async def update_voice_state(self, session: Session, command: UpdateVoiceStateCommand) -> None:
        """Opcode 4. Without a guild it is about calls in direct messages, where bots are not."""
        if self._callbacks.on_voice_state_update is None:
            return
        if not session.bot if command.guild_id is None else command.guild_id in session.guild_ids:
            await self._callbacks.on_voice_state_update(
                VoiceStateRequest(
                    user_id=session.user_id,
                    session_id=session.id,
                    guild_id=command.guild_id,
                    channel_id=command.channel_id,
                    self_mute=command.self_mute,
                    self_deaf=command.self_deaf,
                    self_video=command.self_video,
                )
            )

    async def request_guild_members(
        self, connection: Connection, session: Session, command: RequestGuildMembersCommand
    ) -> None:
        """Opcode 8."""
        reads = self._bounds.reads
        await send_member_chunks(
            self._hub,
            self._source,
            self._presences,
            reads,
            connection,
            session,
            command,
            list_seconds=self._settings.member_list_seconds,
        )

    async def connect_call(self, session: Session, command: CallConnectCommand) -> None:
        """Opcode 13: send CALL_CREATE with the call in a direct message or group of a person, if there is one."""
        for call in await self._source.calls(session.user_id):
            if call.channel_id == command.channel_id:
                self._hub.send(session, "CALL_CREATE", encode(call))

    async def request_soundboard_sounds(self, session: Session, command: RequestSoundboardSoundsCommand) -> None:
        """Opcode 31: send SOUNDBOARD_SOUNDS for each of the guilds that the session has joined."""
        for guild_id in dict.fromkeys(command.guild_ids):
            if guild_id in session.guild_ids:
                sounds = await self._source.soundboard_sounds(guild_id)
                self._hub.send(
                    session, "SOUNDBOARD_SOUNDS", b'{"guild_id":"%d","soundboard_sounds":%b}' % (guild_id, sounds)
                )

    async def request_channel_info(self, session: Session, command: RequestChannelInfoCommand) -> None:
        """Opcode 43: send CHANNEL_INFO with the requested fields of the channels that the user may view."""
        view = self._hub.views.get(command.guild_id)
        member = None if view is None else view.members.get(session.user_id)
        if view is None or member is None or command.guild_id not in session.guild_ids:
            return
        fields: dict[ChannelId, dict[str, object]] = {}
        if "status" in command.fields:
            for channel_id, status in (await self._source.voice_statuses(command.guild_id)).items():
                fields[channel_id] = {"status": status}
        if "voice_start_time" in command.fields:
            for channel_id, started_at in (await self._source.voice_starts(command.guild_id)).items():
                fields.setdefault(channel_id, {})["voice_start_time"] = started_at // 1000
        visible = view.visible_channels(member)
        channels = [{"id": each.wire(), **fields[each]} for each in sorted(fields) if each in visible]
        self._hub.send(session, "CHANNEL_INFO", encode({"guild_id": command.guild_id.wire(), "channels": channels}))
