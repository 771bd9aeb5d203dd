"""A guild with an owner, an administrator, a moderator, helpers, members, a bot and other users, and their actions."""

# ruff: noqa: ARG002 - every action has the same parameters

from typing import Any

from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.member.queries import write_last_seen
from tests.laws.invariants import ABOUT_THE_ACTOR, Step, check_state, check_step
from tests.laws.oracle import Snapshot, overwrites, snapshot
from tests.support.harness import Caller, Guild, Platform, Reply

P = Permissions
MODERATOR_PERMISSIONS = (
    P.VIEW_CHANNEL | P.CONNECT | P.MANAGE_ROLES | P.MANAGE_CHANNELS | P.KICK_MEMBERS | P.BAN_MEMBERS | P.MANAGE_GUILD
    | P.MANAGE_NICKNAMES | P.MODERATE_MEMBERS | P.CREATE_INSTANT_INVITE
)  # fmt: skip
HELPER_PERMISSIONS = P.VIEW_CHANNEL | P.MANAGE_ROLES | P.KICK_MEMBERS | P.MODERATE_MEMBERS | P.MANAGE_NICKNAMES
EVERYONE = P.VIEW_CHANNEL | P.SEND_MESSAGES | P.CHANGE_NICKNAME | P.CREATE_INSTANT_INVITE | P.CONNECT


def _pick(things: Any, number: int) -> Any:
    listed = sorted(things)
    return listed[number % len(listed)]


class Scenario:
    """The guild, its actors, and every action that they can try."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform

    async def create_guild(self) -> None:
        """Create the guild. The ranks are: administrator, moderator, helper, bot, plain roles."""
        platform = self.platform
        self.owner = await platform.person()
        self.guild: Guild = await platform.guild(self.owner, everyone=int(EVERYONE))
        plain = await self.guild.role(name="plain", permissions=int(P.EMBED_LINKS))
        bots = await self.guild.role(name="bot", permissions=int(P.MANAGE_ROLES | P.VIEW_CHANNEL), managed=True)
        helper = await self.guild.role(name="helper", permissions=int(HELPER_PERMISSIONS))
        moderator = await self.guild.role(name="moderator", permissions=int(MODERATOR_PERMISSIONS))
        admin = await self.guild.role(name="admin", permissions=int(P.ADMINISTRATOR))
        people = [await platform.person() for _ in range(8)]
        bot = await platform.bot(self.owner)
        for caller, role in zip(people, [admin, moderator, helper, plain, helper], strict=False):
            await self.guild.join(caller, roles=[role])
        await self.guild.join(people[5])
        await self.guild.join(bot, roles=[bots])
        # The last two are not members.
        self.actors = [self.owner, *people[:6], bot, *people[6:]]
        category = await self.guild.channel(type=4, name="category", overwrites=[(helper, 0, int(P.MANAGE_ROLES), 0)])
        await self.guild.channel(name="inside", parent_id=category)
        await self.guild.channel(name="staff", overwrites=[(self.guild.id, 0, 0, int(P.VIEW_CHANNEL))])
        self.path = f"/guilds/{self.guild.id}"
        await self._prepare(plain, helper)
        self.now = await snapshot(platform.database, self.guild.id)

    async def _prepare(self, plain: int, helper: int) -> None:
        """Create targets for every action: onboarding, invites, a ban, inactive members."""
        defaults = [str(self.guild.general), *[str(await self.guild.channel()) for _ in range(6)]]
        options = [{"title": "a", "role_ids": [str(plain)]}, {"title": "b", "role_ids": [str(helper)]}]
        onboarding = {"prompts": [{"title": "q", "options": options}], "default_channel_ids": defaults}
        banned = await self.platform.person()
        for reply in (
            await self.owner.put(f"{self.path}/onboarding", {**onboarding, "enabled": True}),
            await self.owner.post(f"/channels/{self.guild.general}/invites", {"max_uses": 1}),
            await self.owner.post(f"/channels/{self.guild.general}/invites", {"role_ids": [str(plain)]}),
            await self.owner.put(f"{self.path}/bans/{banned.id}", {}),
        ):
            assert reply.status < 300, reply.body
        last_seen = Timestamp(Timestamp.now() - 40 * 86_400_000)
        async with self.platform.database.transaction() as tx:
            for caller in self.actors[:7]:
                await write_last_seen(tx, self.guild.id, caller.id, last_seen)

    async def act(self, actor: int, name: str, *arguments: Any) -> Step:
        """Run one action and check its invariants."""
        caller = self.actors[actor % len(self.actors)]
        heard = len(self.platform.heard)
        before = self.now
        step = Step(actor=int(caller.id), name=name, status=0)
        reply = await getattr(self, "_" + name.replace(" ", "_"))(caller, step, *arguments)
        self.now = await snapshot(self.platform.database, self.guild.id)
        if reply is None:
            # The action had no target.
            assert self.now == before
            return step
        assert reply.status < 500, (step, reply.body)
        step.status = reply.status
        step.code = reply.code if reply.status >= 400 else 0
        step.events = len(self.platform.heard) - heard
        if name in ABOUT_THE_ACTOR:
            step.member = step.actor
        check_step(step, before, self.now)
        check_state(self.now)
        return step

    def _member(self, step: Step, number: int) -> int:
        step.member = int(self.actors[number % len(self.actors)].id)
        return step.member

    def _role(self, step: Step, number: int) -> int:
        step.role = _pick(self.now.roles, number)
        return step.role

    def _channel(self, step: Step, number: int) -> int:
        step.channel = _pick(self.now.channels, number) if self.now.channels else 0
        return step.channel

    def _target(self, number: int) -> tuple[str, int]:
        """The id and type of a role or member, for an overwrite."""
        targets = [(str(r), 0) for r in sorted(self.now.roles)] + [(str(m), 1) for m in sorted(self.now.members)]
        return targets[number % len(targets)]

    async def _create_role(self, caller: Caller, step: Step, bits: int) -> Reply:
        return await caller.post(f"{self.path}/roles", {"name": "r", "permissions": str(bits)})

    async def _change_role(self, caller: Caller, step: Step, number: int, bits: int) -> Reply:
        body = {"permissions": str(bits), "hoist": True} if number % 3 else {"permissions": str(bits)}
        return await caller.patch(f"{self.path}/roles/{self._role(step, number)}", body)

    async def _delete_role(self, caller: Caller, step: Step, number: int) -> Reply:
        return await caller.delete(f"{self.path}/roles/{self._role(step, number)}")

    async def _move_role(self, caller: Caller, step: Step, number: int, position: int) -> Reply:
        return await caller.patch(f"{self.path}/roles", [{"id": str(self._role(step, number)), "position": position}])

    async def _add_role(self, caller: Caller, step: Step, member: int, role: int) -> Reply:
        return await caller.put(f"{self.path}/members/{self._member(step, member)}/roles/{self._role(step, role)}")

    async def _remove_role(self, caller: Caller, step: Step, member: int, role: int) -> Reply:
        return await caller.delete(f"{self.path}/members/{self._member(step, member)}/roles/{self._role(step, role)}")

    async def _set_roles(self, caller: Caller, step: Step, member: int, first: int, second: int) -> Reply:
        roles = [str(_pick(self.now.roles, number)) for number in {first, second}]
        return await caller.patch(f"{self.path}/members/{self._member(step, member)}", {"roles": roles})

    async def _create_channel(
        self, caller: Caller, step: Step, kind: int, target_number: int, allow: int, deny: int
    ) -> Reply:
        target, of = self._target(target_number)
        body: dict[str, Any] = {"name": "c", "type": kind}
        if target_number % 3:
            body["permission_overwrites"] = [{"id": target, "type": of, "allow": str(allow), "deny": str(deny)}]
        categories = [c for c, row in self.now.channels.items() if row.type == 4]
        if categories and kind != 4 and target_number % 2:
            body["parent_id"] = str(_pick(categories, target_number))
        return await caller.post(f"{self.path}/channels", body)

    async def _change_channel(
        self, caller: Caller, step: Step, number: int, target_number: int, allow: int, deny: int
    ) -> Reply | None:
        target, of = self._target(target_number)
        if not self._channel(step, number):
            return None
        overwrites = [{"id": target, "type": of, "allow": str(allow), "deny": str(deny)}]
        return await caller.patch(f"/channels/{step.channel}", {"name": "d", "permission_overwrites": overwrites})

    async def _move_channel(self, caller: Caller, step: Step, number: int, position: int) -> Reply | None:
        if not self._channel(step, number):
            return None
        categories = [c for c, row in self.now.channels.items() if row.type == 4]
        item: dict[str, Any] = {"id": str(step.channel), "position": position}
        if categories and self.now.channels[step.channel].type != 4:
            item |= {"parent_id": str(_pick(categories, position)), "lock_permissions": bool(position % 2)}
        return await caller.patch(f"{self.path}/channels", [item])

    async def _delete_channel(self, caller: Caller, step: Step, number: int) -> Reply | None:
        return await caller.delete(f"/channels/{step.channel}") if self._channel(step, number) else None

    async def _set_overwrite(
        self, caller: Caller, step: Step, number: int, target_number: int, allow: int, deny: int
    ) -> Reply | None:
        target, of = self._target(target_number)
        if not self._channel(step, number):
            return None
        body = {"type": of, "allow": str(allow), "deny": str(deny)}
        return await caller.put(f"/channels/{step.channel}/permissions/{target}", body)

    async def _delete_overwrite(self, caller: Caller, step: Step, number: int, target_number: int) -> Reply | None:
        target, _ = self._target(target_number)
        return (
            await caller.delete(f"/channels/{step.channel}/permissions/{target}")
            if self._channel(step, number)
            else None
        )

    async def _kick(self, caller: Caller, step: Step, member: int) -> Reply:
        return await caller.delete(f"{self.path}/members/{self._member(step, member)}")

    async def _ban(self, caller: Caller, step: Step, member: int) -> Reply:
        return await caller.put(f"{self.path}/bans/{self._member(step, member)}", {})

    async def _unban(self, caller: Caller, step: Step, number: int) -> Reply:
        banned = self.now.banned or {1}
        return await caller.delete(f"{self.path}/bans/{_pick(banned, number)}")

    async def _bulk_ban(self, caller: Caller, step: Step, first: int, second: int) -> Reply:
        users = [str(self._member(step, first)), str(self.actors[second % len(self.actors)].id)]
        return await caller.post(f"{self.path}/bulk-ban", {"user_ids": list(dict.fromkeys(users))})

    async def _nick(self, caller: Caller, step: Step, member: int, nick: str | None) -> Reply:
        return await caller.patch(f"{self.path}/members/{self._member(step, member)}", {"nick": nick})

    async def _modify_own_nick(self, caller: Caller, step: Step, nick: str | None) -> Reply:
        return await caller.patch(f"{self.path}/members/@me", {"nick": nick})

    async def _set_timeout(self, caller: Caller, step: Step, member: int, active: bool) -> Reply:
        until = Timestamp(Timestamp.now() + 3_600_000).wire() if active else None
        body = {"communication_disabled_until": until}
        return await caller.patch(f"{self.path}/members/{self._member(step, member)}", body)

    async def _prune(self, caller: Caller, step: Step) -> Reply:
        return await caller.post(f"{self.path}/prune", {"days": 1})

    async def _modify_onboarding(self, caller: Caller, step: Step, first: int, second: int) -> Reply:
        roles = [str(_pick(self.now.roles, number)) for number in {first, second}]
        options = [{"title": "x", "role_ids": [role]} for role in roles]
        channels = [str(c) for c, row in self.now.channels.items() if row.type != 4]
        body = {
            "prompts": [{"title": "q", "options": options}],
            "default_channel_ids": channels,
            "enabled": len(channels) >= 7,
        }
        return await caller.put(f"{self.path}/onboarding", body)

    async def _respond_to_onboarding(self, caller: Caller, step: Step, number: int) -> Reply | None:
        prompts = self.now.onboarding.prompts if self.now.onboarding else ()
        options = [option.id for prompt in prompts for option in prompt.options]
        chosen = [str(_pick(options, number))] if options and number % 4 else []
        return await caller.put(f"{self.path}/onboarding-responses", {"onboarding_responses": chosen})

    async def _invite(self, caller: Caller, step: Step, number: int, uses: int, role: int) -> Reply | None:
        if not self._channel(step, number):
            return None
        body: dict[str, Any] = {"max_uses": uses, "unique": True}
        if role % 2:
            body["role_ids"] = [str(_pick(self.now.roles, role))]
        return await caller.post(f"/channels/{step.channel}/invites", body)

    async def _join(self, caller: Caller, step: Step, number: int) -> Reply | None:
        if not self.now.invites:
            return None
        step.invite = _pick(self.now.invites, number)
        return await caller.post(f"/invites/{step.invite}")

    async def _delete_invite(self, caller: Caller, step: Step, number: int) -> Reply | None:
        if not self.now.invites:
            return None
        step.invite = _pick(self.now.invites, number)
        return await caller.delete(f"/invites/{step.invite}")

    async def _leave(self, caller: Caller, step: Step) -> Reply:
        return await caller.delete(f"/users/@me/guilds/{self.guild.id}")

    async def _rename_guild(self, caller: Caller, step: Step, name: str) -> Reply:
        return await caller.patch(self.path, {"name": name})

    async def _transfer_ownership(self, caller: Caller, step: Step, member: int) -> Reply:
        return await caller.patch(self.path, {"owner_id": str(self._member(step, member))})


def client_state(guild: dict[str, Any]) -> dict[str, Any]:
    """A client's view of the state that invariants are about, from its mirror."""
    return {
        "roles": {int(k): (r["position"], int(r["permissions"])) for k, r in guild["roles"].items()},
        "channels": {
            int(k): {int(o["id"]): (int(o["allow"]), int(o["deny"])) for o in c["permission_overwrites"]}
            for k, c in guild["channels"].items()
        },
        "members": {int(k): {int(r) for r in m["roles"]} for k, m in guild["members"].items()},
        "count": guild["member_count"],
        "owner": int(guild["owner_id"]),
    }


def visible_state(now: Snapshot, viewer: int) -> dict[str, Any]:
    """The stored state that a viewer may see, in the same form."""
    return {
        "roles": {r: (row.position, int(row.permissions)) for r, row in now.roles.items()},
        "channels": {c: overwrites(now.channels[c]) for c in now.visible(viewer)},
        "members": {m: set(now.roles_of(m)) for m in now.members},
        "count": now.count,
        "owner": now.owner,
    }
