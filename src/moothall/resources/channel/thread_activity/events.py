"""What is announced of threads (events: gateway events, threads)."""

from typing import ClassVar

from msgspec import UNSET, structs

from moothall.bus import Audience
from moothall.kernel.events import Event
from moothall.objects.channel import Channel, ThreadMember
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.intents import Intent
from moothall.objects.wire import to_plain
from moothall.storage.rows import ChannelRow


class _ThreadEvent(Event, frozen=True, kw_only=True):
    """The whole thread, to those who may see it."""

    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILDS
    guild_id: GuildId
    channel_id: ChannelId
    """The thread's parent, whose overwrites decide who hears."""
    user_ids: tuple[UserId, ...] = ()
    """Who is in it, where it is private; see `ChannelAccess.hearers`."""
    thread: Channel

    @property
    def thread_id(self) -> ChannelId:
        """Which thread."""
        return self.thread.id

    def payload(self) -> object:
        """The thread itself."""
        return self.thread


class ThreadCreate(_ThreadEvent, frozen=True, kw_only=True):
    """THREAD_CREATE: somebody has started a thread."""

    name: ClassVar[str] = "THREAD_CREATE"

    def payload(self) -> object:
        """The thread, said to be new."""
        return structs.replace(self.thread, newly_created=True)


class ThreadJoined(_ThreadEvent, frozen=True, kw_only=True):
    """THREAD_CREATE, to someone who was added to a thread, with their own membership: they may not know it yet."""

    name: ClassVar[str] = "THREAD_CREATE"
    audience: ClassVar[Audience] = Audience.USERS


class ThreadUpdate(_ThreadEvent, frozen=True, kw_only=True):
    """THREAD_UPDATE: a thread has changed; an archived one is forgotten by clients until it is active again."""

    name: ClassVar[str] = "THREAD_UPDATE"


class ThreadDelete(Event, frozen=True, kw_only=True):
    """THREAD_DELETE: a thread is gone."""

    name: ClassVar[str] = "THREAD_DELETE"
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILDS
    guild_id: GuildId
    channel_id: ChannelId
    """The thread's parent."""
    user_ids: tuple[UserId, ...] = ()
    thread_id: ChannelId
    type: int

    def payload(self) -> object:
        """Which thread it was."""
        return {
            "id": self.thread_id.wire(),
            "guild_id": self.guild_id.wire(),
            "parent_id": self.channel_id.wire(),
            "type": self.type,
        }


class ThreadMembersUpdate(Event, frozen=True, kw_only=True):
    """THREAD_MEMBERS_UPDATE: people have come into a thread or left it.

    Without the GUILD_MEMBERS intent a session is told only of its own user's coming and going.
    """

    name: ClassVar[str] = "THREAD_MEMBERS_UPDATE"
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILDS | Intent.GUILD_MEMBERS
    guild_id: GuildId
    channel_id: ChannelId
    """The thread's parent."""
    user_ids: tuple[UserId, ...] = ()
    """For a private thread: who is in it now, and who was until now."""
    thread_id: ChannelId
    member_count: int
    added_members: list[ThreadMember] = []
    removed_member_ids: list[UserId] = []

    def payload(self) -> object:
        """Who came, with their guild membership, and who went."""
        told: dict[str, object] = {
            "id": self.thread_id.wire(),
            "guild_id": self.guild_id.wire(),
            "member_count": self.member_count,
        }
        if self.added_members:
            told["added_members"] = [to_plain(member) | {"presence": None} for member in self.added_members]
        if self.removed_member_ids:
            told["removed_member_ids"] = [user_id.wire() for user_id in self.removed_member_ids]
        return told


class ThreadMemberUpdate(Event, frozen=True, kw_only=True):
    """THREAD_MEMBER_UPDATE: someone's own membership, told when a thread that they are in is active again."""

    name: ClassVar[str] = "THREAD_MEMBER_UPDATE"
    audience: ClassVar[Audience] = Audience.USERS
    intent: ClassVar[int] = Intent.GUILDS
    guild_id: GuildId
    channel_id: ChannelId
    """The thread's parent."""
    user_ids: tuple[UserId, ...]
    thread_id: ChannelId
    member: ThreadMember

    def payload(self) -> object:
        """The membership with the guild's id."""
        return to_plain(self.member) | {"guild_id": self.guild_id.wire()}


WAKES = (ThreadUpdate, ThreadMemberUpdate)
"""What a row declares that can make an archived thread active again."""
JOINS = (ThreadMembersUpdate, ThreadJoined)
"""What a row declares that can bring people into a thread."""


def deleted(row: ChannelRow, guild_id: GuildId, user_ids: tuple[UserId, ...]) -> ThreadDelete:
    """What tells that a thread is gone. Raises TypeError for what is no thread."""
    if row.parent_id is None:
        raise TypeError("a thread has a parent")
    return ThreadDelete(guild_id=guild_id, channel_id=row.parent_id, user_ids=user_ids, thread_id=row.id, type=row.type)


def own(member: ThreadMember) -> ThreadMember:
    """Someone's own membership as a thread object carries it, without either id."""
    return structs.replace(member, id=UNSET, user_id=UNSET, member=UNSET)
