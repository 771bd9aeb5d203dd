"""Activities on two nodes, and who takes part in them."""

from typing import Any

from moothall.objects.permissions import Permissions
from tests.many_processes.nodes import Listener, Node
from tests.resources.activity.activities import activity
from tests.support.harness import Caller, Guild

UPDATE = "EMBEDDED_ACTIVITY_UPDATE_V2"
EVERYONE = int(Permissions.DEFAULT | Permissions.USE_EMBEDDED_ACTIVITIES)


async def create_scene(node: Node) -> tuple[Caller, Caller, Guild, Caller]:
    """Two members of a guild, of whom the first owns it and an Activity, and the bot of that."""
    alice, bob = await node.platform.person("alice"), await node.platform.person("bob")
    guild = await node.platform.guild(alice, everyone=EVERYONE)
    await guild.join(bob)
    bot = await activity(node.platform, alice)
    await guild.join(bot)
    return alice, bob, guild, bot


def users(listener: Listener) -> list[str] | None:
    """The participants in the last update that a client received."""
    received: list[Any] = [data for name, data in listener.dispatches if name == UPDATE]
    return [each["user_id"] for each in received[-1]["participants"]] if received else None


def activities(listener: Listener, who: Caller) -> list[dict[str, Any]]:
    """What the last presence of a user shows."""
    presences = [d for n, d in listener.dispatches if n == "PRESENCE_UPDATE" and d["user"]["id"] == str(who.id)]
    listed: list[dict[str, Any]] = presences[-1]["activities"] if presences else []
    return listed
