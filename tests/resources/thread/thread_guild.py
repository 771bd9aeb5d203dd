"""A guild for tests of threads, with helpers that start threads and posts."""

from typing import Any

from tests.support.harness import FORUM, Caller, Guild, Platform

PUBLIC, PRIVATE, ANNOUNCED = 11, 12, 10


class ThreadGuild:
    """A guild with an owner and a member, and their threads."""

    def __init__(self, platform: Platform, guild: Guild, bob: Caller) -> None:
        self.platform = platform
        self.guild = guild
        self.owner = guild.owner
        self.bob = bob
        self.general = f"/channels/{guild.general}"

    async def thread(self, caller: Caller, kind: int = PUBLIC, *, name: str = "moot", **more: Any) -> str:
        """A new thread of a caller's in the general channel; its path."""
        reply = await caller.post(f"{self.general}/threads", {"name": name, "type": kind, **more})
        assert reply.status == 201, reply.body
        return f"/channels/{reply.json['id']}"

    async def forum(self, **values: Any) -> int:
        """A forum in which everybody may post."""
        return await self.guild.channel(type=FORUM, name="forum", **values)

    async def post(self, caller: Caller, forum: int, name: str = "post", **more: Any) -> str:
        """A new post of a forum; its path."""
        body = {"name": name, "message": {"content": "first"}, **more}
        reply = await caller.post(f"/channels/{forum}/threads", body)
        assert reply.status == 201, reply.body
        return f"/channels/{reply.json['id']}"

    async def newcomer(self) -> Caller:
        """One more member."""
        return await self.guild.member_with(0)


async def thread_guild(platform: Platform, **values: Any) -> ThreadGuild:
    """A place of which nothing has been heard yet."""
    guild = await platform.guild(await platform.person("owner"), **values)
    bob = await platform.person("bob")
    await guild.join(bob)
    return ThreadGuild(platform, guild, bob)


def tag(tag_id: int, name: str, *, moderated: bool = False) -> dict[str, Any]:
    """A forum's tag as its column holds it."""
    return {"id": str(tag_id), "name": name, "moderated": moderated, "emoji_id": None, "emoji_name": None}


def id_of(path: str) -> str:
    """The id of a thread's path."""
    return path.rpartition("/")[2]


def content_of(messages: Any) -> list[tuple[int, str]]:
    """(type, content) of messages, oldest first."""
    return [(message["type"], message["content"]) for message in reversed(messages)]
