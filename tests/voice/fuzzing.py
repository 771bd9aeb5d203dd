"""Random and damaged datagrams and MLS messages for the voice process: `python -m tests.voice.fuzzing 1000000`."""

import asyncio
import random
import struct
import sys
from typing import Any

import davey

from moothall.voice.datagrams import Datagrams, bind
from moothall.voice.dave.encoding import MlsError
from moothall.voice.dave.group import DaveOpcode, RoomEncryption
from moothall.voice.dave.messages import ExternalSender
from moothall.voice.encryption import MODES, cipher, new_key
from moothall.voice.link import Participant
from moothall.voice.opcodes import CloseCode
from moothall.voice.packets import ReplayWindow
from moothall.voice.rooms import Rooms
from moothall.voice.session import VoiceSession
from moothall.voice.video_forwarding import StreamState, Video
from tests.voice.peer import VIDEO, Peer

ADDRESSES = [("127.0.0.1", 40_000 + number) for number in range(6)]


class NoConnection:
    """A connection that takes everything."""

    version = 8

    def send_text(self, message: bytes) -> None:
        """Do nothing."""

    def send_binary(self, message: bytes) -> None:
        """Do nothing."""

    def close(self, code: CloseCode, reason: str) -> None:
        """Do nothing."""


def damaged(chance: random.Random, data: bytes) -> bytes:
    """Some bytes with one thing wrong, or nothing."""
    changed = bytearray(data)
    kind = chance.randrange(6)
    if kind == 0:
        return bytes(changed)
    if kind == 1:
        return bytes(changed[: chance.randrange(len(changed) + 1)])
    if kind == 2:
        return bytes(changed) + chance.randbytes(chance.randrange(40))
    if kind == 3:
        return chance.randbytes(chance.choice((0, 1, 2, 4, 8, 11, 12, 13, 28, 32, 74, 100, 1500, 1501, 1600)))
    for _ in range(chance.randrange(1, 4)):
        if changed:
            changed[chance.randrange(len(changed))] = chance.randrange(256)
    return bytes(changed)


async def datagrams(count: int, seed: int = 1) -> tuple[int, int]:
    """Handle so many datagrams; how many were passed on, and how many dropped. Raises what handling one raises."""
    chance = random.Random(seed)
    rooms = Rooms(lambda _message: None)
    sink = bind("127.0.0.1", 0)
    handling = Datagrams(rooms, sink)
    sessions: list[VoiceSession] = []
    for number in range(4):
        participant = Participant(1, 2, number, f"s{number}", f"t{number}")
        session = rooms.open(participant, NoConnection(), 0)
        session.cipher = cipher(MODES[number % 2], new_key())
        session.socket = sink[0]
        session.discovered.append(ADDRESSES[number])
        rooms.bind(session, ADDRESSES[number])
        sessions.append(session)
    for number in range(count):
        session = chance.choice(sessions)
        if not number % 5_000:
            session.window = ReplayWindow()
        session._packets = 0  # the limit of packets is not what is tested
        handling.handle(sink[0], damaged(chance, _datagram(chance, session, number + 1)), _address(chance, session))
    for each in sink:
        each.close()
    return handling.forwarding.forwarded, handling.dropped


async def browser_datagrams(count: int, seed: int = 1) -> tuple[int, int]:
    """Handle so many damaged datagrams of browsers; how many were passed on, and how many dropped.

    Both speak through a handshake that is itself damaged from time to time. Raises what handling one raises.
    """
    chance = random.Random(seed)
    rooms = Rooms(lambda _message: None)
    sink = bind("127.0.0.1", 0)
    handling = Datagrams(rooms, sink)
    port = int(sink[0].getsockname()[1])
    peers: list[Peer] = []
    context = await handling.browsers.context()
    for number in range(4):
        participant = Participant(1, 2, number, f"s{number}", f"t{number}", may_stream=True)
        session = rooms.open(participant, NoConnection(), 0)
        rooms.add_streams(session, [("video", "a", 100), ("video", "b", 50), ("audio", "c", 100)])
        peer = Peer(("127.0.0.1", port), video=VIDEO)
        peer.session = session
        peers.append(peer)
    for number in range(count):
        peer = chance.choice(peers)
        session = peer.session
        session._packets = 0  # the limit of packets is not what is tested
        if session.browser is None or not number % 1_000:
            peer.renew()
            browser = handling.browsers.select(session, peer.offer, context)
            peer.credentials = browser.credentials[0]
            states = [StreamState(each, ssrc=9 if each == "c" else 0, active=True) for each in "abc"]
            handling.video.set_streams(session, Video(streams=states))
        if not number % 100:
            handling.video.choose(rooms.room_of(session))
        address = peer.socket.getsockname()
        for answer in peer.answers():
            peer.feed(answer)
        for sent in _of_browser(chance, peer, number):
            # A handshake with many damaged flights would only wait.
            share = 0.5 if peer.sending is not None else 0.05
            handling.handle(sink[0], damaged(chance, sent) if chance.random() < share else sent, address)
    handling.video.close()
    for each in (*sink, *(peer.socket for peer in peers)):
        each.close()
    for peer in peers:
        rooms.set_browser(peer.session, None)
    return handling.forwarding.forwarded, handling.dropped


def _of_browser(chance: random.Random, peer: Peer, number: int) -> list[bytes]:
    """What a browser might send: a check, what DTLS has to send, a packet of sound or a report."""
    kind = chance.randrange(9)
    if not peer.session.browser.paths:
        return [peer.request()]
    if kind == 0:
        return [peer.request(nominates=chance.random() < 0.5, role=chance.choice((0x8029, 0x802A, 0x802A)))]
    if peer.sending is None:
        return [data for data in (peer.flight(),) if data]
    if kind == 1:
        report = struct.pack(
            ">BBHI", 0x80 | chance.randrange(3), chance.choice((200, 201, 206)), 6, chance.randrange(20)
        )
        return [peer.sending.protect_rtcp(report + chance.randbytes(20))]
    if kind == 2:
        return [bytes((chance.randrange(20, 64), 0xFE, 0xFD)) + chance.randbytes(chance.randrange(60))]
    if kind < 7:
        return [_of_video(chance, peer, number)]
    return [peer.packet(chance.randbytes(chance.randrange(200)), number, ssrc=chance.randrange(1, 8))]


def _of_video(chance: random.Random, peer: Peer, number: int) -> bytes:
    """What a browser might send of video: a packet of a stream, or what it lacks of others'."""
    assert peer.sending is not None
    if not chance.randrange(4):
        subscribed = chance.choice(list(peer.session.browser.video.subscriptions) or [0])
        head = struct.pack(">BBHII", 0x80 | chance.choice((1, 4, 15)), chance.choice((205, 206)), 6, 1, subscribed)
        return peer.sending.protect_rtcp(head + chance.choice((b"REMB", b"")) + chance.randbytes(16))
    extension = b"\x31" + (number & 0xFFFF).to_bytes(2, "big") + bytes((chance.choice((0xA0, 0xB0)),))
    extension += chance.choice((b"a\0\0\0", b"b\0\0\0", b"x\0\0\0"))
    payload = chance.choice((b"\x90\xe0\x80\x05\x07\x00\x10", b"\x65", b"", b"\0\1\x90\xe0"))
    payload += chance.randbytes(chance.choice((0, 0, 1, 300)))
    ssrc, payload_type = chance.choice(((20, 96), (21, 96), (22, 98), (23, 97), (24, 99), (9, 111)))
    marked = payload_type | chance.choice((0, 128))
    return peer.extended(payload, extension, number, ssrc=ssrc, payload_type=marked)


def _address(chance: random.Random, session: VoiceSession) -> Any:
    return chance.choice(ADDRESSES) if chance.random() < 0.1 else session.address


def _datagram(chance: random.Random, session: VoiceSession, nonce: int) -> bytes:
    """A datagram as the client of a session might send it."""
    assert session.cipher is not None
    kind = chance.randrange(8)
    if kind == 0:
        return struct.pack(">HHI", 1, 70, session.ssrc) + bytes(66)
    number = nonce.to_bytes(4, "big")
    if kind == 1:
        header = struct.pack(">BBHI", 0x80, chance.choice((200, 201, 202)), 6, session.ssrc)
        return header + session.cipher.encrypt(number, chance.randbytes(20), header) + number
    first = 0x80 | chance.choice((0, 0x10)) | chance.randrange(3)
    header = struct.pack(">BBHII", first, 0x78, nonce & 0xFFFF, nonce, session.ssrc)
    header += chance.randbytes(4 * (first & 0x0F)) + (b"\xbe\xde\0\1" if first & 0x10 else b"")
    return header + session.cipher.encrypt(number, chance.randbytes(chance.randrange(1, 200)), header) + number


class _Client:
    """A member of a group."""

    dave_version = 1

    def __init__(self, user_id: int, channel_id: int) -> None:
        self.user_id = user_id
        self.session = davey.DaveSession(1, user_id, channel_id)
        self.received: list[tuple[int, bytes]] = []

    def send(self, op: int, data: object) -> None:
        """Do nothing."""

    def send_binary(self, op: int, data: bytes) -> None:
        """Remember it."""
        self.received.append((op, data))


async def mls_messages(count: int, seed: int = 1) -> int:
    """Let a group handle so many damaged key packages and commits; how many were refused."""
    chance = random.Random(seed)
    channel_id, sender = 77, ExternalSender()
    alice, bob = _Client(11, channel_id), _Client(22, channel_id)
    made = RoomEncryption(channel_id, sender)
    packages = {each.user_id: bytes(each.session.get_serialized_key_package()) for each in (alice, bob)}
    for each in (alice, bob):
        made.join(each)
        made.welcome(each)
        made.handle_binary(each, DaveOpcode.KEY_PACKAGE, packages[each.user_id])
    commit = b""
    for op, data in alice.received:
        if op == DaveOpcode.EXTERNAL_SENDER:
            alice.session.set_external_sender(data)
        elif op == DaveOpcode.PROPOSALS:
            result = alice.session.process_proposals(davey.ProposalsOperationType.append, data[1:])
            assert result is not None
            assert result.welcome is not None
            commit = result.commit + result.welcome
    made.close()
    refused = 0
    for _ in range(count):
        alice.received.clear()
        bob.received.clear()
        room = RoomEncryption(channel_id, sender)
        room.join(alice)
        room.join(bob)
        for op, message in ((DaveOpcode.KEY_PACKAGE, packages[11]), (DaveOpcode.COMMIT_WELCOME, commit)):
            try:
                room.handle_binary(alice, op, damaged(chance, message))
            except MlsError:
                refused += 1
        room.close()
    return refused


if __name__ == "__main__":
    number = int(sys.argv[1])
    print("datagrams passed on, dropped:", asyncio.run(datagrams(number)))
    print("datagrams of browsers passed on, dropped:", asyncio.run(browser_datagrams(number)))
    print("messages of MLS refused:", asyncio.run(mls_messages(number // 10)))
