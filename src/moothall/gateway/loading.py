"""Reading sessions, guilds and members from the database."""

from collections.abc import Callable, Iterable, Sequence

from sqlalchemy import bindparam, or_, select

from moothall.gateway.guild_create import GuildCreateReader, events_in, stages_in, voice_in
from moothall.gateway.guild_view import ChannelView, GuildView, MemberView
from moothall.gateway.ready import Identity
from moothall.gateway.session import Session
from moothall.gateway.threads import active_threads, thread_list_sync
from moothall.kernel.authenticate import TokenKind, actor_of_token
from moothall.kernel.guild_state import GuildStates
from moothall.objects.channel import Channel
from moothall.objects.channel_types import VOICE
from moothall.objects.ids import ChannelId, GuildId, Snowflake, UserId
from moothall.objects.member import Member
from moothall.objects.presence import Presence
from moothall.objects.text import search_key
from moothall.objects.wire import encode
from moothall.resources.channel.objects import channel_objects
from moothall.resources.channel.thread_activity.queries import select_active_threads, select_parents_of_private_threads
from moothall.resources.member.queries import (
    count_members,
    get_member,
    get_members,
    member_objects,
    select_guild_ids,
)
from moothall.resources.user.objects import current_user
from moothall.resources.user.queries import select_user
from moothall.storage.database import Database, Query, has_prefix
from moothall.storage.rows import MemberRow
from moothall.storage.schema import members

_of_guild = members.c.guild_id == bindparam("guild_id")

_select_page = Query(
    select(members).where(_of_guild, members.c.user_id > bindparam("after")).order_by(members.c.user_id).limit(100),
    into=MemberRow,
)
_select_named = Query(
    select(members)
    .where(_of_guild, or_(has_prefix(members.c.username_key, "prefix"), has_prefix(members.c.nick_key, "prefix")))
    .order_by(members.c.user_id)
    .limit(bindparam("maximum")),
    into=MemberRow,
)


class DatabaseSource:
    """What a gateway node reads (`node.Source`), each time as it is then."""

    def __init__(self, database: Database, states: GuildStates) -> None:
        self.embedded = database.dialect == "sqlite"
        self._database = database
        self._states = states
        self._guild_create = GuildCreateReader(states)

    def use_presences(self, presences_of: Callable[[Iterable[int]], list[Presence]]) -> None:
        """Where GUILD_CREATE finds who is online; until then it tells of nobody."""
        self._guild_create.presences_of = presences_of

    async def identity(self, token: str) -> Identity | None:
        """Whose token it is; None for one that is unknown, or only good for the HTTP API."""
        async with self._database.read() as reader:
            actor = await actor_of_token(reader, token)
        if actor is None or actor.kind not in {TokenKind.SESSION, TokenKind.BOT}:
            return None
        return Identity(
            user_id=int(actor.user_id),
            bot=actor.bot,
            application_id=int(actor.application_id or 0) if actor.bot else 0,
            application_flags=actor.application_flags if actor.bot else 0,
            token_hash=actor.token_hash,
        )

    async def current_user(self, user_id: int) -> bytes:
        """The `user` of READY."""
        async with self._database.read() as reader:
            row = await select_user(reader, UserId(Snowflake(user_id)))
        if row is None:
            raise LookupError(f"user {user_id} is gone")
        return encode(current_user(row))

    async def guild_ids(self, user_id: int) -> list[int]:
        """The guilds that a user is in, oldest first."""
        async with self._database.read() as reader:
            return sorted(int(g) for g in await select_guild_ids(reader, UserId(Snowflake(user_id))))

    async def view(self, guild_id: int) -> GuildView | None:
        """A guild's roles and channels."""
        async with self._database.read() as reader:
            state = await self._states.state(reader, GuildId(Snowflake(guild_id)))
            if state is None:
                return None
            channels = await state.channels(reader)
            return GuildView(
                guild_id,
                int(state.owner_id),
                {int(role.id): int(role.permissions) for role in state.roles.values()},
                {int(channel.id): _channel_view(channel, state.overwrites(channel)) for channel in channels.values()},
            )

    async def member(self, guild_id: int, user_id: int) -> MemberView | None:
        """A member; None for an outsider."""
        async with self._database.read() as reader:
            row = await get_member(reader, GuildId(Snowflake(guild_id)), UserId(Snowflake(user_id)))
        if row is None:
            return None
        return MemberView(
            user_id=user_id,
            role_ids=tuple(sorted(int(role_id) for role_id in row.roles)),
            pending=row.pending,
            timed_out_until=int(row.communication_disabled_until or 0),
            sessions=[],
            guest_of=int(row.guest_channel_id or 0),
        )

    async def guild_create(
        self, view: GuildView, member: MemberView, visible: frozenset[int], session: Session, *, joined: bool
    ) -> bytes | None:
        """The `d` of GUILD_CREATE; None if the guild or the membership is gone."""
        async with self._database.read() as reader:
            return await self._guild_create.read(reader, view, member, visible, session, joined=joined)

    async def channel_objects(self, guild_id: int, channel_ids: Iterable[int]) -> dict[int, bytes]:
        """Channels as they are now, by id."""
        async with self._database.read() as reader:
            state = await self._states.state(reader, GuildId(Snowflake(guild_id)))
            if state is None:
                return {}
            known = await state.channels(reader)
            wanted = [known[ChannelId(Snowflake(c))] for c in channel_ids if c in known]
            return {int(channel.id): encode(channel) for channel in await channel_objects(reader, wanted)}

    async def threaded(self, channel_ids: frozenset[int]) -> frozenset[int]:
        """Those of some channels that have active threads."""
        async with self._database.read() as reader:
            return frozenset(int(row.parent_id or 0) for row in await select_active_threads(reader, channel_ids))

    async def threads(self, view: GuildView, member: MemberView, channel_ids: frozenset[int]) -> bytes | None:
        """The `d` of THREAD_LIST_SYNC."""
        async with self._database.read() as reader:
            found = await active_threads(reader, view, member, channel_ids)
        return thread_list_sync(view.id, channel_ids, found, member.user_id) if found else None

    async def gatherings(self, view: GuildView, channel_ids: frozenset[int]) -> list[tuple[str, bytes]]:
        """What is live and planned in some channels, read only if one of them is for voice."""
        wanted = _for_voice(view, channel_ids)
        if not wanted:
            return []
        guild_id = GuildId(Snowflake(view.id))
        async with self._database.read() as reader:
            stages = await stages_in(reader, guild_id, wanted)
            events = await events_in(reader, guild_id, wanted)
        return [
            *(("STAGE_INSTANCE_CREATE", encode(stage)) for stage in stages),
            *(("GUILD_SCHEDULED_EVENT_CREATE", encode(event)) for event in events),
        ]

    async def private_threaded(self, channel_ids: frozenset[int]) -> frozenset[int]:
        """Those of some channels that have active private threads."""
        async with self._database.read() as reader:
            return frozenset(await select_parents_of_private_threads(reader, channel_ids))

    async def threads_now(self, view: GuildView, member: MemberView, channel_ids: frozenset[int]) -> bytes:
        """The `d` of THREAD_LIST_SYNC."""
        async with self._database.read() as reader:
            found = await active_threads(reader, view, member, channel_ids)
        return thread_list_sync(view.id, channel_ids, found, member.user_id)

    async def voice(self, view: GuildView, channel_ids: frozenset[int]) -> list[bytes]:
        """The `d` of VOICE_STATE_UPDATE for each of those in some channels, read only if one of them is for voice."""
        wanted = _for_voice(view, channel_ids)
        if not wanted:
            return []
        async with self._database.read() as reader:
            return [encode(state) for state in await voice_in(reader, GuildId(Snowflake(view.id)), wanted)]

    async def sounds(self, guild_id: int) -> bytes:
        """The sounds of a guild, as JSON."""
        async with self._database.read() as reader:
            state = await self._states.state(reader, GuildId(Snowflake(guild_id)))
            return encode([] if state is None else await state.sounds(reader))

    async def member_count(self, guild_id: int) -> int:
        """How many members a guild has."""
        async with self._database.read() as reader:
            return await count_members(reader, GuildId(Snowflake(guild_id)))

    async def members_page(self, guild_id: int, after: int, maximum: int) -> list[Member]:
        """Up to a hundred members by user id, those above `after`."""
        async with self._database.read() as reader:
            rows = await reader.all(_select_page, guild_id=GuildId(Snowflake(guild_id)), after=UserId(Snowflake(after)))
            return await member_objects(reader, rows[:maximum])

    async def members_named(self, guild_id: int, prefix: str, maximum: int) -> list[Member]:
        """Members whose username or nick begins with a prefix."""
        async with self._database.read() as reader:
            rows = await reader.all(
                _select_named, guild_id=GuildId(Snowflake(guild_id)), prefix=search_key(prefix), maximum=maximum
            )
            return await member_objects(reader, rows)

    async def members_by_id(self, guild_id: int, user_ids: Sequence[int]) -> list[Member]:
        """Those of the users named who are members, in the order named."""
        async with self._database.read() as reader:
            wanted = [UserId(Snowflake(user_id)) for user_id in dict.fromkeys(user_ids)]
            found = await get_members(reader, GuildId(Snowflake(guild_id)), wanted)
            return await member_objects(reader, [found[user_id] for user_id in wanted if user_id in found])


def _for_voice(view: GuildView, channel_ids: frozenset[int]) -> frozenset[int]:
    return frozenset(c for c in channel_ids if c in view.channels and view.channels[c].type in VOICE)


def _channel_view(channel: Channel, overwrites: dict[int, tuple[int, int]]) -> ChannelView:
    return ChannelView(
        type=channel.type,
        overwrites=overwrites,
        name=channel.name if isinstance(channel.name, str) else "",
        position=channel.position if isinstance(channel.position, int) else 0,
        parent_id=int(channel.parent_id) if isinstance(channel.parent_id, int) else 0,
    )
