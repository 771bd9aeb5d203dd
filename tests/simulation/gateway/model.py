"""What is true: guilds, who is in them and who may see what. It shares no code with the gateway.

A guild is immutable: a change replaces it, so each version can be asked later who could see what.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from msgspec import Raw, Struct
from msgspec.structs import replace

from moothall.bus import Audience, Envelope
from moothall.gateway.member_lists.list_ids import murmur3_32
from moothall.objects.ids import ChannelId, GuildId, MessageId, RoleId, Snowflake, UserId

VIEW: Final = 1 << 10
MANAGE_THREADS: Final = 1 << 34
ADMINISTRATOR: Final = 1 << 3
NUMBERED: Final = frozenset(
    {
        "GUILD_UPDATE",
        "GUILD_ROLE_CREATE",
        "GUILD_ROLE_UPDATE",
        "GUILD_ROLE_DELETE",
        "CHANNEL_CREATE",
        "CHANNEL_UPDATE",
        "CHANNEL_DELETE",
        "GUILD_MEMBER_ADD",
        "GUILD_MEMBER_UPDATE",
        "GUILD_MEMBER_REMOVE",
        "THREAD_CREATE",
        "THREAD_DELETE",
        "THREAD_MEMBERS_UPDATE",
    }
)
"""The events that change what nodes keep of a guild, each with its number."""


class Channel(Struct, frozen=True):
    """A channel that is no thread; overwrites are (allow, deny) by role or user id."""

    id: ChannelId
    name: str
    overwrites: Mapping[int, tuple[int, int]]


class Thread(Struct, frozen=True):
    """An active thread."""

    id: ChannelId
    parent_id: ChannelId
    name: str
    private: bool
    member_ids: frozenset[UserId]


class Member(Struct, frozen=True):
    """A user in a guild."""

    role_ids: frozenset[RoleId]
    nick: str | None = None


class Guild(Struct, frozen=True, kw_only=True, eq=False):
    """One version of a guild."""

    id: GuildId
    owner_id: UserId
    name: str
    version: int = 0
    state_version: int = 0
    """How many events there were that change what nodes keep."""
    roles: Mapping[RoleId, int]
    channels: Mapping[ChannelId, Channel]
    threads: Mapping[ChannelId, Thread]
    members: Mapping[UserId, Member]

    def permissions(self, user_id: UserId, channel: Channel) -> int:
        """A user's permissions in a channel; 0 for one who is no member or may not view it."""
        member = self.members.get(user_id)
        if member is None:
            return 0
        bits = self.roles[RoleId(self.id)]
        for role_id in member.role_ids:
            bits |= self.roles.get(role_id, 0)
        if user_id == self.owner_id or bits & ADMINISTRATOR:
            return VIEW | MANAGE_THREADS
        allow, deny = channel.overwrites.get(self.id, (0, 0))
        bits = bits & ~deny | allow
        of_roles = [channel.overwrites[role_id] for role_id in member.role_ids if role_id in channel.overwrites]
        for _, deny in of_roles:
            bits &= ~deny
        for allow, _ in of_roles:
            bits |= allow
        allow, deny = channel.overwrites.get(user_id, (0, 0))
        bits = bits & ~deny | allow
        return bits if bits & VIEW else 0

    def sees(self, user_id: UserId, channel_id: ChannelId) -> bool:
        """Whether a user may view a channel or reach a thread."""
        thread = self.threads.get(channel_id)
        if thread is None:
            channel = self.channels.get(channel_id)
            return channel is not None and bool(self.permissions(user_id, channel))
        return self.reaches(user_id, thread)

    def reaches(self, user_id: UserId, thread: Thread) -> bool:
        """Whether a user may view a thread of this guild, which may be deleted."""
        parent = self.channels.get(thread.parent_id)
        permissions = 0 if parent is None else self.permissions(user_id, parent)
        if not permissions:
            return False
        return not thread.private or user_id in thread.member_ids or bool(permissions & MANAGE_THREADS)

    def seen_by(self, user_id: UserId, *, members: bool, count: bool) -> dict[str, Any]:
        """The state of the guild in a client of a user, with all members and their number if it hears of them."""
        listed = self.members if members else {user_id: self.members[user_id]}
        state: dict[str, Any] = {
            "name": self.name,
            "owner_id": self.owner_id,
            "roles": dict(self.roles),
            "channels": {
                c.id: (c.name, dict(c.overwrites)) for c in self.channels.values() if self.sees(user_id, c.id)
            },
            "threads": {t.id: (t.parent_id, t.name) for t in self.threads.values() if self.sees(user_id, t.id)},
            "members": {each: (member.nick, member.role_ids) for each, member in listed.items()},
        }
        return state | ({"member_count": len(self.members)} if count else {})

    def list_id(self, channel: Channel) -> str:
        """The id of a channel's member list (api.md, Member lists)."""
        if self.roles[RoleId(self.id)] & VIEW and not any(deny & VIEW for _, deny in channel.overwrites.values()):
            return "everyone"
        tokens = [
            f"{'allow' if allow & VIEW else 'deny'}:{int(target)}"
            for target, (allow, deny) in channel.overwrites.items()
            if (allow | deny) & VIEW
        ]
        return str(murmur3_32(",".join(sorted(tokens)).encode()))

    def listed_by(self, channel_id: ChannelId, statuses: Mapping[UserId, str]) -> list[str]:
        """The rows of a channel's member list: headings, and members with nick, status and roles.

        `statuses` has those who are not offline.
        """
        groups: dict[str, list[tuple[str, UserId]]] = {}
        hoisted = sorted(role_id for role_id in self.roles if is_hoisted(role_id, self.id))
        for user_id, member in self.members.items():
            if self.sees(user_id, channel_id):
                group = "offline"
                if user_id in statuses:
                    group = next((str(int(role_id)) for role_id in hoisted if role_id in member.role_ids), "online")
                groups.setdefault(group, []).append((member.nick or f"user{user_id}", user_id))
        rows: list[str] = []
        for group in [*(str(int(role_id)) for role_id in hoisted), "online", "offline"]:
            listed = sorted(groups.get(group, ()))
            rows += [f"[{group}]"] if listed else []
            for name, user_id in listed:
                role_ids = sorted(map(int, self.members[user_id].role_ids))
                rows.append(f"{user_id} {name} {statuses.get(user_id, 'offline')} {role_ids}")
        return rows


def is_hoisted(role_id: RoleId, guild_id: GuildId) -> bool:
    """Whether the members of a role are shown apart."""
    return int(role_id) != int(guild_id) and not (role_id >> 8) % 3


Mutation = Callable[[Guild | None], Guild | None]


class Change(Struct, eq=False):
    """A transaction: what it makes of the guild, and the events that announce it."""

    guild_id: GuildId
    mutate: Mutation | None
    envelopes: list[Envelope]
    message_id: MessageId | None = None
    channel_id: ChannelId | None = None
    """The channel or thread of the message."""
    position: int = 0
    """When it was stored."""


class SentMessage(Struct, eq=False):
    """A message that was stored, and when it was: `position` counts what was stored in all guilds."""

    id: MessageId
    channel_id: ChannelId
    position: int
    published: int = 0
    """The position when it was published; 0 before that."""
    published_at: float = 0.0
    """The time when it was published."""
    order: int = 0
    """Its number among the publications."""
    known: int = 0
    """The version of the guild whose events were published before it: later changes are not answered yet."""


class World:
    """The guilds as the database has them, and all their versions."""

    def __init__(self) -> None:
        self.guilds: dict[GuildId, Guild] = {}
        self.versions: dict[GuildId, list[tuple[int, Guild | None]]] = {}
        """Each version of a guild with its position, None for a deleted one."""
        self.messages: dict[GuildId, list[SentMessage]] = {}
        self.message_by_id: dict[MessageId, tuple[GuildId, SentMessage]] = {}
        self.position = 1
        self.published = 0
        self._marks = 0
        self.late = False
        """Whether events may come at nodes long after they were stored."""
        self._known: dict[GuildId, int] = {}
        self._last_id = 1 << 23

    def next_id(self) -> Snowflake:
        """A new id, greater than all before."""
        self._last_id += 1 << 8
        return Snowflake(self._last_id)

    def next_guild_id(self) -> GuildId:
        """A new id of a guild, in another shard than the one before."""
        self._last_id = ((self._last_id >> 22) + 1) << 22
        return GuildId(Snowflake(self._last_id))

    def apply(self, change: Change) -> None:
        """Store a change. A message in a channel that was deleted since it was written is not stored, nor announced."""
        if change.channel_id is not None and not self._has_channel(change.guild_id, change.channel_id):
            change.message_id = None
            change.envelopes.clear()
            return
        self.position += 1
        change.position = self.position
        guild_id = change.guild_id
        if change.mutate is not None:
            self._mark(change)
            old = self.guilds.get(guild_id)
            new = change.mutate(old)
            if new is not None:
                number = 0 if old is None else old.state_version
                for envelope in change.envelopes:
                    if envelope.name in NUMBERED:
                        number += 1
                        envelope.state_version = number
                new = replace(new, version=self.position, state_version=number)
                self.guilds[guild_id] = new
            else:
                self.guilds.pop(guild_id, None)
            self.versions.setdefault(guild_id, []).append((self.position, new))
        if change.message_id is not None and change.channel_id is not None:
            message = SentMessage(change.message_id, change.channel_id, self.position)
            self.messages.setdefault(guild_id, []).append(message)
            self.message_by_id[message.id] = (guild_id, message)

    def _mark(self, change: Change) -> None:
        """Give each event a mark in its data, by which a client notices that it receives one twice."""
        for envelope in change.envelopes:
            if envelope.audience is not Audience.NODE:
                self._marks += 1
                envelope.data = Raw(bytes(envelope.data)[:-1] + b',"mark":%d}' % self._marks)

    def _has_channel(self, guild_id: GuildId, channel_id: ChannelId) -> bool:
        guild = self.guilds.get(guild_id)
        return guild is not None and (channel_id in guild.channels or channel_id in guild.threads)

    def note_published(self, change: Change, now: float) -> None:
        """Record that the events of a change were handed to the bus."""
        self.published += 1
        if change.message_id is not None:
            message = self.message_by_id[change.message_id][1]
            message.published, message.order, message.published_at = self.position, self.published, now
            first = self.versions[change.guild_id][0][0]
            message.known = min(message.position - 1, self._known.get(change.guild_id, first))
        elif change.mutate is not None:
            self._known[change.guild_id] = max(change.position, self._known.get(change.guild_id, 0))

    def reached_late(self, user_id: UserId, guild_id: GuildId, message: SentMessage) -> bool:
        """Whether a message is of a thread that was deleted before its event came, and that the user could reach else.

        A node that has read the guild since knows that they may view the channel, not that there was a time when the
        thread was there and they were not.
        """
        of_thread = (g.threads.get(message.channel_id) for _, g in self.versions[guild_id] if g is not None)
        thread = next(filter(None, of_thread), None)
        versions = self.between(guild_id, message.known, self.position)
        if not self.late or thread is None or any(g and thread.id in g.threads for g in versions[-1:]):
            return False
        return any(guild is not None and guild.reaches(user_id, thread) for guild in versions)

    def guild_ids(self, user_id: UserId) -> list[GuildId]:
        """The guilds of a user, oldest first."""
        return [guild.id for guild in self.guilds.values() if user_id in guild.members]

    def between(self, guild_id: GuildId, first: int, last: int) -> list[Guild | None]:
        """The versions of a guild that stood at any time from one position to another."""
        before: list[Guild | None] = []
        inside: list[Guild | None] = []
        for position, guild in self.versions[guild_id]:
            if position <= first:
                before = [guild]
            elif position <= last:
                inside.append(guild)
        return before + inside
