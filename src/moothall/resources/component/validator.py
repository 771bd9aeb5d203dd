"""The validator of a component tree, and the ids that a tree refers to."""

from collections.abc import Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import Any, Final

from msgspec import UNSET, Struct, UnsetType

from moothall.api.request.form import as_integer
from moothall.objects import limits
from moothall.objects.component import ComponentEmoji
from moothall.objects.component_input import EmojiInput
from moothall.objects.component_types import ComponentPosition
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
_NAMING: Final = frozenset({"id", "emoji", "options", "default_values"})
"""The keys of a component that refer to ids."""
_MAX_NODES: Final = 64


class ReferencedIds(Struct):
    """The ids in the component tree of a request, collected before it is validated.

    All ids of a valid tree are among them; of a larger one, which is refused anyway, some may be missing.
    """

    ids: set[int] = {}  # type: ignore[assignment]  # msgspec makes a new one for each
    emojis: set[int] = {}  # type: ignore[assignment]
    users: set[int] = {}  # type: ignore[assignment]
    roles: set[int] = {}  # type: ignore[assignment]
    channels: set[int] = {}  # type: ignore[assignment]

    @property
    def any(self) -> bool:
        """Whether there are ids to look up."""
        return bool(self.emojis or self.users or self.roles or self.channels)


def referenced_ids(components: Sequence[object]) -> ReferencedIds:
    """The ids that components of a request refer to. The work is bounded, however large or malformed they are."""
    referenced = ReferencedIds(set(), set(), set(), set(), set())
    nodes: list[object] = list(components[:_MAX_NODES])
    for node in nodes:
        if not isinstance(node, dict):
            continue
        if not _NAMING.isdisjoint(node):
            _add_ids(node, referenced)
        for key in _NESTS:
            child = node.get(key)
            if child is not None and len(nodes) < _MAX_NODES:
                nodes.extend(child[:_MAX_NODES] if isinstance(child, list) else [child])
    return referenced


def _add_ids(node: Mapping[str, object], referenced: ReferencedIds) -> None:
    if (number := as_integer(node.get("id"))) is not None:
        referenced.ids.add(number)
    _add_emoji(node.get("emoji"), referenced)
    for option in _listed(node.get("options")):
        if isinstance(option, dict):
            _add_emoji(option.get("emoji"), referenced)
    for value in _listed(node.get("default_values")):
        _add_default(value, referenced)


def _listed(value: object) -> Sequence[object]:
    return value[: limits.SELECT_OPTIONS_MAX] if isinstance(value, list) else ()


def _snowflake(value: object) -> int | None:
    try:
        return int(Snowflake.from_wire(value))
    except ValueError:
        return None


def _add_emoji(emoji: object, referenced: ReferencedIds) -> None:
    if isinstance(emoji, dict) and emoji.get("id") is not None:
        emoji_id = _snowflake(emoji["id"])
        if emoji_id is not None:
            referenced.emojis.add(emoji_id)


def _add_default(value: object, referenced: ReferencedIds) -> None:
    if not isinstance(value, dict):
        return
    kinds: dict[Any, set[int]] = {"user": referenced.users, "role": referenced.roles, "channel": referenced.channels}
    kind = value.get("type")
    entity_id = _snowflake(value.get("id"))
    if isinstance(kind, str) and kind in kinds and entity_id is not None:
        kinds[kind].add(entity_id)


class ResolvedIds(Struct, frozen=True):
    """The ids of a tree that exist and that its sender may use."""

    emojis: Mapping[int, ComponentEmoji] = {}
    users: AbstractSet[int] = frozenset()
    roles: AbstractSet[int] = frozenset()
    channels: AbstractSet[int] = frozenset()

    def of_type(self, kind: str) -> AbstractSet[int]:
        """The ids that a default value of a type may have."""
        return {"user": self.users, "role": self.roles, "channel": self.channels}[kind]


NO_IDS: Final = ResolvedIds()


class ComponentValidator:
    """Collects the errors of one component tree while it is read."""

    def __init__(
        self,
        form_errors: FormErrors,
        top: ComponentPosition,
        *,
        requested_ids: AbstractSet[int],
        resolved: ResolvedIds | None,
        file_urls: AbstractSet[str] = frozenset(),
        interactive: bool = True,
    ) -> None:
        self.form_errors = form_errors
        self.modal = top is ComponentPosition.MODAL
        self.resolved = resolved
        """None leaves ids unchecked."""
        self.file_urls = file_urls
        """URLs, without their query, of files that the message has."""
        self.interactive = interactive
        """False if components that cause interactions are errors."""
        self.count = 0
        self.text = 0
        self._requested_ids = requested_ids
        self._taken_ids: set[int] = set()
        self._custom_ids: set[str] = set()
        self._last_id = 0

    def add(self, path: Path, code: str, message: str) -> None:
        """Add an error."""
        self.form_errors.add(path, code, message)

    def take_id(self, body: int | None, at: Path) -> int:
        """The id of the next component: the requested one, or else the lowest that no component of the tree has."""
        if body:
            if body in self._taken_ids:
                self.add((*at, "id"), FormCode.COMPONENT_ID_DUPLICATED, "Component id cannot be duplicated")
            self._taken_ids.add(body)
            return body
        self._last_id += 1
        while self._last_id in self._requested_ids:
            self._last_id += 1
        return self._last_id

    def take_ids(self, body: Mapping[str, object], at: Path) -> None:
        """Reserve the ids of an invalid component, so that duplicates of them are errors as well."""
        number, custom_id = body.get("id"), body.get("custom_id")
        if type(number) is int and 0 < number <= limits.COMPONENT_ID_MAX:
            self.take_id(number, at)
        if isinstance(custom_id, str) and 0 < len(custom_id) <= limits.CUSTOM_ID_MAX:
            self.take_custom_id(custom_id, at)

    def take_custom_id(self, custom_id: str, at: Path) -> str:
        """A custom id, which must be unique in the tree."""
        if custom_id in self._custom_ids:
            self.add(
                (*at, "custom_id"),
                FormCode.COMPONENT_CUSTOM_ID_DUPLICATED,
                "Component custom id cannot be duplicated",
            )
        self._custom_ids.add(custom_id)
        return custom_id

    def emoji(self, body: EmojiInput | None, at: Path) -> ComponentEmoji | UnsetType:
        """The emoji of a component. A custom emoji has its real name, not the requested one."""
        if body is None:
            return UNSET
        if body.id is not None:
            unchecked = ComponentEmoji(id=body.id, name=body.name or "", animated=bool(body.animated))
            emoji = unchecked if self.resolved is None else self.resolved.emojis.get(body.id)
            if emoji is None:
                self.add((*at, "emoji", "id"), FormCode.BUTTON_COMPONENT_INVALID_EMOJI, "Invalid emoji")
            return unchecked if emoji is None else emoji
        if not body.name:
            self.add((*at, "emoji", "name"), *FieldError.required())
        elif not is_standard_emoji(body.name):
            self.add((*at, "emoji", "name"), FormCode.BUTTON_COMPONENT_INVALID_EMOJI, "Invalid emoji")
        return ComponentEmoji(name=body.name or "")

    def url(self, body: str, at: Path, schemes: Sequence[str]) -> str:
        """A URL, or the name of a file, which `resolve_media` checks."""
        if body.startswith(ATTACHMENT) and "attachment" in schemes:
            if len(body) == len(ATTACHMENT):
                self.add(at, FormCode.URL_TYPE_INVALID_URL, "Not a well formed URL.")
        elif wrong := url_error(body, schemes):
            self.add(at, *wrong)
        return body


def text(value: str | None) -> str | UnsetType:
    """An optional text, without characters that cannot be shown."""
    return (clean(value) or UNSET) if value else UNSET


def flag(value: bool | None) -> bool | UnsetType:  # noqa: FBT001 a value of a request
    """An optional boolean."""
    return UNSET if value is None else value
