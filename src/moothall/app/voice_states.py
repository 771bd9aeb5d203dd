"""Who is in voice and what they may do there, as events tell it: for the voice process, and for clients that connect.

Each participant has a token, by which the voice process knows a client; VOICE_SERVER_UPDATE brings it to the gateway
session that is in voice. It is valid as long as that session is in that channel.
"""

import asyncio
import logging
import secrets
from collections.abc import Sequence
from typing import Final

from msgspec import Raw, Struct, structs

from moothall.api.context import Services
from moothall.app.voice_process import VoiceProcess, VoiceSocket
from moothall.bus import Audience, Bus, Envelope
from moothall.gateway.sessions.control_messages import VoiceServer
from moothall.objects.channel_types import ChannelType
from moothall.objects.clock import CLOCK
from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp, decoder, encode
from moothall.settings import Settings
from moothall.voice.link import Departure, FromVoice, Participant, Statistics

log = logging.getLogger("moothall.voice")

_CHANGES_PERMISSIONS: Final = frozenset(
    {"CHANNEL_UPDATE", "GUILD_MEMBER_UPDATE", "GUILD_ROLE_DELETE", "GUILD_ROLE_UPDATE", "GUILD_UPDATE"}
)
_TOKEN_BYTES: Final = 16
_RETRY_SECONDS: Final = 1.0


def server_of_call(channel_id: ChannelId) -> GuildId:
    """What stands in place of the guild of a call: the id of its channel."""
    return GuildId(Snowflake(channel_id))


class _State(Struct):
    """What counts of a voice state."""

    user_id: UserId
    session_id: str
    channel_id: ChannelId | None = None
    deaf: bool = False
    mute: bool = False
    self_deaf: bool = False
    self_mute: bool = False
    suppress: bool = False


class _Entry(Struct):
    """A participant."""

    guild_id: GuildId | None
    """None in a call."""
    state: _State
    raw: Raw
    """The voice state as it was announced."""
    participant: Participant
    connected: bool = False
    """Whether they have a session of the voice gateway."""
    allowed: bool = True
    """Whether their permissions let them speak, as they were last read. Who joins without SPEAK is suppressed."""


class VoiceStates:
    """The participants of all guilds and calls, and the voice process that carries their sound.

    In a call the channel's id stands in place of a guild's, as in the protocol of the voice gateway.
    """

    def __init__(self, services: Services, bus: Bus, settings: Settings, socket: VoiceSocket) -> None:
        self._services = services
        self._bus = bus
        self._endpoint = settings.voice_endpoint
        self._known: dict[tuple[GuildId, UserId], _Entry] = {}
        self._guilds: dict[GuildId, int] = {}
        """How many participants each guild has."""
        self._changed_guilds: set[GuildId] = set()
        self._renewal: asyncio.Task[None] | None = None
        self._retries: dict[GuildId, asyncio.TimerHandle] = {}
        """When guilds are read again whose last reading failed."""
        self.process = VoiceProcess(
            settings,
            socket,
            everyone=lambda: [each.participant for each in self._known.values()],
            on_message=self._handle_message,
            on_restarted=self._announce_all,
        )
        self.statistics = Statistics(0, 0, 0)
        """What the voice process has told of itself last."""
        bus.subscribe(self._receive)

    def __contains__(self, guild_id: GuildId) -> bool:
        """Whether a guild has participants, so that its events count."""
        return guild_id in self._guilds

    def __len__(self) -> int:
        """The number of participants."""
        return len(self._known)

    async def stop(self) -> None:
        """End the voice process."""
        for retry in self._retries.values():
            retry.cancel()
        if self._renewal is not None:
            self._renewal.cancel()
            await asyncio.gather(self._renewal, return_exceptions=True)
        await self.process.stop()

    def joined_again(self, guild_id: GuildId, user_id: UserId, session_id: str, before: object) -> None:
        """Tell a session once more where to connect, that has asked for the channel it is in and is not connected.

        `before` is what `state_of` returned before; a state that has changed since was announced by that.
        """
        known = self._known.get((guild_id, user_id))
        if known is not None and not known.connected and known.state is before and known.state.session_id == session_id:
            self._announce_server(known, with_state=True)

    def state_of(self, guild_id: GuildId, user_id: UserId) -> object:
        """The current state of a participant, to be compared by identity; None for no participant."""
        known = self._known.get((guild_id, user_id))
        return None if known is None else known.state

    def may_speak(self, guild_id: int, user_id: int) -> bool:
        """Whether a participant is heard by the others."""
        known = self._known.get((GuildId(Snowflake(guild_id)), UserId(Snowflake(user_id))))
        return known is not None and known.participant.may_speak

    def may_hear(self, guild_id: int, user_id: int) -> bool:
        """Whether a participant hears the others."""
        known = self._known.get((GuildId(Snowflake(guild_id)), UserId(Snowflake(user_id))))
        return known is not None and known.participant.may_hear

    # Events

    def _receive(self, envelopes: Sequence[Envelope]) -> None:
        for envelope in envelopes:
            guild_id = envelope.guild_id
            if guild_id is None:
                if envelope.name == "VOICE_STATE_UPDATE" and envelope.channel_id is not None:
                    self._update(server_of_call(envelope.channel_id), None, envelope.data)
            elif envelope.name == "VOICE_STATE_UPDATE":
                self._update(guild_id, guild_id, envelope.data)
            elif envelope.name in _CHANGES_PERMISSIONS and guild_id in self._guilds:
                self._renew_soon(guild_id)

    def _update(self, server_id: GuildId, guild_id: GuildId | None, data: Raw) -> None:
        """Take over a voice state of a guild, or of a call if `guild_id` is None: a call asks for no permissions."""
        state: _State = decoder(_State).decode(data)
        key = (server_id, state.user_id)
        known = self._known.get(key)
        if state.channel_id is None:
            if known is not None:
                del self._known[key]
                self._count(server_id, -1)
                self.process.tell(Departure(int(server_id), int(state.user_id)))
            return
        stays = (
            known is not None
            and known.state.channel_id == state.channel_id
            and known.state.session_id == state.session_id
        )
        allowed = known.allowed if known is not None and stays else True
        participant = Participant(
            guild_id=int(server_id),
            channel_id=int(state.channel_id),
            user_id=int(state.user_id),
            session_id=state.session_id,
            token=known.participant.token if known is not None and stays else secrets.token_hex(_TOKEN_BYTES),
            may_speak=allowed and not (state.mute or state.self_mute or state.suppress),
            may_hear=not (state.deaf or state.self_deaf),
            may_speak_with_priority=stays and known is not None and known.participant.may_speak_with_priority,
            may_stream=guild_id is None or (stays and known is not None and known.participant.may_stream),
        )
        connected = stays and known is not None and known.connected
        self._known[key] = entry = _Entry(guild_id, state, data, participant, connected, allowed)
        if known is None:
            self._count(server_id, 1)
        self.process.ensure_started()
        self.process.tell(participant)
        if guild_id is not None:
            self._renew_soon(guild_id)
        if not stays:
            self._announce_server(entry)

    def _count(self, guild_id: GuildId, change: int) -> None:
        count = self._guilds.get(guild_id, 0) + change
        if count:
            self._guilds[guild_id] = count
        else:
            del self._guilds[guild_id]

    def _handle_message(self, message: FromVoice) -> None:
        if isinstance(message, Statistics):
            self.statistics = message
            return
        known = self._known.get((GuildId(message.guild_id), UserId(message.user_id)))  # type: ignore[arg-type]
        if known is not None:
            known.connected = message.connected

    def _announce_all(self) -> None:
        """Tell all participants where to connect: they have lost the process that they were connected to."""
        for (_, user_id), known in list(self._known.items()):
            token = secrets.token_hex(_TOKEN_BYTES)
            known.participant = structs.replace(known.participant, token=token)
            known.connected = False
            self.process.tell(known.participant)
            self._announce_server(known)
            log.debug("participant %s connects anew", user_id)

    def _announce_server(self, known: _Entry, *, with_state: bool = False) -> None:
        """Let the node of the session send VOICE_SERVER_UPDATE: after what is being delivered, and in one go with it.

        discord.py waits without end where the two arrive just after each other, but not together.
        """
        message = VoiceServer(
            user_id=known.state.user_id,
            session_id=known.state.session_id,
            guild_id=known.guild_id,
            channel_id=known.state.channel_id if known.guild_id is None else None,
            token=known.participant.token,
            endpoint=self._endpoint,
            state=known.raw if with_state else Raw(b"null"),
        )
        envelope = Envelope(name="VOICE_SERVER", data=Raw(encode(message)), audience=Audience.NODE)
        self._bus.publish([envelope])

    # Permissions

    def _renew_soon(self, guild_id: GuildId) -> None:
        if (retry := self._retries.pop(guild_id, None)) is not None:
            retry.cancel()
        self._changed_guilds.add(guild_id)
        if self._renewal is None or self._renewal.done():
            self._renewal = asyncio.get_running_loop().create_task(self._renew())

    async def _renew(self) -> None:
        while self._changed_guilds:
            guild_id = self._changed_guilds.pop()
            try:
                await self._renew_guild(guild_id)
            except Exception:
                log.exception("what the participants of a guild may do could not be read")
                retry = asyncio.get_running_loop().call_later(_RETRY_SECONDS, self._renew_soon, guild_id)
                self._retries[guild_id] = retry

    async def _renew_guild(self, guild_id: GuildId) -> None:
        """Read what the participants of a guild may do, and tell the voice process of what has changed."""
        keys = [key for key in self._known if key[0] == guild_id]
        async with self._services.database.read() as reader:
            for key in keys:
                known = self._known.get(key)
                if known is None:
                    continue
                now = Timestamp(CLOCK.now_ms())
                state, member = await self._services.states.authority(reader, guild_id, key[1], now, writes=False)
                channel_id = known.state.channel_id
                channel = None if state is None or channel_id is None else await state.channel(reader, channel_id)
                known = self._known.get(key)
                if member is None or channel is None or known is None or known.state.channel_id != channel.id:
                    continue
                bits = member.permissions_in(channel)
                # On a stage those speak who were invited.
                known.allowed = channel.type == ChannelType.GUILD_STAGE_VOICE or bool(bits & Permissions.SPEAK)
                said = known.state
                changed = structs.replace(
                    known.participant,
                    may_speak=known.allowed and not (said.mute or said.self_mute or said.suppress),
                    may_speak_with_priority=bool(bits & Permissions.PRIORITY_SPEAKER),
                    may_stream=bool(bits & Permissions.STREAM) and not said.suppress,
                )
                if changed != known.participant:
                    known.participant = changed
                    self.process.tell(changed)
