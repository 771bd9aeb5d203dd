"""Calls of any endpoint, with bodies made from its schema and ids of what exists, judged by what holds for all of them.

They act on guilds of their own, where anything may happen; the registers of the other guilds stay exact. Held for each
call: what was refused left no trace of its markers, and no audit log entry; what was acknowledged is read again, with
the markers that the response had; an accepted change is in the audit log by its reason.
"""

import json
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from msgspec import Struct

from moothall.api.endpoint import Endpoint
from moothall.objects import errors
from tests.conformance.places import ROWS, Places
from tests.resources.sticker.sticker_files import still
from tests.simulation.loop import EPOCH
from tests.simulation.platform.bodies import Bodies, file_part, json_schema
from tests.simulation.platform.client import MARKER, Client
from tests.simulation.platform.people import Person
from tests.simulation.platform.server import Reply
from tests.simulation.platform.wild import PASSWORD
from tests.simulation.platform.workload import NOTHING, Call, Expectation, Workload
from tests.simulation.randomness import Choices

_WEIGHTS: Final = {"GET": 1.0, "POST": 4.0, "PATCH": 3.0, "PUT": 3.0, "DELETE": 1.2}
_WEIGHT_BY_NAME: Final = {
    "begin_guild_prune": 0.5,
    "bulk_guild_ban": 0.5,
    "create_guild_ban": 1.0,
    "create_message": 12.0,
    "delete_application": 0.2,
    "delete_channel": 0.6,
    "delete_guild": 0.15,
    "edit_channel_permissions": 5.0,
    "execute_webhook": 5.0,
    "leave_guild": 0.4,
    "modify_channel": 6.0,
    "modify_guild_member": 5.0,
    "modify_guild_role": 5.0,
    "remove_guild_member": 0.5,
    "reset_bot_token": 0.3,
    "start_thread": 5.0,
}
_END_CALLER: Final = frozenset(
    {"delete_user_account", "disable_user_account", "log_out", "log_out_auth_sessions", "revoke_authorization"}
)
"""Endpoints after which their caller's token serves no longer: a new account calls them."""
_END_BOT: Final = frozenset({"delete_application", "reset_bot_token"})
"""Endpoints that end the sessions of an application's bot, which are called of other applications than the guild's."""
_NEVER: Final = frozenset(
    {
        "create_guild_from_guild_template",  # waits for images that a template names
        "exchange_token",
        "get_authorization_request",
        "revoke_token",
        "get_openid_connect_userinfo",
    }
)
"""Endpoints that need codes or tokens that no response has."""
_BLOCKED: Final = frozenset({errors.BLOCKED_BY_AUTOMOD.code, errors.TITLE_BLOCKED_BY_AUTOMOD.code})
"""Codes of refusals that the audit log or an alert of auto moderation shows."""


_SELDOM: Final = 0.1
"""The weight of endpoints that refuse everyone here."""


def _weight(endpoint: Endpoint) -> float:
    return _WEIGHT_BY_NAME.get(endpoint.name, _WEIGHTS[endpoint.method])


_DELETE_LISTED: Final = frozenset({"bulk_guild_ban", "create_guild_ban", "bulk_delete_messages"})
"""Endpoints that delete what their path or body names."""


class Noun(NamedTuple):
    """A kind of things whose texts are registers."""

    created_by: str
    """The path that creates one."""
    fields: tuple[str, ...]
    """Texts that only requests to its own path change."""


_NOUNS: Final = {
    "/guilds/{guild_id}": Noun("/guilds", ("name",)),
    "/channels/{channel_id}": Noun("/guilds/{guild_id}/channels", ("name", "topic")),
    "/channels/{channel_id}/messages/{message_id}": Noun("/channels/{channel_id}/messages", ("content",)),
    "/guilds/{guild_id}/roles/{role_id}": Noun("/guilds/{guild_id}/roles", ("name",)),
    "/guilds/{guild_id}/emojis/{emoji_id}": Noun("/guilds/{guild_id}/emojis", ("name",)),
    "/guilds/{guild_id}/stickers/{sticker_id}": Noun("/guilds/{guild_id}/stickers", ("name", "description")),
    "/guilds/{guild_id}/scheduled-events/{guild_scheduled_event_id}": Noun(
        "/guilds/{guild_id}/scheduled-events", ("name", "description")
    ),
    "/guilds/{guild_id}/auto-moderation/rules/{rule_id}": Noun("/guilds/{guild_id}/auto-moderation/rules", ("name",)),
    "/webhooks/{webhook_id}": Noun("/channels/{channel_id}/webhooks", ("name",)),
    "/teams/{team_id}": Noun("/teams", ("name",)),
    "/store/skus/{sku_id}": Noun("/store/skus", ("name",)),
}
_CREATED_BY: Final = {noun.created_by: path for path, noun in _NOUNS.items()} | {
    "/channels/{channel_id}/threads": "/channels/{channel_id}"
}
_FILES: Final = {"file": still(), "target_users_file": b"user_id\n1\n"}
"""Files that some parts must be."""
_RENAMED_BESIDE: Final = frozenset({"modify_webhook_with_token"})
"""Endpoints that change such a field by another path."""


class Thing(Struct):
    """Something that was created or changed. `ids` are those of it and of all that it belongs to."""

    ids: set[str]
    created: bool


class AnyOperations:
    """What is known of the guilds in which anything may happen, and the calls of any endpoint."""

    def __init__(self, work: Workload) -> None:
        self.work = work
        wild = work.image.wild
        self.places = Places()
        for name, values in wild.values.items():
            for value in values:
                self.places.add(name, value)
        for path, locations in wild.places.items():
            for location in locations:
                self.places.add_location(path, dict(location))
        self.bodies = Bodies(self.places, lambda: EPOCH + work.loop.time(), work.marker)
        self.callers: list[Person] = [wild.owner, wild.bot, *(p for p in work.people if not p.bot)]
        self.clients: list[Client] = []
        """The gateway clients of those who call."""
        self.things: dict[str, Thing] = {}
        self.created_guilds: dict[str, Person] = {}
        """Who has created which guild."""
        self.deleted: set[str] = set()
        """Ids of what was deleted, for certain or maybe."""
        self.refused: dict[str, str] = {}
        """Markers of refused requests, with what was refused."""
        self._unjudged: set[tuple[str, ...]] = set()
        """Texts of which is not known what they may be."""
        self._accepted_by: dict[str, Person] = {}
        self._forbidden = {guild.id for guild in work.guilds} | {work.image.application}
        self._weights = {
            each: _SELDOM if each.access.label.startswith("operator") else _weight(each)
            for each in ROWS
            if each.name not in _NEVER
        }

    async def operate(self, _work: Workload, choices: Choices) -> None:
        """Call an endpoint."""
        endpoint = choices.weighted(self._weights)
        person = await self._caller(endpoint, choices)
        await self.call(endpoint, person, choices)

    async def call(self, endpoint: Endpoint, person: Person | None, choices: Choices) -> Call | None:
        """Call an endpoint as a person; None if the request would be about a guild that is not for this."""
        work = self.work
        drawn = {parameter.name: "0" for parameter in endpoint.signature.path_parameters}
        path = {name: str(value) for name, value in self.places.parameters(endpoint, drawn, choices.random).items()}
        body = self.bodies.body(endpoint, choices)
        query = self.bodies.query(endpoint, choices)
        file = ""
        text = json.dumps([path, body, query])
        if endpoint.name in _END_BOT and path["application_id"] == work.image.wild.bot.id:
            return None
        if any(each in text for each in self._forbidden):
            return None
        filled = endpoint.path.format(**{name: quote(value, safe="@:") for name, value in path.items()})
        reason = work.number("r") if endpoint.audit_reason else None
        options: dict[str, Any] = {"body": NOTHING if body is None else body, "query": query, "reason": reason}
        if endpoint.uploads is not None and (
            json_schema(endpoint) is None or choices.chance(0.9 if endpoint.name == "create_guild_sticker" else 0.2)
        ):
            file = work.marker()
            options |= form(body, file_part(endpoint), file.encode())
        call = await work.call(choices, person, endpoint.method, filled, **options)
        if reason is not None:
            self._expect(endpoint, path, reason, call)
        if call.refused and refusal_code(call.reply) not in _BLOCKED:
            markers = MARKER.findall(json.dumps([body, file]))
            self.refused |= dict.fromkeys(markers, f"{endpoint.method} {filled}")
        elif not call.refused:
            self._note(endpoint, path, body, call)
        if call.accepted and person is not None:
            self._accepted_by[endpoint.name] = person
            if endpoint.name == "create_guild" and call.reply is not None:
                self.created_guilds[call.reply.json["id"]] = person
        return call

    def learn_interaction(self, data: Any) -> None:
        """Let requests respond to an interaction that a bot has received."""
        if "token" in data:
            interaction = {"interaction_id": data["id"], "interaction_token": data["token"]}
            self.places.places["/interactions/{interaction_id}/{interaction_token}"] = [interaction]
            hook = {"webhook_id": data["application_id"], "webhook_token": data["token"]}
            self.places.add_location("/webhooks/{webhook_id}/{webhook_token}/messages/@original", hook)

    async def set_voice_state(self, _work: Workload, choices: Choices) -> None:
        """Connect a session to a voice or stage channel, or disconnect it."""
        client = choices.choice(self.clients)
        kind = choices.choice(("voice", "stage", ""))
        channel = choices.choice(self.places.values[kind]) if kind else None
        state = {"guild_id": self.work.image.wild.guild, "channel_id": channel, "self_mute": False, "self_deaf": False}
        client.send(4, state)

    async def _caller(self, endpoint: Endpoint, choices: Choices) -> Person | None:
        if endpoint.access.own_credentials:
            return None
        if endpoint.name in _END_CALLER:
            return await self._new_account(choices)
        label, wild = endpoint.access.label, self.work.image.wild
        if label == "bot" or (label.endswith("its bot") and choices.chance(0.5)):
            return wild.bot
        known = self._accepted_by.get(endpoint.name)
        if known is not None and choices.chance(0.4):
            return known
        return wild.owner if choices.chance(0.5) else choices.choice(self.callers)

    async def _new_account(self, choices: Choices) -> Person | None:
        name = self.work.marker()
        body = {"username": name, "password": PASSWORD}
        call = await self.work.call(choices, None, "POST", "/auth/register", body)
        if not call.accepted or call.reply is None:
            return None
        made = call.reply.json
        return Person(made["user_id"], name, made["token"])

    # What a call proves

    def _expect(self, endpoint: Endpoint, path: dict[str, str], reason: str, call: Call) -> None:
        what = f"{endpoint.method} {endpoint.path}"
        if call.unknown:
            return
        if not call.accepted:
            if refusal_code(call.reply) not in _BLOCKED:
                self.work.expected[reason] = Expectation(path.get("guild_id", ""), 0, 0, f"{what}, refused")
        elif endpoint.method == "POST" and endpoint.status == 201:
            self.work.expected[reason] = Expectation(path.get("guild_id", ""), 1, 99, what)

    def _note(self, endpoint: Endpoint, path: dict[str, str], body: Any, call: Call) -> None:
        data = None
        if call.reply is not None and call.reply.headers.get("content-type") == "application/json":
            data = call.reply.json
        if call.accepted:
            self._learn(endpoint, path, data)
        if endpoint.method == "DELETE" or endpoint.name in _DELETE_LISTED:
            # The last id of the path is that of the thing, behind which a webhook has its token.
            self.deleted |= {
                *[each for each in path.values() if each.isdigit()][-1:],
                *list(path.values())[-1:],
                *_ids(body),
            }
        if endpoint.method in {"POST", "PATCH"} and isinstance(body, dict):
            noun, location = self._noun_of(endpoint, path, data)
            if noun:
                self._write(noun, location, body, data, call)

    def _learn(self, endpoint: Endpoint, path: dict[str, str], data: Any) -> None:
        if data is not None:
            self.places.learn(endpoint, path, data)
        if endpoint.method == "DELETE":
            self.places.forget(endpoint, path)
        else:
            self.places.reached(endpoint, path)

    @staticmethod
    def _noun_of(endpoint: Endpoint, path: dict[str, str], data: Any) -> tuple[str, dict[str, str]]:
        """The kind of the thing that a request created or changed, with its location; an empty text for others."""
        if endpoint.method == "PATCH":
            noun = "/webhooks/{webhook_id}" if endpoint.name in _RENAMED_BESIDE else endpoint.path
            return (noun, path) if noun in _NOUNS else ("", path)
        noun = _CREATED_BY.get(endpoint.path, "")
        if not noun or not isinstance(data, dict) or not isinstance(data.get("id"), str):
            return "", path
        return noun, path | {noun.rpartition("{")[2].rstrip("}"): data["id"]}

    def _write(self, noun: str, location: dict[str, str], body: dict[str, Any], data: Any, call: Call) -> None:
        """Record the texts that a request gave a thing, if the response shows them or is lost."""
        history, filled = self.work.history, noun.format(**location)
        created = call.accepted and isinstance(data, dict) and filled not in self.things
        thing = self.things.setdefault(filled, Thing(set(location.values()), created))
        thing.ids |= _ids(data)
        for field in _NOUNS[noun].fields:
            key, value = ("thing", filled, field), body.get(field)
            if not isinstance(value, str):
                continue
            if call.unknown and key in history.initial:
                history.write(key, value, call.request, call.response, known=False)
            elif call.accepted and isinstance(data, dict) and data.get(field) == value:
                history.initial.setdefault(key, value)
                history.write(key, value, call.request, call.response)
            else:
                # What was there before is not known, or the server has changed the text, as it may.
                self._unjudged.add(key)

    def read(self, filled: str, noun: str, data: Any, call: Call) -> None:
        """Record what a response shows of a thing."""
        for field in _NOUNS[noun].fields:
            key = ("thing", filled, field)
            if key in self.work.history.writes and key not in self._unjudged:
                self.work.read(call, key, data.get(field))


def noun_of(filled: str) -> str:
    """The kind of a thing by its path."""
    parts = filled.split("/")
    for noun in _NOUNS:
        pattern = noun.split("/")
        if len(pattern) == len(parts) and all(
            each.startswith("{") or each == part for each, part in zip(pattern, parts, strict=True)
        ):
            return noun
    raise LookupError(filled)


def refusal_code(reply: Reply | None) -> int | None:
    """The code of a refusal."""
    data = None if reply is None or reply.headers.get("content-type") != "application/json" else reply.json
    return data.get("code") if isinstance(data, dict) else None


def _ids(node: Any, depth: int = 0) -> set[str]:
    """The ids in a body or response."""
    if isinstance(node, str):
        return {node} if node.isdigit() and len(node) > 10 else set()
    if depth > 3:
        return set()
    inner = node.values() if isinstance(node, dict) else node if isinstance(node, list) else ()
    return {each for value in inner for each in _ids(value, depth + 1)}


def form(body: Any, name: str, file: bytes) -> dict[str, Any]:
    """A body as a form with a file, as options of a request."""
    boundary = "simulated"
    parts = [(f'name="{name}"; filename="a.png"', _FILES.get(name) or file)]
    if isinstance(body, dict):
        # Stickers have their fields as parts; others take one part with all of them.
        fields = {"payload_json": json.dumps(body)} if name != "file" else body
        parts += [(f'name="{key}"', str(value).encode()) for key, value in fields.items()]
    raw = b"".join(
        f"--{boundary}\r\nContent-Disposition: form-data; {head}\r\n\r\n".encode() + data + b"\r\n"
        for head, data in parts
    )
    content_type = f"multipart/form-data; boundary={boundary}"
    return {"body": NOTHING, "raw": raw + f"--{boundary}--\r\n".encode(), "content_type": content_type}
