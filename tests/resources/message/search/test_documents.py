"""The index entries of messages."""

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moothall.objects.ids import ChannelId, GuildId, MessageId, Snowflake, UserId
from moothall.objects.message_types import MessagePart
from moothall.objects.wire import encode
from moothall.resources.message.search.documents import Document, IndexedMessage, document_of, hashed, text_of
from moothall.resources.message.search.terms import WORD_MAX, phrases_of, words_of


def document(
    kind: int = 0, parent: int | None = None, poll: str | None = None, parts: int = 0, **body: Any
) -> Document:
    return document_of(
        IndexedMessage(
            channel_id=ChannelId(Snowflake(2)),
            id=MessageId(Snowflake(3)),
            guild_id=GuildId(Snowflake(1)),
            author_id=UserId(Snowflake(4)),
            webhook_id=None,
            pinned=False,
            replied_id=None,
            mentions=None,
            body=encode(body),
            parts=parts,
            by_bot=False,
            kind=kind,
            parent_id=None if parent is None else ChannelId(Snowflake(parent)),
            replied_author_id=None,
            poll=poll,
        )
    )


PLAIN = {"g1", "v2", "c2", "a4", "tuser"}


def more(entry: Document) -> set[str]:
    return set(entry.facets) - PLAIN


def test_a_plain_message_has_its_words_and_location() -> None:
    entry = document(content="Hello, WÖRLD")
    assert (entry.words, set(entry.facets)) == (["hello", "world"], PLAIN)


def test_a_threads_messages_have_its_parent_and_a_mark_if_private() -> None:
    assert {"v9", "c2"} <= set(document(kind=11, parent=9).facets)
    assert {"v9", "x"} <= set(document(kind=12, parent=9).facets)
    assert "v9" not in document(kind=0, parent=9).facets  # a category


def test_files_are_found_by_name_stem_extension_and_kind() -> None:
    entry = document(
        attachments=[
            {"filename": "Photo.Final.PNG", "content_type": "image/png", "description": "Sunset"},
            {"filename": "song.mp3", "content_type": "audio/mpeg"},
            {"filename": "clip", "content_type": "video/mp4"},
        ]
    )
    files = {hashed("f", name) for name in ("photo.final.png", "photo.final", "song.mp3", "song", "clip")}
    assert more(entry) == {"hfile", "himage", "hsound", "hvideo", hashed("k", "png"), hashed("k", "mp3"), *files}
    assert "sunset" in entry.words


def test_embeds_are_found_by_their_texts_their_type_and_their_provider() -> None:
    entry = document(
        embeds=[
            {
                "type": "gifv",
                "title": "A",
                "description": "B",
                "provider": {"name": "Tenor"},
                "author": {"name": "C"},
                "footer": {"text": "D"},
                "fields": [{"name": "E", "value": "F"}],
                "video": {"url": "https://example.org/a.mp4"},
            },
            {"type": "article", "image": {"url": "https://example.org/a.png"}},
        ]
    )
    assert entry.words == list("abcdef")
    assert {"hembed", "bgif", "barticle", "bvideo", "bimage", "hvideo", "himage", hashed("o", "Tenor")} <= more(entry)


def test_text_displays_polls_stickers_and_snapshots_are_found() -> None:
    inner = {"type": 17, "components": [{"type": 9, "components": [{"type": 10, "content": "deep text"}]}]}
    assert document(components=[inner, {"type": 10, "content": "more"}]).words == ["deep", "text", "more"]
    poll = '{"question":{"text":"Which door?"},"answers":[{"poll_media":{"text":"Left"}},{"poll_media":{}}]}'
    entry = document(poll=poll, parts=MessagePart.POLL)
    assert (entry.words, more(entry)) == (["which", "door", "left"], {"hpoll"})
    assert more(document(sticker_items=[{"id": "1"}])) == {"hsticker"}
    snapshot = {"message": {"content": "see https://a.example.org/x", "attachments": [{"filename": "a"}]}}
    forwarded = document(message_snapshots=[snapshot])
    assert "see" in forwarded.words
    hosts = {hashed("l", host) for host in ("a.example.org", "example.org")}
    assert more(forwarded) == {"hsnapshot", "hfile", hashed("f", "a"), "hlink", *hosts}


def test_an_unreadable_message_does_not_stop_the_index(caplog: pytest.LogCaptureFixture) -> None:
    entry = document(content=5)
    assert (set(entry.facets), entry.words) == ({"g1", "v2", "c2"}, [])
    assert "cannot be indexed" in caplog.text


def test_people_are_found_by_id() -> None:
    entry = document(content="x", mention_everyone=True, mention_roles=["7", "odd"])
    assert more(entry) == {"e", "r7"}


def test_words_are_folded_cut_and_split() -> None:
    text = "Straße \ufb01ne \uff21\uff22\uff23 x_y don't 3.14"
    assert words_of(text) == ["strasse", "fine", "abc", "x", "y", "don", "t", "3", "14"]
    assert words_of("a" * 100) == ["a" * WORD_MAX]
    assert words_of("日本語ok") == ["日", "本", "語", "ok"]
    assert [phrase.words for phrase in phrases_of("日本 語 ok")] == [("日", "本"), ("語",), ("ok",)]


@given(st.text(max_size=200) | st.text(st.characters(max_codepoint=127), max_size=200))
def test_no_word_has_characters_of_the_query_syntax(text: str) -> None:
    for word in words_of(text):
        assert word
        assert not set(word) & set("'\"\\:=&|!()<>* \t\n\x00")
        assert word.isalnum() or len(word) == 1
    assert [word for phrase in phrases_of(text) for word in phrase.words] == words_of(text)


odd = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=10),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["type", "components", "content", "message", "text", "name"]), inner, max_size=3
        )
    ),
)


@given(st.lists(odd, max_size=3), st.dictionaries(st.text(max_size=8), odd, max_size=3))
def test_malformed_parts_are_ignored(components: list[Any], embed: dict[str, Any]) -> None:
    document(components=components, embeds=[embed], attachments=[embed], message_snapshots=[{"message": embed}])
    assert isinstance(text_of(encode({"components": components})), str)
