"""Requests generated from our own document, sent to a running server with the demo community.

schemathesis makes bodies and parameters that the document allows, and others that it refuses; `recombined` makes many
more of these. The ids in them are those of the community and of what earlier requests created: an answer tells the
values of its own ids (`guild_id`), and those of the rows below its path (`/roles` those of `/roles/{role_id}`).

`Search.problems` has what no answer may be: a server error, one whose body is not as described, the acceptance of a
body or parameter that the document refuses, and a refusal in another shape than the API's.
"""

import fcntl
import json
import random
import warnings
from collections import Counter, defaultdict
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from http.client import HTTPConnection, RemoteDisconnected
from pathlib import Path
from typing import Any, NamedTuple, Protocol
from urllib.parse import quote, urlencode, urlsplit

import msgspec
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from hypothesis.errors import HypothesisDeprecationWarning, Unsatisfiable
from schemathesis import GenerationMode
from schemathesis.core import NotSet
from schemathesis.transport.requests import prepare_query

from moothall.api.endpoint import Endpoint
from moothall.api.request.form import coerce
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.text import clean_name
from tests.conformance.community import ANONYMOUS, BEARER, BOT, EVERY_ID, EXPENDABLE, TIMEOUT, WEIGHTS, Community
from tests.conformance.own_schema import Undescribed, allows, check_described, document, validator
from tests.conformance.places import ROWS
from tests.conformance.recombined import NO_BODY, Case, Pool

_CALLERS = {"log_out": EXPENDABLE, "leave_guild": EXPENDABLE}
"""Who alone calls a row, as it ends much for its caller."""
_SPARING = frozenset({"delete_guild", "delete_application"})
"""Rows that never end what all other things hang on."""
_END_MUCH = frozenset(
    {
        "begin_guild_prune",
        "bulk_guild_ban",
        "create_guild_ban",
        "modify_guild",
        "reset_bot_token",
    }
)
"""Rows that may take from a caller what the other rows are about."""


def _order(row: Endpoint) -> tuple[bool, bool]:
    return row.method == "DELETE" or row.name in _END_MUCH, row.method != "POST"


TRIED = sorted(ROWS, key=_order)
"""Rows that make things first, rows that end them last."""


def in_some_order(number: int) -> list[Endpoint]:
    """The rows in an order made from a number, save that those that end things are last."""
    rows = list(TRIED)
    random.Random(number).shuffle(rows)
    return sorted(rows, key=_order)


def weight(row: Endpoint, *, last: bool) -> int:
    """How many requests of a row are worth sending in a pass: more where they differ more.

    Rows that end things are tried a little before the last pass, and in full in it.
    """
    if row.name in _END_MUCH or row.method == "DELETE":
        return 24 if last else 2 * (row.name not in _END_MUCH)
    return (
        18
        if row.signature.body is not None
        else 8
        if row.signature.query_parameters
        else 4
        if row.signature.path_parameters
        else 2
    )


_MAX_REPLACED = 15
"""Accounts, and tokens, that a search may lose."""
NUMBERS_TOO = frozenset({"snowflake", "permissions"})
"""Formats of text that may be sent as numbers as well, as the public API reads them."""


@st.composite
def _snowflakes(draw: st.DrawFn) -> str:
    number = draw(st.integers(0, 2**32))
    return EVERY_ID[number % len(EVERY_ID)] if EVERY_ID and number % 4 else str(number)


schemathesis.openapi.format("snowflake", _snowflakes())


class Problem(NamedTuple):
    """What an answer may not be, with the request that got it."""

    row: str
    kind: str
    request: str
    answer: str

    def __str__(self) -> str:
        return f"{self.row}: {self.kind}\n  {self.request}\n  {self.answer}"


@cache
def _described() -> Any:
    return schemathesis.openapi.from_dict(document())


@cache
def _strategy(row: Endpoint, mode: GenerationMode) -> Any:
    return _described()[row.path][row.method].as_strategy(generation_mode=mode)


class Answer(NamedTuple):
    """What a request got."""

    status: int
    media: str | None
    content: bytes

    @property
    def ok(self) -> bool:
        """Whether the request was accepted."""
        return self.status < 400

    def json(self) -> Any:
        """Its body. Raises ValueError for one that is not JSON."""
        return json.loads(self.content)


class Connection:
    """A connection to a server that is kept open."""

    def __init__(self, url: str) -> None:
        self._connection = HTTPConnection(urlsplit(url).netloc, timeout=TIMEOUT)

    def request(self, method: str, target: str, headers: dict[str, str], body: bytes | None) -> Answer:
        """One request. Raises ValueError for one that cannot be written."""
        for attempt in range(2):
            try:
                self._connection.request(method, target, body, headers)
                response = self._connection.getresponse()
                return Answer(response.status, response.headers.get("content-type"), response.read())
            except ValueError:
                self.close()
                raise
            except (RemoteDisconnected, ConnectionResetError, BrokenPipeError):
                self.close()  # as a server may where nothing was sent for a while
                if attempt:
                    raise
        raise AssertionError

    def close(self) -> None:
        """Close it; another request opens it again."""
        self._connection.close()


class Search:
    """Sends generated requests, and collects what no answer may be."""

    def __init__(self, community: Community, number: int) -> None:
        self.community = community
        self.number = number
        """The number that everything random is made from."""
        self.requests = 0
        self.accepted = 0
        self.by_row: dict[str, Counter[int]] = defaultdict(Counter)
        """How often a row answered with each status."""
        self.problems: dict[tuple[str, str], Problem] = {}
        self._chance = random.Random(number)
        self._connection = Connection(community.url)
        self._pools: dict[str, Pool] = {}
        self._accepted_by: dict[str, set[int]] = defaultdict(set)
        self._replaced: Counter[int] = Counter()

    def close(self) -> None:
        """Close the connection to the server."""
        self._connection.close()
        self.community.close()

    def try_row(
        self,
        row: Endpoint,
        *,
        allowed: int,
        refused: int,
        recombined: int,
        pools: int | None = None,
        sparing: bool = False,
    ) -> None:
        """Send requests of a row that the document allows, some that it refuses, and recombinations of them.

        The former are sent once in a search. They are those of number `pools`, so that several searches share them.
        `sparing`: delete nothing that all other things hang on.
        """
        sparing = sparing or row.name in _SPARING
        pool = self._pools.get(row.name)
        if pool is None:
            cases = generated_cases(row, self.number if pools is None else pools, allowed, refused)
            pool = self._pools[row.name] = Pool(row, cases, self.community.examples[row.name])
            for case in cases:
                self._send(row, pool, case, sparing=sparing)
        for _ in range(recombined):
            self._send(row, pool, pool.recombine(self._chance), sparing=sparing)

    def _caller(self, row: Endpoint) -> int:
        """Who calls a row: mostly one whom it accepted before."""
        if row.name in _CALLERS:
            return _CALLERS[row.name]
        if row.access.own_credentials and self._chance.random() < 0.9:
            return ANONYMOUS  # the credentials of a client are in the body
        if self._chance.random() < 0.5:
            for caller, word in ((BEARER, "access token"), (BOT, "bot")):
                if word in row.access.label:
                    return caller
        accepted = self._accepted_by[row.name]
        if accepted and self._chance.random() < 0.6:
            return self._chance.choice([*accepted])
        return self._chance.choices(range(len(WEIGHTS)), WEIGHTS)[0]

    def _send(self, row: Endpoint, pool: Pool, drawn: Case, *, sparing: bool) -> None:
        chance, community = self._chance, self.community
        if row.name == "create_interaction_response" and chance.random() < 0.5:
            community.open_interaction()
        path = community.parameters(row, drawn.path, chance)
        ends_thing = row.method == "DELETE" and row.path.endswith("}")
        if sparing and ends_thing and not community.kept.isdisjoint(list(path.values())[-1:]):
            return
        query = community.fill_query(drawn.query, chance) if isinstance(drawn.query, dict) else drawn.query
        body = drawn.body
        if body is not NO_BODY and not isinstance(body, bytes) and chance.random() < 0.92:
            body = community.fill_ids(body, chance)
        case = drawn._replace(path=path, query=query, body=body)
        caller = self._caller(row)
        token = community.tokens[caller]
        headers = {**case.headers, "Authorization": token} if token else dict(case.headers)
        try:
            media, content = written(row, case)
            if media is not None:
                headers["Content-Type"] = media
            target = _target(row, case)
            answer = self._connection.request(row.method, target, headers, content)
        except ValueError:
            return  # the client refuses to send it
        self.requests += 1
        self.by_row[row.name][answer.status] += 1
        sent = NO_BODY
        if answer.ok and content is not None and case.media == "application/json" and not isinstance(body, bytes):
            sent = json.loads(content)
        for kind in judge(row, query if isinstance(query, dict) else {}, path, sent, answer):
            signature = kind.split(":")[0] if kind.startswith("server error") else kind
            self.problems.setdefault(
                (row.name, signature),
                Problem(
                    f"{row.method} {row.path}",
                    kind,
                    f"{target} {ascii(content)[:1500]}",
                    f"{answer.status} {answer.content[:400]!a}",
                ),
            )
        if answer.status == 401 and caller in {EXPENDABLE, BEARER} and not row.access.own_credentials:
            self._replace(caller)
        if answer.ok:
            self._accepted_by[row.name].add(caller)
        self._learn(row, pool, case, answer)

    def _replace(self, caller: int) -> None:
        """Replace a caller whose account or token was lost, which happens a few times in a search."""
        if self._replaced[caller] < _MAX_REPLACED:
            self._replaced[caller] += 1
            if caller == BEARER:
                self.community.replace_token()
            else:
                self.community.replace_expendable()

    def _learn(self, row: Endpoint, pool: Pool, case: Case, answer: Answer) -> None:
        """Remember what an answer tells."""
        data: Any = answer.json() if answer.content and answer.media == "application/json" else None
        outcome: tuple[Any, ...] = (answer.status,)
        if answer.ok:
            self.accepted += 1
            if row.method != "DELETE":
                self.community.reached(row, case.path)
            if row.name == "reset_bot_token" and case.path["application_id"] == self.community.application_id:
                self.community.tokens[BOT] = f"Bot {data['token']}"
            if row.name == "log_in" and data.get("user_id") == self.community.expendable[-1]:
                self.community.tokens[EXPENDABLE] = data["token"]
            if row.name == "reset_client_secret" and case.path["application_id"] == self.community.application_id:
                self.community.values["client_secret"] = [data["secret"]]
            if row.name in {"create_interaction", "launch_embedded_activity"}:
                self.community.learn_events()
            if data is not None:
                self.community.learn(row, case.path, data)
            if row.method == "DELETE":
                self.community.forget(row, case.path)
        elif isinstance(data, dict):
            outcome = (answer.status, data.get("code"), *_error_paths(data.get("errors")))
        pool.keep(case, outcome, self._chance, accepted=answer.ok)


def _error_paths(errors: Any) -> Iterator[Any]:
    """Where errors lie and what they are, without the numbers of list items."""
    if isinstance(errors, dict):
        for key, value in errors.items():
            if key == "_errors":
                yield from (error.get("code") for error in value)
            else:
                yield "*" if key.isdigit() else key[:40]
                yield from _error_paths(value)


@cache
def generated_cases(row: Endpoint, number: int, allowed: int, refused: int) -> list[Case]:
    """Cases of a row that schemathesis makes from the document: some that it allows, some that it refuses."""
    cases: list[Case] = []
    for mode, count in ((GenerationMode.POSITIVE, allowed), (GenerationMode.NEGATIVE, refused)):

        @seed(number)
        @settings(
            max_examples=count,
            database=None,
            deadline=None,
            phases=[Phase.generate],
            suppress_health_check=list(HealthCheck),
        )
        @given(case=_strategy(row, mode))
        def draw(case: Any) -> None:
            # The document asks for a token, and the community has valid ones.
            headers = {name: value for name, value in case.headers.items() if name.lower() != "authorization"}
            query = prepare_query(case) or None
            body = NO_BODY if isinstance(case.body, NotSet) else case.body
            cases.append(Case(dict(case.path_parameters), query, headers, case.media_type, body))

        try:
            with warnings.catch_warnings():
                # The threads of the gateway's sessions use `random` meanwhile, which is taken for the strategies' use.
                warnings.simplefilter("ignore", HypothesisDeprecationWarning)
                draw()
        except Unsatisfiable:
            # A row without body and parameters has nothing that could be refused.
            assert mode is GenerationMode.NEGATIVE, row.name
    return cases


def written(row: Endpoint, case: Case) -> tuple[str | None, bytes | None]:
    """The media type and the bytes of a case's body. Raises ValueError for what cannot be written."""
    if case.body is NO_BODY or case.media is None:
        return None, None
    if case.media == "application/json":
        return case.media, case.body if isinstance(case.body, bytes) else _text(case.body).encode()
    if isinstance(case.body, dict) and any(isinstance(value, bytes) for value in case.body.values()):
        files = {name: ("file.png", value) for name, value in case.body.items() if isinstance(value, bytes)}
        texts = {
            name: value if isinstance(value, str) else _text(value)
            for name, value in case.body.items()
            if name not in files
        }
        form = requests.Request("POST", "http://localhost", data=texts, files=files).prepare()
        return _written(form)
    operation = _described()[row.path][row.method]
    body = case.body if isinstance(case.body, bytes) else json.loads(_text(case.body))
    made = operation.Case(path_parameters=case.path, body=body, media_type=case.media)
    arguments = made.as_transport_kwargs(base_url="http://localhost")
    prepared = requests.Request("POST", "http://localhost", data=arguments.get("data"), files=arguments.get("files"))
    media, content = _written(prepared.prepare())
    return arguments["headers"].get("Content-Type", media), content


def _written(request: requests.PreparedRequest) -> tuple[str | None, bytes | None]:
    media, body = request.headers.get("Content-Type"), request.body
    assert body is None or isinstance(body, str | bytes)
    content = body.encode() if isinstance(body, str) else body
    return media.decode() if isinstance(media, bytes) else media, content


def _text(value: Any) -> str:
    return json.dumps(value, default=lambda other: other.hex() if isinstance(other, bytes) else str(other))


def _target(row: Endpoint, case: Case) -> str:
    # What schemathesis draws for a path is quoted.
    path = {name: quote(str(value), safe="%!$&'()*+,:;=@~") for name, value in case.path.items()}
    query = case.query if isinstance(case.query, str) or case.query is None else _query_text(case.query)
    return f"/api/v10{row.path.format(**path)}{f'?{quote(query, safe=_QUERY_SAFE)}' if query else ''}"


_QUERY_SAFE = "%!$&'()*+,:;=@~/?[]"


def _query_text(query: dict[str, Any]) -> str:
    return urlencode({name: list(value) if isinstance(value, dict) else value for name, value in query.items()}, True)


def judge(row: Endpoint, query: Any, path: Any, body: Any, answer: Answer) -> Iterator[str]:
    """What is wrong with an answer to a request; `body` is the JSON that was sent, NO_BODY for none or another."""
    if answer.status >= 500:
        yield f"server error: {answer.status}"
    elif not answer.ok:
        yield from _wrong_refusal(row, answer)
    else:
        try:
            check_described(row, answer.status, answer.content, often=None)
        except (Undescribed, msgspec.DecodeError) as error:
            yield f"answer not as described: {error}"
        if body is not NO_BODY:
            yield from _refused_body(row, body)
        yield from _refused_parameters(row, "query", query)
        yield from _refused_parameters(row, "path", path)


def _refused_body(row: Endpoint, body: Any) -> Iterator[str]:
    content = document()["paths"][row.path][row.method.lower()].get("requestBody", {}).get("content", {})
    if "application/json" not in content:
        return
    path = row.path.replace("~", "~0").replace("/", "~1")
    pointer = f"/paths/{path}/{row.method.lower()}/requestBody/content/application~1json/schema"
    if row.signature.body is not None:
        # One rule for every field: `10.0` and `"10"` are integers, numbers are texts (test_coercion).
        form_errors = FormErrors()
        body = coerce(row.signature.body.kind, body, [], form_errors)
        try:
            form_errors.raise_if_any()
        except Refusal as refusal:
            yield f"accepted a body that the document refuses: {'.'.join(refusal.errors or {})}"
    if allows(pointer, body):
        return
    # Names are stripped of what cannot be seen before they are measured, so both are looked at.
    schema = validator(pointer)
    stripped = {(*error.absolute_path, error.validator) for error in schema.iter_errors(_stripped(body))}
    for error in schema.iter_errors(body):
        if not _is_number_too(error) and (*error.absolute_path, error.validator) in stripped:
            where = ".".join("*" if isinstance(part, int) else str(part) for part in error.absolute_path)
            yield f"accepted a body that the document refuses: {where}: {error.message[-120:]}"


def _is_number_too(error: Any) -> bool:
    """Whether an error is that of a number in place of a text that may be sent as one."""
    if error.validator == "anyOf":
        options: dict[int, list[Any]] = defaultdict(list)
        for inner in error.context:
            options[inner.schema_path[0]].append(inner)
        return any(all(map(_is_number_too, errors)) for errors in options.values())
    return (
        error.validator == "type"
        and error.schema.get("format") in NUMBERS_TOO
        and isinstance(error.instance, int)
        and not isinstance(error.instance, bool)
    )


def _stripped(node: Any) -> Any:
    if isinstance(node, str):
        return clean_name(node)
    if isinstance(node, list):
        return [_stripped(item) for item in node]
    return {key: _stripped(value) for key, value in node.items()} if isinstance(node, dict) else node


def _refused_parameters(row: Endpoint, location: str, sent: Any) -> Iterator[str]:
    """Parameters of which no reading of the text that was sent is allowed. Unknown ones are ignored by the API."""
    lists = {parameter.name for parameter in row.signature.query_parameters if parameter.is_list}
    for index, parameter in enumerate(document()["paths"][row.path][row.method.lower()]["parameters"]):
        values = (sent or {}).get(parameter["name"], [])
        if parameter["in"] != location:
            continue
        path = row.path.replace("~", "~0").replace("/", "~1")
        schema = validator(f"/paths/{path}/{row.method.lower()}/parameters/{index}/schema")
        # Of one that is repeated and is no list the last one counts.
        repeated = isinstance(values, list) and (len(values) == 1 or (values and parameter["name"] not in lists))
        for value in values[-1:] if repeated else [values]:
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


def _wrong_refusal(row: Endpoint, answer: Answer) -> Iterator[str]:
    try:
        refusal = answer.json()
    except ValueError:
        yield "a refusal that is not JSON"
        return
    if row.access.error_schema == "ScimError":
        if not {"schemas", "status", "detail"} <= set(refusal) <= {"schemas", "status", "detail", "scimType"}:
            yield "a refusal that is not of SCIM"
        return
    if row.access.own_credentials and answer.status in {400, 401}:
        if set(refusal) != {"error", "error_description"}:  # as OAuth2 has it (RFC 6749)
            yield "a refusal that is not of OAuth2"
        return
    proof = {"mfa"} if (answer.status, refusal.get("code")) == (401, 60003) else set()
    if not {"code", "message"} <= set(refusal) <= {"code", "message", "errors", "retry_after", "global"} | proof:
        yield f"a refusal with {', '.join(sorted(refusal))}"
    elif any("`" in error["message"] for error in refusal.get("errors", {}).get("_errors", ())):
        yield "a refusal that is about the body as a whole"


class Round(Protocol):
    """What a search did."""

    requests: int
    accepted: int
    by_row: dict[str, Counter[int]]
    """How often a row answered with each status."""
    problems: dict[tuple[str, str], Problem]


class Progress:
    """What long searches of earlier runs did, in a file: by engine, the next round and what the rounds met."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.engines: dict[str, dict[str, Any]] = self._read()

    def _read(self) -> dict[str, dict[str, Any]]:
        return json.loads(self._path.read_text()) if self._path.exists() else {}

    def of(self, engine: str) -> dict[str, Any]:
        """The state of an engine; `failed` are the rounds that met problems, which are searched again first."""
        return self.engines.setdefault(engine, {"next": 0, "requests": 0, "accepted": 0, "failed": {}, "rows": {}})

    def record(self, engine: str, number: int, search: Round) -> None:
        """Write what a round did. Another process may search on another engine."""
        state = self.of(engine)
        state["next"] = max(state["next"], number + 1)
        state["requests"] += search.requests
        state["accepted"] += search.accepted
        state["failed"].pop(str(number), None)
        if search.problems:
            state["failed"][str(number)] = [str(problem) for problem in search.problems.values()]
        for name, statuses in search.by_row.items():
            counts = state["rows"].setdefault(name, {})
            for status, count in statuses.items():
                counts[str(status)] = counts.get(str(status), 0) + count
        self._path.parent.mkdir(exist_ok=True)
        with self._path.with_suffix(".lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            self.engines = self._read() | {engine: state}
            temporary = self._path.with_suffix(".new")
            temporary.write_text(json.dumps(self.engines, indent=1))
            temporary.replace(self._path)
