"""The read states of a user as READY has them."""

from collections.abc import Iterable

from moothall.authority.guild_states import GuildStates
from moothall.objects import limits
from moothall.objects.ids import GuildId, Snowflake, UserId, snowflake_at
from moothall.objects.read_state import ReadState, ReadStateType
from moothall.objects.wire import Timestamp
from moothall.resources.read_state import queries
from moothall.resources.read_state.queries import ReadStateRow
from moothall.resources.read_state.visibility import viewable
from moothall.resources.user.settings.queries import select_guild_settings
from moothall.storage.database import Reader
from moothall.storage.rows import MemberRow

_DAY_MS = 86_400_000
_NOTHING = Snowflake(0)


async def read_states_of(
    reader: Reader, states: GuildStates, user_id: UserId, memberships: Iterable[MemberRow]
) -> tuple[list[ReadState], int]:
    """The read states of a user with current counts, and their version.

    A channel with mentions has one, also if the user never acknowledged it. Channels that the user may not view have
    no mentions.
    """
    rows = await queries.select_read_states(reader, user_id)
    version = max((int(row.version) for row in rows), default=0)
    counts = await _mention_counts(reader, states, user_id, memberships)
    quiet_ids = {each.guild_id for each in await select_guild_settings(reader, user_id) if each.mute_scheduled_events}
    badges = {
        badge.guild_id: badge.count
        for badge in await queries.select_badges(reader, user_id)
        if badge.guild_id not in quiet_ids
    }
    entries = [_entry(row, counts, badges) for row in rows]
    stored = {(row.type, row.resource_id) for row in rows}
    entries += [
        ReadState(id=Snowflake(channel_id), last_message_id=_NOTHING, mention_count=count)
        for channel_id, count in sorted(counts.items())
        if count and (ReadStateType.CHANNEL, channel_id) not in stored
    ]
    entries += [
        ReadState(
            id=Snowflake(guild_id),
            read_state_type=ReadStateType.GUILD_EVENT,
            last_acked_id=_NOTHING,
            badge_count=count,
        )
        for guild_id, count in sorted(badges.items())
        if (ReadStateType.GUILD_EVENT, guild_id) not in stored
    ]
    return entries, version


async def _mention_counts(
    reader: Reader, states: GuildStates, user_id: UserId, memberships: Iterable[MemberRow]
) -> dict[int, int]:
    settings = {each.guild_id: each for each in await select_guild_settings(reader, user_id)}
    target_ids: set[Snowflake] = {user_id}
    for member in memberships:
        guild_settings = settings.get(member.guild_id)
        if guild_settings is None or not guild_settings.suppress_everyone:
            target_ids.add(member.guild_id)
        if guild_settings is None or not guild_settings.suppress_roles:
            target_ids.update(member.roles)
    oldest_id = snowflake_at(Timestamp.now() - limits.MENTIONS_COUNTED_DAYS * _DAY_MS)
    in_guilds = await queries.select_mention_counts(reader, user_id, target_ids, oldest_id)
    visible = await viewable(reader, states, user_id, [row.channel for row in in_guilds])
    counts = {int(row.id): row.count for row in in_guilds if row.id in visible}
    counts.update((int(row.id), row.count) for row in await queries.select_direct_counts(reader, user_id))
    now = Timestamp.now()
    overrides = [] if None not in settings else settings[None].channel_overrides
    muted_ids = [override.channel_id for override in overrides if override.is_muted(now)]
    if muted_ids:
        mentions = await queries.select_direct_mentions(reader, user_id, muted_ids)
        counts.update((int(channel_id), mentions.get(channel_id, 0)) for channel_id in muted_ids)
    return counts


def _entry(row: ReadStateRow, counts: dict[int, int], badges: dict[GuildId, int]) -> ReadState:
    if row.type == ReadStateType.CHANNEL:
        return ReadState(
            id=row.resource_id,
            last_message_id=row.last_acked_id,
            mention_count=row.mention_count + counts.get(row.resource_id, 0),
            last_pin_timestamp=row.last_pin_timestamp,
            flags=row.flags,
            last_viewed=row.last_viewed,
        )
    badge_count = badges.get(GuildId(row.resource_id), 0) if row.type == ReadStateType.GUILD_EVENT else 0
    return ReadState(
        id=row.resource_id,
        read_state_type=ReadStateType(row.type),
        last_acked_id=row.last_acked_id,
        badge_count=badge_count,
    )
