"""Invariants that hold for every step of every user."""

from typing import Any

from msgspec import Struct

from moothall.objects.permissions import Permissions
from tests.laws.oracle import Snapshot, overwrites

P = Permissions


class Step(Struct):
    """One request: actor, action, targets and response."""

    actor: int
    name: str
    status: int
    code: int = 0
    member: int = 0
    role: int = 0
    channel: int = 0
    invite: str = ""
    events: int = 0
    body: Any = None


NEEDED: dict[str, int] = {
    "create role": P.MANAGE_ROLES,
    "change role": P.MANAGE_ROLES,
    "delete role": P.MANAGE_ROLES,
    "move role": P.MANAGE_ROLES,
    "add role": P.MANAGE_ROLES,
    "remove role": P.MANAGE_ROLES,
    "set roles": P.MANAGE_ROLES,
    "create channel": P.MANAGE_CHANNELS,
    "move channel": P.MANAGE_CHANNELS,
    "kick": P.KICK_MEMBERS,
    "ban": P.BAN_MEMBERS,
    "unban": P.BAN_MEMBERS,
    "bulk ban": P.BAN_MEMBERS | P.MANAGE_GUILD,
    "set timeout": P.MODERATE_MEMBERS,
    "prune": P.KICK_MEMBERS | P.MANAGE_GUILD,
    "modify onboarding": P.MANAGE_GUILD | P.MANAGE_ROLES,
    "rename guild": P.MANAGE_GUILD,
}
NEEDED_IN_CHANNEL: dict[str, int] = {
    "change channel": P.MANAGE_CHANNELS,
    "delete channel": P.MANAGE_CHANNELS,
    "set overwrite": P.MANAGE_ROLES,
    "delete overwrite": P.MANAGE_ROLES,
    "invite": P.CREATE_INSTANT_INVITE,
}
REFUSED_FOR_OWNERS_TOO = {"set timeout", "add role", "remove role", "set roles", "modify onboarding", "invite"}
"""Actions that can be refused to the owner too: timeouts of administrators, and assigning managed roles."""
ABOUT_THE_ACTOR = {"leave", "join", "respond to onboarding", "modify own nick"}


def check_step(step: Step, before: Snapshot, after: Snapshot) -> None:
    """Check every invariant of one step. Raises AssertionError."""
    if step.status >= 400:
        _check_refusal(step, before, after)
        return
    _check_permission(step, before)
    _check_granted_bits(step, before, after)
    _check_hierarchy(step, before, after)
    _check_role_changes(step, before, after)
    _check_overwrites(step, before, after)
    _check_invites(step, before, after)


def check_state(new: Snapshot) -> None:
    """Check that counters and references match the stored rows."""
    assert new.count == len(new.members)
    assert new.owner in new.members
    assert new.owner not in new.banned
    assert not new.banned & new.members.keys()
    for invite in new.invites.values():
        assert not invite.max_uses or invite.uses < invite.max_uses
    for channel in new.channels.values():
        assert channel.parent_id is None or new.channels[int(channel.parent_id)].type == 4
    everyone = new.roles[int(new.guild.id)]
    assert (everyone.position, everyone.managed) == (0, False)


def _check_refusal(step: Step, before: Snapshot, after: Snapshot) -> None:
    assert before == after, step
    assert step.events == 0, step
    # Refusing every request would satisfy all other invariants.
    if step.actor == before.owner and step.code == 50013:
        assert step.member == before.owner or step.name in REFUSED_FOR_OWNERS_TOO, step
    if step.actor not in before.members and step.name not in {"join", "unban", *NEEDED_IN_CHANNEL, "delete invite"}:
        assert (step.status, step.code) == (404, 10004), step


def _check_permission(step: Step, before: Snapshot) -> None:
    if step.name == "join":
        assert step.actor in before.members or step.actor not in before.banned, step
        return
    assert step.actor in before.members, step
    permissions = before.guild_permissions(step.actor)
    needed = int(NEEDED.get(step.name, 0))
    assert permissions & needed == needed, step
    if step.name in NEEDED_IN_CHANNEL:
        assert before.permissions_in(step.actor, step.channel) & NEEDED_IN_CHANNEL[step.name], step
    if step.name == "delete invite":
        channel = int(before.invites[step.invite].channel_id)
        assert permissions & P.MANAGE_GUILD or before.permissions_in(step.actor, channel) & P.MANAGE_CHANNELS, step
    if step.name == "nick":
        assert permissions & P.MANAGE_NICKNAMES, step
    if step.name == "modify own nick":
        assert permissions & P.CHANGE_NICKNAME, step
    if step.name == "transfer ownership":
        assert before.owner in {step.actor, step.member}, step


def _check_granted_bits(step: Step, before: Snapshot, after: Snapshot) -> None:
    """No role gains a bit that the actor does not have."""
    permissions = before.guild_permissions(step.actor)
    for role_id, role in after.roles.items():
        old = before.roles.get(role_id)
        gained = int(role.permissions) & ~(int(old.permissions) if old else 0)
        assert not gained & ~permissions, (step, role_id, gained)


def _check_hierarchy(step: Step, before: Snapshot, after: Snapshot) -> None:
    if step.actor == before.owner or step.actor not in before.members:
        return
    actor_rank = before.rank(step.actor)
    # Roles that are not below the actor's rank keep their values and stay above all others.
    top = sorted((r for r in before.roles if before.role_rank(r) >= actor_rank), key=before.role_rank)
    for role in top:
        assert role in after.roles, step
        assert after.roles[role].permissions == before.roles[role].permissions, step
        assert after.roles[role].name == before.roles[role].name, step
    if actor_rank > (0, -int(before.guild.id)):
        assert sorted(after.roles, key=after.role_rank)[len(after.roles) - len(top) :] == top, step
    assert after.owner == before.owner, step
    for user, old in before.members.items():
        if user == step.actor or step.name == "prune":
            continue
        new = after.members.get(user)
        changed = new is None or (new.nick, new.communication_disabled_until) != (
            old.nick,
            old.communication_disabled_until,
        )
        assert not changed or before.rank(user) < actor_rank, (step, user)
    for user in after.banned - before.banned:
        assert user not in before.members or before.rank(user) < actor_rank, (step, user)
    if step.name == "prune":
        for user in before.members.keys() - after.members.keys():
            assert not before.roles_of(user), step
            assert user != before.owner, step


def _check_role_changes(step: Step, before: Snapshot, after: Snapshot) -> None:
    deleted = before.roles.keys() - after.roles.keys()
    for user, new in after.members.items():
        old = before.members.get(user)
        old_roles = set() if old is None else {int(r) for r in old.roles}
        new_roles = {int(r) for r in new.roles}
        for role in (new_roles ^ old_roles) - deleted:
            if step.name == "respond to onboarding":
                assert user == step.actor, step
                assert role in before.onboarding_roles, step
            elif step.name == "join":
                assert user == step.actor, step
                assert role in {int(r) for r in before.invites[step.invite].role_ids}, step
            else:
                assert before.guild_permissions(step.actor) & P.MANAGE_ROLES, step
                _check_grantable(step, before, role)
    for role in after.onboarding_roles - before.onboarding_roles:
        _check_grantable(step, before, role)


def _check_grantable(step: Step, before: Snapshot, role: int) -> None:
    assert not before.roles[role].managed, (step, role)
    assert before.rank(step.actor) > before.role_rank(role), (step, role)


def _check_overwrites(step: Step, before: Snapshot, after: Snapshot) -> None:
    if before.is_administrator(step.actor):
        return
    deleted = before.roles.keys() - after.roles.keys()
    for channel_id, channel in after.channels.items():
        channel_before = before.channels.get(channel_id)
        old = {} if channel_before is None else overwrites(channel_before)
        new = overwrites(channel)
        parent = None if channel.parent_id is None else before.channels.get(int(channel.parent_id))
        if parent is not None and step.name in {"create channel", "move channel"} and new == overwrites(parent):
            continue
        permissions = before.guild_permissions(step.actor)
        if parent is not None:
            permissions |= before.permissions_in(step.actor, int(parent.id))
        own = {step.actor, *before.roles_of(step.actor)}
        if any(target in own and allow & P.MANAGE_ROLES for target, (allow, _) in old.items()):
            permissions = int(P.ALL)
        for target in (old.keys() | new.keys()) - deleted:
            (allow, deny), (allows, denies) = old.get(target, (0, 0)), new.get(target, (0, 0))
            changed = (allow ^ allows) | (deny ^ denies)
            assert not changed & ~permissions, (step, target, changed)
            assert not changed & P.MANAGE_ROLES, (step, target)


def _check_invites(step: Step, before: Snapshot, after: Snapshot) -> None:
    for code in after.invites.keys() - before.invites.keys():
        for role in after.invites[code].role_ids:
            assert before.guild_permissions(step.actor) & P.MANAGE_ROLES, step
            _check_grantable(step, before, int(role))
    for code, new in after.invites.items():
        old = before.invites.get(code)
        spent = 0 if old is None else new.uses - old.uses
        joined = step.name == "join" and step.invite == code and step.actor not in before.members
        assert spent == int(joined), (step, code)
    for code in before.invites.keys() - after.invites.keys():
        old = before.invites[code]
        used_up = step.name == "join" and step.invite == code and old.max_uses == old.uses + 1
        with_channel = int(old.channel_id) not in after.channels
        assert used_up or with_channel or (step.name == "delete invite" and step.invite == code), step
