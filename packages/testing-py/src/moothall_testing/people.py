"""People: members who say, click, choose and use commands, over the API that a client for people uses."""

import base64
import json
import uuid
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Final
from urllib.parse import quote

from moothall_testing.action import Action
from moothall_testing.activities import ActivityWindow, open_window
from moothall_testing.content import Invocation, Message, ModalForm
from moothall_testing.person_gateway import PersonGateway
from moothall_testing.reactions import WITHIN, Act, Scene, is_event
from moothall_testing.sound import read_frames
from moothall_testing.waiting import Entry, Follower
from moothall_testing.world import World

_SUBCOMMAND, _GROUP = 1, 2
_ID_OPTIONS = frozenset({6, 7, 8, 9})
_ATTACHMENT = 11
_ENTRY_POINT = 4
_FRAMES_PER_SECOND: Final = 50
_LOOK_SECONDS: Final = 0.05


class Person:
    """A person in a channel. Every method returns an action: await it, or call its `wait`."""

    def __init__(self, world: World, data: Mapping[str, Any], channel_id: str, guild_id: str | None) -> None:
        self._world = world
        self._data = data
        self.id = str(data["id"])
        self.name = str(data["name"])
        self.token = str(data["token"])
        self.channel_id = channel_id
        """Where the person acts."""
        self.guild_id = guild_id
        self._gateways: list[PersonGateway] = []
        self._waited_for: dict[str, int] = {}
        """Frames that `hears` has waited for, by speaker."""
        self.windows: list[ActivityWindow] = []
        """The Activities that the person launched or joined in this test."""

    def __repr__(self) -> str:
        return f"<Person {self.name}>"

    @property
    def mention(self) -> str:
        """The text that mentions the person."""
        return f"<@{self.id}>"

    def in_channel(self, channel: object) -> "Person":
        """The same person in another channel: its name, its id, or an object with an id."""
        name = self._world.id_of(channel)
        channel_id = name if name.isdigit() else self._world.channel_id(name, self._guild())
        return self._elsewhere(channel_id, self.guild_id)

    def in_direct_messages_with(self, bot: object) -> Action["Person"]:
        """The same person in the direct messages with a bot."""

        def work() -> Person:
            channel = self.call("POST", "/users/@me/channels", {"recipient_id": self._world.id_of(bot)})
            return self._elsewhere(channel["id"], None)

        return Action(work)

    def _elsewhere(self, channel_id: str, guild_id: str | None) -> "Person":
        person = Person(self._world, self._data, channel_id, guild_id)
        person._gateways, person.windows = self._gateways, self.windows
        person._waited_for = self._waited_for
        return person

    def call(self, method: str, path: str, body: Any = None, **files: Any) -> Any:
        """Send a request as this person and return its parsed answer, without an event loop. Raises RefusedError."""
        return self._world.request(method, path, body, authorization=self.token, **files)

    def requests(self, method: str, path: str, body: Any = None) -> Act[Any]:
        """Send any request of the API."""
        return self._act(lambda _follower: self.call(method, path, body))

    def close(self) -> None:
        """Leave voice channels and Activities, and go offline."""
        while self.windows:
            self.windows.pop().close()
        while self._gateways:
            self._gateways.pop().close()

    # Messages

    def says(self, content: str, *, files: Mapping[str, bytes] | None = None, **fields: Any) -> Act[Message]:
        """Send a message; `fields` are those of the API."""
        body = {"content": content, **fields}
        if files:
            body["attachments"] = [{"id": number, "filename": name} for number, name in enumerate(files)]
        return self._act(lambda _follower: Message(self.call("POST", self._messages, body, files=files)))

    def uploads(self, name: str, content: bytes, *, text: str = "") -> Act[Message]:
        """Send a file."""
        return self.says(text, files={name: content})

    def replies(self, message: Message, content: str) -> Act[Message]:
        """Reply to a message."""
        return self.says(content, message_reference={"message_id": message.id})

    def edits(self, message: Message, content: str) -> Act[Message]:
        """Edit a message of one's own."""
        path = f"{self._messages}/{message.id}"
        return self._act(lambda _follower: Message(self.call("PATCH", path, {"content": content})))

    def deletes(self, message: Message) -> Act[None]:
        """Delete a message."""
        return self._act(lambda _follower: self.call("DELETE", f"{self._messages}/{message.id}"))

    def reacts(self, message: Message, emoji: str) -> Act[None]:
        """React to a message; a custom emoji is `name:id`."""
        path = f"{self._messages}/{message.id}/reactions/{quote(emoji)}/@me"
        return self._act(lambda _follower: self.call("PUT", path))

    def unreacts(self, message: Message, emoji: str) -> Act[None]:
        """Take back a reaction."""
        path = f"{self._messages}/{message.id}/reactions/{quote(emoji)}/@me"
        return self._act(lambda _follower: self.call("DELETE", path))

    def votes(self, message: Message, *answers: str) -> Act[None]:
        """Vote in a poll for the answers with these texts; for none, to take votes back."""

        def work(_follower: Follower) -> None:
            ids = {each["poll_media"].get("text"): each["answer_id"] for each in message.data["poll"]["answers"]}
            missing = [answer for answer in answers if answer not in ids]
            if missing:
                raise AssertionError(f"the poll has no answer {missing[0]!r}, but {list(ids)}")
            body = {"answer_ids": [str(ids[answer]) for answer in answers]}
            self.call("PUT", f"/channels/{message.channel_id}/polls/{message.id}/answers/@me", body)

        return self._act(work)

    def types(self) -> Act[None]:
        """Start typing."""
        return self._act(lambda _follower: self.call("POST", f"/channels/{self.channel_id}/typing"))

    def messages(self, limit: int = 50) -> Action[list[Message]]:
        """The latest messages of the channel, oldest first."""
        path = f"{self._messages}?limit={limit}"
        return Action(lambda: [Message(each) for each in reversed(self.call("GET", path))])

    # Commands and components

    def runs(self, command: str, /, **options: Any) -> Act[Invocation]:
        """Use a slash command. A subcommand is written as users see it: `runs("role add", member=bob)`.

        Values of options are texts, numbers, booleans, people, roles, channels (by id or object), and for a file a
        pair of name and bytes.
        """
        return self._act(lambda follower: self._run(follower, command, options))

    def runs_on_user(self, command: str, user: object) -> Act[Invocation]:
        """Use a command of a user's menu."""
        return self._act(lambda follower: self._run_on(follower, command, 2, user))

    def runs_on_message(self, command: str, message: Message) -> Act[Invocation]:
        """Use a command of a message's menu."""
        return self._act(lambda follower: self._run_on(follower, command, 3, message))

    def autocompletes(self, command: str, focused: str, /, **options: Any) -> Action[list[Any]]:
        """Type into an option of a slash command; returns the values of the choices that the bot offers."""

        def work() -> list[Any]:
            follower = Follower(self._world)
            nonce = uuid.uuid4().hex[:24]
            declared_command, path = self._find_command(command)
            data = _command_data(declared_command, path, self._options(declared_command, path, options, focused)[0])
            self._interact(4, declared_command["application_id"], data, nonce=nonce)

            def accepts(entry: Entry) -> bool:
                return is_event(entry, "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE") and entry["data"]["nonce"] == nonce

            entry = follower.until(accepts, within=WITHIN, what="choices")
            return [choice["value"] for choice in entry["data"]["choices"]]

        return Action(work)

    def clicks(self, message: Message, button: str) -> Act[Invocation]:
        """Click the button with a label or custom id."""

        def work(follower: Follower) -> Invocation:
            component = message.button(button)
            return self._use_component(follower, message, component, [])

        return self._act(work)

    def chooses(self, message: Message, *values: object, select: str | None = None) -> Act[Invocation]:
        """Choose in a select menu: labels or values of options, people, roles, channels. `select` is its custom id."""

        def work(follower: Follower) -> Invocation:
            component = message.select(select)
            by_label = {option["label"]: option["value"] for option in component.get("options", ())}
            chosen = [by_label.get(str(value), self._world.id_of(value)) for value in values]
            return self._use_component(follower, message, component, chosen)

        return self._act(work)

    def submits(self, modal: ModalForm, /, **values: Any) -> Act[Invocation]:
        """Submit a modal; `values` are by the custom id of the field, lists for selects."""

        def work(follower: Follower) -> Invocation:
            data = {"id": modal.data["id"], "custom_id": modal.custom_id, "components": modal.submission(values)}
            return self._invoke(follower, 5, modal.application_id, data, f"modal {modal.custom_id}")

        return self._act(work)

    # Guilds and voice

    def joins(self, guild: object = None) -> Act[None]:
        """Join a guild by an invite of its owner; the first guild without one."""

        def work(_follower: Follower) -> None:
            where = self._world.guild(None if guild is None else str(getattr(guild, "name", guild)))
            channel_id = next(iter(where["channels"].values()))
            invite = self._world.request(
                "POST",
                f"/channels/{channel_id}/invites",
                {"unique": True},
                authorization=self._world.owner_token(where),
            )
            self.call("POST", f"/invites/{invite['code']}")

        return self._act(work)

    def leaves(self, guild: object = None) -> Act[None]:
        """Leave a guild; the first one without a name."""

        def work(_follower: Follower) -> None:
            where = self._world.guild(None if guild is None else str(getattr(guild, "name", guild)))
            self.call("DELETE", f"/users/@me/guilds/{where['id']}")

        return self._act(work)

    def joins_voice(self, channel: object) -> Act[None]:
        """Connect to a voice channel, to hear and to speak, until `leaves_voice`."""

        def work(_follower: Follower) -> None:
            name = self._world.id_of(channel)
            channel_id = name if name.isdigit() else self._world.channel_id(name, self._guild())
            if not self._gateways:
                self._gateways.append(PersonGateway(self._world.info["gateway_url"], self.token))
            gateway = self._gateways[0]
            server = gateway.join_voice(str(self.guild_id), channel_id, within=WITHIN)
            body = {"person": self.name, "session_id": gateway.session_id}
            body |= {"guild_id": server["guild_id"], "token": server["token"]}
            self._world.control("POST", "/voice", body)

        return self._act(work)

    def says_aloud(self, sound: Path | str | Sequence[bytes]) -> Act[None]:
        """Say an Ogg file with Opus, or frames of Opus of 20 ms; done when all is said."""

        def work(_follower: Follower) -> None:
            frames = read_frames(Path(sound)) if isinstance(sound, Path | str) else sound
            encoded = [base64.b64encode(frame).decode() for frame in frames]
            self._world.control("POST", "/voice/say", {"person": self.name, "frames": encoded})

        return self._act(work)

    def hears(self, speaker: object, *, seconds: float = 1.0, within: float | None = None) -> Action[None]:
        """Wait until a bot or a person has said so many seconds of sound, beside what was waited for before."""
        speaker_id = self._world.id_of(speaker)

        def work() -> None:
            limit = seconds + WITHIN if within is None else within
            deadline = monotonic() + limit
            needed = self._waited_for.get(speaker_id, 0) + round(seconds * _FRAMES_PER_SECOND)
            while True:
                heard = self._world.control("GET", f"/voice/heard?person={quote(self.name)}")["frames"]
                frames = heard.get(speaker_id, 0)
                if frames >= needed:
                    self._waited_for[speaker_id] = needed
                    return
                if monotonic() > deadline:
                    missing = (needed - frames) / _FRAMES_PER_SECOND
                    what = f"{self.name} did not hear {seconds:g} s of {speaker} within {limit:g} s"
                    raise AssertionError(f"{what}: {missing:g} s are missing")
                sleep(_LOOK_SECONDS)

        return Action(work)

    def leaves_voice(self) -> Act[None]:
        """Disconnect from voice."""

        def work(_follower: Follower) -> None:
            if not self._gateways:
                raise AssertionError(f"{self.name} is in no voice channel")
            self._gateways[0].set_voice(str(self.guild_id), None)
            self._world.control("DELETE", f"/voice?person={quote(self.name)}")
            self._waited_for.clear()

        return self._act(work)

    # Activities

    def launches_activity(self, app: object) -> Action[ActivityWindow]:
        """Launch the Activity of an application in the channel, with a client in headless Chromium.

        It is launched by the application's entry point command, or where that is not installed from the shelf.
        `moothall.enable_activity` makes an application an Activity.
        """
        application_id = str(getattr(app, "application_id", app))

        def work() -> ActivityWindow:
            index = self.call("GET", f"/channels/{self.channel_id}/application-command-index")["application_commands"]
            entry_point = (_ENTRY_POINT, application_id)
            command = next((each for each in index if (each["type"], each["application_id"]) == entry_point), None)
            window = self._open_window(self.channel_id)

            def launch() -> None:
                if command is None:
                    self.call("POST", f"/activities/{self.channel_id}/{application_id}", _session_of(window))
                else:
                    data = _command_data(command, [], [])
                    del data["options"]
                    self._interact(2, application_id, data, nonce=uuid.uuid4().hex[:24], session_id=window.session_id)

            window.enter(Follower(self._world), launch)
            return window

        return Action(work)

    def joins_activity(self, activity: ActivityWindow) -> Action[ActivityWindow]:
        """Join an Activity that another person launched; the window of this one."""

        def work() -> ActivityWindow:
            window = self._open_window(activity.channel_id)
            path = f"/activities/{activity.channel_id}/{activity.application_id}"
            window.enter(Follower(self._world), lambda: self.call("POST", path, _session_of(window)))
            return window

        return Action(work)

    def leaves_activity(self, activity: ActivityWindow | None = None) -> Action[None]:
        """Leave an Activity and close its window; the latest one without a window of this person."""

        def work() -> None:
            if not self.windows:
                raise AssertionError(f"{self.name} is in no Activity")
            window = self.windows[-1] if activity is None else activity
            self.windows.remove(window)
            window.leave(self.call)

        return Action(work)

    def _open_window(self, channel_id: str) -> ActivityWindow:
        window = open_window(self._world, self._data, self.guild_id, channel_id)
        self.windows.append(window)
        return window

    # How it is done

    @property
    def _messages(self) -> str:
        return f"/channels/{self.channel_id}/messages"

    def _guild(self) -> dict[str, Any] | None:
        return next((each for each in self._world.info["guilds"] if each["id"] == self.guild_id), None)

    def _act(self, work: Callable[[Follower], Any]) -> Act[Any]:
        return Act(Scene(self._world, self.channel_id, self.guild_id, self.id), work)

    def _interact(
        self,
        kind: int,
        application_id: str,
        data: dict[str, Any],
        *,
        nonce: str,
        files: Mapping[str, bytes] | None = None,
        **fields: Any,
    ) -> None:
        body = {
            "type": kind,
            "application_id": application_id,
            "channel_id": self.channel_id,
            "nonce": nonce,
            "data": data,
            **({} if self.guild_id is None else {"guild_id": self.guild_id}),
            **fields,
        }
        self.call("POST", "/interactions", json.loads(json.dumps(body)), files=files)

    def _invoke(
        self,
        follower: Follower,
        kind: int,
        application_id: str,
        data: dict[str, Any],
        name: str,
        **fields: Any,
    ) -> Invocation:
        nonce = uuid.uuid4().hex[:24]
        self._interact(kind, application_id, data, nonce=nonce, **fields)

        def accepts(entry: Entry) -> bool:
            return is_event(entry, "INTERACTION_CREATE") and entry["data"].get("nonce") == nonce

        entry = follower.until(accepts, within=WITHIN, what="interaction")
        return Invocation(entry["data"]["id"], name)

    def _use_component(
        self, follower: Follower, message: Message, component: dict[str, Any], values: list[str]
    ) -> Invocation:
        data: dict[str, Any] = {"component_type": component["type"], "custom_id": component["custom_id"]}
        if component["type"] != 2:
            data["values"] = values
        invocation = self._invoke(
            follower,
            3,
            message.application_id,
            data,
            f"component {component['custom_id']}",
            message_id=message.id,
            message_flags=message.data.get("flags", 0),
        )
        invocation.message_id = message.id
        return invocation

    def _find_command(self, name: str, kind: int = 1) -> tuple[dict[str, Any], list[str]]:
        """A command of the channel's menu by its name, and the names of its subcommands."""
        first, *rest = [name] if kind != 1 else name.removeprefix("/").split()
        index = self.call("GET", f"/channels/{self.channel_id}/application-command-index")
        commands: list[dict[str, Any]] = index["application_commands"]
        for command in commands:
            if command["name"] == first and command["type"] == kind:
                return command, rest
        raise AssertionError(f"there is no command {first}, but {sorted(each['name'] for each in commands)}")

    def _options(
        self, command: dict[str, Any], path: list[str], values: dict[str, Any], focused: str | None = None
    ) -> tuple[list[dict[str, Any]], dict[str, bytes]]:
        """The options of a command as they are sent, and the files that they refer to."""
        declared = command.get("options", [])
        for name in path:
            declared = _option(declared, name).get("options", [])
        files: dict[str, bytes] = {}
        options = []
        for name, value in values.items():
            option = _option(declared, name)
            plain = value
            if option["type"] in _ID_OPTIONS:
                plain = self._world.id_of(value)
            elif option["type"] == _ATTACHMENT:
                plain = str(len(files))
                files[value[0]] = value[1]
            sent = {"name": name, "type": option["type"], "value": plain}
            options.append({**sent, "focused": True} if name == focused else sent)
        return options, files

    def _run(self, follower: Follower, name: str, values: dict[str, Any]) -> Invocation:
        command, path = self._find_command(name)
        options, files = self._options(command, path, values)
        data = _command_data(command, path, options)
        more: dict[str, Any] = {}
        if files:
            data["attachments"] = [{"id": str(number), "filename": file} for number, file in enumerate(files)]
            more["files"] = files
        return self._invoke(follower, 2, command["application_id"], data, f"/{name}", **more)

    def _run_on(self, follower: Follower, name: str, kind: int, target: object) -> Invocation:
        command, _ = self._find_command(name, kind)
        data = {**_command_data(command, [], []), "target_id": self._world.id_of(target)}
        del data["options"]
        return self._invoke(follower, 2, command["application_id"], data, name)


def _session_of(window: ActivityWindow) -> dict[str, str]:
    return {"session_id": window.session_id}


def _option(declared: list[dict[str, Any]], name: str) -> dict[str, Any]:
    for option in declared:
        if option["name"] == name:
            return option
    raise AssertionError(f"the command has no option {name}, but {[option['name'] for option in declared]}")


def _command_data(command: dict[str, Any], path: list[str], options: list[dict[str, Any]]) -> dict[str, Any]:
    kinds = {0: [], 1: [_SUBCOMMAND], 2: [_GROUP, _SUBCOMMAND]}[len(path)]
    for name, kind in reversed(list(zip(path, kinds, strict=True))):
        options = [{"name": name, "type": kind, "options": options}]
    return {
        "id": command["id"],
        "name": command["name"],
        "type": command["type"],
        "version": command["version"],
        "options": options,
    }
