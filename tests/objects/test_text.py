"""Texts of users: cleaning, names, search keys and emoji."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moothall.objects.text import (
    channel_name,
    clean,
    clean_name,
    is_standard_emoji,
    parse_emoji,
    reserved_word_error,
    search_key,
    username_error,
)

any_text = st.text(st.characters(), max_size=60)
"""Any characters, including lone surrogates."""


@given(text=any_text)
def test_a_cleaned_text_can_be_stored_and_cleaning_again_changes_nothing(text: str) -> None:
    cleaned = clean(text)
    cleaned.encode()
    assert "\x00" not in cleaned
    assert clean(cleaned) == cleaned


def test_cleaning_keeps_tabs_and_line_breaks() -> None:
    assert clean("a\tb\nc\r\nd\x07\ud83d") == "a\tb\nc\r\nd"


@given(text=any_text)
def test_a_cleaned_name_has_one_line_and_cleaning_again_changes_nothing(text: str) -> None:
    name = clean_name(text)
    assert name == name.strip()
    assert not set(name) & set("\n\r\t\u202e")
    assert clean_name(name) == name


@pytest.mark.parametrize("blank", ["", "   ", "\u200b", "\u3164 \u200b", "\u202e"])
def test_a_name_of_invisible_characters_becomes_empty(blank: str) -> None:
    assert clean_name(blank) == ""


@given(text=st.text(max_size=40))
def test_the_key_of_a_search_key_is_itself(text: str) -> None:
    assert search_key(search_key(text)) == search_key(text)


@given(start=st.text(max_size=20), rest=st.text(max_size=20))
def test_search_keys_preserve_prefixes(start: str, rest: str) -> None:
    assert search_key(start + rest).startswith(search_key(start))


@pytest.mark.parametrize(
    ("name", "sought"), [("Ångström", "angstrom"), ("ÉLODIE", "élo"), ("Straße", "STRASSE"), ("Zoë", "ZOE")]
)
def test_search_ignores_case_and_accents(name: str, sought: str) -> None:
    assert search_key(name).startswith(search_key(sought))


@pytest.mark.parametrize("name", ["ab", "a.b_c", "0.1.2", "_" * 32])
def test_a_plain_lower_case_name_is_a_username(name: str) -> None:
    assert username_error(name) is None


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("a", "BASE_TYPE_BAD_LENGTH"),
        ("a" * 33, "BASE_TYPE_BAD_LENGTH"),
        ("Alice", "USERNAME_INVALID_CHARACTERS"),
        ("a b", "USERNAME_INVALID_CHARACTERS"),
        ("a..b", "USERNAME_INVALID_CHARACTERS"),
        ("ünal", "USERNAME_INVALID_CHARACTERS"),
        ("abc\n", "USERNAME_INVALID_CHARACTERS"),
        ("everyone", "USERNAME_INVALID_CONTAINS"),
        ("the_hall", "USERNAME_INVALID_CONTAINS"),
    ],
)
def test_invalid_usernames_are_refused_with_a_code(name: str, code: str) -> None:
    error = username_error(name, reserved=["hall"])
    assert error is not None
    assert error.code == code


def test_a_reserved_word_is_refused_in_any_case() -> None:
    assert reserved_word_error("My CLYDE bot", ["clyde"]) == (
        "USERNAME_INVALID_CONTAINS",
        'Username cannot contain "clyde"',
    )
    assert reserved_word_error("@everyone #1: ```", ["clyde"]) is None


@pytest.mark.parametrize(
    ("name", "stored"),
    [
        ("General Chat", "general-chat"),
        ("  What's new?  ", "whats-new"),
        ("a - b", "a-b"),
        ("a_b", "a_b"),
        ("日本 語", "日本-語"),
        ("🎉 party", "🎉-party"),
        ("ÉCOLE", "école"),
        ("!!!", ""),
        ("{\u00ad}", ""),
    ],
)
def test_a_text_channels_name_is_lower_case_with_dashes(name: str, stored: str) -> None:
    assert channel_name(name, text_like=True) == stored


def test_a_voice_channels_name_is_only_trimmed() -> None:
    assert channel_name("  The  Big: Room! ", text_like=False) == "The Big: Room!"


@given(name=any_text, text_like=st.booleans())
def test_normalizing_a_channel_name_twice_changes_nothing(*, name: str, text_like: bool) -> None:
    stored = channel_name(name, text_like=text_like)
    assert channel_name(stored, text_like=text_like) == stored


@pytest.mark.parametrize(
    "emoji",
    [
        "👍",
        "👍🏽",
        "❤️",
        "❤",
        "1️⃣",
        "#️⃣",
        "🇩🇪",
        "👩‍👩‍👧‍👦",
        "🏳️‍🌈",
        "🏴󠁧󠁢󠁥󠁮󠁧󠁿",
        "☺️",
        "™️",
        "\u2139\ufe0f",
        "↔️",
        "‼️",
        "🫨",
        "🧑🏿‍🚀",
        "©️",
        "㊗️",
    ],
)
def test_every_kind_of_standard_emoji_is_recognized(emoji: str) -> None:
    assert is_standard_emoji(emoji)
    parsed = parse_emoji(emoji)
    assert parsed is not None
    assert (parsed.id, parsed.name) == (None, emoji)


@pytest.mark.parametrize(
    "text", ["", "a", "1", "#", "👍👍", "👍a", "日", ":thumbsup:", "\u200d", "\ufe0f", "🇩", "\ud83d"]
)
def test_words_and_several_emojis_are_no_standard_emoji(text: str) -> None:
    assert not is_standard_emoji(text)
    assert parse_emoji(text) is None


@pytest.mark.parametrize("path", ["blob:123", "blob%3A123", "<:blob:123>", ":blob:123"])
def test_a_custom_emoji_is_parsed_with_its_id(path: str) -> None:
    parsed = parse_emoji(path)
    assert parsed is not None
    assert (parsed.id, parsed.name, parsed.animated) == (123, "blob", False)


def test_an_animated_custom_emoji_is_marked() -> None:
    for path in ("a:blob:123", "<a:blob:123>"):
        parsed = parse_emoji(path)
        assert parsed is not None
        assert parsed.animated is True


def test_a_custom_emoji_with_an_invalid_id_is_refused() -> None:
    assert parse_emoji("blob:99999999999999999999") is None


def test_a_percent_encoded_emoji_is_decoded() -> None:
    parsed = parse_emoji("%F0%9F%91%8D")
    assert parsed is not None
    assert parsed.name == "👍"
