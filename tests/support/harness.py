"""A platform for tests: users and bots send requests over ASGI, and the events that it publishes are recorded.

alice = await platform.person("alice")
guild = await platform.guild(alice)
reply = await alice.post(f"/guilds/{guild.id}/roles", {"name": "Captain"}, reason="promotion")
assert reply.status == 200
assert platform.heard_names == ["GUILD_ROLE_CREATE", "GUILD_AUDIT_LOG_ENTRY_CREATE"]
"""

import json
from collections.abc import Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from typing import Any
from urllib.parse import quote, urlencode

import msgspec
from msgspec import structs
from sqlalchemy import bindparam, insert, select, update

import moothall.gateway.endpoints  # noqa: F401 registers its rows
from moothall.api.authenticate import TokenKind
from moothall.api.context import GatewaySession
from moothall.api.endpoint import Endpoint, endpoints
from moothall.api.jobs import MAX_TRANSACTION_MS, JobRunner
from moothall.api.pipeline import Pipeline
from moothall.api.ratelimit import RateLimiter
from moothall.api.router import Router
from moothall.app.services import build_services, close_services
from moothall.bus import Envelope
from moothall.bus.local import LocalBus
from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.database_source import DatabaseSource
from moothall.objects.ids import ApplicationId, ChannelId, GuildId, RoleId, Snowflake, SnowflakeFactory, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.presence import Presence
from moothall.objects.text import search_key
from moothall.objects.wire import Timestamp
from moothall.resources import load_endpoints
from moothall.resources.interaction.operations.deliver import Deliveries
from moothall.resources.webhook_event.sender import WebhookEventSender
from moothall.runtime.secrets import ServerKey, hash_token, new_account_token, new_token
from moothall.settings import Settings
from moothall.storage.database import Database, Query
from moothall.storage.schema import (
    applications,
    audit_entries,
    channels,
    guild_counters,
    guilds,
    members,
    roles,
    tokens,
    users,
)
from tests.conformance.public_schema import check_answer
from tests.conformance.witness import emissions, judge_envelopes, witness
from tests.support.compared_states import ComparedStates

SERVER_KEY = ServerKey(bytes(32))

TEXT, VOICE, CATEGORY, ANNOUNCEMENT, STAGE, FORUM, MEDIA = 0, 2, 4, 5, 13, 15, 16


class Reply(msgspec.Struct):
    """A response."""

    status: int
    headers: dict[str, str]
    body: bytes

    @property
    def json(self) -> Any:
        """The body, decoded from JSON."""
        return msgspec.json.decode(self.body)

    @property
    def code(self) -> int:
        """The error code of a refusal."""
        return int(self.json["code"])

    def errors_at(self, path: str) -> list[str]:
        """The codes of the field errors at a dotted path."""
        node = self.json.get("errors", {})
        for key in path.split("."):
            node = node.get(key, {})
        return [error["code"] for error in node.get("_errors", [])]


class Presences:
    """Presences that a test sets: at first, no user is connected."""

    def __init__(self) -> None:
        self.online: dict[int, set[int]] = {}
        self.connected: set[int] = set()
        self.sessions: dict[int, list[GatewaySession]] = {}

    def online_count(self, guild_id: int) -> int:
        return len(self.online.get(guild_id, ()))

    def presences(self, guild_id: int, user_ids: Iterable[int] | None = None, *, maximum: int = 1000) -> list[Presence]:
        del guild_id, user_ids, maximum
        return []

    def is_connected(self, user_id: int) -> bool:
        return user_id in self.connected

    def connected_among(self, user_ids: Collection[UserId]) -> frozenset[UserId]:
        return frozenset(user_id for user_id in user_ids if self.is_connected(user_id))

    def find_session(self, user_id: int, session_id: str | None) -> GatewaySession | None:
        sessions = self.sessions.get(user_id, [])
        return next((each for each in reversed(sessions) if session_id in {None, each.id}), None)

    def connect(self, user_id: int, session_id: str, *, node: str = "", platform: str = "web") -> None:
        """Add a gateway session of a user."""
        self.sessions.setdefault(user_id, []).append(GatewaySession(session_id, node, platform))


class Caller:
    """A client with a user's session token, a bot's token, an access token, or none."""

    def __init__(self, platform: "Platform", user_id: Snowflake, authorization: str | None, *, name: str = "") -> None:
        self.platform = platform
        self.id = UserId(user_id)
        self.name = name
        self.authorization = authorization
        self.application_id: ApplicationId | None = None
        self.token = "" if authorization is None else authorization.split()[-1]

    async def request(
        self,
        method: str,
        path: str,
        body: Any = msgspec.UNSET,
        *,
        reason: str | None = None,
        headers: Sequence[tuple[str, str]] = (),
        raw: bytes | None = None,
        content_type: str = "application/json",
        client: str = "127.0.0.1",
        **query: Any,
    ) -> Reply:
        """Send a request. Query values are encoded as by Python clients: True as `true`, lists comma-delimited."""
        data = raw if raw is not None else b"" if body is msgspec.UNSET else json.dumps(body).encode()
        all_headers = [*headers]
        if self.authorization is not None:
            all_headers.append(("authorization", self.authorization))
        if data:
            all_headers.append(("content-type", content_type))
        if reason is not None:
            all_headers.append(("x-audit-log-reason", quote(reason)))
        all_headers.append(("content-length", str(len(data))))
        return await self.platform.send(method, path, data, all_headers, query, client)

    async def get(self, path: str, **query: Any) -> Reply:
        return await self.request("GET", path, **query)

    async def post(self, path: str, body: Any = msgspec.UNSET, **options: Any) -> Reply:
        return await self.request("POST", path, body, **options)

    async def put(self, path: str, body: Any = msgspec.UNSET, **options: Any) -> Reply:
        return await self.request("PUT", path, body, **options)

    async def patch(self, path: str, body: Any = msgspec.UNSET, **options: Any) -> Reply:
        return await self.request("PATCH", path, body, **options)

    async def delete(self, path: str, **options: Any) -> Reply:
        return await self.request("DELETE", path, **options)


class Guild:
    """A guild that is inserted directly into the database, without events or audit log entries."""

    def __init__(self, platform: "Platform", guild_id: GuildId, owner: Caller, general: ChannelId) -> None:
        self.platform = platform
        self.id = guild_id
        self.owner = owner
        self.general = general
        """A text channel without overwrites."""

    async def join(self, *callers: Caller, roles: Iterable[int] = ()) -> None:
        """Insert members, without events."""
        async with self.platform.database.transaction() as tx:
            for caller in callers:
                await tx.execute(
                    _insert_member,
                    guild_id=self.id,
                    user_id=caller.id,
                    username_key=search_key(caller.name),
                    roles=[Snowflake(r) for r in roles],
                    joined_at=Timestamp.now(),
                )
                await tx.execute(_count_member, guild_id=self.id)

    async def role(
        self, *, permissions: int = 0, name: str = "role", position: int | None = None, **values: Any
    ) -> RoleId:
        """Insert a role, above all others without a `position`."""
        role_id = RoleId(self.platform.ids.next())
        async with self.platform.database.transaction() as tx:
            if position is None:
                position = 1 + (await tx.scalar(_top_position, guild_id=self.id) or 0)
            await tx.execute(
                _insert_role,
                guild_id=self.id,
                id=role_id,
                name=name,
                position=position,
                permissions=permissions,
                **values,
            )
            await self._renew_version(tx)
        return role_id

    async def channel(
        self,
        *,
        type: int = TEXT,
        name: str = "channel",
        overwrites: Sequence[tuple[int, int, int, int]] = (),
        **values: Any,
    ) -> ChannelId:
        """Insert a channel; overwrites are (id, type, allow, deny)."""
        channel_id = ChannelId(self.platform.ids.next())
        metadata = values.get("thread_metadata") or {}
        async with self.platform.database.transaction() as tx:
            await tx.execute(
                _insert_channel,
                archived=bool(metadata.get("archived")),
                id=channel_id,
                guild_id=self.id,
                type=type,
                name=name,
                permission_overwrites=[
                    {"id": str(int(i)), "type": kind, "allow": str(int(allow)), "deny": str(int(deny))}
                    for i, kind, allow, deny in overwrites
                ],
                **values,
            )
            await self._renew_version(tx)
        return channel_id

    async def set(self, **values: Any) -> None:
        """Update columns of the guild's row."""
        async with self.platform.database.transaction() as tx:
            await tx.execute(
                Query(
                    update(guilds).where(guilds.c.id == bindparam("guild_id")).values({k: bindparam(k) for k in values})
                ),
                guild_id=self.id,
                **values,
            )
            await self._renew_version(tx)

    async def member_with(self, permissions: int, *, name: str | None = None) -> Caller:
        """Insert a member with one role, which has the permissions."""
        caller = await self.platform.person(name)
        await self.join(caller, roles=[await self.role(permissions=permissions)])
        return caller

    async def moderator(self) -> Caller:
        """Insert a member who is an administrator."""
        return await self.member_with(Permissions.ADMINISTRATOR)

    async def audit_log(self) -> list[tuple[int, int | None, str | None]]:
        """The (action, target, reason) of every entry, oldest first."""
        async with self.platform.database.read() as reader:
            rows = await reader.all(_select_entries, guild_id=self.id)
        return [(row[0], row[1], row[2]) for row in rows]

    async def _renew_version(self, tx: Any) -> None:
        await tx.execute(_set_version, guild_id=self.id, new_version=self.platform.ids.next())


class Platform:
    """The API over a database, without sockets."""

    def __init__(self, database: Database, *, limiter: RateLimiter | None = None) -> None:
        load_endpoints()
        judge_envelopes()
        self.database = database
        self.ids = SnowflakeFactory()
        self.bus = LocalBus()
        self.presences = Presences()
        self.heard: list[Envelope] = []
        self.bus.subscribe(self.heard.extend)
        self.services = build_services(
            Settings(blob_url="memory:", rate_limits=False, guild_features=(), guild_level=0),
            database,
            self.bus,
            SERVER_KEY,
            ids=self.ids,
            states=ComparedStates(database),
            presences=self.presences,
        )
        self.services.limiter = limiter
        self.gateway = GatewayNode(GatewaySettings(), self.bus, DatabaseSource(database, self.services.states))
        self.services.resources.add(self.gateway)
        self.pipeline = self._full_pipeline = Pipeline(
            self.services, _router(tuple(endpoints())), observe=lambda *_: None
        )
        self.anonymous = Caller(self, Snowflake(0), None)
        self._names = 0

    async def close(self) -> None:
        """Close the services."""
        await close_services(self.services)

    def allow_private_addresses(self, allow: bool = True) -> None:
        """Change the setting of that name, which allows requests to the loopback interface."""
        self.services.limits = structs.replace(self.services.limits, allow_private_addresses=allow)
        self.services.resources.add(Deliveries(self.services), WebhookEventSender(self.services))

    @property
    def heard_names(self) -> list[str]:
        """The names of the events published so far, in order, without messages between nodes."""
        return [envelope.name for envelope in self.heard if envelope.audience != 4]

    def heard_data(self, name: str) -> list[Any]:
        """The payload of every event with a name."""
        return [msgspec.json.decode(bytes(e.data)) for e in self.heard if e.name == name]

    @contextmanager
    def listening(self) -> Iterator[list[str]]:
        """The names of the events published inside the block; the list is filled when the block ends."""
        start, names = len(self.heard), list[str]()
        yield names
        names.extend(e.name for e in self.heard[start:] if e.audience != 4)

    async def person(self, name: str | None = None, **values: Any) -> Caller:
        """Insert a user with a session token."""
        self._names += 1
        name = name or f"person{self._names}"
        user_id, token = UserId(self.ids.next()), new_token(32)
        async with self.database.transaction() as tx:
            await tx.execute(_insert_user, id=user_id, username=name, username_key=search_key(name), **values)
            await self._insert_token(tx, token, TokenKind.SESSION, user_id)
        return Caller(self, user_id, token, name=name)

    async def bot(self, owner: Caller, name: str | None = None, *, flags: int = 0) -> Caller:
        """Insert an application with a bot."""
        self._names += 1
        name = name or f"bot{self._names}"
        user_id = UserId(self.ids.next())
        application_id, token = ApplicationId(user_id), new_account_token(user_id)
        async with self.database.transaction() as tx:
            await tx.execute(
                _insert_user,
                id=user_id,
                username=name,
                username_key=search_key(name),
                bot=True,
                application_id=application_id,
            )
            await tx.execute(
                _insert_application,
                id=application_id,
                owner_id=owner.id,
                bot_user_id=user_id,
                name=name,
                flags=flags,
                verify_key="00" * 32,
                private_key=b"",
                created_at=Timestamp.now(),
            )
            await self._insert_token(tx, token, TokenKind.BOT, user_id, application_id)
        caller = Caller(self, user_id, f"Bot {token}", name=name)
        caller.application_id = application_id
        return caller

    async def bearer(self, user: Caller, application_id: int, *scopes: str) -> Caller:
        """Insert an OAuth2 access token of an application for a user."""
        token = new_token(32)
        async with self.database.transaction() as tx:
            await self._insert_token(tx, token, TokenKind.BEARER, user.id, application_id, " ".join(scopes))
        return Caller(self, user.id, f"Bearer {token}", name=user.name)

    async def guild(
        self, owner: Caller, *, name: str = "Guild", everyone: int = Permissions.DEFAULT, **values: Any
    ) -> Guild:
        """Insert a guild with the @everyone role, its owner and one text channel, without events."""
        guild_id, general = GuildId(self.ids.next()), ChannelId(self.ids.next())
        async with self.database.transaction() as tx:
            await tx.execute(
                _insert_guild, id=guild_id, version=self.ids.next(), name=name, owner_id=owner.id, **values
            )
            await tx.execute(_insert_counter, guild_id=guild_id, member_count=0)
            await tx.execute(_insert_role, guild_id=guild_id, id=guild_id, name="@everyone", permissions=everyone)
            await tx.execute(_insert_channel, id=general, guild_id=guild_id, type=TEXT, name="general")
        guild = Guild(self, guild_id, owner, general)
        await guild.join(owner)
        return guild

    async def run_due_jobs(self) -> None:
        """Run all jobs that are due now or in `MAX_TRANSACTION_MS`."""
        await JobRunner(self.services).drain(Timestamp(Timestamp.now() + MAX_TRANSACTION_MS))

    async def run_jobs_at(self, now: Timestamp) -> None:
        """Run all jobs that are due at a moment."""
        await JobRunner(self.services).drain(now)

    async def send(
        self, method: str, path: str, data: bytes, headers: list[tuple[str, str]], query: dict[str, Any], client: str
    ) -> Reply:
        """Send a request to the pipeline."""
        sent: list[Any] = []
        texts = {key: _query_text(value) for key, value in query.items()}

        async def receive() -> dict[str, Any]:
            return {"type": "http.request", "body": data, "more_body": False}

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {
            "type": "http",
            "method": method,
            "path": f"/api/v10{path}",
            "query_string": urlencode(texts).encode(),
            "headers": [(name.encode(), value.encode("latin-1")) for name, value in headers],
            "client": (client, 1),
        }
        with emissions() as emitted:
            await self.pipeline(scope, receive, send)
        start = sent[0]
        body = b"".join(message.get("body", b"") for message in sent[1:])
        if self.pipeline is self._full_pipeline:
            check_answer(method, path, start["status"], body)
        witness(self.pipeline, method, path, start["status"], body, emitted)
        return Reply(start["status"], {k.decode(): v.decode() for k, v in start["headers"]}, body)

    @staticmethod
    async def _insert_token(
        tx: Any, token: str, kind: TokenKind, user_id: int, application_id: int | None = None, scopes: str = ""
    ) -> None:
        await tx.execute(
            _insert_token,
            hash=hash_token(token),
            kind=int(kind),
            user_id=user_id,
            application_id=application_id,
            scopes=scopes,
            created_at=Timestamp.now(),
        )


@cache
def _router(rows: tuple[Endpoint, ...]) -> Router:
    """The router of these rows, which takes milliseconds to build and keeps no state."""
    return Router(rows)


def _query_text(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, list | tuple):
        return ",".join(str(item) for item in value)
    return str(value)


_insert_user = Query(insert(users))
_insert_token = Query(insert(tokens))
_insert_application = Query(insert(applications))
_insert_guild = Query(insert(guilds))
_insert_counter = Query(insert(guild_counters))
_insert_role = Query(insert(roles))
_insert_channel = Query(insert(channels))
_insert_member = Query(insert(members))
_count_member = Query(
    update(guild_counters)
    .where(guild_counters.c.guild_id == bindparam("guild_id"))
    .values(member_count=guild_counters.c.member_count + 1)
)
_top_position = Query(
    select(roles.c.position).where(roles.c.guild_id == bindparam("guild_id")).order_by(roles.c.position.desc()).limit(1)
)
_set_version = Query(
    update(guilds).where(guilds.c.id == bindparam("guild_id")).values(version=bindparam("new_version"))
)
_select_entries = Query(
    select(audit_entries.c.action_type, audit_entries.c.target_id, audit_entries.c.reason)
    .where(audit_entries.c.guild_id == bindparam("guild_id"))
    .order_by(audit_entries.c.id)
)
