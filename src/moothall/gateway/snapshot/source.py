"""The reads of the gateway, as protocols: `database_source.py` implements them."""

from collections.abc import Callable, Iterable, Sequence
from typing import Protocol

from msgspec import Struct

from moothall.gateway.audience.guild_view import GuildView, MemberView
from moothall.gateway.sessions.session import Session
from moothall.gateway.snapshot.account_state import AccountState
from moothall.gateway.snapshot.guild_snapshot import GuildSnapshot
from moothall.gateway.snapshot.ready import Identity
from moothall.objects.activity import EmbeddedActivityInstance
from moothall.objects.call import Call
from moothall.objects.channel import ThreadMember
from moothall.objects.ids import ChannelId, GuildId, RoleId, UserId
from moothall.objects.member import Member
from moothall.objects.presence import Presence
from moothall.objects.wire import Timestamp

OnlinePresences = Callable[[Iterable[UserId]], list[Presence]]
"""Returns the presences of those of some users who are online."""
OnlineInGuild = Callable[[GuildId, Iterable[UserId], UserId], list[Presence]]
"""Returns the presences of those of some users who are online in a guild, and that of the user who asks."""


class GuildSource(Protocol):
    """What the hub reads when a session joins a guild or a change reveals channels."""

    embedded: bool
    """Whether reads never suspend, so that they may run while events are delivered."""

    async def guild_view(self, guild_id: GuildId) -> GuildView | None:
        """A guild's roles and channels, with no members; None if the guild does not exist."""

    async def member_count(self, guild_id: GuildId) -> int:
        """How many members a guild has."""

    async def member_view(self, guild_id: GuildId, user_id: UserId) -> MemberView | None:
        """A member, with no sessions; None for a user who is no member."""

    async def guild_snapshot(
        self,
        view: GuildView,
        member: MemberView,
        visible: frozenset[ChannelId],
        session: Session,
        online: OnlinePresences,
    ) -> GuildSnapshot | None:
        """A guild with the channels of `visible`; None if the guild or the member is deleted."""

    async def channel_objects(self, guild_id: GuildId, channel_ids: Iterable[ChannelId]) -> dict[ChannelId, bytes]:
        """The channel objects as JSON, by id, without those of deleted channels."""

    async def channels_with_threads(self, channel_ids: frozenset[ChannelId]) -> frozenset[ChannelId]:
        """The channels among these that have active threads."""

    async def channels_with_private_threads(self, channel_ids: frozenset[ChannelId]) -> frozenset[ChannelId]:
        """The channels among these that have active private threads."""

    async def thread_list_sync(
        self, view: GuildView, member: MemberView, channel_ids: frozenset[ChannelId], *, allow_empty: bool
    ) -> bytes | None:
        """The `d` of THREAD_LIST_SYNC for a member; unless `allow_empty`, None if they can reach no thread."""

    async def thread_members(
        self, view: GuildView, member: MemberView, thread_id: ChannelId
    ) -> list[ThreadMember] | None:
        """The members of a thread with their guild members; None if `member` cannot reach the thread."""

    async def stages_and_events(self, view: GuildView, channel_ids: frozenset[ChannelId]) -> list[tuple[str, bytes]]:
        """STAGE_INSTANCE_CREATE and GUILD_SCHEDULED_EVENT_CREATE of the channels, as name and `d`."""

    async def activity_instances(self, guild_id: GuildId) -> dict[ChannelId, list[EmbeddedActivityInstance]]:
        """The Activity instances of a guild, by their channel or thread."""

    async def thread_ids(
        self, view: GuildView, member: MemberView, channel_ids: frozenset[ChannelId]
    ) -> frozenset[ChannelId]:
        """The active threads of the channels that a member can reach."""

    async def voice_states(self, view: GuildView, channel_ids: frozenset[ChannelId]) -> list[bytes]:
        """The `d` of VOICE_STATE_UPDATE for each user in voice in the channels."""


class ListedMember(Struct):
    """A member as member lists sort them."""

    name: str
    """The name that is shown in the guild."""
    member: MemberView


class MemberSource(Protocol):
    """What opcode 8 and member lists read, in pages short enough for the event loop."""

    async def member_count(self, guild_id: GuildId) -> int:
        """How many members a guild has."""

    async def members_page(self, guild_id: GuildId, after: UserId | None, limit: int) -> list[Member]:
        """At most `limit` members with a user id above `after`, lowest first."""

    async def members_by_prefix(self, guild_id: GuildId, prefix: str, limit: int) -> list[Member]:
        """At most `limit` members whose username or nick starts with a prefix, case-insensitively."""

    async def members_by_id(self, guild_id: GuildId, user_ids: Sequence[UserId]) -> list[Member]:
        """The members among some users, in the order of `user_ids`."""

    async def listed_members(self, guild_id: GuildId, user_ids: Sequence[UserId]) -> list[ListedMember]:
        """The members among some users."""

    async def listed_members_page(self, guild_id: GuildId, after: UserId | None, limit: int) -> list[ListedMember]:
        """At most `limit` members with a user id above `after`, lowest first."""

    async def hoisted_role_ids(self, guild_id: GuildId) -> list[RoleId]:
        """The roles whose members are shown apart, from the top."""


class GatewaySource(GuildSource, MemberSource, Protocol):
    """Everything that a gateway node reads."""

    async def identity(self, token: str) -> Identity | None:
        """The user or bot that a token authenticates; None if it cannot start a session."""

    async def current_user(self, user_id: UserId) -> bytes:
        """The `user` of READY, as JSON. Raises LookupError if the user is deleted."""

    async def account_state(self, user_id: UserId, *, settings_proto: bool = False) -> AccountState:
        """The state of a person's account that READY has, on request with their settings as a protocol buffer."""

    async def direct_activities(self, user_id: UserId) -> list[EmbeddedActivityInstance]:
        """The Activity instances in a user's direct messages."""

    async def calls(self, user_id: UserId) -> list[Call]:
        """The calls in a user's direct messages and groups."""

    async def guild_ids(self, user_id: UserId) -> list[GuildId]:
        """The guilds of a user, oldest first."""

    async def voice_statuses(self, guild_id: GuildId) -> dict[ChannelId, str]:
        """The statuses of a guild's voice channels."""

    async def voice_starts(self, guild_id: GuildId) -> dict[ChannelId, Timestamp]:
        """When the first of those in each of a guild's voice channels entered it."""

    async def soundboard_sounds(self, guild_id: GuildId) -> bytes:
        """The soundboard sounds of a guild, as JSON."""
