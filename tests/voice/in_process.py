"""A voice channel in the process of the tests, with a socket of its own."""

from contextlib import AsyncExitStack

from moothall.voice.datagrams import Datagrams, bind
from moothall.voice.link import Participant
from moothall.voice.rooms import Rooms
from moothall.voice.session import VoiceSession
from moothall.voice.streams import Streams
from moothall.voice.webrtc.description import Fingerprint
from tests.voice.fuzzing import NoConnection
from tests.voice.peer import Peer


class InProcessChannel:
    """A room in this process, with a socket of its own."""

    def __init__(self, stack: AsyncExitStack) -> None:
        self._stack = stack
        self.rooms = Rooms(lambda _message: None)
        self.datagrams = Datagrams(self.rooms, bind("127.0.0.1", 0))
        self.datagrams.start()
        self.streams = Streams(self.rooms, self.datagrams)
        stack.callback(self.streams.close)
        stack.callback(self.datagrams.close)

    async def peer(
        self, kind: type[Peer] = Peer, *, fingerprint: Fingerprint | None = None
    ) -> tuple[Peer, VoiceSession]:
        """A browser that has selected the protocol, and its session."""
        number = len(self.rooms.sessions) + 1
        session = self.rooms.open(Participant(1, 2, number, f"s{number}", f"t{number}"), NoConnection(), 0)
        peer = kind(("127.0.0.1", self.datagrams.port), fingerprint)
        self._stack.callback(peer.close)
        context = await self.datagrams.browsers.context()
        peer.credentials = self.datagrams.browsers.select(session, peer.offer, context).credentials[0]
        self._stack.callback(self.rooms.set_browser, session, None)
        return peer, session

    async def connected(self, kind: type[Peer] = Peer) -> tuple[Peer, VoiceSession]:
        """A browser that hears and is heard."""
        peer, session = await self.peer(kind)
        assert await peer.check() is not None
        assert await peer.handshake()
        session._packets = 0
        return peer, session
