"""What clients do with guilds: channels, roles, members, bans, invites, permissions."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, Final

from tests.simulation.platform.people import Person
from tests.simulation.platform.wild import PASSWORD
from tests.simulation.platform.workload import SEND, VIEW, Call, Invite, Workload
from tests.simulation.platform.world import Guild
from tests.simulation.randomness import Choices

VANITY_CODES: Final = ("hall", "town")


def _left(work: Workload, guild: Guild, user_id: str) -> list[tuple[tuple[Any, ...], Any]]:
    """The writes of a member who leaves: they lose their roles and nickname."""
    roles = [key for key in (*work.history.writes, *work.history.initial) if key[:3] == ("has role", guild.id, user_id)]
    return [
        (("member", guild.id, user_id), None),
        *((key, None) for key in dict.fromkeys(roles)),
        (("nick", guild.id, user_id), None),
    ]


async def create_channel(work: Workload, choices: Choices) -> None:
    """Create a text channel."""
    guild = work.guild(choices)
    caller, name, reason = work.member(choices, guild), work.number("channel"), work.number("r")
    body: dict[str, Any] = {"name": name, "type": 0}
    if choices.chance(0.3):
        body["permission_overwrites"] = [{"id": guild.id, "type": 0, "deny": str(VIEW), "allow": "0"}]
    path = f"/guilds/{guild.id}/channels"
    call = await work.call(choices, caller, "POST", path, body, reason=reason)
    work.expect(reason, guild, call, what="create channel")
    if call.accepted and call.reply is not None:
        work.created_channels.append((guild.id, call.reply.json["id"]))
        work.history.initial["channel name", call.reply.json["id"]] = name


async def rename_channel(work: Workload, choices: Choices) -> None:
    """Change a channel's or thread's name."""
    guild = work.guild(choices)
    caller, channel = work.member(choices, guild), work.channel(choices, guild)
    name, reason = work.number("named"), work.number("r")
    call = await work.call(
        choices,
        caller,
        "PATCH",
        f"/channels/{channel}",
        {"name": name},
        reason=reason,
    )
    work.expect(reason, guild, call, what="rename channel")
    work.write(call, (("channel name", channel), name))


async def delete_channel(work: Workload, choices: Choices) -> None:
    """Delete a channel that the workload made."""
    if not work.created_channels:
        return
    guild_id, channel = choices.choice(work.created_channels)
    guild, reason = work.guild_of(guild_id), work.number("r")
    caller = work.member(choices, guild)
    call = await work.call(choices, caller, "DELETE", f"/channels/{channel}", reason=reason)
    work.expect(reason, guild, call, what="delete channel")
    if call.accepted:
        work.created_channels = [each for each in work.created_channels if each[1] != channel]


async def set_overwrite(work: Workload, choices: Choices) -> None:
    """Hide a channel from a role or a member, or show it."""
    guild = work.guild(choices)
    caller, channel = work.member(choices, guild), work.channel(choices, guild)
    if any(channel == thread for _, thread in work.threads):
        return
    if choices.chance(0.5):
        mine = [role for owner, role in work.roles if owner == guild.id]
        target, kind = choices.choice((guild.id, guild.insider, guild.moderator, *mine[-3:])), 0
    else:
        target, kind = choices.choice(work.people).id, 1
    reason, path = work.number("r"), f"/channels/{channel}/permissions/{target}"
    if choices.chance(0.3):
        call = await work.call(choices, caller, "DELETE", path, reason=reason)
        work.expect(reason, guild, call, at_least=0, what="delete overwrite")
        work.write(call, (("overwrite", channel, target), None))
        return
    allow, deny = choices.choice(((0, VIEW), (VIEW, 0), (0, SEND), (VIEW | SEND, 0)))
    body = {"type": kind, "allow": str(allow), "deny": str(deny)}
    call = await work.call(choices, caller, "PUT", path, body, reason=reason)
    work.expect(reason, guild, call, at_least=0, what="set overwrite")
    work.write(call, (("overwrite", channel, target), (str(allow), str(deny))))


async def change_role(work: Workload, choices: Choices) -> None:
    """Create, change or delete a role."""
    guild = work.guild(choices)
    caller, reason = work.member(choices, guild), work.number("r")
    mine = [role for owner, role in work.roles if owner == guild.id]
    kind = choices.weighted({"create": 3, "rename": 3, "delete": 2, "permissions": 2})
    path = f"/guilds/{guild.id}/roles"
    if kind == "create" or not mine:
        name = work.number("role")
        permissions = choices.choice((0, VIEW, SEND, VIEW | SEND))
        body = {"name": name, "permissions": str(permissions)}
        call = await work.call(choices, caller, "POST", path, body, reason=reason)
        work.expect(reason, guild, call, what="create role")
        if call.accepted and call.reply is not None:
            work.roles.append((guild.id, call.reply.json["id"]))
            work.history.initial["role name", call.reply.json["id"]] = name
        return
    role = choices.choice(mine)
    if kind in {"delete", "permissions"}:
        worn = [key[3] for key in work.history.writes if key[:2] == ("has role", guild.id) and work.history.last(key)]
        role = choices.choice([each for each in mine if each in worn] or mine)
    path = f"{path}/{role}"
    if kind == "delete":
        call = await work.call(choices, caller, "DELETE", path, reason=reason)
        work.expect(reason, guild, call, what="delete role")
        if call.accepted:
            work.roles.remove((guild.id, role)) if (guild.id, role) in work.roles else None
    elif kind == "permissions":
        body = {"permissions": str(choices.choice((0, VIEW, 8, 8)))}
        await work.call(choices, caller, "PATCH", path, body)
    else:
        name = work.number("rolename")
        call = await work.call(choices, caller, "PATCH", path, {"name": name}, reason=reason)
        work.expect(reason, guild, call, what="rename role")
        work.write(call, (("role name", role), name))


async def give_role(work: Workload, choices: Choices) -> None:
    """Give a member a role, or take it."""
    guild = work.guild(choices)
    caller, target = work.member(choices, guild), work.member(choices, guild)
    mine = [role for owner, role in work.roles if owner == guild.id]
    role = choices.choice([guild.insider, guild.insider, guild.moderator, *mine[-3:]])
    method, reason = choices.choice(("PUT", "DELETE")), work.number("r")
    path = f"/guilds/{guild.id}/members/{target.id}/roles/{role}"
    async with members_around(work, choices, guild):
        call = await work.call(choices, caller, method, path, reason=reason)
        work.expect(reason, guild, call, at_least=0, what="member role")
        work.write(call, (("has role", guild.id, target.id, role), True if method == "PUT" else None))


async def set_nick(work: Workload, choices: Choices) -> None:
    """Change a member's nickname."""
    guild = work.guild(choices)
    caller, target = work.member(choices, guild), work.member(choices, guild)
    nick, reason = work.number("nick"), work.number("r")
    own = caller.id == target.id
    path = f"/guilds/{guild.id}/members/{'@me' if own else target.id}"
    async with members_around(work, choices, guild):
        call = await work.call(choices, caller, "PATCH", path, {"nick": nick}, reason=reason)
        work.expect(reason, guild, call, what="nickname")
        work.write(call, (("nick", guild.id, target.id), nick))


@asynccontextmanager
async def members_around(work: Workload, choices: Choices, guild: Guild) -> AsyncIterator[None]:
    """Read the members of a guild just before and just after something happens to them, at times."""
    reader = work.member(choices, guild) if choices.chance(0.4) else None
    if reader is not None:
        await read_part(work, choices, reader, guild, "members")
    yield
    if reader is not None:
        await read_part(work, choices, reader, guild, "members")


async def rename_guild(work: Workload, choices: Choices) -> None:
    """Change a guild's name."""
    guild = work.guild(choices)
    caller, name, reason = work.member(choices, guild), work.number("guild"), work.number("r")
    call = await work.call(
        choices,
        caller,
        "PATCH",
        f"/guilds/{guild.id}",
        {"name": name},
        reason=reason,
    )
    work.expect(reason, guild, call, what="rename guild")
    work.write(call, (("guild name", guild.id), name))


async def claim_vanity_code(work: Workload, choices: Choices) -> None:
    """Give a guild one of few vanity codes, which the other one may have or claim too, or take it away."""
    guild = work.guild(choices)
    code = choices.choice((*VANITY_CODES, None))
    await _claim(work, choices, guild, code)


async def race_for_vanity_code(work: Workload, choices: Choices) -> None:
    """Let all guilds claim one vanity code at once."""
    code = choices.choice(VANITY_CODES)
    tasks = [
        work.loop.create_task(_claim(work, work.randomness.stream(work.number("claim")), guild, code))
        for guild in work.guilds
    ]
    for task in tasks:
        await task


async def _claim(work: Workload, choices: Choices, guild: Guild, code: str | None) -> None:
    owner = next(person for person in work.people if person.id == guild.owner)
    reason, path = work.number("r"), f"/guilds/{guild.id}/vanity-url"
    call = await work.call(choices, owner, "PATCH", path, {"code": code}, reason=reason)
    work.expect(reason, guild, call, at_least=0, what="vanity code")
    work.write(call, (vanity_key(guild), code))


def vanity_key(guild: Guild) -> tuple[str, str]:
    """The register of a guild's vanity code."""
    return ("vanity code", guild.id)


async def race_for_username(work: Workload, choices: Choices) -> None:
    """Let two people register with one name at once."""
    body = {"username": work.marker(), "password": PASSWORD}
    tasks = [
        work.loop.create_task(
            work.call(work.randomness.stream(work.number("race")), None, "POST", "/auth/register", body)
        )
        for _ in range(choices.integer(2, 3))
    ]
    accepted = [(await task).accepted for task in tasks]
    if sum(accepted) > 1:
        work.problems.append(f"{sum(accepted)} accounts have the name {body['username']}")


def _expendable(work: Workload, choices: Choices, guild: Guild) -> Person:
    return choices.choice([person for person in work.people if person.id != guild.owner and not person.bot])


async def kick(work: Workload, choices: Choices) -> None:
    """Remove a member, or leave."""
    guild = work.guild(choices)
    target, reason = _expendable(work, choices, guild), work.number("r")
    if choices.chance(0.4):
        path = f"/users/@me/guilds/{guild.id}"
        call = await work.call(choices, target, "DELETE", path)
    else:
        path = f"/guilds/{guild.id}/members/{target.id}"
        caller = work.member(choices, guild)
        call = await work.call(choices, caller, "DELETE", path, reason=reason)
        work.expect(reason, guild, call, what="kick")
    work.write(call, *_left(work, guild, target.id))


async def ban(work: Workload, choices: Choices) -> None:
    """Ban a user, or lift the ban."""
    guild = work.guild(choices)
    caller, target, reason = work.member(choices, guild), _expendable(work, choices, guild), work.number("r")
    path = f"/guilds/{guild.id}/bans/{target.id}"
    banned = work.history.last(("ban", guild.id, target.id))
    if banned and choices.chance(0.7):
        call = await work.call(choices, caller, "DELETE", path, reason=reason)
        work.expect(reason, guild, call, what="unban")
        work.write(call, (("ban", guild.id, target.id), None))
        return
    call = await work.call(choices, caller, "PUT", path, {}, reason=reason)
    work.expect(reason, guild, call, at_least=0, what="ban")
    work.write(call, (("ban", guild.id, target.id), True), *_left(work, guild, target.id))


async def create_invite(work: Workload, choices: Choices) -> None:
    """Create an invite that can be used once or twice."""
    guild = work.guild(choices)
    caller, reason = work.member(choices, guild), work.number("r")
    uses = choices.choice((1, 1, 2))
    path = f"/channels/{guild.general}/invites"
    body = {"max_uses": uses, "max_age": 0, "unique": True}
    call = await work.call(choices, caller, "POST", path, body, reason=reason)
    work.expect(reason, guild, call, what="create invite")
    if call.accepted and call.reply is not None:
        work.invites.append(Invite(call.reply.json["code"], guild.id, uses))


async def join(work: Workload, choices: Choices) -> None:
    """Join a guild, mostly by an invite with a bound."""
    guild = work.guild(choices)
    outside = [p for p in work.people if not p.bot and not work.history.last(("member", guild.id, p.id))]
    if not outside:
        return
    person = choices.choice(outside)
    bounded = [invite for invite in work.invites if invite.guild == guild.id]
    if bounded and choices.chance(0.6):
        await _use(work, choices, person, bounded[-1])
        return
    await _join(work, choices, person, guild, work.image.invites[guild.id])


async def race_for_invite(work: Workload, choices: Choices) -> None:
    """Let all who are outside use one invite at once."""
    guild = work.guild(choices)
    outside = [p for p in work.people if not p.bot and not work.history.last(("member", guild.id, p.id))]
    bounded = [invite for invite in work.invites if invite.guild == guild.id]
    if bounded and len(outside) > 1:
        tasks = [
            work.loop.create_task(_use(work, work.randomness.stream(work.number("race")), person, bounded[-1]))
            for person in outside
        ]
        for task in tasks:
            await task


async def _use(work: Workload, choices: Choices, person: Person, invite: Invite) -> None:
    before = list(work.history.writes[("member", invite.guild, person.id)])
    call = await _join(work, choices, person, work.guild_of(invite.guild), invite.code)
    # A member who follows an invite uses none up, so it must be certain that they had left.
    left = not before or (before[-1].known and before[-1].value is None)
    if call.accepted and left and len(work.history.writes[("member", invite.guild, person.id)]) == len(before) + 1:
        invite.joined += 1
        if invite.joined > invite.max_uses:
            work.problems.append(f"{invite.joined} joined by invite {invite.code} for {invite.max_uses}")


async def _join(work: Workload, choices: Choices, person: Person, guild: Guild, code: str) -> Call:
    call = await work.call(choices, person, "POST", f"/invites/{code}", {})
    work.write(call, (("member", guild.id, person.id), True))
    return call


async def read_guild(work: Workload, choices: Choices) -> None:
    """Read a guild, its channels, roles, members or bans."""
    guild = work.guild(choices)
    reader = work.member(choices, guild)
    what = choices.choice(("", "channels", "roles", "members", "bans"))
    await read_part(work, choices, reader, guild, what)


async def read_vanity_code(work: Workload, choices: Choices, reader: Person, guild: Guild) -> None:
    """Read the vanity code of a guild, and record it."""
    call = await work.call(choices, reader, "GET", f"/guilds/{guild.id}/vanity-url")
    if call.accepted and call.reply is not None:
        work.read(call, vanity_key(guild), call.reply.json["code"])


async def read_part(work: Workload, choices: Choices, reader: Person, guild: Guild, what: str) -> Call:
    """Read a part of a guild, and record what it shows."""
    path = f"/guilds/{guild.id}" + (f"/{what}" if what else "")
    query = {"limit": 1000} if what in {"members", "bans"} else None
    call = await work.call(choices, reader, "GET", path, query=query)
    if not call.accepted or call.reply is None:
        return call
    _READERS[what](work, call, guild, call.reply.json)
    return call


def _read_name(work: Workload, call: Call, guild: Guild, listed: Any) -> None:
    work.read(call, ("guild name", guild.id), listed["name"])


def _read_channels(work: Workload, call: Call, _guild: Guild, listed: Any) -> None:
    for each in listed:
        if ("channel name", each["id"]) in work.history.initial:
            work.read(call, ("channel name", each["id"]), each["name"])
        overwrites = {o["id"]: (o["allow"], o["deny"]) for o in each["permission_overwrites"]}
        for person in work.people:
            work.read(call, ("overwrite", each["id"], person.id), overwrites.get(person.id))


def _read_roles(work: Workload, call: Call, _guild: Guild, listed: Any) -> None:
    made = {role for _, role in work.roles}
    for each in listed:
        if each["id"] in made:
            work.read(call, ("role name", each["id"]), each["name"])


def _read_members(work: Workload, call: Call, guild: Guild, listed: Any) -> None:
    members = {each["user"]["id"]: each for each in listed}
    if len(members) != len(listed):
        work.problems.append(f"guild {guild.id} lists a member twice")
    for person in work.people:
        if not person.bot:
            _read_member(work, call, guild, person.id, members.get(person.id))


def _read_bans(work: Workload, call: Call, guild: Guild, listed: Any) -> None:
    banned = {each["user"]["id"] for each in listed}
    for person in work.people:
        work.read(call, ("ban", guild.id, person.id), True if person.id in banned else None)


_READERS = {
    "": _read_name,
    "channels": _read_channels,
    "roles": _read_roles,
    "members": _read_members,
    "bans": _read_bans,
}


def _read_member(work: Workload, call: Call, guild: Guild, user_id: str, member: Any) -> None:
    work.read(call, ("member", guild.id, user_id), True if member else None)
    if member is None:
        return
    work.read(call, ("nick", guild.id, user_id), member["nick"])
    for role in (guild.insider, guild.moderator):
        work.read(call, ("has role", guild.id, user_id, role), True if role in member["roles"] else None)
