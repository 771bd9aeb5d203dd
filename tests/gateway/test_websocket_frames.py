"""Messages of sessions are written as WebSocket frames without the server library's own `send`."""

import pytest
from websockets.frames import Frame, Opcode

from moothall.gateway.protocol.frame_writer import encode_frame

SIZES = (0, 1, 125, 126, 65_535, 65_536, 200_000)


@pytest.mark.parametrize("size", SIZES)
def test_a_text_message_is_the_frame_that_the_library_makes(size: int) -> None:
    text = "é" * (size // 2) + "x" * (size % 2)
    assert encode_frame(text) == Frame(Opcode.TEXT, text.encode()).serialize(mask=False)


@pytest.mark.parametrize("size", SIZES)
def test_a_binary_message_is_the_frame_that_the_library_makes(size: int) -> None:
    assert encode_frame(bytes(size)) == Frame(Opcode.BINARY, bytes(size)).serialize(mask=False)
