"""People who do at random what a bot offers: its commands, buttons, selects and modals.

What a run has done can be done again without its ids, so a run that fails is shortened until nothing can be left out.
"""

import random
import string
from collections.abc import Callable, Iterator, Sequence
from time import monotonic
from typing import Any, Final, NamedTuple

from moothall_testing.content import SELECTS, Invocation, Message, ModalForm, components_of
from moothall_testing.people import Person
from moothall_testing.reactions import WITHIN, is_event
from moothall_testing.waiting import Entry, Follower, NoReaction, RefusedError
from moothall_testing.world import World

_BUTTON, _LINK, _PREMIUM = 2, 5, 6
_STRING, _INTEGER, _BOOLEAN, _USER, _CHANNEL, _ROLE, _MENTIONABLE, _NUMBER, _ATTACHMENT = 3, 4, 5, 6, 7, 8, 9, 10, 11
_STRING_SELECT, _TEXT_INPUT, _USER_SELECT, _ROLE_SELECT, _MENTIONABLE_SELECT, _CHANNEL_SELECT = 3, 4, 5, 6, 7, 8
_SUBCOMMAND, _GROUP = 1, 2
_SLASH, _ON_USER = 1, 2
_TEXTS: Final = ("a", "hello world", "0", "-1", "@everyone", "*_`~|", "ä 🎲", "null", "2026-02-30", "<@1>", "/" * 90)
_NUMBERS: Final = (0, 1, -1, 2, 7, 100, 2**31, -(2**31))
_MAX_TEXT: Final = 4000
_LONG_TEXT: Final = 2000
_SETTLING: Final = 0.3
"""Seconds that a bot has after the last step to fail."""
_PAUSE: Final = 0.05
"""The same after a text, which a bot need not answer."""


class Reference(NamedTuple):
    """A person, bot, channel or role, by its name, which is the same in the next run."""

    kind: str
    name: str

    def __repr__(self) -> str:
        return self.name if self.name.isidentifier() else repr(self.name)


class Step(NamedTuple):
    """What a person does. `place` says which component of which message that is, counted from the newest one."""

    person: str
    act: str
    name: str
    values: Any = None
    place: tuple[int, int] | None = None

    def __str__(self) -> str:
        """As a line of a test."""
        if self.act in {"runs", "submits"}:
            arguments = "".join(f", {name}={value!r}" for name, value in self.values.items())
            first = "modal" if self.act == "submits" else repr(self.name)
            return f"{self.person}.{self.act}({first}{arguments})"
        if self.act == "clicks":
            return f"{self.person}.clicks(message, {self.name!r})"
        if self.act == "chooses":
            chosen = "".join(f", {value!r}" for value in self.values)
            return f"{self.person}.chooses(message{chosen}, select={self.name!r})"
        if self.act == "runs_on_user":
            return f"{self.person}.runs_on_user({self.name!r}, {self.values!r})"
        return f"{self.person}.says({self.name!r})"


class _Impossible(Exception):
    """A step that nobody can do now, as its message or modal is not there."""


class Crowd:
    """The people of one run, and what the bots offer them."""

    def __init__(self, world: World, people: Sequence[Person]) -> None:
        self._world = world
        self._people = {person.name: person for person in people}
        self._follower = Follower(world)
        self._read = 0
        self._offers: dict[str, tuple[Message, list[str]]] = {}
        """Messages of bots with components by id, and who alone sees each."""
        self._modals: dict[str, ModalForm] = {}
        """The modal that is open, by the id of the person."""
        guild = world.guild()
        self._guild_id = str(guild["id"])
        self._channels: list[dict[str, Any]] = next(iter(self._people.values())).call(
            "GET", f"/guilds/{self._guild_id}/channels"
        )

    # Choosing

    def choose(self, rng: random.Random, texts: Sequence[str]) -> Step | None:
        """A step that is possible now; None if the bots offer nothing."""
        person = rng.choice(list(self._people.values()))
        ways: list[Callable[[], Step | None]] = [
            lambda: self._choose_command(rng, person),
            lambda: self._choose_component(rng, person),
            lambda: self._choose_component(rng, person),
        ]
        if texts:
            ways.append(lambda: Step(person.name, "says", rng.choice(texts)))
        rng.shuffle(ways)
        if person.id in self._modals and rng.random() < 0.8:
            return self._fill_modal(rng, person)
        return next((step for way in ways if (step := way()) is not None), None)

    def _choose_command(self, rng: random.Random, person: Person) -> Step | None:
        index = person.call("GET", f"/channels/{person.channel_id}/application-command-index")["application_commands"]
        commands = [each for each in index if each["type"] in {_SLASH, _ON_USER}]
        if not commands:
            return None
        command = rng.choice(commands)
        if command["type"] == _ON_USER:
            return Step(person.name, "runs_on_user", command["name"], self._user(rng))
        path, declared = [command["name"]], command.get("options", [])
        while declared and declared[0]["type"] in {_SUBCOMMAND, _GROUP}:
            inner = rng.choice(declared)
            path.append(inner["name"])
            declared = inner.get("options", [])
        values = {
            option["name"]: self._value(rng, option)
            for option in declared
            if option.get("required") or rng.random() < 0.5
        }
        return Step(person.name, "runs", " ".join(path), values)

    def _choose_component(self, rng: random.Random, person: Person) -> Step | None:
        usable = [
            (age, number, component)
            for age, message in enumerate(self._seen_by(person))
            for number, component in enumerate(_usable(message))
        ]
        if not usable:
            return None
        age, number, component = rng.choice(usable)
        if component["type"] == _BUTTON:
            name = str(component.get("label") or component["custom_id"])
            return Step(person.name, "clicks", name, place=(age, number))
        return Step(person.name, "chooses", component["custom_id"], self._selection(rng, component), (age, number))

    def _fill_modal(self, rng: random.Random, person: Person) -> Step:
        values: dict[str, Any] = {}
        modal = self._modals[person.id]
        for field in components_of(modal.data["components"]):
            if field["type"] == _TEXT_INPUT:
                values[field["custom_id"]] = _text(rng, field.get("min_length"), field.get("max_length"))
            elif field["type"] in SELECTS:
                values[field["custom_id"]] = self._selection(rng, field, by_value=True)
        return Step(person.name, "submits", modal.title, values)

    def _value(self, rng: random.Random, option: dict[str, Any]) -> Any:
        kind = option["type"]
        if option.get("choices"):
            return rng.choice(option["choices"])["value"]
        if kind == _STRING:
            return _text(rng, option.get("min_length"), option.get("max_length"))
        if kind in {_INTEGER, _NUMBER}:
            return _number(rng, option.get("min_value"), option.get("max_value"), whole=kind == _INTEGER)
        if kind == _BOOLEAN:
            return rng.random() < 0.5
        if kind == _ATTACHMENT:
            return ("file.txt", b"content")
        return self._reference(rng, kind, option.get("channel_types"))

    def _reference(self, rng: random.Random, kind: int, channel_types: list[int] | None) -> Reference:
        if kind == _CHANNEL:
            names = [each["name"] for each in self._channels if not channel_types or each["type"] in channel_types]
            return Reference("channel", rng.choice(names or [self._channels[0]["name"]]))
        if kind == _ROLE or (kind == _MENTIONABLE and rng.random() < 0.5):
            return Reference("role", rng.choice(list(self._world.guild()["roles"])))
        return self._user(rng)

    def _user(self, rng: random.Random) -> Reference:
        return Reference("user", rng.choice([*self._people, *self._world.info["bots"]]))

    def _selection(self, rng: random.Random, select: dict[str, Any], *, by_value: bool = False) -> list[Any]:
        lowest, highest = (1 if select.get(key) is None else select[key] for key in ("min_values", "max_values"))
        if select["type"] == _STRING_SELECT:
            key = "value" if by_value else "label"
            options = [option[key] for option in select["options"]]
            return rng.sample(options, min(len(options), rng.randint(lowest, highest)))
        kinds = {_USER_SELECT: _USER, _ROLE_SELECT: _ROLE, _MENTIONABLE_SELECT: _MENTIONABLE, _CHANNEL_SELECT: _CHANNEL}
        chosen = [self._reference(rng, kinds[select["type"]], select.get("channel_types"))]
        return chosen if rng.randint(lowest, highest) else []

    # Doing

    def perform(self, step: Step) -> None:
        """Do a step, and wait until it is answered. What is not possible is left out.

        Raises NoReaction where a bot does not answer, BotFailed where it fails.
        """
        person = self._people[step.person]
        try:
            done = self._do(person, step)
        except (_Impossible, RefusedError):
            return
        if not isinstance(done, Invocation):
            self._look(_PAUSE)
            return
        self._modals.pop(person.id, None)

        def ends(entry: Entry) -> bool:
            is_end = is_event(entry, "INTERACTION_SUCCESS") or is_event(entry, "INTERACTION_FAILURE")
            return is_end and entry["data"]["id"] == done.id

        entry = self._follower.until(ends, within=WITHIN, what=f"answer to {step}")
        self._note_offers()
        if entry["name"] == "INTERACTION_FAILURE":
            raise NoReaction(f"{step} was not answered in time, or its answer was invalid")

    def settle(self) -> None:
        """Wait a little for what fails late. Raises BotFailed."""
        self._look(_SETTLING)

    def _do(self, person: Person, step: Step) -> object:
        if step.act == "says":
            return person.says(step.name).wait()
        if step.act == "runs":
            return person.runs(step.name, **{name: self._resolved(value) for name, value in step.values.items()}).wait()
        if step.act == "runs_on_user":
            return person.runs_on_user(step.name, self._resolved(step.values)).wait()
        if step.act == "submits":
            modal = self._modals.get(person.id)
            if modal is None or set(step.values) - set(modal.fields):
                raise _Impossible
            values = {name: self._resolved(value) for name, value in step.values.items()}
            return person.submits(modal, **values).wait()
        message, component = self._component(person, step)
        if step.act == "clicks":
            return person.clicks(message, component["custom_id"]).wait()
        chosen = [self._resolved(value) for value in step.values]
        return person.chooses(message, *chosen, select=component["custom_id"]).wait()

    def _component(self, person: Person, step: Step) -> tuple[Message, dict[str, Any]]:
        seen = self._seen_by(person)
        age, number = step.place or (0, 0)
        usable = list(_usable(seen[age])) if age < len(seen) else []
        is_button = step.act == "clicks"
        if number >= len(usable) or (usable[number]["type"] == _BUTTON) != is_button:
            raise _Impossible
        return seen[age], usable[number]

    def _resolved(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._resolved(each) for each in value]
        if not isinstance(value, Reference):
            return value
        if value.kind == "role":
            return self._world.guild()["roles"][value.name]
        if value.kind == "channel":
            return next(each["id"] for each in self._channels if each["name"] == value.name)
        everyone = {**self._world.info["people"], **self._world.info["bots"]}
        return everyone[value.name]["id"]

    def _seen_by(self, person: Person) -> list[Message]:
        """The messages with components that a person sees, newest first."""
        return [message for message, alone in reversed(self._offers.values()) if not alone or person.id in alone]

    def _look(self, seconds: float) -> None:
        try:
            self._follower.until(lambda _entry: False, within=seconds, what="")
        except NoReaction:
            self._note_offers()

    def _note_offers(self) -> None:
        for entry in self._follower.seen[self._read :]:
            if entry["kind"] != "event":
                continue
            data, name = entry["data"], entry["name"]
            if name in {"MESSAGE_CREATE", "MESSAGE_UPDATE"} and (data.get("author") or {}).get("bot"):
                self._offers.pop(data["id"], None)
                if data.get("components"):
                    self._offers[data["id"]] = (Message(data), entry.get("user_ids", []))
            elif name == "MESSAGE_DELETE":
                self._offers.pop(data["id"], None)
            elif name == "INTERACTION_MODAL_CREATE":
                for user_id in entry.get("user_ids", []):
                    self._modals[user_id] = ModalForm(data, data["channel_id"], self._guild_id)
        self._read = len(self._follower.seen)


class Exploration:
    """Runs of random steps, of which one that fails is shortened. `start_over` restores the platform and its bots."""

    def __init__(self, start_over: Callable[[], Crowd], *, texts: Sequence[str], shrink_seconds: float) -> None:
        self._start_over = start_over
        self._texts = texts
        self._shrink_seconds = shrink_seconds

    def run(self, steps: int, seed: int) -> None:
        """Do so many steps. Raises what fails, with a note of the shortest way there that was found."""
        rng = random.Random(seed)  # noqa: S311 no secret
        crowd = self._start_over()
        taken: list[Step] = []
        try:
            for _ in range(steps):
                step = crowd.choose(rng, self._texts)
                if step is None:
                    raise ValueError("the bots have no command and no component, and there is no text to say")
                taken.append(step)
                crowd.perform(step)
            crowd.settle()
        except AssertionError as error:
            shortest, failure = self._shrink(taken, error)
            lines = "\n".join(f"    {step}" for step in shortest)
            failure.add_note(f"{len(shortest)} of {len(taken)} random steps (seed {seed}) lead there:\n{lines}")
            raise failure from failure.__cause__

    def _shrink(self, steps: list[Step], error: AssertionError) -> tuple[list[Step], AssertionError]:
        """Leave out parts of the steps, halves first, then smaller ones, as long as the others fail in the same way."""
        deadline = monotonic() + self._shrink_seconds
        failure, size = error, max(1, len(steps) // 2)
        while True:
            position, before = 0, len(steps)
            while position < len(steps):
                rest = steps[:position] + steps[position + size :]
                if monotonic() > deadline or not rest:
                    return steps, failure
                again = self._fails(rest)
                if again is not None and _kind(again) == _kind(error):
                    steps, failure = rest, again
                else:
                    position += size
            if size == 1 and len(steps) == before:
                return steps, failure
            size = max(1, size // 2)

    def _fails(self, steps: Sequence[Step]) -> AssertionError | None:
        crowd = self._start_over()
        try:
            for step in steps:
                crowd.perform(step)
            crowd.settle()
        except AssertionError as error:
            return error
        return None


def _kind(error: AssertionError) -> tuple[type, type]:
    return type(error), type(error.__cause__)


def _usable(message: Message) -> Iterator[dict[str, Any]]:
    for component in components_of(message.data.get("components", [])):
        if component.get("disabled"):
            continue
        is_button = component["type"] == _BUTTON and component.get("style") not in {_LINK, _PREMIUM}
        if is_button or component["type"] in SELECTS:
            yield component


def _text(rng: random.Random, shortest: int | None, longest: int | None) -> str:
    longest = _MAX_TEXT if longest is None else longest
    text = rng.choice(_TEXTS)
    if rng.random() < 0.1:
        text = "".join(rng.choices(string.ascii_letters, k=min(longest, _LONG_TEXT)))
    return text[:longest].ljust(shortest or 1, "x")


def _number(rng: random.Random, lowest: float | None, highest: float | None, *, whole: bool) -> float:
    candidates: list[float] = [each for each in (lowest, highest) if each is not None] + list(_NUMBERS)
    fitting = [
        each for each in candidates if (lowest is None or each >= lowest) and (highest is None or each <= highest)
    ]
    number = rng.choice(fitting)
    return int(number) if whole else number
