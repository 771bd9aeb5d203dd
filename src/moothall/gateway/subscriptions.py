"""What sessions with passive updates receive of a large guild: what they have subscribed to by opcodes 14 and 37."""

from msgspec import Struct, UnsetType

from moothall.gateway.commands import GuildSubscription
from moothall.objects.ids import ChannelId, GuildId, UserId

_MAX_PENDING = 200
_MAX_THREADS = 5
"""Threads of a guild of which a session follows the members; the newest of a command count."""


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
            member_ids=frozenset(members) if isinstance(members, list) else self.member_ids,
            thread_ids=frozenset(threads_of(subscription))
            if isinstance(subscription.thread_member_lists, list)
            else self.thread_ids,
        )


def threads_of(subscription: GuildSubscription) -> list[ChannelId]:
    """The threads of which a command subscribes to the members."""
    thread_ids = subscription.thread_member_lists
    return list(dict.fromkeys(thread_ids))[-_MAX_THREADS:] if isinstance(thread_ids, list) else []


def _flag(value: bool | UnsetType | None, before: bool) -> bool:  # noqa: FBT001 - a field of the command
    return value if isinstance(value, bool) else before


NO_INTEREST = GuildInterest()


class PendingSubscriptions:
    """Commands for guilds whose GUILD_CREATE has not been sent yet, as clients subscribe right after READY."""

    __slots__ = ("_commands",)

    def __init__(self) -> None:
        self._commands: dict[GuildId, list[GuildSubscription]] = {}

    def add(self, guild_id: GuildId, command: GuildSubscription) -> None:
        """Keep a command; those of too many guilds are dropped."""
        if guild_id in self._commands or len(self._commands) < _MAX_PENDING:
            self._commands.setdefault(guild_id, []).append(command)

    def take(self, guild_id: GuildId) -> list[GuildSubscription]:
        """The commands for a guild, oldest first, which are kept no longer."""
        return self._commands.pop(guild_id, [])
