"""Users who identify on any of several nodes while members come and go count them right."""

import asyncio

from moothall.resources.member.queries import count_members
from tests.gateway.mirror import Mirror
from tests.many_processes.nodes import Listener, Node
from tests.support.harness import Caller

MOVERS = 4
SESSIONS = 24


async def move(mover: Caller, invite: str, guild_id: int, ending: asyncio.Event) -> None:
    """Join and leave, until told to end."""
    while not ending.is_set():
        assert (await mover.post(f"/invites/{invite}")).status == 200
        assert (await mover.delete(f"/users/@me/guilds/{guild_id}")).status == 204


async def test_sessions_of_two_nodes_that_identify_meanwhile_have_the_stored_count(nodes: tuple[Node, Node]) -> None:
    here, there = nodes
    alice = await here.platform.person("alice")
    guild = await here.platform.guild(alice)
    invite = (await alice.post(f"/channels/{guild.general}/invites", {"max_uses": 0})).json["code"]
    movers = [await here.platform.person(f"mover{number}") for number in range(MOVERS)]
    callers = [mover if number % 2 else there.as_seen(mover) for number, mover in enumerate(movers)]
    ending = asyncio.Event()
    moving = [asyncio.create_task(move(caller, invite, guild.id, ending)) for caller in callers]
    listeners: list[Listener] = [await nodes[number % 2].session(alice) for number in range(SESSIONS)]
    ending.set()
    await asyncio.gather(*moving)
    await alice.post(f"/channels/{guild.general}/messages", {"content": "the end"})
    async with here.app.database.read() as reader:
        stored = await count_members(reader, guild.id)
    for listener in listeners:
        await listener.receive("MESSAGE_CREATE", content="the end")
        mirror = Mirror()
        for name, data in listener.dispatches:
            if name in {"GUILD_CREATE", "GUILD_MEMBER_ADD", "GUILD_MEMBER_REMOVE"}:
                mirror.apply(name, data)
        assert mirror.guilds[str(guild.id)]["member_count"] == stored
