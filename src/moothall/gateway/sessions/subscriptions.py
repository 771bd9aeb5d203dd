"""What sessions with passive updates receive of a large guild: what they have subscribed to by opcodes 14 and 37."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.gateway.protocol.commands import GuildSubscription
from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId

MAX_CHANNELS: Final = 5
"""Channels of one guild to whose member lists a session can subscribe."""
MAX_RANGES: Final = 5
"""Ranges of one channel."""
_MAX_ROWS: Final = 100
"""Rows of one range."""
_MAX_INDEX: Final = 10_000_000
_MAX_THREADS: Final = 5
"""Threads of a guild of which a session follows the members; the newest of a command count."""
_MAX_MEMBERS: Final = 100
"""Members of a guild whom a session follows by their ids; the last of a command count."""

Range = tuple[int, int]
"""The first and the last index."""
Subscription = dict[ChannelId, tuple[Range, ...]]


class GuildInterest(Struct, frozen=True):
    """What a session has subscribed to in a guild. Without anything it receives only the guild's own state."""

    typing: bool = False
    activities: bool = False
    threads: bool = False
    member_updates: bool = False
    member_lists: bool = False
    member_ids: frozenset[UserId] = frozenset()
    thread_ids: frozenset[ChannelId] = frozenset()
    """Threads of which it follows the members."""

    @property
    def active(self) -> bool:
        """Whether the session has subscribed to the guild at all, and so receives its messages and voice states."""
        flags = self.typing or self.activities or self.threads or self.member_updates or self.member_lists
        return flags or bool(self.member_ids or self.thread_ids)

    def updated(self, subscription: GuildSubscription) -> "GuildInterest":
        """The interest after a command, of which fields that are left out change nothing."""
        members = subscription.members
        return GuildInterest(
            typing=_flag(subscription.typing, self.typing),
            activities=_flag(subscription.activities, self.activities),
            threads=_flag(subscription.threads, self.threads),
            member_updates=_flag(subscription.member_updates, self.member_updates),
            member_lists=bool(subscription.channels) if isinstance(subscription.channels, dict) else self.member_lists,
            member_ids=frozenset(members_of(subscription)) if isinstance(members, list) else self.member_ids,
            thread_ids=frozenset(threads_of(subscription))
            if isinstance(subscription.thread_member_lists, list)
            else self.thread_ids,
        )


def threads_of(subscription: GuildSubscription) -> list[ChannelId]:
    """The threads of which a command subscribes to the members."""
    thread_ids = subscription.thread_member_lists
    return list(dict.fromkeys(thread_ids))[-_MAX_THREADS:] if isinstance(thread_ids, list) else []


def members_of(subscription: GuildSubscription) -> list[UserId]:
    """The members whose presences and updates a command subscribes to."""
    members = subscription.members
    return list(dict.fromkeys(members))[-_MAX_MEMBERS:] if isinstance(members, list) else []


def read_subscription(channels: Mapping[str, Sequence[Sequence[int]]]) -> Subscription:
    """The channels and ranges of a command; what is out of bounds is left out or cut."""
    subscription: Subscription = {}
    for channel_id, ranges in channels.items():
        valid = [
            (each[0], min(each[1], each[0] + _MAX_ROWS - 1))
            for each in ranges
            if len(each) == 2 and 0 <= each[0] <= each[1] and each[0] <= _MAX_INDEX
        ]
        is_id = channel_id.isascii() and channel_id.isdecimal() and len(channel_id) < 20
        if is_id and len(subscription) < MAX_CHANNELS:
            subscription[ChannelId(Snowflake(int(channel_id)))] = tuple(dict.fromkeys(valid))[:MAX_RANGES]
    return subscription


def _flag(value: bool | UnsetType | None, before: bool) -> bool:  # noqa: FBT001 - a field of the command
    return value if isinstance(value, bool) else before


NO_INTEREST = GuildInterest()


class PendingSubscriptions:
    """Commands for guilds that a session is joining, as clients subscribe right after READY or GUILD_CREATE.

    `expected` are the guilds that the session joins after READY. Of a guild there is one command, which has what its
    commands would leave together.
    """

    __slots__ = ("_commands", "_expected")

    def __init__(self, expected: Iterable[GuildId] = ()) -> None:
        self._expected = set(expected)
        self._commands: dict[GuildId, GuildSubscription] = {}

    def __len__(self) -> int:
        """The number of guilds with a command."""
        return len(self._commands)

    def expects(self, guild_id: GuildId) -> bool:
        """Whether the session is yet to join a guild."""
        return guild_id in self._expected

    def add(self, guild_id: GuildId, command: GuildSubscription) -> None:
        """Keep a command for a guild that the session is joining."""
        before = self._commands.get(guild_id)
        self._commands[guild_id] = bounded(command) if before is None else _merged(before, bounded(command))

    def take(self, guild_id: GuildId) -> GuildSubscription | None:
        """The command for a guild that the session has joined or cannot join; it is kept no longer."""
        self._expected.discard(guild_id)
        return self._commands.pop(guild_id, None)


def bounded(command: GuildSubscription) -> GuildSubscription:
    """A command without what is above the limits, which it may be kept with."""
    channels: dict[str, list[list[int]]] | UnsetType | None = command.channels
    if isinstance(channels, dict):
        ranges_by_channel = read_subscription(channels)
        channels = {str(int(key)): [list(each) for each in ranges] for key, ranges in ranges_by_channel.items()}
    members, threads = command.members, command.thread_member_lists
    return GuildSubscription(
        channels=channels,
        typing=command.typing,
        activities=command.activities,
        threads=command.threads,
        member_updates=command.member_updates,
        members=members_of(command) if isinstance(members, list) else members,
        thread_member_lists=threads_of(command) if isinstance(threads, list) else threads,
    )


def _merged(first: GuildSubscription, second: GuildSubscription) -> GuildSubscription:
    """The command that has the effect of two, one after the other."""
    fields = {name: getattr(second, name) for name in GuildSubscription.__struct_fields__}
    present = {name: value for name, value in fields.items() if value is not UNSET and value is not None}
    return structs.replace(first, **present)
