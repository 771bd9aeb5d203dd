"""Changes of guilds as the API makes them: each by a choice of the seed, with the events that announce it."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

from msgspec import Raw
from msgspec.structs import replace

from moothall.bus import Audience, Envelope
from moothall.gateway.sessions.control_messages import GuildOpen
from moothall.objects.ids import ChannelId, GuildId, MessageId, RoleId, UserId
from moothall.objects.intents import Intent
from moothall.objects.wire import encode
from tests.simulation.gateway import payloads
from tests.simulation.gateway.model import (
    ADMINISTRATOR,
    MANAGE_THREADS,
    VIEW,
    Change,
    Channel,
    Guild,
    Member,
    Thread,
    World,
)
from tests.simulation.randomness import Choices

_BITS: Final = (0, 0, VIEW, VIEW, VIEW, MANAGE_THREADS, VIEW | MANAGE_THREADS, ADMINISTRATOR)
_OVERWRITES: Final = ((0, VIEW), (0, VIEW), (VIEW, 0), (VIEW | MANAGE_THREADS, 0), (0, MANAGE_THREADS))
_MAX_CHANNELS: Final = 6


def without(values: Mapping[Any, Any], key: Any) -> dict[Any, Any]:
    """A mapping without a key."""
    return {each: value for each, value in values.items() if each != key}


def _raw(data: Any) -> Any:
    return Raw(encode(data))


def new_guild(world: World, choices: Choices, owner_id: UserId, member_ids: Sequence[UserId]) -> Guild:
    """A guild with a role that everyone has, one more, and two channels, one of them private."""
    guild_id = world.next_guild_id()
    role_id = RoleId(world.next_id())
    first, second = ChannelId(world.next_id()), ChannelId(world.next_id())
    return Guild(
        id=guild_id,
        owner_id=owner_id,
        name="guild",
        roles={RoleId(guild_id): VIEW, role_id: 0},
        channels={
            first: Channel(first, "town", {}),
            second: Channel(second, "crypt", {guild_id: (0, VIEW), role_id: (VIEW, 0)}),
        },
        threads={},
        members={
            user_id: Member(frozenset({role_id}) if choices.chance(0.3) else frozenset())
            for user_id in dict.fromkeys((owner_id, *member_ids))
        },
    )


class Changes:
    """Draws changes. Each method returns one that fits the guild as it is, or None if none does."""

    def __init__(self, world: World, user_ids: Sequence[UserId]) -> None:
        self._world = world
        self._user_ids = user_ids

    def create_guild(self, choices: Choices) -> Change:
        """A user creates a guild; the gateway is told to open it for their sessions."""
        owner_id = choices.choice(self._user_ids)
        guild = new_guild(self._world, choices, owner_id, ())
        opened = Envelope(
            name="GUILD_OPEN", data=_raw(GuildOpen(user_id=owner_id, guild_id=guild.id)), audience=Audience.NODE
        )
        return Change(guild.id, lambda _: guild, [opened])

    def delete_guild(self, guild: Guild, choices: Choices) -> Change:
        """GUILD_DELETE."""
        del choices
        event = payloads.envelope("GUILD_DELETE", guild.id, {"id": str(guild.id)}, Intent.GUILDS)
        return Change(guild.id, lambda _: None, [event])

    def send_message(self, guild: Guild, choices: Choices) -> Change | None:
        """MESSAGE_CREATE."""
        channel_ids = [*guild.channels, *guild.threads]
        if not channel_ids:
            return None
        channel_id, message_id = choices.choice(channel_ids), MessageId(self._world.next_id())
        event = payloads.message_event(guild, channel_id, message_id)
        return Change(guild.id, None, [event], message_id, channel_id)

    def join(self, guild: Guild, choices: Choices) -> Change | None:
        """GUILD_MEMBER_ADD."""
        candidates = [user_id for user_id in self._user_ids if user_id not in guild.members]
        if not candidates:
            return None
        user_id, member = choices.choice(candidates), Member(frozenset())
        data = payloads.decoded(payloads.member_object(user_id, member))
        event = payloads.membership_event("GUILD_MEMBER_ADD", guild, data)

        def mutate(g: Guild) -> Guild:
            return replace(g, members={**g.members, user_id: member})

        return Change(guild.id, _mutation(mutate), [event])

    def leave(self, guild: Guild, choices: Choices) -> Change | None:
        """GUILD_MEMBER_REMOVE."""
        candidates = [user_id for user_id in guild.members if user_id != guild.owner_id]
        if not candidates:
            return None
        user_id = choices.choice(candidates)
        data = {"user": {"id": str(user_id), "username": f"user{user_id}"}}
        event = payloads.membership_event("GUILD_MEMBER_REMOVE", guild, data)

        def mutate(g: Guild) -> Guild:
            threads = {t.id: replace(t, member_ids=t.member_ids - {user_id}) for t in g.threads.values()}
            return replace(g, members=without(g.members, user_id), threads=threads)

        return Change(guild.id, _mutation(mutate), [event])

    def update_member(self, guild: Guild, choices: Choices) -> Change:
        """GUILD_MEMBER_UPDATE: a role given or taken, or a nick."""
        user_id = choices.choice(list(guild.members))
        member = guild.members[user_id]
        role_ids = [role_id for role_id in guild.roles if role_id != RoleId(guild.id)]
        if role_ids and choices.chance(0.8):
            member = replace(member, role_ids=member.role_ids ^ {choices.choice(role_ids)})
        else:
            member = replace(member, nick=f"nick{choices.integer(0, 9)}")
        data = payloads.decoded(payloads.member_object(user_id, member))
        event = payloads.envelope("GUILD_MEMBER_UPDATE", guild.id, data, Intent.GUILD_MEMBERS)
        return Change(guild.id, _mutation(lambda g: replace(g, members={**g.members, user_id: member})), [event])

    def set_role(self, guild: Guild, choices: Choices) -> Change:
        """GUILD_ROLE_CREATE or GUILD_ROLE_UPDATE."""
        new = len(guild.roles) < 3 or (len(guild.roles) < 5 and choices.chance(0.3))
        role_id = RoleId(self._world.next_id()) if new else choices.choice(list(guild.roles))
        bits = choices.choice(_BITS)
        data = {"role": {"id": str(role_id), "name": "", "permissions": str(bits)}}
        name = "GUILD_ROLE_CREATE" if new else "GUILD_ROLE_UPDATE"
        event = payloads.envelope(name, guild.id, data, Intent.GUILDS)
        return Change(guild.id, _mutation(lambda g: replace(g, roles={**g.roles, role_id: bits})), [event])

    def delete_role(self, guild: Guild, choices: Choices) -> Change | None:
        """GUILD_ROLE_DELETE. Members and overwrites lose the role."""
        candidates = [role_id for role_id in guild.roles if role_id != RoleId(guild.id)]
        if not candidates:
            return None
        role_id = choices.choice(candidates)
        event = payloads.envelope("GUILD_ROLE_DELETE", guild.id, {"role_id": str(role_id)}, Intent.GUILDS)

        def mutate(g: Guild) -> Guild:
            return replace(
                g,
                roles=without(g.roles, role_id),
                channels={c.id: replace(c, overwrites=without(c.overwrites, role_id)) for c in g.channels.values()},
                members={u: replace(m, role_ids=m.role_ids - {role_id}) for u, m in g.members.items()},
            )

        return Change(guild.id, _mutation(mutate), [event])

    def update_guild(self, guild: Guild, choices: Choices) -> Change:
        """GUILD_UPDATE: another name or owner."""
        changed = replace(guild, name=f"guild{choices.integer(0, 9)}")
        if choices.chance(0.5):
            changed = replace(changed, owner_id=choices.choice(list(guild.members)))
        data = payloads.guild_update(changed)
        name, owner_id = changed.name, changed.owner_id
        event = payloads.envelope("GUILD_UPDATE", guild.id, data, Intent.GUILDS)
        return Change(guild.id, _mutation(lambda g: replace(g, name=name, owner_id=owner_id)), [event])

    def set_channel(self, guild: Guild, choices: Choices) -> Change:
        """CHANNEL_CREATE, or CHANNEL_UPDATE with another name or overwrite."""
        if not guild.channels or (len(guild.channels) < _MAX_CHANNELS and choices.chance(0.25)):
            channel = Channel(ChannelId(self._world.next_id()), "new", self._overwrites(guild, choices, {}))
            name = "CHANNEL_CREATE"
        else:
            channel, name = choices.choice(list(guild.channels.values())), "CHANNEL_UPDATE"
            if choices.chance(0.8):
                channel = replace(channel, overwrites=self._overwrites(guild, choices, channel.overwrites))
            else:
                channel = replace(channel, name=f"channel{choices.integer(0, 9)}")
        event = payloads.channel_event(name, guild, channel)
        mutation = _mutation(lambda g: replace(g, channels={**g.channels, channel.id: channel}))
        return Change(guild.id, mutation, [event])

    @staticmethod
    def _overwrites(
        guild: Guild, choices: Choices, overwrites: Mapping[int, tuple[int, int]]
    ) -> dict[int, tuple[int, int]]:
        targets = [*guild.roles, guild.id, *choices.sample(list(guild.members), 2)]
        target = int(choices.choice(targets))
        if target in overwrites and choices.chance(0.5):
            return without(overwrites, target)
        return {**overwrites, target: choices.choice(_OVERWRITES)}

    def delete_channel(self, guild: Guild, choices: Choices) -> Change | None:
        """CHANNEL_DELETE, with the threads of the channel."""
        if not guild.channels:
            return None
        channel = choices.choice(list(guild.channels.values()))

        def mutate(g: Guild) -> Guild:
            threads = {t.id: t for t in g.threads.values() if t.parent_id != channel.id}
            return replace(g, channels=without(g.channels, channel.id), threads=threads)

        return Change(guild.id, _mutation(mutate), [payloads.channel_event("CHANNEL_DELETE", guild, channel)])

    def create_thread(self, guild: Guild, choices: Choices) -> Change | None:
        """THREAD_CREATE, and THREAD_MEMBERS_UPDATE for the one who starts it."""
        if not guild.channels or len(guild.threads) >= _MAX_CHANNELS:
            return None
        parent = choices.choice(list(guild.channels.values()))
        users = [user_id for user_id in guild.members if guild.sees(user_id, parent.id)]
        if not users:
            return None
        creator_id = choices.choice(users)
        private = choices.chance(0.6)
        thread = Thread(ChannelId(self._world.next_id()), parent.id, "thread", private, frozenset({creator_id}))
        events = [
            payloads.thread_event("THREAD_CREATE", guild, thread),
            payloads.thread_members_event(guild, thread, added=creator_id),
        ]
        mutation = _mutation(lambda g: replace(g, threads={**g.threads, thread.id: thread}))
        return Change(guild.id, mutation, events)

    def change_thread_members(self, guild: Guild, choices: Choices) -> Change | None:
        """Add a member to a thread, who receives THREAD_CREATE first, or remove one."""
        if not guild.threads:
            return None
        thread = choices.choice(list(guild.threads.values()))
        user_id = choices.choice(list(guild.members))
        if user_id in thread.member_ids:
            after = replace(thread, member_ids=thread.member_ids - {user_id})
            events = [payloads.thread_members_event(guild, after, removed=user_id)]
        else:
            after = replace(thread, member_ids=thread.member_ids | {user_id})
            events = [
                payloads.thread_event("THREAD_CREATE", guild, after, only=user_id),
                payloads.thread_members_event(guild, after, added=user_id),
            ]
        return Change(guild.id, _mutation(lambda g: replace(g, threads={**g.threads, after.id: after})), events)

    def delete_thread(self, guild: Guild, choices: Choices) -> Change | None:
        """THREAD_DELETE."""
        if not guild.threads:
            return None
        thread = choices.choice(list(guild.threads.values()))
        event = payloads.thread_event("THREAD_DELETE", guild, thread)
        return Change(guild.id, _mutation(lambda g: replace(g, threads=without(g.threads, thread.id))), [event])


Draw = Callable[[Changes, Guild, Choices], Change | None]

WEIGHTS: Final[dict[Draw, float]] = {
    Changes.send_message: 30,
    Changes.join: 8,
    Changes.leave: 6,
    Changes.update_member: 8,
    Changes.set_role: 5,
    Changes.delete_role: 2,
    Changes.update_guild: 2,
    Changes.set_channel: 8,
    Changes.delete_channel: 2,
    Changes.create_thread: 4,
    Changes.change_thread_members: 4,
    Changes.delete_thread: 1,
    Changes.delete_guild: 0.7,
}


def changed_guild_id(world: World, choices: Choices) -> GuildId | None:
    """A guild of the world; None if there is none."""
    return choices.choice(list(world.guilds)) if world.guilds else None


def _mutation(change: Callable[[Guild], Guild]) -> Callable[[Guild | None], Guild | None]:
    return lambda guild: None if guild is None else change(guild)
