"""The reads of the gateway from the database: sessions, guilds and members, each as it is at the time."""

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

from moothall.api.authenticate import TokenKind, actor_of_token
from moothall.authority.guild_state import GuildState
from moothall.authority.guild_states import GuildStates
from moothall.authority.state_versions import select_state_version
from moothall.gateway.audience.guild_view import ChannelView, GuildView, MemberView
from moothall.gateway.sessions.session import Session
from moothall.gateway.snapshot import queries
from moothall.gateway.snapshot.account_state import AccountState, read_account_state
from moothall.gateway.snapshot.guild_create import (
    GuildReader,
    read_activity_instances,
    read_scheduled_events,
    read_stage_instances,
    read_voice_states,
)
from moothall.gateway.snapshot.guild_snapshot import GuildSnapshot
from moothall.gateway.snapshot.ready import Identity
from moothall.gateway.snapshot.source import ListedMember, OnlinePresences
from moothall.gateway.snapshot.threads import active_threads, thread_list_sync, thread_members
from moothall.objects.activity import EmbeddedActivityInstance
from moothall.objects.call import Call
from moothall.objects.channel import Channel, ThreadMember
from moothall.objects.channel_types import VOICE
from moothall.objects.ids import NO_USER, ChannelId, GuildId, RoleId, UserId
from moothall.objects.member import Member, MemberFlags
from moothall.objects.text import search_key
from moothall.objects.wire import Timestamp, encode
from moothall.resources.activity.objects import instance_objects
from moothall.resources.activity.queries import select_direct_instances
from moothall.resources.call.queries import select_calls_of_user
from moothall.resources.channel.objects import channel_objects
from moothall.resources.channel.thread_activity.queries import select_active_threads, select_parents_of_private_threads
from moothall.resources.member.queries import (
    count_members,
    get_members,
    member_objects,
    select_guild_ids,
)
from moothall.resources.user.objects import current_user
from moothall.resources.user.queries import select_user
from moothall.resources.voice.queries import select_starts, select_voice_statuses
from moothall.runtime.budgets import Payer, WorkRefused
from moothall.storage.database import Database, StorageConflict

_ATTEMPTS_MAX: Final = 10
_READS_MAX: Final = 20
"""Reads of a guild that others change meanwhile, after which it is given up."""
_DELAY_MAX: Final = 3.0
"""Seconds between two attempts to read what an account is charged for."""


class DatabaseSource:
    """Implements `GatewaySource` over a database."""

    def __init__(self, database: Database, states: GuildStates) -> None:
        self.embedded = database.dialect == "sqlite"
        self._database = database
        self._states = states
        self._guilds = GuildReader(states)

    async def identity(self, token: str) -> Identity | None:
        """The user or bot of a token; None for one that is unknown, or valid for the HTTP API only."""
        async with self._database.read() as reader:
            actor = await actor_of_token(reader, token)
        if actor is None or actor.kind not in {TokenKind.SESSION, TokenKind.BOT}:
            return None
        return Identity(
            user_id=actor.user_id,
            bot=actor.bot,
            application_id=actor.application_id if actor.bot else None,
            application_flags=actor.application_flags if actor.bot else 0,
            token_hash=actor.token_hash,
        )

    async def current_user(self, user_id: UserId) -> bytes:
        """The `user` of READY, as JSON. Raises LookupError if the user is deleted."""
        async with self._database.read() as reader:
            row = await select_user(reader, user_id)
        if row is None:
            raise LookupError(f"user {user_id} is deleted")
        return encode(current_user(row))

    async def account_state(self, user_id: UserId, *, settings_proto: bool = False) -> AccountState:
        """The state of a person's account that READY has, on request with their settings as a protocol buffer.

        Waits for the budget of the account, and for room among the long reads. Raises WorkRefused after half a minute.
        """
        attempts = 0
        while True:
            try:
                # Its network is charged for IDENTIFY itself.
                async with self._database.read(Payer(user_id, "")) as reader:
                    return await read_account_state(reader, self._states, user_id, settings_proto=settings_proto)
            except WorkRefused as refusal:
                attempts += 1
                if attempts == _ATTEMPTS_MAX:
                    raise
                await asyncio.sleep(min(refusal.seconds, _DELAY_MAX))

    async def guild_ids(self, user_id: UserId) -> list[GuildId]:
        """The guilds of a user, oldest first."""
        async with self._database.read() as reader:
            return sorted(await select_guild_ids(reader, user_id))

    async def guild_view(self, guild_id: GuildId) -> GuildView | None:
        """A guild's roles and channels after one of its events; None if the guild does not exist.

        Raises StorageConflict if it changes again and again while it is read.
        """
        async with self._database.read() as reader:
            version = await select_state_version(reader, guild_id)
            for _ in range(_READS_MAX):
                state = await self._states.state(reader, guild_id)
                if state is None:
                    return None
                channels = await state.channels(reader)
                before, version = version, await select_state_version(reader, guild_id)
                if version == before:
                    return _guild_view(state, channels, version)
        raise StorageConflict(f"guild {guild_id} has changed while it was read, {_READS_MAX} times")

    async def member_view(self, guild_id: GuildId, user_id: UserId) -> MemberView | None:
        """A member; None for a user who is no member."""
        async with self._database.read() as reader:
            row = await queries.select_member_at(reader, guild_id, user_id)
        if row is None:
            return None
        return MemberView(
            user_id=user_id,
            role_ids=tuple(RoleId(role_id) for role_id in sorted(row.roles)),
            pending=row.pending,
            timed_out_until=int(row.communication_disabled_until or 0),
            sessions=[],
            quarantined=bool(row.flags & MemberFlags.QUARANTINED),
            guest_channel_id=row.guest_channel_id,
            state_version=row.state_version,
        )

    async def guild_snapshot(
        self,
        view: GuildView,
        member: MemberView,
        visible: frozenset[ChannelId],
        session: Session,
        online: OnlinePresences,
    ) -> GuildSnapshot | None:
        """A guild with the channels of `visible`; None if the guild or the member is deleted."""
        async with self._database.read() as reader:
            return await self._guilds.read(reader, view, member, visible, session, online)

    async def channel_objects(self, guild_id: GuildId, channel_ids: Iterable[ChannelId]) -> dict[ChannelId, bytes]:
        """The channel objects as JSON, by id."""
        async with self._database.read() as reader:
            state = await self._states.state(reader, guild_id)
            if state is None:
                return {}
            all_channels = await state.channels(reader)
            channels = [all_channels[channel_id] for channel_id in channel_ids if channel_id in all_channels]
            return {channel.id: encode(channel) for channel in await channel_objects(reader, channels)}

    async def channels_with_threads(self, channel_ids: frozenset[ChannelId]) -> frozenset[ChannelId]:
        """The channels among these that have active threads."""
        async with self._database.read() as reader:
            threads = await select_active_threads(reader, channel_ids)
        return frozenset(row.parent_id for row in threads if row.parent_id is not None)

    async def channels_with_private_threads(self, channel_ids: frozenset[ChannelId]) -> frozenset[ChannelId]:
        """The channels among these that have active private threads."""
        async with self._database.read() as reader:
            return frozenset(await select_parents_of_private_threads(reader, channel_ids))

    async def thread_list_sync(
        self, view: GuildView, member: MemberView, channel_ids: frozenset[ChannelId], *, allow_empty: bool
    ) -> bytes | None:
        """The `d` of THREAD_LIST_SYNC; unless `allow_empty`, None if the member can reach no thread."""
        async with self._database.read() as reader:
            threads = await active_threads(reader, view, member, channel_ids)
        if not threads and not allow_empty:
            return None
        return thread_list_sync(view.id, channel_ids, threads, member.user_id)

    async def thread_members(
        self, view: GuildView, member: MemberView, thread_id: ChannelId
    ) -> list[ThreadMember] | None:
        """The members of a thread with their guild members; None if `member` cannot reach the thread."""
        async with self._database.read() as reader:
            return await thread_members(reader, view, member, thread_id)

    async def stages_and_events(self, view: GuildView, channel_ids: frozenset[ChannelId]) -> list[tuple[str, bytes]]:
        """STAGE_INSTANCE_CREATE and GUILD_SCHEDULED_EVENT_CREATE of the channels; no query without a voice channel."""
        voice_ids = _voice_channels(view, channel_ids)
        if not voice_ids:
            return []
        async with self._database.read() as reader:
            stages = await read_stage_instances(reader, view.id, voice_ids)
            events = await read_scheduled_events(reader, view.id, voice_ids)
        return [
            *(("STAGE_INSTANCE_CREATE", encode(stage)) for stage in stages),
            *(("GUILD_SCHEDULED_EVENT_CREATE", encode(event)) for event in events),
        ]

    async def activity_instances(self, guild_id: GuildId) -> dict[ChannelId, list[EmbeddedActivityInstance]]:
        """The Activity instances of a guild, by their channel or thread."""
        by_channel: dict[ChannelId, list[EmbeddedActivityInstance]] = {}
        async with self._database.read() as reader:
            for instance in await read_activity_instances(reader, guild_id):
                by_channel.setdefault(instance.location.channel_id, []).append(instance)
        return by_channel

    async def direct_activities(self, user_id: UserId) -> list[EmbeddedActivityInstance]:
        """The Activity instances in a user's direct messages."""
        async with self._database.read() as reader:
            rows = await select_direct_instances(reader, user_id)
            return await instance_objects(reader, rows)

    async def calls(self, user_id: UserId) -> list[Call]:
        """The calls in a user's direct messages and groups."""
        async with self._database.read() as reader:
            return await select_calls_of_user(reader, user_id)

    async def thread_ids(
        self, view: GuildView, member: MemberView, channel_ids: frozenset[ChannelId]
    ) -> frozenset[ChannelId]:
        """The active threads of the channels that a member can reach."""
        async with self._database.read() as reader:
            return frozenset(thread.id for thread in await active_threads(reader, view, member, channel_ids))

    async def voice_states(self, view: GuildView, channel_ids: frozenset[ChannelId]) -> list[bytes]:
        """The `d` of VOICE_STATE_UPDATE for each user in the channels; no query without a voice channel."""
        voice_ids = _voice_channels(view, channel_ids)
        if not voice_ids:
            return []
        async with self._database.read() as reader:
            return [encode(state) for state in await read_voice_states(reader, view.id, voice_ids)]

    async def voice_statuses(self, guild_id: GuildId) -> dict[ChannelId, str]:
        """The statuses of a guild's voice channels."""
        async with self._database.read() as reader:
            return await select_voice_statuses(reader, guild_id)

    async def voice_starts(self, guild_id: GuildId) -> dict[ChannelId, Timestamp]:
        """When the first of those in each of a guild's voice channels entered it."""
        async with self._database.read() as reader:
            return await select_starts(reader, guild_id)

    async def soundboard_sounds(self, guild_id: GuildId) -> bytes:
        """The soundboard sounds of a guild, as JSON."""
        async with self._database.read() as reader:
            state = await self._states.state(reader, guild_id)
            return encode([] if state is None else await state.sounds(reader))

    async def member_count(self, guild_id: GuildId) -> int:
        """How many members a guild has."""
        async with self._database.read() as reader:
            return await count_members(reader, guild_id)

    async def members_page(self, guild_id: GuildId, after: UserId | None, limit: int) -> list[Member]:
        """At most `limit` members, and never more than a hundred, with a user id above `after`, lowest first."""
        async with self._database.read() as reader:
            rows = await queries.select_members_page(reader, guild_id, NO_USER if after is None else after)
            return await member_objects(reader, rows[:limit])

    async def members_by_prefix(self, guild_id: GuildId, prefix: str, limit: int) -> list[Member]:
        """At most `limit` members whose username or nick starts with a prefix, case-insensitively."""
        async with self._database.read() as reader:
            rows = await queries.select_members_by_prefix(reader, guild_id, search_key(prefix), limit)
            return await member_objects(reader, rows)

    async def members_by_id(self, guild_id: GuildId, user_ids: Sequence[UserId]) -> list[Member]:
        """The members among some users, in the order of `user_ids`."""
        async with self._database.read() as reader:
            unique_ids = dict.fromkeys(user_ids)
            rows = await get_members(reader, guild_id, unique_ids)
            return await member_objects(reader, [rows[user_id] for user_id in unique_ids if user_id in rows])

    async def listed_members(self, guild_id: GuildId, user_ids: Sequence[UserId]) -> list[ListedMember]:
        """The members among some users, as lists sort them."""
        async with self._database.read() as reader:
            rows = await queries.select_listed(reader, guild_id, user_ids)
        return [_listed_member(row) for row in rows]

    async def listed_members_page(self, guild_id: GuildId, after: UserId | None, limit: int) -> list[ListedMember]:
        """At most `limit` members with a user id above `after`, as lists sort them, lowest id first."""
        async with self._database.read() as reader:
            rows = await queries.select_listed_page(reader, guild_id, NO_USER if after is None else after, limit)
        return [_listed_member(row) for row in rows]

    async def hoisted_role_ids(self, guild_id: GuildId) -> list[RoleId]:
        """The roles whose members are shown apart, from the top."""
        async with self._database.read() as reader:
            state = await self._states.state(reader, guild_id)
        hoisted = [] if state is None else [role for role in state.roles.values() if role.hoist]
        return [role.id for role in sorted(hoisted, key=lambda role: (-role.position, role.id))]


def _listed_member(row: queries.ListedMemberRow) -> ListedMember:
    return ListedMember(
        row.nick or row.global_name or row.username,
        MemberView(
            user_id=row.user_id,
            role_ids=tuple(RoleId(role_id) for role_id in sorted(row.roles)),
            pending=False,
            timed_out_until=0,
            sessions=[],
            guest_channel_id=row.guest_channel_id,
        ),
    )


def _voice_channels(view: GuildView, channel_ids: frozenset[ChannelId]) -> frozenset[ChannelId]:
    return frozenset(c for c in channel_ids if c in view.channels and view.channels[c].type in VOICE)


def _guild_view(state: GuildState, channels: Mapping[ChannelId, Channel], state_version: int) -> GuildView:
    return GuildView(
        state.id,
        state.owner_id,
        {role.id: int(role.permissions) for role in state.roles.values()},
        {channel.id: _channel_view(channel, state.overwrites(channel)) for channel in channels.values()},
        state_version=state_version,
    )


def _channel_view(channel: Channel, overwrites: dict[int, tuple[int, int]]) -> ChannelView:
    return ChannelView(
        type=channel.type,
        overwrites=overwrites,
        name=channel.name if isinstance(channel.name, str) else "",
        position=channel.position if isinstance(channel.position, int) else 0,
        parent_id=channel.parent_id or None,
    )
