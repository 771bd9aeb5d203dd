"""Messages, modals and uses of commands, as a person sees them."""

from collections.abc import Iterator
from typing import Any, Final

_EPHEMERAL: Final = 1 << 6
_BUTTON: Final = 2
SELECTS: Final = frozenset({3, 5, 6, 7, 8})
_FIELDS: Final = frozenset({3, 4, 5, 6, 7, 8, 19, 21, 22, 23})


def components_of(value: Any) -> Iterator[dict[str, Any]]:
    """Every component in a message or a modal, at any depth."""
    if isinstance(value, dict):
        if "type" in value:
            yield value
        for key in ("components", "component", "accessory"):
            yield from components_of(value.get(key))
    elif isinstance(value, list):
        for each in value:
            yield from components_of(each)


class Message:
    """A message; `data` is the object of the API."""

    def __init__(self, data: dict[str, Any]) -> None:
        self.data = data

    def __repr__(self) -> str:
        return f"<Message {self.id} {self.author_name}: {self.content!r}>"

    @property
    def id(self) -> str:
        """Its id."""
        return str(self.data["id"])

    @property
    def channel_id(self) -> str:
        """The id of its channel."""
        return str(self.data["channel_id"])

    @property
    def content(self) -> str:
        """Its text."""
        return str(self.data.get("content", ""))

    @property
    def author_id(self) -> str:
        """The id of its author."""
        return str(self.data["author"]["id"])

    @property
    def author_name(self) -> str:
        """The username of its author."""
        return str(self.data["author"]["username"])

    @property
    def application_id(self) -> str:
        """The application that it is of; for its components."""
        return str(self.data.get("application_id") or self.author_id)

    @property
    def embeds(self) -> list[dict[str, Any]]:
        """Its embeds."""
        return list(self.data.get("embeds", []))

    @property
    def attachments(self) -> list[dict[str, Any]]:
        """Its files."""
        return list(self.data.get("attachments", []))

    @property
    def ephemeral(self) -> bool:
        """Whether only one person sees it."""
        return bool(self.data.get("flags", 0) & _EPHEMERAL)

    @property
    def replies_to(self) -> str | None:
        """The id of the message that it replies to."""
        reference = self.data.get("message_reference")
        return None if reference is None else reference.get("message_id")

    @property
    def buttons(self) -> list[str]:
        """The labels of its buttons, or their custom ids where they have none."""
        buttons = (each for each in self._components() if each["type"] == _BUTTON)
        return [str(each.get("label") or each.get("custom_id")) for each in buttons]

    def button(self, name: str) -> dict[str, Any]:
        """The enabled button with a label or custom id. Raises AssertionError if there is none."""
        for each in self._components():
            if each["type"] == _BUTTON and name in {each.get("label"), each.get("custom_id")}:
                if each.get("disabled"):
                    raise AssertionError(f"the button {name} is disabled")
                return each
        raise AssertionError(f"there is no button {name}, but {self.buttons}")

    def select(self, custom_id: str | None = None) -> dict[str, Any]:
        """The select menu with a custom id; without one, the first. Raises AssertionError if there is none."""
        selects = [each for each in self._components() if each["type"] in SELECTS]
        for each in selects:
            if custom_id in {None, each.get("custom_id")}:
                return each
        raise AssertionError(f"there is no select {custom_id or ''}, but {[each.get('custom_id') for each in selects]}")

    def _components(self) -> Iterator[dict[str, Any]]:
        return components_of(self.data.get("components", []))


class ModalForm:
    """A modal that is shown to a person; `data` is its event."""

    def __init__(self, data: dict[str, Any], channel_id: str, guild_id: str | None) -> None:
        self.data = data
        self.channel_id = channel_id
        self.guild_id = guild_id

    @property
    def title(self) -> str:
        """Its title."""
        return str(self.data["title"])

    @property
    def custom_id(self) -> str:
        """Its custom id."""
        return str(self.data["custom_id"])

    @property
    def application_id(self) -> str:
        """The application that shows it."""
        return str(self.data["application"]["id"])

    @property
    def fields(self) -> list[str]:
        """The custom ids of its fields."""
        return [str(each["custom_id"]) for each in components_of(self.data["components"]) if each["type"] in _FIELDS]

    def submission(self, values: dict[str, Any]) -> list[dict[str, Any]]:
        """The components of a submission. Raises AssertionError for a value without a field."""
        unknown = set(values) - set(self.fields)
        if unknown:
            raise AssertionError(f"the modal has no field {', '.join(sorted(unknown))}, but {self.fields}")
        return [self._submitted(each, values) for each in self.data["components"]]

    def _submitted(self, component: dict[str, Any], values: dict[str, Any]) -> dict[str, Any]:
        answer: dict[str, Any] = {"type": component["type"]}
        if "components" in component:
            answer["components"] = [self._submitted(each, values) for each in component["components"]]
        if "component" in component:
            answer["component"] = self._submitted(component["component"], values)
        if component["type"] in _FIELDS:
            answer["custom_id"] = component["custom_id"]
            value = values.get(component["custom_id"], component.get("value"))
            several = component["type"] not in {4, 21, 23}
            if several:
                answer["values"] = [] if value is None else list(value) if isinstance(value, list | tuple) else [value]
            else:
                answer["value"] = "" if value is None and component["type"] == 4 else value
        return answer


class Invocation:
    """The use of a command, a component or a modal."""

    def __init__(self, interaction_id: str, name: str) -> None:
        self.id = interaction_id
        self.name = name
        self.message_id: str | None = None
        """The message whose component was used."""

    def __repr__(self) -> str:
        return f"<Invocation {self.id} of {self.name}>"
