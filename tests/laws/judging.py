"""The laws that every step keeps, whoever takes it."""

from typing import Any

from msgspec import Struct

from moothall.objects.permissions import Permissions
from tests.laws.oracle import Snapshot, overwrites

P = Permissions


class Step(Struct):
    """One request: who asked for what, about whom or what, and what was answered."""

    actor: int
    name: str
    status: int
    code: int = 0
    member: int = 0
    role: int = 0
    channel: int = 0
    invite: str = ""
    events: int = 0
    said: Any = None


NEEDED: dict[str, int] = {
    "create role": P.MANAGE_ROLES,
    "change role": P.MANAGE_ROLES,
    "delete role": P.MANAGE_ROLES,
    "move role": P.MANAGE_ROLES,
    "give role": P.MANAGE_ROLES,
    "take role": P.MANAGE_ROLES,
    "set roles": P.MANAGE_ROLES,
    "create channel": P.MANAGE_CHANNELS,
    "move channel": P.MANAGE_CHANNELS,
    "kick": P.KICK_MEMBERS,
    "ban": P.BAN_MEMBERS,
    "unban": P.BAN_MEMBERS,
    "bulk ban": P.BAN_MEMBERS | P.MANAGE_GUILD,
    "time out": P.MODERATE_MEMBERS,
    "prune": P.KICK_MEMBERS | P.MANAGE_GUILD,
    "ask newcomers": P.MANAGE_GUILD | P.MANAGE_ROLES,
    "rename guild": P.MANAGE_GUILD,
}
IN_CHANNEL: dict[str, int] = {
    "change channel": P.MANAGE_CHANNELS,
    "delete channel": P.MANAGE_CHANNELS,
    "set overwrite": P.MANAGE_ROLES,
    "drop overwrite": P.MANAGE_ROLES,
    "invite": P.CREATE_INSTANT_INVITE,
}
MAY_FAIL = {"time out", "give role", "take role", "set roles", "ask newcomers", "invite"}
"""What the owner may not do either: time out administrators, and hand out roles that an integration manages."""
ON_ONESELF = {"leave", "join", "answer", "nick myself"}


def judge(step: Step, before: Snapshot, after: Snapshot) -> None:
    """Every law about one step. Raises AssertionError."""
    if step.status >= 400:
        _left_no_trace(step, before, after)
        return
    _was_allowed(step, before)
    _bits_were_theirs(step, before, after)
    _hierarchy_held(step, before, after)
    _roles_came_by_right(step, before, after)
    _overwrites_came_by_right(step, before, after)
    _invites_lead_where_they_may(step, before, after)


def counts_are_right(now: Snapshot) -> None:
    """What is counted is what is there."""
    assert now.count == len(now.members)
    assert now.owner in now.members
    assert now.owner not in now.banned
    assert not now.banned & now.members.keys()
    for invite in now.invites.values():
        assert not invite.max_uses or invite.uses < invite.max_uses
    for channel in now.channels.values():
        assert channel.parent_id is None or now.channels[int(channel.parent_id)].type == 4
    everyone = now.roles[int(now.guild.id)]
    assert (everyone.position, everyone.managed) == (0, False)


def _left_no_trace(step: Step, before: Snapshot, after: Snapshot) -> None:
    assert before == after, step
    assert step.events == 0, step
    # A rule that refuses everything would keep all other laws.
    if step.actor == before.owner and step.code == 50013:
        assert step.member == before.owner or step.name in MAY_FAIL, step
    if step.actor not in before.members and step.name not in {"join", "unban", *IN_CHANNEL, "drop invite"}:
        assert (step.status, step.code) == (404, 10004), step


def _was_allowed(step: Step, before: Snapshot) -> None:
    if step.name == "join":
        assert step.actor in before.members or step.actor not in before.banned, step
        return
    assert step.actor in before.members, step
    held = before.base(step.actor)
    needed = int(NEEDED.get(step.name, 0))
    assert held & needed == needed, step
    if step.name in IN_CHANNEL:
        assert before.within(step.actor, step.channel) & IN_CHANNEL[step.name], step
    if step.name == "drop invite":
        channel = int(before.invites[step.invite].channel_id)
        assert held & P.MANAGE_GUILD or before.within(step.actor, channel) & P.MANAGE_CHANNELS, step
    if step.name == "nick":
        assert held & P.MANAGE_NICKNAMES, step
    if step.name == "nick myself":
        assert held & P.CHANGE_NICKNAME, step
    if step.name == "hand over":
        assert before.owner in {step.actor, step.member}, step


def _bits_were_theirs(step: Step, before: Snapshot, after: Snapshot) -> None:
    """No role got a bit that who changed it does not hold."""
    held = before.base(step.actor)
    for role_id, role in after.roles.items():
        was = before.roles.get(role_id)
        gained = int(role.permissions) & ~(int(was.permissions) if was else 0)
        assert not gained & ~held, (step, role_id, gained)


def _hierarchy_held(step: Step, before: Snapshot, after: Snapshot) -> None:
    if step.actor == before.owner or step.actor not in before.members:
        return
    mine = before.rank(step.actor)
    # Roles that are not below one's own stay as they are, and above all others.
    top = sorted((r for r in before.roles if before.role_rank(r) >= mine), key=before.role_rank)
    for role in top:
        assert role in after.roles, step
        assert after.roles[role].permissions == before.roles[role].permissions, step
        assert after.roles[role].name == before.roles[role].name, step
    if mine > (0, -int(before.guild.id)):
        assert sorted(after.roles, key=after.role_rank)[len(after.roles) - len(top) :] == top, step
    assert after.owner == before.owner, step
    for user, was in before.members.items():
        if user == step.actor or step.name == "prune":
            continue
        now = after.members.get(user)
        hurt = now is None or (now.nick, now.communication_disabled_until) != (
            was.nick,
            was.communication_disabled_until,
        )
        assert not hurt or before.rank(user) < mine, (step, user)
    for user in after.banned - before.banned:
        assert user not in before.members or before.rank(user) < mine, (step, user)
    if step.name == "prune":
        for user in before.members.keys() - after.members.keys():
            assert not before.held(user), step
            assert user != before.owner, step


def _roles_came_by_right(step: Step, before: Snapshot, after: Snapshot) -> None:
    gone = before.roles.keys() - after.roles.keys()
    for user, now in after.members.items():
        was = before.members.get(user)
        had = set() if was is None else {int(r) for r in was.roles}
        has = {int(r) for r in now.roles}
        for role in (has ^ had) - gone:
            if step.name == "answer":
                assert user == step.actor, step
                assert role in before.offered, step
            elif step.name == "join":
                assert user == step.actor, step
                assert role in {int(r) for r in before.invites[step.invite].role_ids}, step
            else:
                assert before.base(step.actor) & P.MANAGE_ROLES, step
                _could_give(step, before, role)
    for role in after.offered - before.offered:
        _could_give(step, before, role)


def _could_give(step: Step, before: Snapshot, role: int) -> None:
    assert not before.roles[role].managed, (step, role)
    assert before.rank(step.actor) > before.role_rank(role), (step, role)


def _overwrites_came_by_right(step: Step, before: Snapshot, after: Snapshot) -> None:
    if before.is_administrator(step.actor):
        return
    gone = before.roles.keys() - after.roles.keys()
    for channel_id, channel in after.channels.items():
        was = before.channels.get(channel_id)
        old = {} if was is None else overwrites(was)
        new = overwrites(channel)
        parent = None if channel.parent_id is None else before.channels.get(int(channel.parent_id))
        if parent is not None and step.name in {"create channel", "move channel"} and new == overwrites(parent):
            continue
        held = before.base(step.actor)
        if parent is not None:
            held |= before.within(step.actor, int(parent.id))
        own = {step.actor, *before.held(step.actor)}
        if any(target in own and allow & P.MANAGE_ROLES for target, (allow, _) in old.items()):
            held = int(P.ALL)
        for target in (old.keys() | new.keys()) - gone:
            (allow, deny), (allows, denies) = old.get(target, (0, 0)), new.get(target, (0, 0))
            changed = (allow ^ allows) | (deny ^ denies)
            assert not changed & ~held, (step, target, changed)
            assert not changed & P.MANAGE_ROLES, (step, target)


def _invites_lead_where_they_may(step: Step, before: Snapshot, after: Snapshot) -> None:
    for code in after.invites.keys() - before.invites.keys():
        for role in after.invites[code].role_ids:
            assert before.base(step.actor) & P.MANAGE_ROLES, step
            _could_give(step, before, int(role))
    for code, now in after.invites.items():
        was = before.invites.get(code)
        spent = 0 if was is None else now.uses - was.uses
        joined = step.name == "join" and step.invite == code and step.actor not in before.members
        assert spent == int(joined), (step, code)
    for code in before.invites.keys() - after.invites.keys():
        was = before.invites[code]
        used_up = step.name == "join" and step.invite == code and was.max_uses == was.uses + 1
        with_channel = int(was.channel_id) not in after.channels
        assert used_up or with_channel or (step.name == "drop invite" and step.invite == code), step
