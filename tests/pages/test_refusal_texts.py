"""The client shows what the API refuses in the language of its user: each message of the code has a text in all.

The messages are collected from the code itself, so that a new one fails here until it is translated. A key of the
catalogue is the English text, with `{0}`, `{1}` where the code inserts values.
"""

import ast
import itertools
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, NamedTuple

import pytest
import zxcvbn.feedback

_ROOT: Final = Path(__file__).parents[2]
_SOURCE: Final = _ROOT / "src" / "moothall"
_CATALOGUES: Final = _ROOT / "web" / "src" / "i18n" / "refusals"

_PLACEHOLDER: Final = re.compile(r"\{\d+\}")
_SENTENCE_END: Final = re.compile(r"(?<=[.!?]) (?=[A-Z])")
"""Where the client cuts a message of which it knows the sentences only."""

# The API itself. Not looked at: `web/` and `activities/` (pages and a proxy, whose texts are their own), `gateway/`
# (close codes), `cdn/` (files), `cli/`, `doctor/`, `test_server/` and `testing/` (operators and developers, not people
# in a client), `storage/` and `bus/` (faults, which answer "500: Internal Server Error").
_ROOMS: Final = ("objects", "authority", "api", "resources", "oauth2")

_ADDING: Final = {"add": 2, "refuse_field": 2, "_refuse": 2, "ErrorKind": 2, "FieldError": 1, "cls": 1}
"""Calls with a message as an argument, by name: its position."""
_REFUSING: Final = {"Refusal", "RecordedRefusal", "too_many_requests"}
"""Calls with a message as the keyword argument `message`."""
_EXCEPTIONS: Final = {"MalformedForm", "UrlRefused", "AddressRefused"}
"""Exceptions whose text becomes a message."""
_FORM_VALUES: Final = {
    "objects/email_address.py",
    "objects/ids.py",
    "objects/images.py",
    "objects/permissions.py",
    "objects/sound_data.py",
    "objects/wire.py",
}
"""Where the text of a ValueError becomes a message."""
_RETURNING: Final = {
    ("objects/url_mapping.py", "prefix_error"),
    ("objects/url_mapping.py", "target_error"),
    ("objects/images.py", "_too_large"),
    ("resources/interaction/endpoint_verification.py", "verify_endpoint"),
    ("resources/webhook_event/verification.py", "verify_event_webhook"),
    ("resources/role_connection/rules.py", "_expected"),
}
"""Functions that return messages, or a code with one."""

_NO_MESSAGES: Final = {
    ("api/ratelimit.py", "amount"): "counts requests",
    ("objects/ids.py", "'worker and process are 0 to 31'"): "a wrong setting",
    (
        "resources/user/account/operations.py",
        "f'{row.username} has no email address.'",
    ): "for the operator only",
    (
        "resources/account_deletion/operations/suspension.py",
        "f'{row.username} owns a team that has other members.'",
    ): "for the operator only",
}
"""Calls that look like refusals to the collection, with their argument and what they are."""

_PASSED_ON: Final = {
    (
        "api/request/form.py",
        "str(problem)",
    ): "exceptions of `_FORM_VALUES`, and msgspec's where `coerce` misses an error",
    ("api/request/images.py", "str(problem)"): "exceptions of `_FORM_VALUES`",
    ("api/pipeline.py", "message"): "the argument of `too_many_requests`",
    ("api/recorded_refusal.py", "message"): "the argument of `RecordedRefusal`",
    ("api/request/uploads.py", "str(problem)"): "MalformedForm",
    ("api/request/url_encoded.py", "message"): "OAuth2's own errors, which programs read",
    ("oauth2/oauth_errors.py", "description"): "the token endpoint's, whose errors programs read",
    ("objects/errors.py", "message"): "the argument of `refuse_field`",
    ("objects/images.py", "cls._too_large()"): "returned by that function",
    ("resources/application/embedded_activity/operations.py", "str(problem)"): "UrlRefused and AddressRefused",
    ("resources/application/embedded_activity/requests.py", "problem"): "returned by `objects/url_mapping.py`",
    ("resources/auto_moderation/operations/content.py", "_custom_message(incident.triggers)"): "written by moderators",
    ("resources/component/submissions.py", "str(problem)"): "exceptions of `_FORM_VALUES`",
    ("resources/component/validator.py", "message"): "the argument of `ComponentValidator.add`",
    ("resources/guild/prune/operations.py", "str(problem)"): "exceptions of `_FORM_VALUES`",
    ("resources/interaction/endpoint_verification.py", "NO_RESPONSE"): "in `_CONSTANTS`",
    ("resources/interaction/endpoint_verification.py", "str(problem)"): "UrlRefused",
    ("resources/message/reaction/operations.py", "errors.UNKNOWN_EMOJI.message"): "an ErrorKind's",
    ("resources/message/requests.py", "message"): "in `_CONSTANTS`",
    ("resources/scim/errors.py", "detail"): "SCIM's own errors, which programs read",
    ("resources/scheduled_event/recurrence.py", "message"): "the argument of `_refuse`",
    ("resources/user/password/strength.py", "problem"): "in `_CONSTANTS`, and zxcvbn's",
    ("resources/webhook_event/verification.py", "NO_RESPONSE"): "in `_CONSTANTS`",
    ("resources/webhook_event/verification.py", "response.status"): "of the function inside",
    ("resources/webhook_event/verification.py", "str(problem)"): "UrlRefused",
}
"""Messages that the code takes from elsewhere, by file and expression: from where."""
_CONSTANTS: Final = {
    ("resources/application/endpoint_requests.py", "NO_RESPONSE"),
    ("resources/message/requests.py", "UNSUPPORTED"),
    ("resources/user/password/strength.py", "_OWN_WORDS"),
    ("resources/user/password/strength.py", "_TOO_WEAK"),
}
"""Messages, or tables of them, that are used in other ways."""

_REGEX_PROBLEMS: Final = (
    "bad repetition operator: {}",
    "invalid UTF-8",
    "invalid character class range: {}",
    "invalid escape sequence: {}",
    "invalid named capture group: {}",
    "invalid perl operator: {}",
    "invalid repetition size: {}",
    "missing ): {}",
    "missing ]: {}",
    "no argument for repetition operator: {}",
    "the regular expression is too large",
    "trailing \\",
    "unexpected ): {}",
    "{}",
)
_DISCOVERY: Final = (
    "ask members for a verified email address",
    "be a Community guild",
    "have a description",
    "scan the media of all members",
)
_KINDS: Final = ("GUILD_TEXT", "GUILD_VOICE")
_VALUES: Final[Mapping[str, tuple[tuple[str, ...], ...]]] = {
    "A discoverable guild must {0}.": (_DISCOVERY,),
    "Invalid regular expression: {0}": (_REGEX_PROBLEMS,),
    "No {0} of this request has this id.": (_KINDS,),
    "This channel must be a {0}.": (_KINDS,),
    "To be discoverable, the guild must {0}.": (_DISCOVERY,),
    "Unknown {0}": (("channel", "role", "user"),),
    "Value {0} is not {1}.": (("{}",), ("int", "float")),
    "{0} value should be {1} {2}.": (
        ("int", "float"),
        ("greater than", "greater than or equal to", "less than", "less than or equal to"),
        ("{}",),
    ),
}
"""Messages whose values are English words: what stands for each placeholder. `{}` is any value."""
_BEFORE_A_SENTENCE: Final = {
    "The specified event webhooks url could not be verified. {0}",
    "The specified interactions endpoint url could not be verified. {0}",
}
"""Messages that end with another one."""


class Message(NamedTuple):
    """A message of the API, with where the code says it."""

    text: str
    line: str


class _File:
    """One file of the code, with what its names stand for."""

    def __init__(self, name: str, code: str) -> None:
        self.name = name
        self._tree = ast.parse(code)
        self._constants = dict(_assignments(self._tree.body))

    def messages(self) -> Iterator[Message]:
        """The messages of the file. Fails for one that cannot be read from the code, and is in no table."""
        yield from self._messages_below(self._tree, {})

    def _messages_below(self, node: ast.AST, names: dict[str, list[ast.expr]]) -> Iterator[Message]:
        for child in ast.iter_child_nodes(node):
            inner = names
            if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef):
                inner = _merged(names, _assignments(ast.walk(child)))
                if (self.name, child.name) in _RETURNING:
                    yield from self._returned(child, inner)
            if isinstance(child, ast.Call):
                for argument in _messages_of(child, self.name):
                    yield from self._texts(argument, inner, child.lineno)
            elif isinstance(child, ast.Tuple) and len(child.elts) == 2 and _is_code(child.elts[0]):
                yield from self._texts(child.elts[1], inner, child.lineno)
            yield from self._messages_below(child, inner)

    def _returned(self, function: ast.AST, names: dict[str, list[ast.expr]]) -> Iterator[Message]:
        for node in ast.walk(function):
            # A tuple of a code with its message is collected as such.
            if isinstance(node, ast.Return) and node.value is not None and not isinstance(node.value, ast.Tuple):
                yield from self._texts(node.value, names, node.lineno)

    def _texts(self, node: ast.expr, names: dict[str, list[ast.expr]], line: int) -> Iterator[Message]:
        source = ast.unparse(node)
        if (self.name, source) in _PASSED_ON.keys() | _NO_MESSAGES.keys():
            return
        texts = self._resolved(node, names)
        assert texts is not None, f"{self.name}:{line}: which messages may {source} be? See the tables of this test."
        yield from (Message(text, f"{self.name}:{line}") for text in texts)

    def _resolved(self, node: ast.expr, names: dict[str, list[ast.expr]]) -> list[str] | None:
        """The texts that an expression may be; None if the code does not show them."""
        if isinstance(node, ast.Constant):
            return [node.value] if isinstance(node.value, str) else [] if node.value is None else None
        if isinstance(node, ast.JoinedStr):
            return [self._template(node)]
        if isinstance(node, ast.IfExp):
            options: list[ast.expr] | None = [node.body, node.orelse]
        elif isinstance(node, ast.Name):
            options = names.get(node.id) or ([self._constants[node.id]] if node.id in self._constants else None)
        else:
            options = None
        if options is None:
            return None
        texts = [self._resolved(option, names) for option in options]
        return None if None in texts else [text for each in texts for text in each or ()]

    def _template(self, node: ast.JoinedStr) -> str:
        text, count = "", 0
        for part in node.values:
            if isinstance(part, ast.Constant):
                text += str(part.value)
                continue
            assert isinstance(part, ast.FormattedValue)
            constant = self._constants.get(part.value.id) if isinstance(part.value, ast.Name) else None
            if isinstance(constant, ast.Constant) and isinstance(constant.value, str):
                text += constant.value
            else:
                text += f"{{{count}}}"
                count += 1
        return text


def _assignments(nodes: Iterable[ast.AST]) -> Iterator[tuple[str, ast.expr]]:
    for node in nodes:
        if isinstance(node, ast.Assign) and len(node.targets) == 1 and isinstance(node.targets[0], ast.Name):
            yield node.targets[0].id, node.value
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value is not None:
            yield node.target.id, node.value


def _merged(names: dict[str, list[ast.expr]], assigned: Iterable[tuple[str, ast.expr]]) -> dict[str, list[ast.expr]]:
    own: dict[str, list[ast.expr]] = {}
    for name, value in assigned:
        own.setdefault(name, []).append(value)
    return names | own


def _messages_of(call: ast.Call, file: str) -> Iterator[ast.expr]:
    """The arguments of a call that are messages."""
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    unpacked = any(isinstance(argument, ast.Starred) for argument in call.args)  # a FieldError, collected itself
    position = _ADDING.get(name)
    if name == "cls" and file != "objects/form_codes.py":
        position = None
    if name in _EXCEPTIONS or (name == "ValueError" and file in _FORM_VALUES):
        position = 0
    if position is not None and len(call.args) > position and not unpacked:
        yield call.args[position]
    if position is not None or name in _REFUSING:
        yield from (keyword.value for keyword in call.keywords if keyword.arg == "message")


def _is_code(node: ast.expr) -> bool:
    return isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "FormCode"


def _constants() -> Iterator[Message]:
    for file, constant in sorted(_CONSTANTS):
        values = dict(_assignments(ast.parse((_SOURCE / file).read_text()).body))
        value = ast.literal_eval(values[constant])
        yield from (Message(text, file) for text in ([value] if isinstance(value, str) else value.values()))


def _password_advice() -> Iterator[Message]:
    """The sentences that zxcvbn says about a password."""
    for node in ast.walk(ast.parse(Path(zxcvbn.feedback.__file__).read_text())):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "_":
            for sentence in _SENTENCE_END.split(ast.literal_eval(node.args[0])):
                yield Message(sentence, "zxcvbn")


def _with_values(message: Message) -> Iterator[Message]:
    """A message, or one for each combination of its English words."""
    if message.text in _BEFORE_A_SENTENCE:
        yield message._replace(text=message.text.removesuffix(" {0}"))
        return
    for words in itertools.product(*_VALUES.get(message.text, ())):
        text = message.text
        for index, word in enumerate(words):
            text = text.replace(f"{{{index}}}", word)
        for number in range(text.count("{}") if words else 0):
            text = text.replace("{}", f"{{{number}}}", 1)
        yield message._replace(text=text)


@pytest.fixture(scope="module")
def messages() -> dict[str, str]:
    """Where each message is said."""
    paths = [path for room in _ROOMS for path in sorted((_SOURCE / room).rglob("*.py"))]
    paths.append(_SOURCE / "runtime" / "outgoing.py")
    files = [_File(path.relative_to(_SOURCE).as_posix(), path.read_text()) for path in paths]
    said = itertools.chain(*(file.messages() for file in files), _constants(), _password_advice())
    return {message.text: message.line for each in said for message in _with_values(each)}


@pytest.fixture(scope="module", params=["de", "fr", "es", "pt", "pl", "ja", "ar"])
def catalogue(request: pytest.FixtureRequest) -> dict[str, str]:
    """The texts of a language."""
    texts: dict[str, str] = json.loads((_CATALOGUES / f"refusals.{request.param}.json").read_text())
    return texts


def test_every_message_of_the_api_has_a_text_in_each_language(
    messages: dict[str, str], catalogue: dict[str, str]
) -> None:
    assert len(messages) > 500
    assert {text: line for text, line in messages.items() if not catalogue.get(text)} == {}


def test_the_catalogue_has_no_text_that_the_api_does_not_say(
    messages: dict[str, str], catalogue: dict[str, str]
) -> None:
    assert sorted(catalogue.keys() - messages.keys()) == []


def test_a_text_has_the_placeholders_of_the_english_one(catalogue: dict[str, str]) -> None:
    differing = [
        text
        for text, other in catalogue.items()
        if sorted(_PLACEHOLDER.findall(text)) != sorted(_PLACEHOLDER.findall(other))
    ]
    assert differing == []


def test_texts_are_sentences_with_quotation_marks_of_their_language(catalogue: dict[str, str]) -> None:
    for text in catalogue.values():
        assert text[0] == text[0].upper(), text
        assert re.search(r"[\"']|\s$|\s\s", text.replace('{"type": 1}', "JSON")) is None, text


def test_the_tables_name_what_the_code_has() -> None:
    """An entry for code that was removed would hide a message that takes its name."""
    trees = {file: ast.parse((_SOURCE / file).read_text()) for file, _ in _PASSED_ON.keys() | _NO_MESSAGES.keys()}
    sources = {
        file: {ast.unparse(node) for node in ast.walk(tree) if isinstance(node, ast.expr)}
        for file, tree in trees.items()
    }
    assert [entry for entry in _PASSED_ON.keys() | _NO_MESSAGES.keys() if entry[1] not in sources[entry[0]]] == []
    strings = {
        node.value
        for path in _SOURCE.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    assert [word for word in _DISCOVERY if word not in strings] == []


@pytest.mark.parametrize(
    ("code", "texts"),
    [
        ('form_errors.add("name", FormCode.X, "Too odd.")', ["Too odd."]),
        ('refuse_field("name", "X", f"At most {limit} of {kind!r}.")', ["At most {0} of {1}."]),
        ('raise Refusal(errors.X, message="Not now.")', ["Not now."]),
        ('ODD: Final = (FormCode.X, "Odd.")', ["Odd."]),
        ('error = FieldError(FormCode.X, "One." if one else "Two.")', ["One.", "Two."]),
        ('def check() -> None:\n    text = f"{n} is odd."\n    at.add([], FormCode.X, text)', ["{0} is odd."]),
        ('WHY: Final = "It is odd."\nat.add([], FormCode.X, f"No. {WHY}")', ["No. It is odd."]),
    ],
)
def test_messages_are_found_in_code(code: str, texts: list[str]) -> None:
    assert [message.text for message in _File("objects/odd.py", code).messages()] == texts


def test_a_message_that_cannot_be_read_from_the_code_is_an_error() -> None:
    with pytest.raises(AssertionError, match="which messages may reason_of"):
        list(_File("objects/odd.py", "at.add([], FormCode.X, reason_of(value))").messages())
