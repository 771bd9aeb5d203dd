"""A channel with the actor's permissions in it, its guild and its parent."""

from collections.abc import Iterable
from typing import Final

from msgspec import Struct

from moothall.authority.channel_queries import select_channel, select_consents, select_thread, select_thread_member_ids
from moothall.authority.guild_state import GuildState
from moothall.authority.guild_states import GuildStates
from moothall.authority.member_authority import MemberAuthority
from moothall.objects.channel import Channel, ConsentStatus
from moothall.objects.channel_types import THREADS, ChannelType
from moothall.objects.ids import NO_USER, ChannelId, GuildId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.wire import Timestamp
from moothall.storage.database import Reader
from moothall.storage.rows import channel_from_row

_ACCEPTED: Final = int(ConsentStatus.ACCEPTED)
_PRIVATE_THREAD: Final = ChannelType.PRIVATE_THREAD

DIRECT_MESSAGE_PERMISSIONS = int(
    Permissions.VIEW_CHANNEL
    | Permissions.SEND_MESSAGES
    | Permissions.READ_MESSAGE_HISTORY
    | Permissions.ADD_REACTIONS
    | Permissions.EMBED_LINKS
    | Permissions.ATTACH_FILES
    | Permissions.USE_EXTERNAL_EMOJIS
    | Permissions.USE_EXTERNAL_STICKERS
    | Permissions.USE_APPLICATION_COMMANDS
    | Permissions.PIN_MESSAGES
    | Permissions.SEND_POLLS
)
"""The permissions of recipients of a direct message, which has no roles and no overwrites."""


class ChannelAccess(Struct, frozen=True):
    """A channel and the actor's permissions in it."""

    channel: Channel
    """The channel or thread itself."""
    permissions: int
    """The actor's permissions in the channel; 0 for one who may not view it."""
    guild: GuildState | None = None
    """None for a direct message."""
    member: MemberAuthority | None = None
    """None for a direct message, and for an actor who is not a member."""
    parent: Channel | None = None
    """The parent channel of a thread, whose overwrites apply to it."""
    recipients: tuple[UserId, ...] = ()
    """The recipients of a direct message, or the members of a private thread."""
    not_accepted: tuple[tuple[UserId, ConsentStatus], ...] = ()
    """Those recipients of a direct message who have not accepted to receive messages in it."""
    shown: tuple[ChannelId, GuildId | None] | None = None
    """The channel and guild in the payloads of events, if `channel` is a room of ephemeral messages."""

    @property
    def id(self) -> ChannelId:
        """The channel's id."""
        return self.channel.id

    @property
    def is_thread(self) -> bool:
        """Whether it is a thread."""
        return self.parent is not None

    @property
    def audience_channel_id(self) -> ChannelId:
        """The channel whose overwrites decide who receives the events of this one: of a thread its parent."""
        return self.channel.id if self.parent is None else self.parent.id

    @property
    def event_user_ids(self) -> tuple[UserId, ...]:
        """The `user_ids` of this channel's events: recipients of a direct message or members of a private thread.

        Events of a private thread also reach members with MANAGE_THREADS. Empty for other channels, whose events reach
        all members who may view them.
        """
        return private_thread_user_ids(self.recipients) if self.channel.type == _PRIVATE_THREAD else self.recipients


def private_thread_user_ids(members: Iterable[UserId]) -> tuple[UserId, ...]:
    """The `user_ids` of a private thread's events.

    An empty list means "all who may view the channel", so a thread without members has a sentinel id of no user.
    """
    return tuple(members) or (NO_USER,)


async def find_channel(
    states: GuildStates, reader: Reader, channel_id: ChannelId, user_id: UserId, now: Timestamp, *, writes: bool
) -> ChannelAccess | None:
    """Read a channel and a user's permissions in it; None for an unknown channel.

    `writes` is whether the caller's transaction changes the state of a guild.
    """
    guild_id = await states.guild_of_channel(reader, channel_id)
    if guild_id is not None:
        state, authority = await states.authority(reader, guild_id, user_id, now, writes=writes)
        channel = None if state is None else await state.channel(reader, channel_id)
        if channel is None:
            return None
        bits = 0 if authority is None else states.permissions_in(authority, channel, writes=writes)
        return ChannelAccess(channel, bits, state, authority)
    if reader.caches_rows and (thread := await select_thread(reader, channel_id)) is not None:
        return await _find_thread(states, reader, thread, user_id, now, writes=writes)
    row = await select_channel(reader, channel_id)
    if row is None:
        return None
    if row.guild_id is None:
        consents = await select_consents(reader, channel_id)
        recipients = tuple(recipient_id for recipient_id, _ in consents)
        bits = DIRECT_MESSAGE_PERMISSIONS if user_id in recipients else 0
        if bits and row.type == ChannelType.GROUP_DM:
            bits |= Permissions.CREATE_INSTANT_INVITE
        not_accepted = tuple((each, ConsentStatus(consent)) for each, consent in consents if consent != _ACCEPTED)
        return ChannelAccess(channel_from_row(row), bits, recipients=recipients, not_accepted=not_accepted)
    if row.type not in THREADS:
        return None
    return await _find_thread(states, reader, channel_from_row(row), user_id, now, writes=writes)


async def _find_thread(
    states: GuildStates, reader: Reader, thread: Channel, user_id: UserId, now: Timestamp, *, writes: bool
) -> ChannelAccess | None:
    if not thread.guild_id or not thread.parent_id:
        return None
    state, authority = await states.authority(reader, thread.guild_id, user_id, now, writes=writes)
    parent = None if state is None else await state.channel(reader, thread.parent_id)
    if state is None or parent is None:
        return None
    bits = 0 if authority is None else states.permissions_in(authority, parent, thread=True, writes=writes)
    members: tuple[UserId, ...] = ()
    if thread.type == _PRIVATE_THREAD:
        members = tuple(await select_thread_member_ids(reader, thread.id))
        if not bits & Permissions.MANAGE_THREADS and user_id not in members:
            bits = 0
    return ChannelAccess(thread, bits, state, authority, parent, members)
