"""Nothing that a request is checked by takes a line break more than it says.

In Python, `$` matches before a line break at the end as well, and `re.match` looks at the beginning only.
"""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec import Meta
from msgspec import inspect as shapes

import moothall
import moothall.oauth2.endpoints
from moothall.api.endpoint import endpoints
from moothall.gateway.protocol import commands
from moothall.objects.wire import convert
from moothall.resources import load_endpoints
from moothall.settings import Settings

_SOURCE = Path(moothall.__file__).parent
_COMPILING = frozenset({"compile", "match", "fullmatch", "search", "sub", "subn", "split", "findall", "finditer"})
_PREFIXES = {
    "moothall/objects/images.py": "_DATA_URI: what follows the head is decoded as strict base64",
    "moothall/objects/sound_data.py": "_DATA_URI: what follows the head is decoded as strict base64",
    "moothall/runtime/outgoing.py": "_AUTHORITY: the whole URL is parsed afterwards",
    "moothall/objects/url_mapping.py": "UrlMap.find: a mapping is a prefix of the path, and the rest follows it",
    "moothall/api/request/body.py": "_THOUSAND_STRINGS: each match begins where the last one ended",
    "moothall/resources/scim/filters.py": "_TOKEN: each match begins where the last one ended",
    "moothall/resources/user/auth_session/client.py": "_PRODUCT: the name of a client, which is only shown",
    "moothall/resources/message/attachment/filenames.py": "_magic: files are known by their first bytes",
}
"""Where a pattern is meant to look at the beginning only."""
_ROUTERS = {"moothall/api/pipeline.py": "the router's", "moothall/demo/requests.py": "the router's"}
"""Other methods that are called `match`."""

ENDS = ["\n", "\r\n", "\r", " ", "\t", "\x0b", "\x85", "\u2028"]
EXAMPLES: dict[str, str] = {
    "Snowflake": "1573674835731505152",
    "PermissionSet": "2048",
    "EmbedTimestamp": "2026-01-31T12:00:00.250000+00:00",
    "Timestamp": "2026-01-31T12:00:00.250000+00:00",
    "ImageData": "data:image/png;base64,AAAA",
    "EmojiImage": "data:image/png;base64,AAAA",
    "SoundData": "data:audio/ogg;base64,AAAA",
    "EmailAddress": "alice@example.org",
}
"""A text that each wire scalar takes."""


def _kinds() -> list[Any]:
    """The types of parameters, bodies, gateway commands and settings."""
    load_endpoints()
    kinds: list[Any] = [Settings]
    for row in endpoints():
        kinds += [parameter.kind for parameter in row.signature.path_parameters]
        kinds += [parameter.kind for parameter in row.signature.query_parameters]
        if row.signature.body is not None:
            kinds.append(row.signature.body.kind)
    kinds += [kind for kind in vars(commands).values() if isinstance(kind, type) and issubclass(kind, msgspec.Struct)]
    return kinds


def _parts(shape: Any, seen: set[int]) -> Iterator[shapes.Type]:
    """A type and all that it is made of."""
    if id(shape) in seen:
        return
    seen.add(id(shape))
    if isinstance(shape, shapes.Type):
        yield shape
    if isinstance(shape, shapes.Type | shapes.Field):
        for name in shape.__struct_fields__:
            yield from _parts(getattr(shape, name), seen)
    elif isinstance(shape, tuple | list):
        for item in shape:
            yield from _parts(item, seen)


def _all_parts(kinds: list[Any]) -> list[shapes.Type]:
    infos = shapes.multi_type_info(kinds)
    return list(_parts(infos, set()))


def _patterns(kinds: list[Any]) -> set[str]:
    return {part.pattern for part in _all_parts(kinds) if isinstance(part, shapes.StrType) and part.pattern is not None}


def _scalars() -> list[type[Any]]:
    customs = {part.cls for part in _all_parts(_kinds()) if isinstance(part, shapes.CustomType)}
    return sorted((cls for cls in customs if hasattr(cls, "from_wire")), key=lambda cls: cls.__name__)


def _takes_a_line_break(pattern: str) -> bool:
    """Whether a pattern takes some text that it takes with a line break at its end, too."""
    taken: list[str] = []

    @given(st.from_regex(pattern, fullmatch=True))
    def look(text: str) -> None:
        if not text.endswith("\n") and re.search(pattern, text) and re.search(pattern, text + "\n"):
            taken.append(text)

    look()
    return bool(taken)


def test_the_walk_finds_patterns_wherever_they_are_and_sees_which_take_a_line_break() -> None:
    class Inner(msgspec.Struct):
        code: Annotated[str, Meta(pattern=r"^[a-z]+$")] | None = None

    class Outer(msgspec.Struct):
        inner: list[dict[str, Inner]]

    assert _patterns([Outer]) == {"^[a-z]+$"}
    assert _takes_a_line_break(r"^[a-z]+$")
    assert _takes_a_line_break(r"^[a-z]+")
    assert not _takes_a_line_break(r"^[a-z]+\Z")


def test_the_walk_sees_every_row() -> None:
    texts = [part for part in _all_parts(_kinds()) if isinstance(part, shapes.StrType)]
    assert len(texts) > 100
    assert {cls.__name__ for cls in _scalars()} >= {"Snowflake", "EmailAddress", "ImageData", "Timestamp"}


def test_no_pattern_of_a_request_or_setting_takes_a_line_break_at_the_end() -> None:
    assert [pattern for pattern in _patterns(_kinds()) if _takes_a_line_break(pattern)] == []


@pytest.mark.parametrize("cls", _scalars(), ids=lambda cls: cls.__name__)
def test_no_scalar_of_a_request_takes_whitespace_at_its_ends(cls: type[Any]) -> None:
    text = EXAMPLES[cls.__name__]
    assert convert(text, cls) is not None
    for end in ENDS:
        for spoiled in (text + end, end + text):
            with pytest.raises(msgspec.ValidationError):
                convert(spoiled, cls)


# Patterns in the source


def _literal(node: ast.expr) -> str | None:
    """The constant text of an expression; what is filled into an f-string counts as nothing."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str | bytes):
        return node.value if isinstance(node.value, str) else node.value.decode("latin-1")
    if isinstance(node, ast.JoinedStr):
        return "".join(str(part.value) for part in node.values if isinstance(part, ast.Constant))
    if isinstance(node, ast.BinOp):
        return "".join(text for side in (node.left, node.right) if (text := _literal(side)) is not None)
    return None


def _compiles(called: ast.expr) -> bool:
    """Whether a function is one of `re` whose first argument is a pattern."""
    if not isinstance(called, ast.Attribute) or called.attr not in _COMPILING:
        return False
    return isinstance(called.value, ast.Name) and called.value.id == "re"


def _pattern_texts(tree: ast.AST) -> Iterator[tuple[int, str]]:
    """Each pattern that is written as a text: the line, and the text."""
    for node in ast.walk(tree):
        if not isinstance(node, ast.Call):
            continue
        if _compiles(node.func) and node.args and (text := _literal(node.args[0])) is not None:
            yield node.lineno, text
        for keyword in node.keywords:
            if keyword.arg == "pattern" and (text := _literal(keyword.value)) is not None:
                yield node.lineno, text


def _loose(pattern: str) -> bool:
    """Whether a `$` stands for an end: neither escaped nor in a class."""
    without_escapes = re.sub(r"\\.", "_", pattern, flags=re.DOTALL)
    return "$" in re.sub(r"\[\^?\]?[^\]]*\]", "", without_escapes)


def _modules() -> list[Path]:
    return sorted(_SOURCE.rglob("*.py"))


def _name(path: Path) -> str:
    return f"moothall/{path.relative_to(_SOURCE)}"


def test_the_lint_knows_an_anchor_from_an_escape_and_from_a_character_in_a_class() -> None:
    assert _loose(r"^[a-z]+$")
    assert _loose(r"(?:,|$)")
    assert _loose(r"\\$")
    assert not _loose(r"[!#$%]+\Z")
    assert not _loose(r"[]$]")
    assert not _loose(r"costs \$5")
    tree = ast.parse('import re\nre.compile(rf"{A}$")\nstr_ = Meta(pattern="^a$")\nre.sub("a" "b$", "", x)\n')
    assert [text for _, text in _pattern_texts(tree) if _loose(text)] == ["$", "^a$", "ab$"]


def test_no_pattern_in_the_source_ends_in_a_dollar() -> None:
    texts = {
        (_name(path), line): text
        for path in _modules()
        for line, text in _pattern_texts(ast.parse(path.read_text(encoding="utf-8")))
    }
    assert len(texts) > 50
    assert [path for path, text in texts.items() if _loose(text)] == []


def test_what_only_looks_at_the_beginning_of_a_text_is_known() -> None:
    places = {
        _name(path)
        for path in _modules()
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr == "match"
    }
    assert places == _PREFIXES.keys() | _ROUTERS.keys()
