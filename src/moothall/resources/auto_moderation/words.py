"""The word lists of keyword presets: text files with one keyword on each line, which operators can replace."""

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Final

from moothall.objects.auto_moderation import KeywordPreset
from moothall.resources.auto_moderation.keywords import marked_form

OWN_LISTS: Final = Path(__file__).with_name("word_lists")
"""The folder of the lists that Moothall comes with."""

FILES: Final[Mapping[KeywordPreset, str]] = {
    KeywordPreset.PROFANITY: "profanity.txt",
    KeywordPreset.SEXUAL_CONTENT: "sexual_content.txt",
    KeywordPreset.SLURS: "slurs.txt",
}


class WordListError(OSError):
    """A word list that cannot be used."""


class PresetWords:
    """The keywords of each preset."""

    __slots__ = ("_words",)

    def __init__(self, words: Mapping[KeywordPreset, tuple[str, ...]]) -> None:
        self._words = words

    @classmethod
    def read(cls, folder: Path | None = None) -> "PresetWords":
        """The lists in a folder; for each that is not there, Moothall's own. Raises OSError."""
        if folder is not None and not folder.is_dir():
            raise WordListError(f"the folder of word lists does not exist: {folder}")
        return cls(
            {preset: _own(name) if folder is None else _read(_path(folder, name)) for preset, name in FILES.items()}
        )

    def of(self, presets: list[int]) -> list[str]:
        """The keywords of some presets."""
        return [word for preset in presets for word in self._words[KeywordPreset(preset)]]


@cache
def _own(name: str) -> tuple[str, ...]:
    return _read(OWN_LISTS / name)


def _path(folder: Path, name: str) -> Path:
    return folder / name if (folder / name).exists() else OWN_LISTS / name


def _read(path: Path) -> tuple[str, ...]:
    try:
        lines = [line.strip() for line in path.read_text(encoding="utf-8").splitlines()]
    except UnicodeDecodeError:
        raise WordListError(f"{path}: not UTF-8") from None
    words = tuple(line for line in lines if line and not line.startswith("#"))
    for word in words:
        if marked_form(word) is None:
            raise WordListError(f"{path}: {word!r} is no keyword")
    return words
