"""What ends takes with it what belongs to it: roles, channels and stages from their creation to their end.

By chance alone one operation seldom follows the other on the same thing, so each of these goes through a whole life.
"""

from collections.abc import Callable, Coroutine
from typing import Any, Final

from tests.simulation.platform.people import Person
from tests.simulation.platform.workload import VIEW, Workload
from tests.simulation.platform.world import Guild
from tests.simulation.randomness import Choices

_ADMINISTRATOR: Final = 1 << 3
_STAGE: Final = 13


def _owner(work: Workload, guild: Guild) -> Person:
    return next(person for person in work.people if person.id == guild.owner)


async def _create(work: Workload, choices: Choices, guild: Guild, path: str, body: Any) -> Any:
    """What the owner of a guild has created; None if that was refused or is unknown."""
    call = await work.call(choices, _owner(work, guild), "POST", path, body)
    return call.reply.json if call.accepted and call.reply is not None else None


async def end_role(work: Workload, choices: Choices) -> None:
    """Create a role, let members have it and a channel name it, change what it permits, and delete it."""
    guild = work.guild(choices)
    owner, path = _owner(work, guild), f"/guilds/{guild.id}/roles"
    members = [person for person in work.members_of(guild) if person is not owner and not person.bot]
    role = await _create(work, choices, guild, path, {"name": work.number("short"), "permissions": "0"})
    if role is None:
        return
    for person in choices.sample(members, 2):
        await work.call(choices, owner, "PUT", f"/guilds/{guild.id}/members/{person.id}/roles/{role['id']}")
    channel = choices.choice((guild.general, guild.secret))
    overwrite = {"type": 0, "allow": str(VIEW), "deny": "0"}
    await work.call(choices, owner, "PUT", f"/channels/{channel}/permissions/{role['id']}", overwrite)
    for permissions in choices.shuffled((_ADMINISTRATOR, 0, VIEW)):
        await work.call(choices, owner, "PATCH", f"{path}/{role['id']}", {"permissions": str(permissions)})
    if choices.chance(0.6):
        await work.call(choices, owner, "DELETE", f"{path}/{role['id']}")


async def end_channel(work: Workload, choices: Choices) -> None:
    """Create a channel and an invite to it, and delete the channel."""
    guild = work.guild(choices)
    body = {"name": work.number("short"), "type": 0}
    channel = await _create(work, choices, guild, f"/guilds/{guild.id}/channels", body)
    if channel is None:
        return
    path = f"/channels/{channel['id']}"
    invite = await _create(work, choices, guild, f"{path}/invites", {"max_age": 0, "max_uses": 0, "unique": True})
    call = await work.call(choices, _owner(work, guild), "DELETE", path)
    if invite is not None and call.accepted:
        work.ended_invites.append(invite["code"])


async def end_stage(work: Workload, choices: Choices) -> None:
    """Create a stage channel, open a stage in it, and close it."""
    guild = work.guild(choices)
    body = {"name": work.number("stage"), "type": _STAGE}
    channel = await _create(work, choices, guild, f"/guilds/{guild.id}/channels", body)
    if channel is None:
        return
    stage = {"channel_id": channel["id"], "topic": work.number("topic")}
    if await _create(work, choices, guild, "/stage-instances", stage) is not None:
        await work.loop.io(choices.delay(0.5))
        await work.call(choices, _owner(work, guild), "DELETE", f"/stage-instances/{channel['id']}")


async def be_quiet(work: Workload, choices: Choices) -> None:
    """Start a thread that is archived after an hour without messages."""
    guild = work.guild(choices)
    body = {"name": work.number("quiet"), "type": 11, "auto_archive_duration": 60}
    await _create(work, choices, guild, f"/channels/{guild.general}/threads", body)


ENDINGS: Final[tuple[Callable[[Workload, Choices], Coroutine[Any, Any, None]], ...]] = (
    end_role,
    end_channel,
    end_stage,
    be_quiet,
)
