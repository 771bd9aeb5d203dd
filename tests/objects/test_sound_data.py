"""Sounds are verified by their frames and pages, not by what their headers declare."""

import contextlib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moothall.objects.sound_data import SoundData, SoundInfo, SoundTooLong, inspect_sound
from tests.resources.soundboard.sound_files import mp3, opus, page, uri, vorbis, with_positions


@pytest.mark.parametrize("seconds", [0.5, 1.0, 5.0])
def test_the_duration_is_that_of_the_audio(seconds: float) -> None:
    assert inspect_sound(opus(seconds)) == SoundInfo("ogg", round(seconds * 1000))
    result = inspect_sound(mp3(seconds))
    assert result.format == "mp3"
    assert abs(result.ms - seconds * 1000) < 27


def test_vorbis_is_counted_block_by_block() -> None:
    assert inspect_sound(vorbis()) == SoundInfo("ogg", 3000)


@pytest.mark.parametrize("data", [mp3(5.3), opus(5.3), opus(60), mp3(30)])
def test_long_sounds_are_refused(data: bytes) -> None:
    with pytest.raises(SoundTooLong):
        inspect_sound(data)


def test_the_duration_of_an_ogg_is_counted_from_its_packets() -> None:
    with pytest.raises(SoundTooLong):
        inspect_sound(opus(20, says=1))
    assert abs(inspect_sound(with_positions(vorbis(), 1)).ms - 3000) < 100


def test_the_duration_of_an_mp3_is_counted_from_all_frames() -> None:
    # 8 seconds of frames with a low bit rate after one with a high rate, from which alone 1.5 seconds would follow.
    slow = b"\xff\xfb\x10\x44" + bytes(100)
    fast = b"\xff\xfb\xe0\x44" + bytes(1040)
    with pytest.raises(SoundTooLong):
        inspect_sound(fast + slow * 307)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"nothing",
        b"\xff\xfb" * 5000,
        bytes(100_000),
        b"ID3\x03\x00\x00\x7f\x7f\x7f\x7f" + mp3(1),
        opus(1)[:-3],
        opus(1)[:40] + b"x" + opus(1)[41:],
        page(0, 0, [b"\x7fFLAC"], first=True),
        page(0, 0, [], first=True),
        opus(1) + page(0, 0, [b"OpusHead"], first=True, serial=8),
        opus(0),
        b"OggS" + bytes(50),
    ],
)
def test_invalid_sounds_are_refused(data: bytes) -> None:
    with pytest.raises(ValueError, match=r"\w"):
        inspect_sound(data)


@given(st.binary(max_size=400), st.integers(0, 400), st.sampled_from([mp3(0.2), opus(0.2), vorbis()[:9000]]))
def test_arbitrary_bytes_are_accepted_or_refused_without_other_errors(noise: bytes, at: int, sound: bytes) -> None:
    for data in (noise, sound[:at] + noise + sound[at:], sound[:at] + noise):
        with contextlib.suppress(ValueError):
            assert 0 < inspect_sound(data).ms <= 5200


def test_a_sound_is_a_data_uri_of_at_most_half_a_mebibyte() -> None:
    for kind in ("audio/mpeg", "audio/mp3", "audio/ogg", "audio/ogg;codecs=opus"):
        sound = SoundData.from_wire(uri(mp3(0.1), kind))
        assert sound.data == mp3(0.1)
        assert SoundData.from_wire(sound.wire()) == sound
    for wrong in (None, 5, "", "data:image/png;base64,AAAA", "data:audio/wav;base64,AAAA", "data:audio/mpeg;base64,A"):
        with pytest.raises(ValueError, match="Invalid sound data"):
            SoundData.from_wire(wrong)
    with pytest.raises(ValueError, match="512"):
        SoundData.from_wire(uri(bytes((512 << 10) + 1)))
    assert len(SoundData.from_wire(uri(bytes(512 << 10))).data) == 512 << 10
