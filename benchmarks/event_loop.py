"""How long the event loop makes no turn while all kinds of requests come at once, large bodies and bulk acts too.

The server watches itself (the setting `slow_turn_ms`) and logs each stretch with the endpoints that ran in it.
"""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from benchmarks.bodies import LAYOUT, PLAIN, TEN_EMBEDS
from benchmarks.world import World

LIMIT_MS = 5
SETTINGS = {"MOOTHALL_SLOW_TURN_MS": str(LIMIT_MS), "MOOTHALL_LOG_FORMAT": "json"}

_LARGE = json.dumps({"content": "x" * 2_000_000}).encode()
"""Refused, once all of it has been read and checked."""


def requests(world: World) -> Iterator[tuple[str, str, bytes]]:
    """One request of each kind: method, path and body. The owner makes them."""
    guild, channel = f"/guilds/{world.guild_id}", f"/channels/{world.channel_id}"
    forum, post = (f"/channels/{world.facts[name]}" for name in ("forum_id", "thread_id"))
    people = world.facts["people"]
    for path in (
        guild,
        channel,
        f"{guild}/members/{world.facts['bot_id']}",
        f"{channel}/messages?limit=100",
        f"{guild}/members?limit=1000",
        f"{guild}/members/search?query=PERSON4&limit=1000",
        f"{guild}/roles",
        f"{guild}/channels",
        f"{guild}/audit-logs?limit=100",
        f"{guild}/bans?limit=1000",
        f"{guild}/messages/search?content=jumps",
        f"{guild}/messages/search?content=w77",
        f"{guild}/messages/search?content=fox+dog&slop=4",
        f"{guild}/threads/active",
        f"{forum}/threads/archived/public?limit=100",
        f"{forum}/threads/search?name=ship+oar",
        f"{guild}/prune?days=7",
        "/users/@me/guilds?with_counts=true",
    ):
        yield "GET", path, b""
    hook = f"{world.webhook}?wait=true&with_components=true"
    for body in (PLAIN, TEN_EMBEDS, LAYOUT, _LARGE):
        yield "POST", hook, body
    for path in (channel, post):
        yield "POST", f"{path}/messages", PLAIN
    yield "POST", f"{channel}/messages", _LARGE
    yield "PATCH", f"{guild}/roles/{world.facts['role_ids'][1]}", b'{"name": "renamed"}'
    yield "POST", f"{guild}/bulk-ban", json.dumps({"user_ids": [str(one) for one in people[10:210]]}).encode()
    for user_id in people[10:14]:
        yield "DELETE", f"{guild}/bans/{user_id}", b""
    role_ids = world.facts["role_ids"][1:]
    positions = [{"id": str(role_id), "position": position} for position, role_id in enumerate(role_ids, 1)]
    yield "PATCH", f"{guild}/roles", json.dumps(positions).encode()


def summary(log: Path) -> str:
    """The stretches of a server's log: how many, the longest, and what took most of those that were busy so long."""
    lines = [json.loads(line) for line in log.read_text().splitlines() if line.startswith("{")]
    stretches = [
        (line["milliseconds"], line["busy"], _longest(line["ran"], line["collector"], line["milliseconds"]))
        for line in lines
        if line["logger"] == "moothall.loop"
    ]
    if not stretches:
        return f"none of {LIMIT_MS} ms"
    busy = [(spent, name) for _, spent, name in stretches if spent >= LIMIT_MS]
    text = f"{len(stretches)} of {LIMIT_MS} ms or more, the longest {max(stretches)[0]:.1f} ms"
    if not busy:
        return f"{text}, none of them busy so long"
    longest, name = max(busy)
    common = ", ".join(f"{each} {count}" for each, count in Counter(at for _, at in busy).most_common(5))
    return f"{text}; {len(busy)} busy so long, the longest {longest:.1f} ms, most of it {name}; {common}"


def _longest(ran: dict[str, float], collector: float, taken: float) -> str:
    """What took most of a stretch: an endpoint or task, the garbage collector, or the loop itself, waiting included."""
    shares = {**ran, "the collector": collector, "the loop": taken - sum(ran.values())}
    return max(shares, key=lambda name: shares[name])
