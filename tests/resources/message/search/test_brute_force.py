"""The index compared with reading every message: the same results, on both databases."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from msgspec import Struct

from moothall.resources.message.search import queries
from moothall.resources.message.search.documents import Document
from moothall.resources.message.search.index_query import AllOf, AnyOf, Near, Node, content_nodes
from moothall.resources.message.search.indexing import LOCK, Indexer
from moothall.resources.message.search.queries import HitPage, IndexSearch
from moothall.resources.message.search.terms import Phrase, phrases_of, words_of
from moothall.storage.database import Database
from tests.support.harness import Platform

ALPHABET = ["red", "Green", "blüe", "BLUE", "東京", "京", "🎉", "a1", "x", "<@1>", "_", '"', "*", "NOT", "near"]
texts = st.lists(st.sampled_from(ALPHABET), max_size=9).map(" ".join)
facets = st.sampled_from(["g1", "v1", "v2", "c1", "x", "hlink", "p"])


def fits(node: Node, facets_of: set[str], words: list[str]) -> bool:
    """Whether a message matches a node, by its words and facets."""
    if isinstance(node, AnyOf):
        return bool(facets_of & set(node.facets))
    if isinstance(node, Phrase):
        size = len(node.words)
        return any(tuple(words[at : at + size]) == node.words for at in range(len(words)))
    if isinstance(node, Near):
        first = [at for at, word in enumerate(words) if word == node.first]
        second = [at for at, word in enumerate(words) if word == node.second]
        return any(abs(a - b) - 1 <= node.slop for a in first for b in second)
    return all(fits(inner, facets_of, words) for inner in node.every) and not any(
        fits(inner, facets_of, words) for inner in node.none
    )


leaves: st.SearchStrategy[Node] = st.one_of(
    st.lists(facets, min_size=1, max_size=4).map(lambda listed: AnyOf(tuple(listed))),
    st.sampled_from(["red", "東京", "🎉"]).map(lambda text: phrases_of(text)[0]),
    st.builds(Near, st.just("blue"), st.sampled_from(["red", "green"]), st.integers(0, 3)),
)


def all_of(inner: st.SearchStrategy[Node]) -> st.SearchStrategy[AllOf]:
    return st.builds(
        AllOf,
        st.lists(inner, min_size=1, max_size=3).map(tuple),
        st.lists(inner, max_size=2).map(tuple),
    )


class Written(Struct):
    """A message of an example."""

    facets: set[str]
    words: list[str]


@settings(max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.tuples(st.sets(facets), texts), min_size=1, max_size=12),
    st.lists(all_of(st.one_of(leaves, all_of(leaves))), min_size=1, max_size=6),
)
async def test_the_index_returns_exactly_the_matching_messages(
    database: Database, written: list[tuple[set[str], str]], searches: list[AllOf]
) -> None:
    messages = [Written({*facets_of, "all"}, words_of(text)) for facets_of, text in written]
    entries: list[Any] = [
        Document(9, number, sorted(message.facets), message.words)  # type: ignore[arg-type]  # any number is an id here
        for number, message in enumerate(messages, 1)
    ]
    async with database.transaction(LOCK) as tx:
        await queries.delete_documents(tx, list(range(1, 20)))
        await queries.upsert_documents(tx, database.dialect, entries)
    for node in searches:
        expected = [n for n, m in enumerate(messages, 1) if fits(node, m.facets, m.words)]
        async with database.read() as reader:
            bounds = (2, 100) if len(expected) > 1 else None
            search = IndexSearch.of(database.dialect, node, bounds, None)
            total = await queries.count_hits(reader, search, at_once=False)
            page = HitPage(maximum=50, offset=0, descending=False)
            pages = [
                await queries.select_hits(reader, database.dialect, search, page, total=many, at_once=False)
                for many in (total, 1_000_000)
            ]
        if bounds is not None:
            expected = [number for number in expected if number > 2]
        assert [[hit[0] for hit in page] for page in pages] == [expected, expected]
        assert total == len(expected)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(texts, min_size=1, max_size=6), texts, st.integers(0, 4))
async def test_a_search_over_http_returns_the_same_as_reading_every_message(
    platform: Platform, contents: list[str], query: str, slop: int
) -> None:
    guild = await platform.guild(await platform.person())
    nodes = content_nodes(query, slop)
    expected = []
    for content in contents:
        reply = await guild.owner.post(f"/channels/{guild.general}/messages", {"content": content})
        if reply.status == 200 and nodes and all(fits(node, set(), words_of(content)) for node in nodes):
            expected.append(reply.json["id"])
    await Indexer(platform.services).drain()
    if not query:
        return
    page = (await guild.owner.get(f"/guilds/{guild.id}/messages/search", content=query, slop=slop)).json
    assert [group[0]["id"] for group in page["messages"]] == expected[::-1]
    assert page["total_results"] == len(expected)
