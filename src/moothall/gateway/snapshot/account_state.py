"""The state of a person's account that READY has: direct messages, relationships, settings and read states."""

from typing import Final

from msgspec import UNSET, Struct, UnsetType

from moothall.authority.guild_states import GuildStates
from moothall.objects.channel import Channel
from moothall.objects.channel_types import DIRECT
from moothall.objects.connection import Connection
from moothall.objects.ids import GuildId, UserId
from moothall.objects.member import Member
from moothall.objects.read_state import ReadState
from moothall.objects.relationship import Relationship
from moothall.objects.user_settings import SettingsProtoType, UserGuildSettings, UserSettings
from moothall.objects.wire import Timestamp
from moothall.resources.channel.objects import direct_channel_objects
from moothall.resources.channel.queries import select_direct_channels
from moothall.resources.member.queries import member_objects
from moothall.resources.read_state.reading import read_states_of
from moothall.resources.user.connection.objects import connection_object
from moothall.resources.user.connection.queries import select_connections
from moothall.resources.user.note.queries import select_texts
from moothall.resources.user.queries import select_memberships
from moothall.resources.user.relationship.objects import relationship_objects
from moothall.resources.user.relationship.queries import select_relationships
from moothall.resources.user.settings.queries import select_guild_settings
from moothall.resources.user.settings.reading import settings_of, settings_proto_of
from moothall.storage.database import Reader


class AccountState(Struct, frozen=True, kw_only=True):
    """The state of an account, apart from its guilds."""

    private_channels: list[Channel] = []
    """The open direct messages and groups."""
    read_states: list[ReadState] = []
    read_state_version: int = 0
    connections: list[Connection] = []
    settings: UserSettings = UserSettings()
    settings_proto: str | UnsetType = UNSET
    """The settings as a protocol buffer in base64, if they were requested."""
    guild_settings: list[UserGuildSettings] = []
    relationships: list[Relationship] = []
    members: dict[GuildId, Member] = {}
    """The user's own member in each guild."""
    texts_about_users: dict[str, str] = {}
    """The user's notes, by the id of the user whom each is about."""


NO_STATE: Final = AccountState()
"""The state of an account that has nothing."""


async def read_account_state(
    reader: Reader, states: GuildStates, user_id: UserId, *, settings_proto: bool = False
) -> AccountState:
    """Read the state of a person's account, on request with their settings as a protocol buffer."""
    now = Timestamp.now()
    memberships = await select_memberships(reader, user_id)
    rows = [row for row in await select_direct_channels(reader, user_id) if row.type in DIRECT]
    read_states, version = await read_states_of(reader, states, user_id, memberships)
    return AccountState(
        members=dict(
            zip([row.guild_id for row in memberships], await member_objects(reader, memberships), strict=True)
        ),
        private_channels=await direct_channel_objects(reader, rows, user_id),
        read_states=read_states,
        read_state_version=version,
        settings=await settings_of(reader, user_id, now),
        settings_proto=await settings_proto_of(reader, user_id, SettingsProtoType.PRELOADED, now)
        if settings_proto
        else UNSET,
        guild_settings=await select_guild_settings(reader, user_id),
        relationships=await relationship_objects(reader, await select_relationships(reader, user_id)),
        texts_about_users=await select_texts(reader, user_id),
        connections=[connection_object(row) for row in await select_connections(reader, user_id)],
    )
