"""Which of several channels a user may view, with one query for each kind of channel and one for each guild."""

from collections.abc import Iterable

from moothall.authority.guild_states import GuildStates
from moothall.authority.member_authority import MemberAuthority
from moothall.objects.channel_types import THREADS, ChannelType
from moothall.objects.ids import ChannelId, GuildId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.resources.read_state import queries
from moothall.resources.read_state.queries import ChannelKey
from moothall.storage.database import Reader


async def viewable(
    reader: Reader,
    states: GuildStates,
    user_id: UserId,
    channels: Iterable[ChannelKey],
    *,
    permissions: int = Permissions.VIEW_CHANNEL,
    writes: bool = False,
) -> set[ChannelId]:
    """The ids of those channels in which a user has `permissions`: to view them.

    `writes` is whether the transaction changes a guild's state.
    """
    channels = list(channels)
    direct = [channel.id for channel in channels if channel.guild_id is None]
    own = await queries.select_own_direct(reader, user_id, direct) if direct else set()
    private = [channel.id for channel in channels if channel.type == ChannelType.PRIVATE_THREAD]
    joined = await queries.select_joined_threads(reader, user_id, private) if private else set()
    ids = {channel_id for channel_id in direct if channel_id in own}
    by_guild: dict[GuildId, list[ChannelKey]] = {}
    for channel in channels:
        if channel.guild_id is not None:
            by_guild.setdefault(channel.guild_id, []).append(channel)
    now = Timestamp.now()
    for guild_id, listed in by_guild.items():
        _, authority = await states.authority(reader, guild_id, user_id, now, writes=writes)
        if authority is not None:
            ids |= await _viewable_in_guild(reader, authority, listed, joined, permissions)
    return ids


async def _viewable_in_guild(
    reader: Reader, authority: MemberAuthority, channels: list[ChannelKey], joined: set[int], permissions: int
) -> set[ChannelId]:
    all_channels = await authority.guild.channels(reader)
    ids: set[ChannelId] = set()
    for channel in channels:
        is_thread = channel.type in THREADS
        channel_id = channel.parent_id if is_thread else channel.id
        if channel_id is None or channel_id not in all_channels:
            continue
        bits = authority.permissions_in(all_channels[channel_id], thread=is_thread)
        hidden = (
            channel.type == ChannelType.PRIVATE_THREAD
            and channel.id not in joined
            and not bits & Permissions.MANAGE_THREADS
        )
        if bits & permissions == permissions and not hidden:
            ids.add(channel.id)
    return ids
