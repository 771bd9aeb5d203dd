"""Gateway events of threads (events: gateway events, threads)."""

from typing import ClassVar

from msgspec import UNSET, structs

from moothall.api.events import Event
from moothall.bus import Audience
from moothall.objects.channel import Channel, ThreadMember
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.intents import Intent
from moothall.objects.wire import to_plain
from moothall.storage.rows import ChannelRow


class _ThreadEvent(Event, frozen=True, kw_only=True):
    """An event with the thread object, sent to members who may view the thread."""

    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILDS
    changes_view: ClassVar[bool] = True
    guild_id: GuildId
    channel_id: ChannelId
    """The thread's parent, whose viewers receive the event."""
    user_ids: tuple[UserId, ...] = ()
    """The members of a private thread; see `ChannelAccess.event_user_ids`."""
    thread: Channel

    @property
    def thread_id(self) -> ChannelId:
        """The thread's id."""
        return self.thread.id

    def payload(self) -> object:
        """Return the thread object."""
        return self.thread


class ThreadCreate(_ThreadEvent, frozen=True, kw_only=True):
    """THREAD_CREATE: a thread was created."""

    name: ClassVar[str] = "THREAD_CREATE"

    def payload(self) -> object:
        """Return the thread object with `newly_created`."""
        return structs.replace(self.thread, newly_created=True)


class ThreadJoined(_ThreadEvent, frozen=True, kw_only=True):
    """THREAD_CREATE to a user who was added to a thread, with their thread member; the thread may be new to them."""

    name: ClassVar[str] = "THREAD_CREATE"
    audience: ClassVar[Audience] = Audience.USERS


class ThreadUpdate(_ThreadEvent, frozen=True, kw_only=True):
    """THREAD_UPDATE: a thread was modified, archived or unarchived."""

    name: ClassVar[str] = "THREAD_UPDATE"


class ThreadDelete(Event, frozen=True, kw_only=True):
    """THREAD_DELETE: a thread was deleted."""

    name: ClassVar[str] = "THREAD_DELETE"
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILDS
    changes_view: ClassVar[bool] = True
    guild_id: GuildId
    channel_id: ChannelId
    """The thread's parent."""
    user_ids: tuple[UserId, ...] = ()
    thread_id: ChannelId
    type: int

    def payload(self) -> object:
        """Return the ids and the type of the thread."""
        return {
            "id": self.thread_id.wire(),
            "guild_id": self.guild_id.wire(),
            "parent_id": self.channel_id.wire(),
            "type": self.type,
        }


class ThreadMembersUpdate(Event, frozen=True, kw_only=True):
    """THREAD_MEMBERS_UPDATE: members joined or left a thread.

    A session without the intent GUILD_MEMBERS receives it only if its own user joined or left.
    """

    name: ClassVar[str] = "THREAD_MEMBERS_UPDATE"
    audience: ClassVar[Audience] = Audience.CHANNEL
    intent: ClassVar[int] = Intent.GUILDS | Intent.GUILD_MEMBERS
    changes_view: ClassVar[bool] = True
    guild_id: GuildId
    channel_id: ChannelId
    """The thread's parent."""
    user_ids: tuple[UserId, ...] = ()
    """The members of a private thread, including those who just left."""
    thread_id: ChannelId
    member_count: int
    added_members: list[ThreadMember] = []
    removed_member_ids: list[UserId] = []

    def payload(self) -> object:
        """Return the added members, with their guild members, and the ids of removed members."""
        payload: dict[str, object] = {
            "id": self.thread_id.wire(),
            "guild_id": self.guild_id.wire(),
            "member_count": self.member_count,
        }
        if self.added_members:
            payload["added_members"] = [to_plain(member) | {"presence": None} for member in self.added_members]
        if self.removed_member_ids:
            payload["removed_member_ids"] = [user_id.wire() for user_id in self.removed_member_ids]
        return payload


class ThreadMemberUpdate(Event, frozen=True, kw_only=True):
    """THREAD_MEMBER_UPDATE to a member with their own thread member: the thread was unarchived, or they changed it."""

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
        """Return the thread member with the guild id."""
        return to_plain(self.member) | {"guild_id": self.guild_id.wire()}


UNARCHIVE_EVENTS = (ThreadUpdate, ThreadMemberUpdate)
"""What an endpoint that can unarchive a thread declares in `fires`."""
ADD_MEMBER_EVENTS = (ThreadMembersUpdate, ThreadJoined)
"""What an endpoint that can add members to a thread declares in `fires`."""


def thread_delete_event(row: ChannelRow, guild_id: GuildId, user_ids: tuple[UserId, ...]) -> ThreadDelete:
    """Build the event of a deleted thread. Raises TypeError if the channel is not a thread."""
    if row.parent_id is None:
        raise TypeError("a thread has a parent")
    return ThreadDelete(guild_id=guild_id, channel_id=row.parent_id, user_ids=user_ids, thread_id=row.id, type=row.type)


def own_member(member: ThreadMember) -> ThreadMember:
    """Return a thread member as the field `member` of a thread object: without ids."""
    return structs.replace(member, id=UNSET, user_id=UNSET, member=UNSET)
