"""Requests generated from our own document, sent to a running server with the demo community.

schemathesis makes bodies and parameters that the document allows, and others that it refuses. The ids in them are
those of the community and of what earlier requests created: an answer tells the values of its own ids (`guild_id`),
and those of the rows below its path (`/roles` those of `/roles/{role_id}`).

`Search.problems` has what no answer may be: a server error, one whose body is not as described, the acceptance of a
body or parameter that the document refuses, and a refusal in another shape than the API's.
"""

import json
import random
from collections import defaultdict
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple, Protocol

import msgspec
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import Unsatisfiable
from schemathesis import GenerationMode

import moothall.gateway.endpoints  # noqa: F401 its rows
from moothall.kernel.endpoint import REGISTRY, Endpoint
from moothall.kernel.form import coerce
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.text import clean_name
from moothall.resources import load_endpoints
from tests.conformance.own_schema import Undescribed, check_described, document, validator
from tests.serving import RunningServer

load_endpoints()

ROWS = sorted(REGISTRY.values(), key=lambda row: (row.path, row.method))
ENDS_IT_ALL = frozenset({"log_out", "delete_guild"})
"""Rows after which the others have nothing left to work on."""
_END_MUCH = frozenset({"reset_application_secret", "reset_bot_token", "modify_guild", "leave_guild"})
"""Rows that may take from a caller what the other rows are about."""


def _order(row: Endpoint) -> tuple[bool, bool]:
    return row.method == "DELETE" or row.name in _END_MUCH, row.method != "POST"


TRIED = sorted((row for row in ROWS if row.name not in ENDS_IT_ALL), key=_order)
"""Rows that make things first, rows that end them last."""


def in_some_order(number: int) -> list[Endpoint]:
    """The rows in an order made from a number, save that those that end things are last."""
    rows = list(TRIED)
    random.Random(number).shuffle(rows)
    return sorted(rows, key=_order)


NUMBERS_TOO = frozenset({"snowflake", "permissions"})
"""Formats of text that may be sent as numbers as well, as the public API reads them."""

_MAX_VALUES = 200
"""Values kept for a parameter; the newest replace others at random."""
_EXPLORED = 6
"""Times that every row is read before the search."""
_TIMEOUT = 30
_EVERY_ID: list[str] = []


@st.composite
def _snowflakes(draw: st.DrawFn) -> str:
    number = draw(st.integers(0, 2**32))
    return _EVERY_ID[number % len(_EVERY_ID)] if _EVERY_ID and number % 4 else str(number)


schemathesis.openapi.format("snowflake", _snowflakes())


_TOMORROW = datetime.now(UTC).replace(microsecond=0) + timedelta(days=1)
_PIXEL = (
    "data:image/png;base64,"
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR4nGP4z8DwHwAFAAH/iZk9HQAAAABJRU5ErkJggg=="
)
_COMMAND = {"name": "command", "description": "what it does"}
_EVENT = {
    "name": "Event",
    "privacy_level": 2,
    "entity_type": 3,
    "entity_metadata": {"location": "hall"},
    "scheduled_start_time": _TOMORROW.isoformat(),
    "scheduled_end_time": (_TOMORROW + timedelta(hours=1)).isoformat(),
}
_POLL = {
    "question": {"text": "Which?"},
    "answers": [{"poll_media": {"text": "this"}}, {"poll_media": {"text": "that"}}],
    "duration": 1,
}
_RULE = {
    "name": "Rule",
    "event_type": 1,
    "trigger_type": 1,
    "trigger_metadata": {"keyword_filter": ["word"]},
    "actions": [{"type": 1}],
}
_BOT, _OWNER = 1, 0
CREATED: list[tuple[int, str, Any]] = [
    (_OWNER, "/channels/{channel_id}/messages", {"poll": _POLL}),
    (_OWNER, "/channels/{channel_id}/messages", {"content": "hello"}),
    (_BOT, "/channels/{channel_id}/messages", {"content": "hello"}),
    (_OWNER, "/channels/{channel_id}/messages/{message_id}/threads", {"name": "thread"}),
    (_OWNER, "/channels/{channel_id}/invites", {}),
    (_OWNER, "/channels/{channel_id}/webhooks", {"name": "Hook"}),
    (_OWNER, "/guilds/{guild_id}/auto-moderation/rules", _RULE),
    (_OWNER, "/guilds/{guild_id}/emojis", {"name": "pixel", "image": _PIXEL}),
    (_OWNER, "/guilds/{guild_id}/scheduled-events", _EVENT),
    (_OWNER, "/guilds/{guild_id}/templates", {"name": "template"}),
    (_OWNER, "/applications", {"name": "Another"}),
    (_OWNER, "/teams", {"name": "team"}),
    (_BOT, "/applications/{application_id}/commands", _COMMAND),
    (_BOT, "/applications/{application_id}/guilds/{guild_id}/commands", _COMMAND),
    (_BOT, "/applications/{application_id}/emojis", {"name": "pixel", "image": _PIXEL}),
]
"""What a community gets besides the demo: the caller, the path and body of each POST."""


class Problem(NamedTuple):
    """What an answer may not be, with the request that got it."""

    row: str
    kind: str
    request: str
    answer: str

    def __str__(self) -> str:
        return f"{self.row}: {self.kind}\n  {self.request}\n  {self.answer}"


class Community:
    """The demo community of a running server, and what requests can name in it."""

    def __init__(self, server: RunningServer, *arguments: str) -> None:
        self.server = server
        self.url = f"{server.url}/api/v10"
        printed = server.command("demo", "--json", *arguments)
        assert printed.returncode == 0, printed.stderr
        self.record = json.loads(printed.stdout)
        people = self.record["people"]
        self.tokens = [people[0]["token"], f"Bot {self.record['bot']['token']}", people[1]["token"], ""]
        self.values: dict[str, list[str]] = defaultdict(list)
        """By the name of a parameter."""
        self.places: dict[str, list[dict[str, str]]] = defaultdict(list)
        """The parameters of things that exist, by the path of their row."""
        guild = self.record["guild"]
        self.add("guild_id", guild["id"])
        for kind in ("channel", "role"):
            for value in guild[f"{kind}s"].values():
                self.add(f"{kind}_id", value)
        for person in (*people, self.record["bot"]):
            self.add("user_id", person["id"])
        self.add("application_id", self.record["bot"]["application_id"])
        webhook = self.record["webhook"]
        self.add("webhook_id", webhook["id"])
        self.add("webhook_token", webhook["token"])
        self.places["/webhooks/{webhook_id}/{webhook_token}"].append(
            {"webhook_id": webhook["id"], "webhook_token": webhook["token"]}
        )
        self.add("emoji_name", "\N{GRINNING FACE}")
        self._create()
        self._explore()

    def add(self, name: str, value: Any) -> None:
        """Remember a value of a parameter."""
        if not isinstance(value, str) or not value or len(value) > 200:
            return
        values = self.values[name]
        if value in values:
            return
        if len(values) < _MAX_VALUES:
            values.append(value)
        else:
            values[hash(value) % _MAX_VALUES] = value
        if value.isdigit():
            _EVERY_ID.append(value)

    def learn(self, row: Endpoint, parameters: dict[str, str], answer: Any) -> None:
        """Remember what an answer names."""
        for below in _rows_below(row.path):
            name = below.rpartition("{")[2].rstrip("}")
            for item in answer if isinstance(answer, list) else [answer]:
                value = _identity(item, name)
                if value:
                    self.add(name, value)
                    places = self.places[below]
                    if len(places) < _MAX_VALUES:
                        places.append(parameters | {name: value})
        self._learn_ids(answer, 0)

    def _learn_ids(self, node: Any, depth: int) -> None:
        if depth > 6:
            return
        if isinstance(node, list):
            for item in node[:20]:
                self._learn_ids(item, depth + 1)
        elif isinstance(node, dict):
            for key, value in node.items():
                if key.endswith("_id") or key == "code":
                    self.add(key, value)
                elif isinstance(value, dict):
                    self.add(f"{key}_id", value.get("id"))
                if isinstance(value, dict | list):
                    self._learn_ids(value, depth + 1)

    def parameters(self, row: Endpoint, drawn: dict[str, Any], chance: random.Random) -> dict[str, Any]:
        """The parameters of a row's path: of one thing that exists, of several, or as they were drawn."""
        if chance.random() < 0.08:
            return drawn
        chosen: dict[str, str] = {}
        if chance.random() < 0.85:
            # The nearest path of those whose things tell most of the parameters.
            telling = [path for path, places in self.places.items() if drawn.keys() & places[0].keys()]
            if telling:
                path = max(
                    telling, key=lambda p: (len(drawn.keys() & self.places[p][0].keys()), row.path.startswith(p))
                )
                chosen = chance.choice(self.places[path])
        return {
            name: chosen.get(name) or (chance.choice(self.values[name]) if self.values.get(name) else value)
            for name, value in drawn.items()
        }

    def fill_ids(self, node: Any, chance: random.Random) -> Any:
        """A body with ids of the right kind in it, mostly: `parent_id` is left, `channel_id` becomes a channel's."""
        if isinstance(node, list):
            return [self.fill_ids(item, chance) for item in node]
        if not isinstance(node, dict):
            return node
        placed: dict[str, Any] = {}
        for key, value in node.items():
            name = _parameter_named(key)
            known = self.values.get(name or "")
            if known and isinstance(value, str) and chance.random() < 0.8:
                placed[key] = chance.choice(known)
            elif known and isinstance(value, list) and all(isinstance(item, str) for item in value):
                placed[key] = [chance.choice(known) if chance.random() < 0.8 else item for item in value]
            else:
                placed[key] = self.fill_ids(value, chance)
        return placed

    def _create(self) -> None:
        webhook = self.record["webhook"]
        for caller, path, body in CREATED:
            row = REGISTRY["POST", path]
            named = {parameter.name: self.values[parameter.name][0] for parameter in row.path_parameters}
            parameters = named | {name: webhook["channel_id"] for name in named if name == "channel_id"}
            if "message_id" in named:
                parameters["message_id"] = self.values["message_id"][-1]
            headers = {"Authorization": self.tokens[caller]}
            url = self.url + path.format(**parameters)
            answer = requests.post(url, json=body, headers=headers, timeout=_TIMEOUT)
            assert answer.ok, (path, answer.text)
            self.learn(row, parameters, answer.json())

    def _explore(self) -> None:
        """Read every row that the owner may read, again and again: each time with what the earlier ones named."""
        with requests.Session() as session:
            session.headers["Authorization"] = self.tokens[0]
            chance = random.Random(0)
            for row in [row for row in TRIED if row.method == "GET"] * _EXPLORED:
                named = {parameter.name: "0" for parameter in row.path_parameters}
                parameters = self.parameters(row, named, chance)
                answer = session.get(self.url + row.path.format(**parameters), timeout=_TIMEOUT)
                if answer.ok and answer.headers.get("content-type") == "application/json":
                    self.learn(row, parameters, answer.json())


@cache
def _rows_below(path: str) -> list[str]:
    """Paths that have one more placeholder than a path, at its end."""
    return sorted({row.path for row in ROWS if row.path.rpartition("/{")[0] == path and row.path.endswith("}")})


def _identity(item: Any, name: str) -> str:
    if not isinstance(item, dict):
        return ""
    user = item.get("user")
    of_user = user.get("id") if isinstance(user, dict) and name == "user_id" else None
    value = of_user or item.get(name) or item.get("id" if name.endswith("_id") else name.removeprefix("webhook_"))
    return value if isinstance(value, str) else ""


_ALIASES = {"parent_id": "channel_id", "roles": "role_id", "owner_id": "user_id", "ids": "message_id"}
_KINDS = ("channel", "role", "user", "message", "guild", "emoji", "sticker", "sound", "webhook", "application", "event")


@cache
def _parameter_named(key: str) -> str | None:
    """The parameter whose values a field takes: `system_channel_id` those of `channel_id`."""
    if key in _ALIASES:
        return _ALIASES[key]
    stem = key.removesuffix("_ids").removesuffix("_id") if key.endswith(("_id", "_ids")) else ""
    return next((f"{kind}_id" for kind in _KINDS if stem.endswith(kind)), None)


@cache
def _described() -> Any:
    return schemathesis.openapi.from_dict(document())


@cache
def _strategy(row: Endpoint, mode: GenerationMode) -> Any:
    return _described()[row.path][row.method].as_strategy(generation_mode=mode)


class Search:
    """Sends generated requests, and collects what no answer may be."""

    def __init__(self, community: Community, number: int) -> None:
        self.community = community
        self.number = number
        """The number that everything random is made from."""
        self.requests = 0
        self.accepted = 0
        self.problems: dict[tuple[str, str], Problem] = {}
        self._chance = random.Random(number)
        self._sessions = []
        for token in community.tokens:
            session = requests.Session()
            if token:
                session.headers["Authorization"] = token
            self._sessions.append(session)

    def close(self) -> None:
        """Close the connections to the server."""
        for session in self._sessions:
            session.close()
        _EVERY_ID.clear()

    def try_row(self, row: Endpoint, *, allowed: int, refused: int, times: int = 1) -> None:
        """Send requests of a row that the document allows, and some that it refuses, each several times."""
        for mode, count in ((GenerationMode.POSITIVE, allowed), (GenerationMode.NEGATIVE, refused)):
            try:
                self._run(row, mode, count, times)
            except Unsatisfiable:
                # A row without body and parameters has nothing that could be refused.
                assert mode is GenerationMode.NEGATIVE, row.name

    def _run(self, row: Endpoint, mode: GenerationMode, count: int, times: int) -> None:
        @seed(self.number)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=_strategy(row, mode))
        def run(case: Any) -> None:
            drawn_path, drawn_body = dict(case.path_parameters), case.body
            for _ in range(times):
                case.path_parameters = self.community.parameters(row, drawn_path, self._chance)
                if mode is GenerationMode.POSITIVE:
                    case.body = self.community.fill_ids(drawn_body, self._chance)
                self._send(row, case)

        run()

    def _send(self, row: Endpoint, case: Any) -> None:
        session = self._chance.choices(self._sessions, (7, 2, 1, 0.3))[0]
        # The document asks for a token, and the sessions have valid ones.
        case.headers = {name: value for name, value in case.headers.items() if name.lower() != "authorization"}
        arguments = case.as_transport_kwargs(base_url=self.community.url)
        try:
            answer = session.request(**arguments, timeout=_TIMEOUT)
        except (requests.exceptions.InvalidHeader, UnicodeError):
            return  # the client refuses to send it
        self.requests += 1
        for kind in judge(row, case.query, case.path_parameters, arguments.get("json"), answer):
            signature = kind.split(":")[0] if kind.startswith("server error") else kind
            self.problems.setdefault(
                (row.name, signature),
                Problem(
                    f"{row.method} {row.path}",
                    kind,
                    f"{answer.request.url} {ascii(answer.request.body)[:1500]}",
                    f"{answer.status_code} {answer.text[:400]}",
                ),
            )
        if answer.ok:
            self.accepted += 1
            if answer.content and answer.headers.get("content-type") == "application/json":
                self.community.learn(row, dict(case.path_parameters), answer.json())


def judge(row: Endpoint, query: Any, path: Any, body: Any, answer: requests.Response) -> Iterator[str]:
    """What is wrong with an answer to a request; `body` is the JSON that was sent, None for none."""
    if answer.status_code >= 500:
        yield f"server error: {answer.status_code}"
    elif not answer.ok:
        yield from _wrong_refusal(row, answer)
    else:
        try:
            check_described(row, answer.status_code, answer.content, often=None)
        except (Undescribed, msgspec.DecodeError) as error:
            yield f"answer not as described: {error}"
        if body is not None:
            yield from _refused_body(row, body)
        yield from _refused_parameters(row, "query", query)
        yield from _refused_parameters(row, "path", path)


def _refused_body(row: Endpoint, body: Any) -> Iterator[str]:
    content = document()["paths"][row.path][row.method.lower()].get("requestBody", {}).get("content", {})
    if "application/json" not in content:
        return
    path = row.path.replace("~", "~0").replace("/", "~1")
    pointer = f"/paths/{path}/{row.method.lower()}/requestBody/content/application~1json/schema"
    schema = validator(pointer)
    if row.body is not None:
        # One rule for every field: `10.0` and `"10"` are integers, numbers are texts (test_coercion).
        form_errors = FormErrors()
        body = coerce(row.body.kind, body, [], form_errors)
        try:
            form_errors.raise_if_any()
        except Refusal as refusal:
            yield f"accepted a body that the document refuses: {'.'.join(refusal.errors or {})}"
    # Names are stripped of what cannot be seen before they are measured, so both are looked at.
    stripped = {(*error.absolute_path, error.validator) for error in schema.iter_errors(_stripped(body))}
    for error in schema.iter_errors(body):
        known = error.validator == "type" and error.schema.get("format") in NUMBERS_TOO
        if not known and (*error.absolute_path, error.validator) in stripped:
            where = ".".join("*" if isinstance(part, int) else str(part) for part in error.absolute_path)
            yield f"accepted a body that the document refuses: {where}: {error.message[-120:]}"


def _stripped(node: Any) -> Any:
    if isinstance(node, str):
        return clean_name(node)
    if isinstance(node, list):
        return [_stripped(item) for item in node]
    return {key: _stripped(value) for key, value in node.items()} if isinstance(node, dict) else node


def _refused_parameters(row: Endpoint, location: str, sent: Any) -> Iterator[str]:
    """Parameters of which no reading of the text that was sent is allowed. Unknown ones are ignored by the API."""
    for index, parameter in enumerate(document()["paths"][row.path][row.method.lower()]["parameters"]):
        values = (sent or {}).get(parameter["name"], [])
        if parameter["in"] != location:
            continue
        path = row.path.replace("~", "~0").replace("/", "~1")
        schema = validator(f"/paths/{path}/{row.method.lower()}/parameters/{index}/schema")
        for value in values if isinstance(values, list) and len(values) == 1 else [values]:
            readings = list(_readings(value))
            if readings and not any(schema.is_valid(reading) for reading in readings):
                yield f"accepted a parameter that the document refuses: {parameter['name']}={value!r}"


def _readings(value: Any) -> Iterator[Any]:
    """The values that a parameter may stand for: all of it is text on the way, and lists are delimited by commas."""
    if isinstance(value, list):
        if value:
            yield [reading for item in value for reading in list(_readings(item))[:1]]
            yield [str(item) for item in value]
    elif value is not None:
        text = {True: "true", False: "false"}.get(value, str(value)) if isinstance(value, bool) else str(value)
        with suppress(ValueError):
            yield json.loads(text.lower())
        yield text
        yield text.split(",")
        yield {"1": True, "0": False}.get(text)


def _wrong_refusal(row: Endpoint, answer: Any) -> Iterator[str]:
    try:
        refusal = answer.json()
    except ValueError:
        yield "a refusal that is not JSON"
        return
    if row.access.own_credentials and answer.status_code in {400, 401}:
        if set(refusal) != {"error", "error_description"}:  # as OAuth2 has it (RFC 6749)
            yield "a refusal that is not of OAuth2"
        return
    if not {"code", "message"} <= set(refusal) <= {"code", "message", "errors", "retry_after", "global"}:
        yield f"a refusal with {', '.join(sorted(refusal))}"
    elif any("`" in error["message"] for error in refusal.get("errors", {}).get("_errors", ())):
        yield "a refusal that is about the body as a whole"


class Round(Protocol):
    """What a search did."""

    requests: int
    accepted: int
    problems: dict[tuple[str, str], Problem]


class Progress:
    """What long searches of earlier runs did, in a file: by engine, the next round and what the rounds met."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.engines: dict[str, dict[str, Any]] = json.loads(path.read_text()) if path.exists() else {}

    def of(self, engine: str) -> dict[str, Any]:
        """The state of an engine; `failed` are the rounds that met problems, which are searched again first."""
        return self.engines.setdefault(engine, {"next": 0, "requests": 0, "accepted": 0, "failed": {}})

    def record(self, engine: str, number: int, search: Round) -> None:
        """Write what a round did."""
        state = self.of(engine)
        state["next"] = max(state["next"], number + 1)
        state["requests"] += search.requests
        state["accepted"] += search.accepted
        state["failed"].pop(str(number), None)
        if search.problems:
            state["failed"][str(number)] = [str(problem) for problem in search.problems.values()]
        self._path.parent.mkdir(exist_ok=True)
        temporary = self._path.with_suffix(".new")
        temporary.write_text(json.dumps(self.engines, indent=1))
        temporary.replace(self._path)
