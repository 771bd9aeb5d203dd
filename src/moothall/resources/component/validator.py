"""What is remembered while one tree of components is read: errors, ids, and what must stay unique."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

from moothall.objects import limits
from moothall.objects.component import ComponentEmoji
from moothall.objects.component_input import EmojiInput
from moothall.objects.component_types import ComponentPlace
from moothall.objects.embed import url_error
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import Snowflake
from moothall.objects.text import clean, is_standard_emoji

Path = tuple[str | int, ...]

ATTACHMENT: Final = "attachment://"
LINK_SCHEMES: Final = ("http", "https", "discord")
MEDIA_SCHEMES: Final = ("http", "https", "attachment")
_NESTS: Final = ("components", "accessory", "component")
_MAX_SURVEYED: Final = 64


class ReferencedIds(Struct):
    """What a tree of a request names, looked at before it is known whether the tree is any good.

    Whoever is named in a valid tree is among them: those of a larger one are refused anyway.
    """

    ids: set[int] = {}  # type: ignore[assignment]  # msgspec makes a new one for each
    emojis: set[int] = {}  # type: ignore[assignment]
    users: set[int] = {}  # type: ignore[assignment]
    roles: set[int] = {}  # type: ignore[assignment]
    channels: set[int] = {}  # type: ignore[assignment]

    @property
    def names_any(self) -> bool:
        """Whether anything has to be looked up."""
        return bool(self.emojis or self.users or self.roles or self.channels)


def survey(components: Sequence[Any]) -> ReferencedIds:
    """What a request's components name. The work is bounded, however large or malformed they are."""
    seen = ReferencedIds(set(), set(), set(), set(), set())
    wanted: list[Any] = list(components[:_MAX_SURVEYED])
    for node in wanted:
        if not isinstance(node, dict):
            continue
        if type(node.get("id")) is int:
            seen.ids.add(node["id"])
        _note_emoji(node.get("emoji"), seen)
        for option in _some(node.get("options")):
            if isinstance(option, dict):
                _note_emoji(option.get("emoji"), seen)
        for value in _some(node.get("default_values")):
            _note_default(value, seen)
        for key in _NESTS:
            child = node.get(key)
            if child is not None and len(wanted) < _MAX_SURVEYED:
                wanted.extend(child[:_MAX_SURVEYED] if isinstance(child, list) else [child])
    return seen


def _some(value: object) -> Sequence[Any]:
    return value[: limits.SELECT_OPTIONS_MAX] if isinstance(value, list) else ()


def _snowflake(value: object) -> int | None:
    try:
        return int(Snowflake.from_wire(value))
    except ValueError:
        return None


def _note_emoji(emoji: object, seen: ReferencedIds) -> None:
    if isinstance(emoji, dict) and emoji.get("id") is not None:
        emoji_id = _snowflake(emoji["id"])
        if emoji_id is not None:
            seen.emojis.add(emoji_id)


def _note_default(value: object, seen: ReferencedIds) -> None:
    if not isinstance(value, dict):
        return
    kinds: dict[Any, set[int]] = {"user": seen.users, "role": seen.roles, "channel": seen.channels}
    kind = value.get("type")
    named = _snowflake(value.get("id"))
    if isinstance(kind, str) and kind in kinds and named is not None:
        kinds[kind].add(named)


class ResolvedIds(Struct, frozen=True):
    """What exists of that which a tree names, and may be named by whoever sends it."""

    emojis: Mapping[int, ComponentEmoji] = {}
    users: AbstractSet[int] = frozenset()
    roles: AbstractSet[int] = frozenset()
    channels: AbstractSet[int] = frozenset()

    def of_type(self, kind: str) -> AbstractSet[int]:
        """The ids that a default value of a type may have."""
        return {"user": self.users, "role": self.roles, "channel": self.channels}[kind]


NOTHING_KNOWN: Final = ResolvedIds()


class ComponentValidator:
    """One reading of one tree."""

    def __init__(
        self,
        form_errors: FormErrors,
        top: ComponentPlace,
        *,
        given_ids: AbstractSet[int],
        known: ResolvedIds | None,
        own_files: AbstractSet[str] = frozenset(),
        interactive: bool = True,
    ) -> None:
        self.found = form_errors
        self.modal = top is ComponentPlace.MODAL
        self.known = known
        """None if nobody has looked: then whatever is named is taken to exist."""
        self.own_files = own_files
        """URLs, without their query, of files that the message has already."""
        self.interactive = interactive
        """False where only components may stand that no application hears of."""
        self.count = 0
        self.text = 0
        self._given_ids = given_ids
        self._taken_ids: set[int] = set()
        self._custom_ids: set[str] = set()
        self._last_id = 0

    def add(self, path: Path, code: str, message: str) -> None:
        """Report what is wrong with a field."""
        self.found.add(path, code, message)

    def take_id(self, given: int | None, at: Path) -> int:
        """The id of the next component: the one given, or else the first that nobody has been given."""
        if given:
            if given in self._taken_ids:
                self.add((*at, "id"), FormCode.COMPONENT_ID_DUPLICATED, "Component id cannot be duplicated")
            self._taken_ids.add(given)
            return given
        self._last_id += 1
        while self._last_id in self._given_ids:
            self._last_id += 1
        return self._last_id

    def take_ids(self, given: Mapping[str, Any], at: Path) -> None:
        """The ids of a component that something else is wrong with: no other may have them either."""
        number, custom_id = given.get("id"), given.get("custom_id")
        if type(number) is int and 0 < number <= limits.COMPONENT_ID_MAX:
            self.take_id(number, at)
        if isinstance(custom_id, str) and 0 < len(custom_id) <= limits.CUSTOM_ID_MAX:
            self.take_custom_id(custom_id, at)

    def take_custom_id(self, custom_id: str, at: Path) -> str:
        """A custom id, which no other component may have."""
        if custom_id in self._custom_ids:
            self.add(
                (*at, "custom_id"),
                FormCode.COMPONENT_CUSTOM_ID_DUPLICATED,
                "Component custom id cannot be duplicated",
            )
        self._custom_ids.add(custom_id)
        return custom_id

    def emoji(self, given: EmojiInput | None, at: Path) -> ComponentEmoji | UnsetType:
        """The emoji that is meant; a guild's own has its real name, whatever is said."""
        if given is None:
            return UNSET
        if given.id is not None:
            named = ComponentEmoji(id=given.id, name=given.name or "", animated=bool(given.animated))
            known = named if self.known is None else self.known.emojis.get(given.id)
            if known is None:
                self.add((*at, "emoji", "id"), FormCode.BUTTON_COMPONENT_INVALID_EMOJI, "Invalid emoji")
            return named if known is None else known
        if not given.name:
            self.add((*at, "emoji", "name"), *FieldError.required())
        elif not is_standard_emoji(given.name):
            self.add((*at, "emoji", "name"), FormCode.BUTTON_COMPONENT_INVALID_EMOJI, "Invalid emoji")
        return ComponentEmoji(name=given.name or "")

    def url(self, given: str, at: Path, schemes: Sequence[str]) -> str:
        """A URL. Names of files are not looked at here."""
        if given.startswith(ATTACHMENT) and "attachment" in schemes:
            if len(given) == len(ATTACHMENT):
                self.add(at, FormCode.URL_TYPE_INVALID_URL, "Not a well formed URL.")
        elif wrong := url_error(given, schemes):
            self.add(at, *wrong)
        return given


def text(given: str | None) -> str | UnsetType:
    """A text that may be left out, without what cannot be shown."""
    return (clean(given) or UNSET) if given else UNSET


def flag(given: bool | None) -> bool | UnsetType:  # noqa: FBT001 what a request says
    """Yes or no, if it was said."""
    return UNSET if given is None else given
