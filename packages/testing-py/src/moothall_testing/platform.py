"""The platform of one test: people, bots, time, faults and the transcript."""

import json
import random
import threading
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from pathlib import Path
from time import monotonic
from typing import Any, Final
from urllib.parse import urlencode

from moothall_testing.action import Action
from moothall_testing.advancing import advance
from moothall_testing.bot_errors import BotErrors, BotFailed, CaughtError
from moothall_testing.bots import READY_WITHIN, RunningBot
from moothall_testing.people import Person
from moothall_testing.processes import RunningProcess, RunningProgram
from moothall_testing.random_people import Crowd, Exploration
from moothall_testing.server_process import ServerProcess
from moothall_testing.traces import write_trace
from moothall_testing.waiting import Entry, Follower, RefusedError
from moothall_testing.warning_types import CATEGORIES, BotWarning
from moothall_testing.world import World

_BEFORE_RANDOM_PEOPLE: Final = "before-random-people"
_EXPECTED_WITHIN: Final = 1.0
"""Seconds after the end of a test that an expected error has."""


class Guild:
    """A guild of the fixture."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.id = str(data["id"])
        self.name = str(data["name"])
        self.owner = str(data["owner"])
        self.channels: dict[str, str] = data["channels"]
        """The ids of channels by name."""
        self.roles: dict[str, str] = data["roles"]
        """The ids of roles by name."""


class BotApp:
    """An application with a bot, that no client is connected for yet."""

    def __init__(self, data: Mapping[str, Any]) -> None:
        self.id = str(data["id"])
        self.application_id = str(data["application_id"])
        self.name = str(data["name"])
        self.token = str(data["token"])
        self.public_key = str(data["public_key"])
        """The Ed25519 key that its interactions are signed with, in hexadecimal digits."""
        self.client_secret = str(data["client_secret"])


class Moothall:
    """A platform, fresh for its test. Actions are awaited, or waited for with `wait()` in synchronous tests.

    With `beside`, it is the platform of a module or session, with guilds of its own until `close`: the bots of the
    other one are there, and go on after it.
    """

    def __init__(self, server: ServerProcess, *, snapshot: str = "start", beside: "Moothall | None" = None) -> None:
        self._server = server
        server.errors = BotErrors()
        self._beside = beside
        self._others: set[str] = set()
        """The guilds of other tests, where bots are shared."""
        self._world = World(server, self._restored(snapshot) if beside is None else self._with_guilds(beside))
        self._bots: list[RunningBot | RunningProcess] = []
        self._people: list[Person] = []
        self._expected: set[str] = set()

    def _restored(self, snapshot: str) -> dict[str, Any]:
        restored: dict[str, Any] = self._server.control("POST", "/restore", {"name": snapshot})
        return restored

    def _with_guilds(self, beside: "Moothall") -> dict[str, Any]:
        """Create guilds, and wait until the bots of the other platform know of them."""
        control = self._server.control
        control("DELETE", "/faults")
        follower = Follower(beside._world)  # noqa: SLF001 of this class
        self._others = {guild["id"] for guild in control("GET", "")["guilds"]}
        guilds = control("POST", "/guilds")["guilds"]
        for bot in beside._bots:  # noqa: SLF001
            if not isinstance(bot, RunningProcess) or bot.is_connected:
                follower.until(partial(_has_joined, bot.name), within=READY_WITHIN, what=f"GUILD_CREATE for {bot.name}")
        control("DELETE", "/transcript")
        return {**control("GET", ""), "guilds": guilds}

    @property
    def url(self) -> str:
        """The URL of the server."""
        return str(self._world.info["url"])

    @property
    def api_url(self) -> str:
        """The base URL of its API."""
        return str(self._world.info["api_url"])

    @property
    def gateway_url(self) -> str:
        """The URL of its gateway."""
        return str(self._world.info["gateway_url"])

    # What is there

    def guild(self, name: str | None = None) -> Guild:
        """A guild by its name; the first without one. Raises LookupError."""
        return Guild(self._world.guild(name))

    def person(self, name: str) -> Person:
        """A person of the fixture, or one who was created, in the first text channel. Raises LookupError."""
        people = self._world.info["people"]
        if name not in people:
            raise LookupError(f"there is no person {name}, but {sorted(people)}")
        guilds = self._world.info["guilds"]
        where = guilds[0] if guilds else None
        channel = next(iter(where["channels"].values()), "") if where else ""
        person = Person(self._world, people[name], channel, None if where is None else where["id"])
        self._people.append(person)
        return person

    def bot_app(self, name: str | None = None) -> BotApp:
        """A bot of the fixture, or one that was created; the first without a name. Raises LookupError."""
        return BotApp(self._bot(name))

    def create_person(self, name: str, *, member: bool = True) -> Action[Person]:
        """Create a person, who joins the first guild unless `member` is False."""

        def work() -> Person:
            guild_id = self._world.guild()["id"] if member else None
            self._world.control("POST", "/people", {"name": name, "guild_id": guild_id})
            self._refresh()
            return self.person(name)

        return Action(work)

    def create_bot(
        self,
        name: str,
        *,
        permissions: Sequence[str] = ("ADMINISTRATOR",),
        intents: Sequence[str] = ("GUILD_PRESENCES", "GUILD_MEMBERS", "MESSAGE_CONTENT"),
        member: bool = True,
    ) -> Action[BotApp]:
        """Create a bot with permissions and privileged intents; it joins the first guild unless `member` is False."""

        def work() -> BotApp:
            guild_ids = [self._world.guild()["id"]] if member else []
            body = {"name": name, "guild_ids": guild_ids, "permissions": [*permissions], "intents": [*intents]}
            self._world.control("POST", "/bots", body)
            self._refresh()
            return self.bot_app(name)

        return Action(work)

    def enable_activity(self, app: BotApp, targets: str | Mapping[str, str]) -> Action[None]:
        """Make an application an Activity that everyone can launch, served by `targets`.

        That is the target of all paths, such as `localhost:5173`, or a mapping of prefixes: `{"/": ..., "/api": ...}`.
        Names without a dot and addresses of this machine are reached over plain HTTP.
        """
        by_prefix = {"/": targets} if isinstance(targets, str) else targets

        def work() -> None:
            path = f"/applications/{app.application_id}"
            current = self._world.request("GET", "/applications/@me", authorization=f"Bot {app.token}")
            owner_id = current["owner"]["id"]
            owner = next(each for each in self._world.info["people"].values() if each["id"] == owner_id)
            released = {"client_platform_config": {"web": {"release_phase": "global_launch"}}}
            url_map = [{"prefix": prefix, "target": target} for prefix, target in by_prefix.items()]
            for method, rest, body in (
                # The command `authorize` of the SDK needs one, and goes to none.
                ("PATCH", "", {"redirect_uris": current.get("redirect_uris") or ["https://127.0.0.1"]}),
                ("POST", "/set-embedded", {"embedded": True}),
                ("PATCH", "/embedded-activity-config", released),
                ("POST", "/proxy-config", {"url_map": url_map}),
            ):
                self._world.request(method, path + rest, body, authorization=owner["token"])

        return Action(work)

    def load(self, source: Path | str | Mapping[str, Any]) -> Action[None]:
        """Create the community of a file (JSON or YAML) or of a mapping beside what is there."""

        def work() -> None:
            self._world.control("POST", "/load", source if isinstance(source, Mapping) else read_file(Path(source)))
            self._refresh()

        return Action(work)

    def dump(self, path: Path | str | None = None) -> Action[dict[str, Any]]:
        """The community as a mapping, and in a file (JSON or YAML) if there is a path."""

        def work() -> dict[str, Any]:
            community: dict[str, Any] = self._world.control("GET", "/dump")
            if path is not None:
                write_file(Path(path), community)
            return community

        return Action(work)

    def _refresh(self) -> None:
        """Read what was created since. Of guilds, those of other tests are left out."""
        info = self._world.control("GET", "")
        if self._beside is not None:
            info["guilds"] = [guild for guild in info["guilds"] if guild["id"] not in self._others]
        self._world.info = info

    def _bot(self, name: str | None) -> Mapping[str, Any]:
        bots: dict[str, dict[str, Any]] = self._world.info["bots"]
        if name is None and bots:
            return next(iter(bots.values()))
        if name is None or name not in bots:
            raise LookupError(f"there is no bot {name or ''}, but {sorted(bots)}")
        return bots[name]

    # Bots

    def start_bot(self, target: object, *, bot: str | None = None) -> Action[RunningBot]:
        """Start a bot and wait until it is ready; it ends with the test.

        `target` is a client, a function that returns one, or `package.module:name` of either; `bot` is the name of the
        bot in the fixture.
        """

        def work() -> RunningBot:
            running = RunningBot(self._world, self._bot(bot), target)
            self._bots.append(running)
            return running

        return Action(work)

    def start_process(
        self,
        command: Sequence[str],
        *,
        bot: str | None = None,
        environment: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        ready: Callable[[], bool] | None = None,
        interactions: str | None = None,
    ) -> Action[RunningProcess]:
        """Start a bot of any language as a process, and wait until it is connected, or until `ready` says so.

        `{port}` in the command and the environment is a free port. With `interactions`, a path such as
        `/interactions`, it is a bot without a gateway that serves there: its application receives interactions by HTTP.
        """

        def work() -> RunningProcess:
            running = RunningProcess(
                self._world,
                self._bot(bot),
                command,
                environment=environment,
                cwd=cwd,
                ready=ready,
                serves=interactions is not None,
            )
            self._bots.append(running)
            if interactions is not None:
                url = f"http://127.0.0.1:{running.port}{interactions}"
                body, authorization = {"interactions_endpoint_url": url}, f"Bot {running.token}"
                self._world.request("PATCH", "/applications/@me", body, authorization=authorization)
            return running

        return Action(work)

    def start_program(
        self,
        *program: str,
        bot: str | None = None,
        python: str | None = None,
        environment: Mapping[str, str] | None = None,
        cwd: Path | str | None = None,
        ready: Callable[[], bool] | None = None,
    ) -> Action[RunningProgram]:
        """Start a bot of Python as it is deployed, `"bot.py"` or `"-m", "mybot"`, and wait until it is connected.

        `python` is its interpreter, which may be of another environment than the tests. Its library points at the
        server, errors that it does not handle fail the test, and `advance` moves its clock.
        """

        def work() -> RunningProgram:
            running = RunningProgram(
                self._world,
                self._bot(bot),
                program,
                python=python,
                environment=environment,
                cwd=cwd,
                ready=ready,
            )
            self._bots.append(running)
            return running

        return Action(work)

    def random_people(
        self,
        start: Callable[[], Action[Any]],
        *,
        steps: int = 100,
        seed: int | None = None,
        says: Sequence[str] = (),
        shrink_seconds: float = 30.0,
    ) -> Action[None]:
        """Let the people of the community do at random what a bot offers: commands, buttons, selects and modals.

        `start` starts the bot, such as `lambda: moothall.start_bot("mybot:client")`; `says` are texts that they say as
        well. It fails where the bot fails or does not answer, with the shortest way there that is found within
        `shrink_seconds`; for that the platform is restored and the bot started again and again. The same `seed` makes
        the same choices; without one each run makes others.
        """
        if self._beside is not None:
            raise ValueError("random_people needs a platform of the test's own: use the fixture moothall")

        def start_over() -> Crowd:
            self._stop_everyone()
            self._world.errors.forget_caught()
            self._world.info = self._restored(_BEFORE_RANDOM_PEOPLE)
            start().wait()
            return Crowd(self._world, [self.person(name) for name in self._world.info["people"]])

        def work() -> None:
            self._stop_everyone()
            self._world.control("POST", "/snapshots", {"name": _BEFORE_RANDOM_PEOPLE})
            chosen = random.randrange(1_000_000) if seed is None else seed  # noqa: S311 no secret
            Exploration(start_over, texts=says, shrink_seconds=shrink_seconds).run(steps, chosen)

        return Action(work)

    def close(self) -> None:
        """Stop the bots of the test, and let its people go offline."""
        self._stop_everyone()
        if self._beside is not None:
            self._server.control("DELETE", "/faults")
            for guild in self._world.info["guilds"]:
                with suppress(RefusedError):  # the test has deleted it
                    owner = self._world.owner_token(guild)
                    self._world.request("DELETE", f"/guilds/{guild['id']}", authorization=owner)

    def _stop_everyone(self) -> None:
        while self._people:
            self._people.pop().close()
        while self._bots:
            self._bots.pop().stop()

    # Time

    def advance(self, *, seconds: float = 0, minutes: float = 0, hours: float = 0, days: float = 0) -> Action[str]:
        """Move the platform's clock, and that of the bots; what is due by then has happened when it returns the time.

        Of bots those of `start_bot` and `start_program` follow: `time`, `datetime` and asyncio's timers.
        """
        total = seconds + 60 * minutes + 3600 * hours + 86_400 * days
        clocks = [bot.loop if isinstance(bot, RunningBot) else bot.link for bot in self._clocked_bots()]
        return Action(lambda: advance(self._world, clocks, total))

    def _clocked_bots(self) -> "list[RunningBot | RunningProgram]":
        bots = self._bots + ([] if self._beside is None else self._beside._bots)  # noqa: SLF001 of this class
        return [bot for bot in bots if isinstance(bot, RunningBot | RunningProgram)]

    # Faults

    def fails(
        self,
        kind: str,
        route: str | None = None,
        *,
        count: int | None = 1,
        actor: str | None = None,
        **fields: Any,
    ) -> Action[None]:
        """Let the next `count` requests of a route fail: rate_limit, error, slow, drop or hang.

        `route` is like `POST /channels/*/messages`. `fields` are those of the control API: `status` of an error,
        `seconds` of a rate limit or a slow answer, `scope` of a rate limit. Bots are affected; `actor` names another.
        """
        return self._control(
            "POST", "/faults", _without_none(kind=kind, route=route, actor=actor, **fields, count=count)
        )

    def rate_limits(
        self, route: str | None = None, *, count: int = 1, retry_after: float = 0.5, scope: str = "user"
    ) -> Action[None]:
        """Answer the bots' next requests of a route with 429."""
        return self.fails("rate_limit", route, count=count, seconds=retry_after, scope=scope)

    def duplicates(self, event: str | None = None, *, count: int = 1) -> Action[None]:
        """Send the next events of a name twice."""
        body = _without_none(kind="duplicate_event", event=event, count=count)
        return self._control("POST", "/faults", body)

    def delays(self, event: str | None = None, *, seconds: float = 0.5, count: int = 1) -> Action[None]:
        """Send the next events of a name late, in real time."""
        body = _without_none(kind="late_event", event=event, seconds=seconds, count=count)
        return self._control("POST", "/faults", body)

    def breaks_gateway(self, action: str = "drop", *, actor: str | None = None, **fields: Any) -> Action[None]:
        """Let something happen to open gateway connections.

        reconnect, invalid_session (with `resumable`), drop, half_open, ignore_heartbeats or close (with `code`).
        """
        return self._control("POST", "/gateway", _without_none(action=action, actor=actor, **fields))

    def begins_outage(self, guild: Guild | None = None) -> Action[None]:
        """Make a guild unavailable."""
        return self._control("POST", "/outages", {"guild_id": (guild or self.guild()).id})

    def ends_outage(self, guild: Guild | None = None) -> Action[None]:
        """Make a guild available again."""
        return self._control("POST", "/outages/end", {"guild_id": (guild or self.guild()).id})

    def rough_seas(self, seed: int = 0, **probabilities: float) -> Action[None]:
        """Start random faults, the same for a seed."""
        return self._control("POST", "/rough-seas", {"seed": seed, **probabilities})

    def calms(self) -> Action[None]:
        """End all faults."""
        return self._control("DELETE", "/faults")

    def _control(self, method: str, path: str, body: Any = None) -> Action[None]:
        def work() -> None:
            self._world.control(method, path, body)

        return Action(work)

    # Transcript

    def entries(self) -> list[Entry]:
        """Everything that happened in the test so far, oldest first."""
        entries: list[Entry] = self._world.control("GET", "/transcript")["entries"]
        return entries

    def transcript(self) -> str:
        """Everything that happened in the test so far, a line each."""
        return "\n".join(entry["line"] for entry in self.entries())

    def write_transcript(self, path: Path) -> None:
        """Write the transcript as `.html`, or as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".html":
            path.write_text(self._world.control("GET", "/transcript.html"), encoding="utf-8")
        else:
            path.write_text(json.dumps(self.entries(), indent=1), encoding="utf-8")

    def write_trace(self, path: Path, title: str, outcome: str) -> None:
        """Write the page of the test: what people have seen step by step, beside the transcript.

        The server keeps that since `ServerProcess.trace`.
        """
        page = self._world.control("GET", f"/trace.html?{urlencode({'title': title, 'outcome': outcome})}")
        write_trace(path, page, self.url)

    def write_screenshots(self, folder: Path, name: str) -> None:
        """Write a picture of each window with an Activity that is open, as `NAME-PERSON.png`."""
        windows = {window: person.name for person in self._people for window in person.windows}
        for number, (window, person) in enumerate(windows.items()):
            window.screenshot(folder / f"{name}-{number or ''}{person}.png")

    def expects(self, *categories: type[BotWarning]) -> None:
        """Accept warnings of these kinds in this test."""
        self._expected |= {name for name, kind in CATEGORIES.items() if issubclass(kind, categories)}

    def expects_error(self, *kinds: type[BaseException] | str, match: str | None = None) -> list[CaughtError]:
        """Accept errors of the bots of these classes, or of classes with these names; the test fails without one.

        `match` is a regular expression that their traceback has. The list is of those that came.
        """
        if not kinds:
            raise ValueError("name the classes of the errors, such as expects_error(ValueError)")
        return self._world.errors.expect(kinds, match)

    def check_errors(self) -> None:
        """Raise BotFailed if a bot has failed in a way that the test does not expect, or has not as it does."""
        self._world.note_errors(self.entries())
        self._world.errors.raise_unexpected()
        deadline, pause = monotonic() + _EXPECTED_WITHIN, threading.Event()
        while missing := self._world.errors.missing():
            if monotonic() > deadline:
                raise BotFailed(f"a bot was expected to fail with {missing[0]}, and did not")
            pause.wait(0.02)
            self._world.note_errors(self.entries())

    def warnings(self) -> list[BotWarning]:
        """The warnings so far that the test does not expect."""
        return [
            CATEGORIES[entry["name"]](f"{entry.get('actor', '')}: {entry['text']}".lstrip(": "))
            for entry in self.entries()
            if entry["kind"] == "warning" and entry["name"] not in self._expected
        ]


def _has_joined(name: str, entry: Entry) -> bool:
    return bool(entry["kind"] == "dispatch" and entry["name"] == "GUILD_CREATE" and entry["actor"] == name)


def _without_none(*, count: int | None = None, **fields: Any) -> dict[str, Any]:
    """The fields that are set; `count` may be None, which is "until they are removed"."""
    body = {name: value for name, value in fields.items() if value is not None}
    return {**body, "count": count} if "kind" in body else body


def read_file(path: Path) -> Any:
    """The content of a JSON or YAML file. Raises ImportError for YAML without PyYAML."""
    if path.suffix in {".yaml", ".yml"}:
        return _yaml().safe_load(path.read_bytes())
    return json.loads(path.read_text(encoding="utf-8"))


def write_file(path: Path, community: Mapping[str, Any]) -> None:
    """Write a community as JSON or YAML. Raises ImportError for YAML without PyYAML."""
    if path.suffix in {".yaml", ".yml"}:
        path.write_text(_yaml().safe_dump(dict(community), sort_keys=False, allow_unicode=True), encoding="utf-8")
        return
    path.write_text(json.dumps(community, indent=2) + "\n", encoding="utf-8")


def _yaml() -> Any:
    try:
        import yaml  # noqa: PLC0415 an extra
    except ImportError:
        raise ImportError("YAML needs PyYAML: pip install 'moothall-testing[yaml]'") from None
    return yaml
