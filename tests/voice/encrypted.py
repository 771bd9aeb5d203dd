"""A client with end-to-end encryption: its MLS is that of `davey`, an implementation independent of the server's."""

from typing import Any

import davey

from tests.voice.client import Gateway, Voice
from tests.voice.conftest import Hall


class Encrypted:
    """A member in a voice channel who takes part in its group."""

    def __init__(self, gateway: Gateway, voice: Voice, channel_id: str) -> None:
        self.gateway = gateway
        self.voice = voice
        self.user_id = int(gateway.user_id)
        self._channel_id = int(channel_id)
        self.version = 0
        self.session: Any = None
        self.pending: dict[int, int] = {}
        self.failures: list[str] = []
        self.executed: list[int] = []
        voice.on_text, voice.on_binary = self._text, self._binary

    @classmethod
    async def join(cls, hall: Hall, gateway: Gateway, channel: str = "General", *, dave: int = 1) -> "Encrypted":
        """Join a channel, with end-to-end encryption of this version."""
        sent_before = gateway.count("VOICE_SERVER_UPDATE")
        await gateway.join(hall.guild_id, hall.channels[channel])
        update = await gateway.event("VOICE_SERVER_UPDATE", skip=sent_before)
        voice = await hall.connection()
        made = cls(gateway, voice, hall.channels[channel])
        await voice.begin(gateway, update, max_dave_protocol_version=dave)
        return made

    @property
    def is_ready(self) -> bool:
        """Whether it encrypts."""
        return self.version > 0 and self.session is not None and bool(self.session.ready)

    @property
    def authenticator(self) -> bytes:
        """What all members of the group have in common."""
        return bytes(self.session.get_epoch_authenticator())

    def encrypt(self, opus: bytes) -> bytes:
        """A frame as it is sent."""
        return bytes(self.session.encrypt_opus(opus))

    def decrypt(self, speaker: "Encrypted", frame: bytes) -> bytes:
        """A frame as another member has said it."""
        return bytes(self.session.decrypt(speaker.user_id, davey.MediaType.audio, frame))

    async def _begin(self) -> None:
        if self.session is None:
            self.session = davey.DaveSession(self.version, self.user_id, self._channel_id)
        else:
            self.session.reinit(self.version, self.user_id, self._channel_id)
        await self._send(26, self.session.get_serialized_key_package())

    async def _send(self, op: int, data: bytes) -> None:
        await self.voice.socket.send_bytes(bytes((op,)) + data)

    async def _text(self, op: int, data: Any) -> None:
        if op == 4:
            self.version = data["dave_protocol_version"]
            if self.version:
                await self._begin()
        elif op == 21:
            self.pending[data["transition_id"]] = data["protocol_version"]
            if not data["transition_id"]:
                self._execute(0)
            else:
                await self.voice.send(23, {"transition_id": data["transition_id"]})
        elif op == 22:
            self._execute(data["transition_id"])
        elif op == 24 and data["epoch"] == 1:
            self.version = data["protocol_version"]
            await self._begin()

    def _execute(self, transition_id: int) -> None:
        self.version = self.pending.pop(transition_id, self.version)
        self.executed.append(transition_id)

    async def _binary(self, op: int, data: bytes) -> None:
        if op == 25:
            self.session.set_external_sender(data)
        elif op == 27:
            kind = davey.ProposalsOperationType.revoke if data[0] else davey.ProposalsOperationType.append
            made = self.session.process_proposals(kind, data[1:])
            if made is not None:
                await self._send(28, made.commit + (made.welcome or b""))
        elif op in {29, 30}:
            number = int.from_bytes(data[:2], "big")
            try:
                if op == 29:
                    self.session.process_commit(data[2:])
                else:
                    self.session.process_welcome(data[2:])
            except Exception as problem:  # noqa: BLE001 the library raises what it likes; a test fails by `failures`
                self.failures.append(str(problem))
                await self.voice.send(31, {"transition_id": number})
                await self._begin()
                return
            self.pending[number] = self.version
            await self.voice.send(23, {"transition_id": number})
