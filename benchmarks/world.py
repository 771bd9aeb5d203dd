"""Communities to measure on: a small one, and one with 100,000 members, written straight into a database."""

import asyncio
import json
from pathlib import Path
from typing import Any

from msgspec import UNSET
from sqlalchemy import insert

from benchmarks.forum import forum_rows
from moothall.kernel.authenticate import TokenKind
from moothall.kernel.secrets import ServerKey, hash_token, new_account_token, new_token
from moothall.objects.ids import ChannelId, MessageId, Snowflake, SnowflakeFactory
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.message.body import NONE, Head, Text, encode_body
from moothall.resources.message.search.indexing import LOCK, follow
from moothall.storage.database import Database, Query, Transaction
from moothall.storage.engines import database_at
from moothall.storage.schema import (
    applications,
    channel_activity,
    channels,
    guild_counters,
    guilds,
    members,
    messages,
    roles,
    thread_tags,
    tokens,
    users,
    webhooks,
)

_TABLES = (applications, channel_activity, channels, guild_counters, guilds, members, messages, roles, tokens, users)
_PLACES = {table.name: Query(insert(table)) for table in (*_TABLES, thread_tags, webhooks)}

_CHUNK = 20_000
_WORDS = [
    "the",
    "quick",
    "brown",
    "fox",
    "jumps",
    "over",
    "the",
    "lazy",
    "dog",
    "while",
    "forty",
    "members",
    "watch",
    "and",
    "one",
    "of",
    "them",
    "writes",
    "it",
    "down",
]


class Size:
    """How large a community is."""

    def __init__(self, *, members: int, channels: int, roles: int, messages: int, threads: int) -> None:
        self.members = members
        self.channels = channels
        self.roles = roles
        self.messages = messages
        self.threads = threads
        """Of one forum."""


SMALL = Size(members=50, channels=20, roles=20, messages=1_000, threads=100)
LARGE = Size(members=100_000, channels=500, roles=250, messages=1_000_000, threads=10_000)


class World:
    """What the benchmarks need to know of a community."""

    def __init__(self, **facts: Any) -> None:
        self.guild_id: int = facts["guild_id"]
        self.channel_id: int = facts["channel_id"]
        self.webhook: str = facts["webhook"]
        self.bot_token: str = facts["bot_token"]
        self.session_tokens: list[str] = facts["session_tokens"]
        self.facts = facts


def build(folder: Path, size: Size, *, sessions: int) -> World:
    """Make a community in an empty data folder, with tokens for so many of its members; a second call finds it."""
    stored = folder / "world.json"
    if stored.exists():
        return World(**json.loads(stored.read_text()))
    folder.mkdir(parents=True, exist_ok=True)
    facts = asyncio.run(_build(folder, size, sessions))
    stored.write_text(json.dumps(facts))
    return World(**facts)


async def _build(folder: Path, size: Size, sessions: int) -> dict[str, Any]:
    database = database_at(f"sqlite:///{folder / 'moothall.sqlite3'}")
    await database.open()
    await database.migrate()
    facts = await _Builder(database, folder, size, sessions).build()
    await database.close()
    return facts


class _Builder:
    def __init__(self, database: Database, folder: Path, size: Size, sessions: int) -> None:
        self._database = database
        self._size = size
        self._sessions = sessions
        self._ids = SnowflakeFactory()
        self._box = ServerKey.load_or_create(folder / "server.key").box("stored secrets")
        self._now = Timestamp.now()
        self._long_ago = Timestamp(self._now - 60 * 86_400_000)

    async def build(self) -> dict[str, Any]:
        guild_id, bot_id = self._ids.next(), self._ids.next()
        people = [self._ids.next() for _ in range(self._size.members - 1)]
        role_ids = [self._ids.next() for _ in range(self._size.roles - 1)]
        channel_ids = [self._ids.next() for _ in range(self._size.channels)]
        bot_token = new_account_token(bot_id)
        session_tokens = [new_account_token(person) for person in people[: self._sessions]]
        webhook_id, webhook_token = self._ids.next(), new_token(68)
        async with self._database.transaction() as tx:
            await self._guild(tx, guild_id, bot_id, people[0], role_ids, channel_ids)
            await self._bot(tx, bot_id, people[0], bot_token)
            await tx.execute(
                _PLACES["webhooks"],
                id=webhook_id,
                guild_id=guild_id,
                channel_id=channel_ids[0],
                name="bench",
                token=self._box.encrypt(webhook_token.encode(), about=b"webhook %d" % webhook_id),
                token_hash=hash_token(webhook_token),
                user_id=people[0],
            )
            for token, person in zip(session_tokens, people, strict=False):
                await self._token(tx, token, TokenKind.SESSION, person)
        await self._people(guild_id, people, role_ids)
        await self._messages(guild_id, channel_ids, people)
        forum_id, thread_id = await self._forum(guild_id, people)
        while await self._index():
            pass
        return {
            "guild_id": int(guild_id),
            "channel_id": int(channel_ids[0]),
            "forum_id": forum_id,
            "thread_id": thread_id,
            "webhook": f"/webhooks/{int(webhook_id)}/{webhook_token}",
            "bot_id": int(bot_id),
            "bot_token": bot_token,
            "session_tokens": session_tokens,
            "role_ids": [int(role) for role in role_ids],
            "people": [int(person) for person in people],
        }

    async def _guild(
        self,
        tx: Transaction,
        guild_id: Snowflake,
        bot_id: Snowflake,
        owner_id: Snowflake,
        role_ids: list[Snowflake],
        channel_ids: list[Snowflake],
    ) -> None:
        await tx.execute(
            _PLACES["guilds"],
            id=guild_id,
            version=self._ids.next(),
            name="Bench",
            owner_id=owner_id,
            features=["COMMUNITY"],
        )
        await tx.execute(_PLACES["guild_counters"], guild_id=guild_id, member_count=self._size.members)
        await tx.execute(
            _PLACES["roles"], guild_id=guild_id, id=guild_id, name="@everyone", permissions=int(Permissions.DEFAULT)
        )
        await tx.execute_many(
            _PLACES["roles"],
            [
                {"guild_id": guild_id, "id": role, "name": f"role {i}", "position": i + 1, "permissions": 0}
                for i, role in enumerate(role_ids)
            ],
        )
        hidden = [{"id": str(int(guild_id)), "type": 0, "allow": "0", "deny": str(int(Permissions.SEND_MESSAGES))}]
        await tx.execute_many(
            _PLACES["channels"],
            [
                {
                    "id": channel,
                    "guild_id": guild_id,
                    "type": 0,
                    "name": f"channel-{i}",
                    "position": i,
                    "permission_overwrites": hidden if i % 5 == 4 else [],
                }
                for i, channel in enumerate(channel_ids)
            ],
        )
        await tx.execute(
            _PLACES["members"],
            guild_id=guild_id,
            user_id=bot_id,
            username_key="bench",
            roles=role_ids[:1],
            joined_at=self._now,
        )

    async def _bot(self, tx: Transaction, bot_id: Snowflake, owner_id: Snowflake, token: str) -> None:
        await tx.execute(
            _PLACES["users"], id=bot_id, username="bench", username_key="bench", bot=True, application_id=bot_id
        )
        await tx.execute(
            _PLACES["applications"],
            id=bot_id,
            owner_id=owner_id,
            bot_user_id=bot_id,
            name="bench",
            flags=(1 << 13) | (1 << 15) | (1 << 19),
            verify_key="00" * 32,
            private_key=b"",
            created_at=self._now,
        )
        await self._token(tx, token, TokenKind.BOT, bot_id, bot_id)

    async def _token(
        self, tx: Transaction, token: str, kind: TokenKind, user_id: int, application_id: int | None = None
    ) -> None:
        await tx.execute(
            _PLACES["tokens"],
            hash=hash_token(token),
            kind=int(kind),
            user_id=user_id,
            application_id=application_id,
            created_at=self._now,
        )

    async def _people(self, guild_id: Snowflake, people: list[Snowflake], role_ids: list[Snowflake]) -> None:
        for start in range(0, len(people), _CHUNK):
            part = people[start : start + _CHUNK]
            async with self._database.transaction() as tx:
                await tx.execute_many(
                    _PLACES["users"],
                    [
                        {"id": person, "username": f"person{start + i}", "username_key": f"person{start + i}"}
                        for i, person in enumerate(part)
                    ],
                )
                await tx.execute_many(
                    _PLACES["members"],
                    [
                        {
                            "guild_id": guild_id,
                            "user_id": person,
                            "username_key": f"person{start + i}",
                            "roles": [role_ids[(start + i) % len(role_ids)]],
                            # So that pruning finds members who were never there.
                            "joined_at": self._long_ago,
                        }
                        for i, person in enumerate(part)
                    ],
                )

    async def _messages(self, guild_id: Snowflake, channel_ids: list[Snowflake], people: list[Snowflake]) -> None:
        # Half of them in the first channel, whose pages are read.
        first, rest = channel_ids[0], channel_ids[1:]
        placed = [first if i % 2 == 0 else rest[i // 2 % len(rest)] for i in range(self._size.messages)]
        last: dict[int, Snowflake] = {}
        for start in range(0, len(placed), _CHUNK):
            rows = []
            for i, channel in enumerate(placed[start : start + _CHUNK]):
                message, author = self._ids.next(), people[(start + i) * 31 % len(people)]
                last[channel] = message
                rows.append(
                    {
                        "channel_id": channel,
                        "id": message,
                        "guild_id": guild_id,
                        "author_id": author,
                        "body": message_body(channel, message, start + i),
                    }
                )
            async with self._database.transaction() as tx:
                await tx.execute_many(_PLACES["messages"], rows)
        async with self._database.transaction() as tx:
            await tx.execute_many(
                _PLACES["channel_activity"],
                [{"channel_id": channel, "last_message_id": message} for channel, message in last.items()],
            )

    async def _forum(self, guild_id: Snowflake, people: list[Snowflake]) -> tuple[int, int]:
        rows = forum_rows(guild_id, people, self._size.threads, self._ids, self._now)
        forum, *posts = rows["channels"]
        async with self._database.transaction() as tx:
            for name in ("channels", "thread_tags", "channel_activity"):
                await tx.execute_many(_PLACES[name], rows[name])
            await tx.execute_many(
                _PLACES["messages"],
                [
                    {
                        "channel_id": post["id"],
                        "id": post["id"],
                        "guild_id": guild_id,
                        "author_id": post["owner_id"],
                        "body": message_body(post["id"], post["id"], number),
                    }
                    for number, post in enumerate(posts)
                ],
            )
        return int(forum["id"]), int(posts[-1]["id"])

    async def _index(self) -> int:
        # Else it would go on behind everything that is measured.
        async with self._database.transaction(LOCK) as tx:
            return sum([await follow(tx, self._database.dialect) for _ in range(100)])


def message_body(channel: int, message: int, number: int) -> bytes:
    """A message of some words, as it is stored."""
    words = " ".join(_WORDS[(number + i) % len(_WORDS)] for i in range(4 + number % 17))
    words += f" w{number % 50_000}"  # a word that few messages have
    head = Head(
        id=MessageId(Snowflake(message)),
        channel_id=ChannelId(Snowflake(channel)),
        type=0,
        timestamp=Timestamp(Snowflake(message).created_ms),
        message_reference=UNSET,
    )
    return encode_body(head, Text(content=words, embeds=NONE, attachments=NONE, components=NONE))
