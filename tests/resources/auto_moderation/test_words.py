"""The word lists of keyword presets, and what operators replace."""

from pathlib import Path

import pytest

from moothall.resources.auto_moderation.keywords import KeywordSet, MarkedText, Match
from moothall.resources.auto_moderation.matcher import RuleMatchers
from moothall.resources.auto_moderation.words import FILES, PresetWords, WordListError
from tests.resources.auto_moderation.rules import PRESET, create_rule
from tests.support.harness import Platform


def match(keyword: str, text: str) -> str | None:
    result = KeywordSet([keyword]).first_match(MarkedText(text))
    return None if result is None else result.content


@pytest.mark.parametrize(
    ("keyword", "text", "content"),
    [
        ("cat*", "Catapult", "Cat"),
        ("cat*", "wildcat", None),
        ("*cat", "copyCat", "Cat"),
        ("*cat", "catch", None),
        ("*cat*", "eduCation", "Cat"),
        ("cat", "a CAT.", "CAT"),
        ("cat", "catch", None),
        ("the mat*", "in the matrix", "the mat"),
        ("*the mat", "breathe mat", "the mat"),
        ("*the mat*", "breathe matter", "the mat"),
        ("the mat", "breathe mat", None),
        ("i like c++", "so i like c++, too", "i like c++"),
        (" cat ", "cat", "cat"),
        ("İsim", "İSİM", None),
        ("straße", "STRASSE straße", "straße"),
        ("λόγ*", "ΛΌΓΟΣ", "ΛΌΓ"),
    ],
)
def test_wildcards_decide_where_a_keyword_matches(keyword: str, text: str, content: str | None) -> None:
    assert match(keyword, text) == content


def test_of_keywords_that_begin_together_the_longest_is_reported() -> None:
    keywords = KeywordSet(["*ca*", "*catch*", "*cat*"])
    assert keywords.first_match(MarkedText("a Catcher")) == Match("*catch*", "Catch")


def test_many_nested_keywords_take_one_pass() -> None:
    keywords = KeywordSet(["a" * length for length in range(1, 61)])
    assert keywords.first_match(MarkedText("a" * 4000)) is None
    assert keywords.first_match(MarkedText("a" * 4000 + " aaa")) == Match("aaa", "aaa")


def test_every_preset_has_words_of_its_own() -> None:
    words = PresetWords.read()
    for preset in FILES:
        assert len(words.of([preset])) > 20


async def test_an_operator_replaces_single_lists(platform: Platform, tmp_path: Path) -> None:
    (tmp_path / "profanity.txt").write_text("# mild ones\n\n*zounds*\n", encoding="utf-8")
    words = PresetWords.read(tmp_path)
    assert words.of([1]) == ["*zounds*"]
    assert words.of([2]) == PresetWords.read().of([2])
    platform.services.resources.add(RuleMatchers(words))
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    await guild.join(bob)
    await create_rule(guild, PRESET, trigger_metadata={"presets": [1]})
    path = f"/channels/{guild.general}/messages"
    assert (await bob.post(path, {"content": "Zounds!"})).code == 200000
    assert (await bob.post(path, {"content": "what the fuck"})).status == 200


@pytest.mark.parametrize("data", [b"*\n", b"\xff\xfe"])
def test_a_bad_list_is_refused(tmp_path: Path, data: bytes) -> None:
    (tmp_path / "slurs.txt").write_bytes(data)
    with pytest.raises(WordListError, match=r"slurs\.txt"):
        PresetWords.read(tmp_path)
    with pytest.raises(WordListError, match="does not exist"):
        PresetWords.read(tmp_path / "nowhere")
