"""What the gateway reads, from the model: each statement at a moment of the seed, late or failing at times."""

# ruff: noqa: ARG002 - it implements a protocol and ignores some parameters

from collections.abc import Iterable, Sequence
from typing import Any

from msgspec import UNSET

from moothall.gateway.audience.guild_view import GuildView, MemberView
from moothall.gateway.sessions.session import Session
from moothall.gateway.snapshot.account_state import NO_STATE, AccountState
from moothall.gateway.snapshot.guild_snapshot import GuildFields, GuildSnapshot
from moothall.gateway.snapshot.ready import Identity
from moothall.gateway.snapshot.source import ListedMember, OnlinePresences
from moothall.objects.activity import EmbeddedActivityInstance
from moothall.objects.call import Call
from moothall.objects.channel import ThreadMember
from moothall.objects.ids import ApplicationId, ChannelId, GuildId, RoleId, Snowflake, UserId
from moothall.objects.intents import Intent
from moothall.objects.member import Member as MemberObject
from moothall.objects.wire import Timestamp, encode
from moothall.storage.database import StorageUnavailable
from tests.simulation.gateway import payloads
from tests.simulation.gateway.model import Guild, World, is_hoisted
from tests.simulation.loop import SimulatedLoop
from tests.simulation.randomness import Choices

_FLAGS = 1 << 12 | 1 << 14 | 1 << 18


class SimulatedSource:
    """Reads the model."""

    def __init__(
        self, world: World, loop: SimulatedLoop, choices: Choices, *, embedded: bool, failing: float, late: float
    ) -> None:
        self.embedded = embedded
        self.late_reads: list[tuple[float, float, GuildId | None]] = []
        """The late reads, by when they began, how long they took and the guild that they were of."""
        self.failing = failing
        self.late = late
        self._world = world
        self._loop = loop
        self._choices = choices

    async def _statement(self, guild_id: GuildId | None = None) -> None:
        """Wait for a statement, which is carried out now; it may fail."""
        choices = self._choices
        if self.failing and choices.fault("read fails", self.failing):
            raise StorageUnavailable("a read failed")
        if self.embedded:
            return
        seconds = choices.delay(0.001)
        if self.late and choices.fault("read is late", self.late):
            seconds += choices.uniform(0.1, 5.0)
            self.late_reads.append((self._loop.time(), seconds, guild_id))
        await self._loop.io(seconds)

    async def _answer(self) -> None:
        """Wait for the answer of a statement that was carried out."""
        if not self.embedded:
            await self._loop.io(self._choices.delay(0.0005, 0.02))

    def late_seconds(self, guild_id: GuildId, since: float) -> float:
        """How long late reads of a guild have taken altogether that ended after a time."""
        return sum(
            seconds
            for started, seconds, late_id in self.late_reads
            if late_id in {guild_id, None} and started + seconds >= since
        )

    async def _guild(self, guild_id: GuildId) -> Guild | None:
        await self._statement(guild_id)
        guild = self._world.guilds.get(guild_id)
        await self._answer()
        return guild

    # Accounts

    async def identity(self, token: str) -> Identity | None:
        await self._statement()
        kind, _, number = token.partition("-")
        if not number.isdigit():
            return None
        user_id, bot = UserId(Snowflake(int(number))), kind == "bot"
        return Identity(user_id, bot, ApplicationId(user_id) if bot else None, _FLAGS if bot else 0, token.encode())

    async def current_user(self, user_id: UserId) -> bytes:
        await self._statement()
        return b'{"id":"%d","username":"user%d"}' % (user_id, user_id)

    async def account_state(self, user_id: UserId, *, settings_proto: bool = False) -> AccountState:
        await self._statement()
        await self._answer()
        return NO_STATE

    async def calls(self, user_id: UserId) -> list[Call]:
        await self._statement()
        return []

    async def direct_activities(self, user_id: UserId) -> list[EmbeddedActivityInstance]:
        await self._statement()
        return []

    async def guild_ids(self, user_id: UserId) -> list[GuildId]:
        await self._statement()
        guild_ids = self._world.guild_ids(user_id)
        await self._answer()
        return guild_ids

    # Guilds

    async def guild_view(self, guild_id: GuildId) -> GuildView | None:
        guild = await self._guild(guild_id)
        return None if guild is None else payloads.guild_view(guild)

    async def member_view(self, guild_id: GuildId, user_id: UserId) -> MemberView | None:
        guild = await self._guild(guild_id)
        member = None if guild is None else guild.members.get(user_id)
        return None if guild is None or member is None else payloads.member_view(user_id, member, guild.state_version)

    async def member_count(self, guild_id: GuildId) -> int:
        guild = await self._guild(guild_id)
        return 0 if guild is None else len(guild.members)

    async def guild_snapshot(
        self,
        view: GuildView,
        member: MemberView,
        visible: frozenset[ChannelId],
        session: Session,
        online: OnlinePresences,
    ) -> GuildSnapshot | None:
        """The guild by four statements, each at a moment of its own."""
        guild = await self._guild(view.id)
        if guild is None:
            return None
        counted = await self._guild(view.id)
        listed = await self._guild(view.id)
        threads = await self._guild(view.id)
        if counted is None or listed is None or threads is None or session.user_id not in listed.members:
            return None
        count = len(counted.members)
        everyone = session.intents & Intent.GUILD_PRESENCES and count <= session.large_threshold
        user_ids = list(listed.members) if everyone else [session.user_id]
        fields = GuildFields(
            hub_type=None,
            profile=None,
            joined_at=Timestamp(0),
            large=count > session.large_threshold,
            member_count=count,
            voice_states=[],
            members=[payloads.member_object(user_id, listed.members[user_id]) for user_id in user_ids],
            channels=[
                payloads.channel_object(guild, guild.channels[channel_id])
                for channel_id in sorted(visible)
                if channel_id in guild.channels
            ],
            threads=self._threads(threads, view, member, visible),
            presences=online(user_ids) if session.intents & Intent.GUILD_PRESENCES else [],
            stage_instances=[],
            guild_scheduled_events=[],
            soundboard_sounds=UNSET,
            activity_instances=[],
        )
        encoded = payloads.guild_json(guild, properties=session.takes_guild_properties)
        return GuildSnapshot(view.id, encoded, fields, counted.state_version)

    @staticmethod
    def _threads(guild: Guild, view: GuildView, member: MemberView, parent_ids: frozenset[ChannelId]) -> list[Any]:
        managed = view.managed_channels(member)
        return [
            payloads.thread_object(guild, thread)
            for thread in guild.threads.values()
            if thread.parent_id in parent_ids
            and (not thread.private or member.user_id in thread.member_ids or thread.parent_id in managed)
        ]

    async def channel_objects(self, guild_id: GuildId, channel_ids: Iterable[ChannelId]) -> dict[ChannelId, bytes]:
        guild = await self._guild(guild_id)
        if guild is None:
            return {}
        channels = guild.channels
        return {
            each: encode(payloads.channel_object(guild, channels[each])) for each in channel_ids if each in channels
        }

    async def channels_with_threads(self, channel_ids: frozenset[ChannelId]) -> frozenset[ChannelId]:
        await self._statement()
        threads = [thread for guild in self._world.guilds.values() for thread in guild.threads.values()]
        await self._answer()
        return frozenset(thread.parent_id for thread in threads if thread.parent_id in channel_ids)

    async def channels_with_private_threads(self, channel_ids: frozenset[ChannelId]) -> frozenset[ChannelId]:
        await self._statement()
        threads = [thread for guild in self._world.guilds.values() for thread in guild.threads.values()]
        await self._answer()
        return frozenset(thread.parent_id for thread in threads if thread.private and thread.parent_id in channel_ids)

    async def thread_list_sync(
        self, view: GuildView, member: MemberView, channel_ids: frozenset[ChannelId], *, allow_empty: bool
    ) -> bytes | None:
        guild = await self._guild(view.id)
        threads = [] if guild is None else self._threads(guild, view, member, channel_ids)
        if not threads and not allow_empty:
            return None
        return encode(
            {
                "guild_id": str(view.id),
                "channel_ids": [str(each) for each in sorted(channel_ids)],
                "threads": threads,
                "members": [],
            }
        )

    async def thread_members(
        self, view: GuildView, member: MemberView, thread_id: ChannelId
    ) -> list[ThreadMember] | None:
        return None

    async def stages_and_events(self, view: GuildView, channel_ids: frozenset[ChannelId]) -> list[tuple[str, bytes]]:
        await self._statement()
        return []

    async def activity_instances(self, guild_id: GuildId) -> dict[ChannelId, list[EmbeddedActivityInstance]]:
        await self._statement()
        return {}

    async def thread_ids(
        self, view: GuildView, member: MemberView, channel_ids: frozenset[ChannelId]
    ) -> frozenset[ChannelId]:
        return frozenset()

    async def voice_states(self, view: GuildView, channel_ids: frozenset[ChannelId]) -> list[bytes]:
        await self._statement()
        return []

    async def voice_statuses(self, guild_id: GuildId) -> dict[ChannelId, str]:
        return {}

    async def voice_starts(self, guild_id: GuildId) -> dict[ChannelId, Timestamp]:
        return {}

    async def soundboard_sounds(self, guild_id: GuildId) -> bytes:
        return b"[]"

    # Members

    async def members_page(self, guild_id: GuildId, after: UserId | None, limit: int) -> list[MemberObject]:
        guild = await self._guild(guild_id)
        members = {} if guild is None else guild.members
        user_ids = sorted(user_id for user_id in members if after is None or user_id > after)[:limit]
        return [payloads.member_object(user_id, members[user_id]) for user_id in user_ids]

    async def members_by_prefix(self, guild_id: GuildId, prefix: str, limit: int) -> list[MemberObject]:
        members = await self.members_page(guild_id, None, 1_000)
        return [each for each in members if each.user is not UNSET and each.user.username.startswith(prefix)][:limit]

    async def members_by_id(self, guild_id: GuildId, user_ids: Sequence[UserId]) -> list[MemberObject]:
        guild = await self._guild(guild_id)
        members = {} if guild is None else guild.members
        return [payloads.member_object(user_id, members[user_id]) for user_id in user_ids if user_id in members]

    async def listed_members(self, guild_id: GuildId, user_ids: Sequence[UserId]) -> list[ListedMember]:
        guild = await self._guild(guild_id)
        members = {} if guild is None else guild.members
        return [
            ListedMember(members[u].nick or f"user{u}", payloads.member_view(u, members[u]))
            for u in user_ids
            if u in members
        ]

    async def listed_members_page(self, guild_id: GuildId, after: UserId | None, limit: int) -> list[ListedMember]:
        guild = await self._guild(guild_id)
        members = {} if guild is None else guild.members
        user_ids = sorted(user_id for user_id in members if after is None or user_id > after)[:limit]
        return await self.listed_members(guild_id, user_ids)

    async def hoisted_role_ids(self, guild_id: GuildId) -> list[RoleId]:
        guild = await self._guild(guild_id)
        return [] if guild is None else sorted(each for each in guild.roles if is_hoisted(each, guild_id))
