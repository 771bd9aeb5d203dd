"""URLs of files: marks in what is stored, signatures in what leaves."""

from urllib.parse import urlsplit

import pytest
from hypothesis import given
from hypothesis import strategies as st

from moothall.api.file_links import (
    FileLinks,
    FilePath,
    has_placeholders,
    is_attachment_of,
    placeholder_file_ids,
    read_path,
)
from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.wire import encode

DAY = 24 * 3600
PATH = FilePath(ChannelId(Snowflake(7)), Snowflake(8), "a-b_c.png")


class Clock:
    """A time that stands still."""

    now = 1_000_000.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    """One of them."""
    return Clock()


@pytest.fixture
def links(clock: Clock) -> FileLinks:
    """Links by that time."""
    return FileLinks((b"k" * 32,), "https://example.com", clock=clock)


def query_of(url: str) -> str:
    return urlsplit(url).query


def test_a_mark_becomes_a_url_that_is_good_for_a_day(links: FileLinks, clock: Clock) -> None:
    plain = links.plain_url(PATH)
    stored = links.insert_placeholders(encode({"url": plain, "icon_url": plain}), [plain])
    assert has_placeholders(stored)
    assert placeholder_file_ids(stored) == {8}
    shown = links.sign(stored)
    assert shown.count(links.url(PATH).encode()) == 2
    url = links.url(PATH)
    assert url.startswith("https://example.com/attachments/7/8/a-b_c.png?ex=")
    assert links.find(url) == PATH
    assert links.is_authentic(PATH, query_of(url))
    clock.now += DAY - 3601
    assert links.is_authentic(PATH, query_of(url))
    clock.now += 3602
    assert not links.is_authentic(PATH, query_of(url))
    assert links.is_authentic(PATH, query_of(url), expired=True)


def test_urls_of_one_hour_are_equal(links: FileLinks, clock: Clock) -> None:
    clock.now = 7200.0
    first = links.url(PATH)
    clock.now += 3599
    assert links.url(PATH) == first
    clock.now += 1
    assert links.url(PATH) != first


@pytest.mark.parametrize(
    "other",
    [
        FilePath(ChannelId(Snowflake(6)), PATH.id, PATH.filename),
        FilePath(PATH.channel_id, Snowflake(9), PATH.filename),
        FilePath(PATH.channel_id, PATH.id, "a-b_c.pn"),
    ],
)
def test_a_signature_is_for_one_file(links: FileLinks, other: FilePath) -> None:
    assert not links.is_authentic(other, query_of(links.url(PATH)))


@pytest.mark.parametrize("query", ["", "ex=1", "ex=zz&is=1&hm=00", "ex=ffffffff&is=0&hm=", "ex=ffffffff&is=0&hm=x"])
def test_what_is_no_signature_is_none(links: FileLinks, query: str) -> None:
    assert not links.is_authentic(PATH, query, expired=True)


def test_a_later_end_is_not_believed(links: FileLinks) -> None:
    query = query_of(links.url(PATH))
    until = query.partition("&")[0]
    assert not links.is_authentic(PATH, query.replace(until, "ex=ffffffff"))


def test_retired_keys_still_count(clock: Clock, links: FileLinks) -> None:
    renewed = FileLinks((b"n" * 32, b"k" * 32), "https://example.com", clock=clock)
    assert renewed.is_authentic(PATH, query_of(links.url(PATH)))
    assert not links.is_authentic(PATH, query_of(renewed.url(PATH)))


def test_foreign_files_get_placeholders_only_if_their_url_has_a_signature(links: FileLinks, clock: Clock) -> None:
    good, bare = encode({"url": links.url(PATH)}), encode({"url": links.plain_url(PATH)})
    assert placeholder_file_ids(links.insert_placeholders(good, [])) == {8}
    assert links.insert_placeholders(bare, []) == bare
    assert links.insert_placeholders(bare, [links.plain_url(FilePath(PATH.channel_id, PATH.id, "b.png"))]) == bare
    other_channel = FilePath(ChannelId(Snowflake(6)), PATH.id, PATH.filename)
    assert links.insert_placeholders(bare, [links.plain_url(other_channel)]) == bare
    clock.now += 2 * DAY
    # As where URLs are refreshed: a user who has a signed URL was shown the file.
    assert placeholder_file_ids(links.insert_placeholders(good, [])) == {8}


def test_a_stored_file_is_recognised_by_all_of_its_path(links: FileLinks) -> None:
    title = {"title": "moothall-file:/7/8/b.png", "url": links.plain_url(PATH)}
    stored = links.insert_placeholders(encode(title), [links.plain_url(PATH)])
    assert is_attachment_of(stored, PATH)
    for channel, number, name in ((6, 8, "a-b_c.png"), (7, 9, "a-b_c.png"), (7, 8, "b.png"), (7, 8, "a-b_c.pn")):
        assert not is_attachment_of(stored, FilePath(ChannelId(Snowflake(channel)), Snowflake(number), name))


_PATHS = st.builds(
    lambda channel, number, name: FilePath(ChannelId(Snowflake(channel)), Snowflake(number), name),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from(["a", "b"]),
)


@given(
    known=st.sets(_PATHS, max_size=3),
    own=st.sets(_PATHS, max_size=2),
    posts=st.lists(st.tuples(_PATHS, st.sampled_from(["", "0", "00"]), st.integers(0, 40)), max_size=12),
)
def test_no_sequence_of_posted_urls_signs_a_file_that_is_neither_shown_nor_the_messages_own(
    known: set[FilePath], own: set[FilePath], posts: list[tuple[FilePath, str, int]]
) -> None:
    links = FileLinks((b"k" * 32,), "https://example.com")
    queries = [f"?{query_of(links.url(path))}" for path in sorted(known, key=str)]
    for path, zeros, pick in posts:
        # Any signature that has been seen, at any path, spelled in any way.
        query = queries[pick % len(queries)] if queries and pick else ""
        url = f"https://example.com/attachments/{zeros}{path.channel_id}/{zeros}{path.id}/{path.filename}{query}"
        stored = links.insert_placeholders(encode({"url": url}), map(links.plain_url, own))
        shown = links.sign(stored).decode().split('"')[3]
        signed = links.find(shown)
        if signed is not None and links.is_authentic(signed, query_of(shown), expired=True):
            assert signed in known | own
            queries.append(f"?{query_of(shown)}")


@given(st.text())
def test_no_text_becomes_a_url(text: str) -> None:
    links = FileLinks((b"k" * 32,), "https://example.com")
    for name in (text, f'url":"moothall-file:/7/8/{text}', f'{text}","url":"moothall-file:/7/8/a"', "\\" + text + '"'):
        data = encode({"content": name, "title": name + '"'})
        assert links.sign(data) == data
        assert links.insert_placeholders(data, [links.plain_url(PATH)]) == data


@pytest.mark.parametrize(
    "path", ["/attachments/7/8/", "/attachments/7/8/a/b", "/attachments/x/8/a", "/attachments/7/8/%2e"]
)
def test_other_paths_name_no_file(path: str) -> None:
    assert read_path(path) is None
