"""Communities to measure on, written straight into a database: small ones, with 100,000 and with 1,000,000 members."""

import asyncio
import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from msgspec import UNSET

from benchmarks.forum import forum_rows
from benchmarks.loading import Loader, loading
from moothall.api.authenticate import TokenKind
from moothall.objects.ids import ChannelId, MessageId, Snowflake, SnowflakeFactory
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.message.body import NONE, Head, Text, encode_body
from moothall.resources.message.search.rebuild import rebuild_index
from moothall.runtime.secrets import ServerKey, hash_token, new_account_token, new_token
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

WORDS = [
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
OUTSIDERS = 30_000
"""Accounts outside the community, which can be banned from it."""
LARGE = Size(members=100_000, channels=500, roles=250, messages=1_000_000, threads=10_000)
HUGE = Size(members=1_000_000, channels=500, roles=250, messages=1_000_000, threads=10_000)


class World:
    """What the benchmarks need to know of a community."""

    def __init__(self, **facts: Any) -> None:
        self.guild_id: int = facts["guild_id"]
        self.channel_id: int = facts["channel_id"]
        self.webhook: str = facts["webhook"]
        self.bot_token: str = facts["bot_token"]
        self.session_tokens: list[str] = facts["session_tokens"]
        self.facts = facts


def build(folder: Path, size: Size, *, sessions: int, url: str | None = None) -> World:
    """Make a community in an empty data folder, with tokens for so many of its members; a second call finds it.

    Its database is a file in the folder, or the empty PostgreSQL database at `url`.
    """
    stored = folder / "world.json"
    if stored.exists():
        return World(**json.loads(stored.read_text()))
    folder.mkdir(parents=True, exist_ok=True)
    facts = asyncio.run(_build(folder, size, sessions, url or f"sqlite:///{folder / 'moothall.sqlite3'}"))
    stored.write_text(json.dumps(facts))
    return World(**facts)


async def _build(folder: Path, size: Size, sessions: int, url: str) -> dict[str, Any]:
    async with loading(url) as loader:
        facts = await _Builder(loader, folder, size, sessions).build()
    database = database_at(url)
    await database.open()
    # Else it would go on behind everything that is measured.
    await rebuild_index(database)
    await database.close()
    return facts


class _Builder:
    def __init__(self, loader: Loader, folder: Path, size: Size, sessions: int) -> None:
        self._loader = loader
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
        await self._guild(guild_id, bot_id, people[0], role_ids, channel_ids)
        await self._bot(bot_id, people[0], bot_token)
        webhook = {
            "id": webhook_id,
            "guild_id": guild_id,
            "channel_id": channel_ids[0],
            "name": "bench",
            "token": self._box.encrypt(webhook_token.encode(), about=b"webhook %d" % webhook_id),
            "token_hash": hash_token(webhook_token),
            "user_id": people[0],
        }
        await self._loader.insert(webhooks, [webhook])
        for token, person in zip(session_tokens, people, strict=False):
            await self._token(token, TokenKind.SESSION, person)
        await self._people(guild_id, people, role_ids)
        outsiders = [self._ids.next() for _ in range(OUTSIDERS)]
        await self._users((outsider, f"outsider{number}") for number, outsider in enumerate(outsiders))
        await self._messages(guild_id, channel_ids, people)
        forum_id, thread_id = await self._forum(guild_id, people)
        return {
            "guild_id": int(guild_id),
            "channel_id": int(channel_ids[0]),
            "channel_ids": [int(channel) for channel in channel_ids],
            "forum_id": forum_id,
            "thread_id": thread_id,
            "webhook": f"/webhooks/{int(webhook_id)}/{webhook_token}",
            "bot_id": int(bot_id),
            "bot_token": bot_token,
            "session_tokens": session_tokens,
            "role_ids": [int(role) for role in role_ids],
            "people": [int(person) for person in people],
            "outsiders": [int(outsider) for outsider in outsiders],
        }

    async def _guild(
        self,
        guild_id: Snowflake,
        bot_id: Snowflake,
        owner_id: Snowflake,
        role_ids: list[Snowflake],
        channel_ids: list[Snowflake],
    ) -> None:
        guild = {
            "id": guild_id,
            "version": self._ids.next(),
            "name": "Bench",
            "owner_id": owner_id,
            "features": ["COMMUNITY"],
        }
        await self._loader.insert(guilds, [guild])
        await self._loader.insert(guild_counters, [{"guild_id": guild_id, "member_count": self._size.members}])
        everyone = {"id": guild_id, "name": "@everyone", "permissions": int(Permissions.DEFAULT)}
        others = [
            {"id": role, "name": f"role {i}", "position": i + 1, "permissions": 0} for i, role in enumerate(role_ids)
        ]
        await self._loader.insert(roles, [{"guild_id": guild_id, **role} for role in (everyone, *others)])
        hidden = [{"id": str(int(guild_id)), "type": 0, "allow": "0", "deny": str(int(Permissions.SEND_MESSAGES))}]
        await self._loader.insert(
            channels,
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
        member = {
            "guild_id": guild_id,
            "user_id": bot_id,
            "username_key": "bench",
            "roles": role_ids[:1],
            "joined_at": self._now,
        }
        await self._loader.insert(members, [member])

    async def _bot(self, bot_id: Snowflake, owner_id: Snowflake, token: str) -> None:
        bot = {"id": bot_id, "username": "bench", "username_key": "bench", "bot": True, "application_id": bot_id}
        await self._loader.insert(users, [bot])
        application = {
            "id": bot_id,
            "owner_id": owner_id,
            "bot_user_id": bot_id,
            "name": "bench",
            "flags": (1 << 13) | (1 << 15) | (1 << 19),
            "verify_key": "00" * 32,
            "private_key": b"",
            "created_at": self._now,
        }
        await self._loader.insert(applications, [application])
        await self._token(token, TokenKind.BOT, bot_id, bot_id)

    async def _token(self, token: str, kind: TokenKind, user_id: int, application_id: int | None = None) -> None:
        row = {
            "hash": hash_token(token),
            "kind": int(kind),
            "user_id": user_id,
            "application_id": application_id,
            "created_at": self._now,
        }
        await self._loader.insert(tokens, [row])

    async def _people(self, guild_id: Snowflake, people: list[Snowflake], role_ids: list[Snowflake]) -> None:
        named = [(person, f"person{number}") for number, person in enumerate(people)]
        await self._users(named)
        await self._loader.insert(
            members,
            (
                {
                    "guild_id": guild_id,
                    "user_id": person,
                    "username_key": name,
                    "roles": [role_ids[number % len(role_ids)]],
                    # So that pruning finds members who were never there.
                    "joined_at": self._long_ago,
                }
                for number, (person, name) in enumerate(named)
            ),
        )

    async def _users(self, named: Iterable[tuple[Snowflake, str]]) -> None:
        await self._loader.insert(
            users, ({"id": user_id, "username": name, "username_key": name} for user_id, name in named)
        )

    async def _messages(self, guild_id: Snowflake, channel_ids: list[Snowflake], people: list[Snowflake]) -> None:
        # Half of them in the first channel, whose pages are read.
        first, rest = channel_ids[0], channel_ids[1:]
        numbers: dict[Snowflake, list[int]] = {channel: [] for channel in channel_ids}
        for number in range(self._size.messages):
            numbers[first if number % 2 == 0 else rest[number // 2 % len(rest)]].append(number)
        ids = [self._ids.next() for _ in range(self._size.messages)]

        def rows() -> Iterator[dict[str, Any]]:
            # In the order in which they are stored.
            for channel, listed in numbers.items():
                for number in listed:
                    yield {
                        "channel_id": channel,
                        "id": ids[number],
                        "guild_id": guild_id,
                        "author_id": people[number * 31 % len(people)],
                        "body": message_body(channel, ids[number], number),
                    }

        await self._loader.insert(messages, rows())
        await self._loader.insert(
            channel_activity,
            [
                {"channel_id": channel, "last_message_id": ids[listed[-1]]}
                for channel, listed in numbers.items()
                if listed
            ],
        )

    async def _forum(self, guild_id: Snowflake, people: list[Snowflake]) -> tuple[int, int]:
        rows = forum_rows(guild_id, people, self._size.threads, self._ids, self._now)
        forum, *posts = rows["channels"]
        for table in (channels, thread_tags, channel_activity):
            await self._loader.insert(table, rows[table.name])
        await self._loader.insert(
            messages,
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


def message_body(channel: int, message: int, number: int) -> bytes:
    """A message of some words, as it is stored."""
    words = " ".join(WORDS[(number + i) % len(WORDS)] for i in range(4 + number % 17))
    words += f" w{number % 50_000}"  # a word that few messages have
    head = Head(
        id=MessageId(Snowflake(message)),
        channel_id=ChannelId(Snowflake(channel)),
        type=0,
        timestamp=Timestamp(Snowflake(message).created_ms),
        message_reference=UNSET,
    )
    return encode_body(head, Text(content=words, embeds=NONE, attachments=NONE, components=NONE))
