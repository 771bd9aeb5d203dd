"""READY, the first dispatch of a session (events: gateway events, ready)."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import UNSET, Raw, Struct, UnsetType, structs

from moothall.gateway.account_state import AccountState
from moothall.gateway.capabilities import Capability
from moothall.gateway.merged_presence import merge_sessions
from moothall.gateway.session import Session
from moothall.gateway.user_presence import OFFLINE
from moothall.objects.channel import Channel
from moothall.objects.connection import Connection
from moothall.objects.ids import ApplicationId, GuildId, UserId
from moothall.objects.intents import Intent
from moothall.objects.presence import Activity, ClientStatus, Presence
from moothall.objects.read_state import ReadState
from moothall.objects.relationship import Relationship
from moothall.objects.user import User
from moothall.objects.user_settings import UserGuildSettings, UserSettings
from moothall.objects.wire import encode


class Identity(Struct, frozen=True):
    """The person or bot that a token authenticates."""

    user_id: UserId
    bot: bool
    application_id: ApplicationId | None
    """None for a person."""
    application_flags: int
    token_hash: bytes


class _Application(Struct):
    id: ApplicationId
    flags: int


class _UnavailableGuild(Struct):
    id: GuildId
    unavailable: bool = True


class _Ready(Struct, omit_defaults=True):
    v: int
    user: Raw
    guilds: list[_UnavailableGuild]
    session_id: str
    resume_gateway_url: str
    shard: tuple[int, int] | None = None
    application: _Application | None = None


# Fields that client libraries read although the public documentation omits them.
_EXTRAS: Final = (
    b',"session_type":"normal","private_channels":[],"relationships":[],"presences":[],"user_settings":{},'
    b'"geo_ordered_rtc_regions":[],"_trace":["moothall"]}'
)


class _ClientInfo(Struct):
    client: str
    os: str
    version: int = 0


class _SessionObject(Struct):
    session_id: str
    client_info: _ClientInfo
    status: str
    activities: list[Activity]
    hidden_activities: list[Activity] = []
    active: bool = True


class _FriendPresence(Struct):
    user_id: UserId
    status: str
    activities: list[Activity]
    client_status: ClientStatus


class _Versioned(Struct):
    entries: Sequence[object]
    version: int
    partial: bool = False


class _GuildId(Struct):
    id: GuildId


class _ReadySupplemental(Struct):
    guilds: list[_GuildId]
    merged_members: list[list[Any]]
    merged_presences: dict[str, list[Any]]
    lazy_private_channels: list[Any] = []
    disclose: list[str] = []
    game_invites: list[Any] = []


class _PersonReady(Struct, kw_only=True):
    v: int
    user: Raw
    guilds: list[_UnavailableGuild]
    session_id: str
    resume_gateway_url: str
    shard: tuple[int, int] | UnsetType = UNSET
    session_type: str = "normal"
    sessions: list[_SessionObject]
    private_channels: list[Any]
    read_state: _Versioned | list[ReadState]
    connected_accounts: list[Connection]
    relationships: list[Relationship]
    notes: dict[str, str] | UnsetType
    presences: list[Any] | UnsetType = []
    merged_presences: dict[str, list[Any]] | UnsetType = UNSET
    merged_members: list[list[Any]] | UnsetType = UNSET
    users: list[User] = []
    user_settings: UserSettings | UnsetType
    user_settings_proto: str | UnsetType
    user_guild_settings: _Versioned | list[UserGuildSettings]
    friend_suggestion_count: int = 0
    guild_join_requests: list[Any] = []
    geo_ordered_rtc_regions: list[str] = []
    _trace: tuple[str, ...] = ("moothall",)


_MAX_SESSIONS: Final = 15


def person_ready(
    session: Session,
    user: bytes,
    guild_ids: Iterable[GuildId],
    resume_url: str,
    state: AccountState,
    *,
    sessions: Sequence[Session],
    presences: Sequence[Presence],
) -> bytes:
    """Build the `d` of READY for a person.

    It has the state of the account, the user's `sessions` and the `presences` of online friends.

    Its guilds are unavailable until their GUILD_CREATE.
    """
    capabilities = session.capabilities
    ids = list(guild_ids)
    read_states = state.read_states
    if not capabilities & Capability.NON_CHANNEL_READ_STATES:
        read_states = [read_state for read_state in read_states if read_state.read_state_type is UNSET]
    fields = _PersonReady(
        v=10,
        user=Raw(user),
        guilds=[_UnavailableGuild(guild_id) for guild_id in ids],
        session_id=session.id,
        resume_gateway_url=resume_url,
        shard=UNSET if session.shard is None else session.shard,
        sessions=_session_objects(sessions),
        private_channels=list(state.private_channels),
        read_state=_Versioned(read_states, state.read_state_version)
        if capabilities & Capability.VERSIONED_READ_STATES
        else read_states,
        connected_accounts=state.connections,
        user_settings=UNSET if capabilities & Capability.USER_SETTINGS_PROTO else state.settings,
        user_settings_proto=state.settings_proto,
        user_guild_settings=_Versioned(
            state.guild_settings, max((settings.version for settings in state.guild_settings), default=0)
        )
        if capabilities & Capability.VERSIONED_USER_GUILD_SETTINGS
        else state.guild_settings,
        relationships=state.relationships,
        presences=list(presences),
        notes=UNSET if capabilities & Capability.LAZY_USER_NOTES else state.texts_about_users,
    )
    if capabilities & Capability.DEDUPE_USER_OBJECTS:
        fields = _deduped(fields, state, ids, presences)
        if has_supplement(capabilities):
            fields = structs.replace(fields, merged_presences=UNSET)
    return encode(fields)


def has_supplement(capabilities: int) -> bool:
    """Whether READY_SUPPLEMENTAL follows READY."""
    both = Capability.DEDUPE_USER_OBJECTS | Capability.PRIORITIZED_READY_PAYLOAD
    return capabilities & both == both


def ready_supplemental(guild_ids: Sequence[GuildId], presences: Sequence[Presence]) -> bytes:
    """Build the `d` of READY_SUPPLEMENTAL. Members, presences and voice states of guilds are in their GUILD_CREATE."""
    return encode(
        _ReadySupplemental(
            guilds=[_GuildId(guild_id) for guild_id in guild_ids],
            merged_members=[[] for _ in guild_ids],
            merged_presences=_merged_presences(len(guild_ids), presences),
        )
    )


def _merged_presences(guild_count: int, presences: Sequence[Presence]) -> dict[str, list[Any]]:
    return {
        "friends": [_with_user_id(presence) for presence in presences],
        "guilds": [[] for _ in range(guild_count)],
    }


def sessions_replace(sessions: Sequence[Session]) -> bytes:
    """Build the `d` of SESSIONS_REPLACE, a user's sessions."""
    return encode(_session_objects(sessions))


def _deduped(
    fields: _PersonReady, state: AccountState, guild_ids: Sequence[GuildId], presences: Sequence[Presence]
) -> _PersonReady:
    """READY with every user object once, in `users`, and ids in their place."""
    users = {user.id: user for channel in state.private_channels for user in channel.recipients or ()}
    users |= {each.user.id: each.user for each in state.relationships if each.user is not UNSET}
    return structs.replace(
        fields,
        private_channels=[_with_recipient_ids(channel) for channel in state.private_channels],
        relationships=[structs.replace(each, user=UNSET) for each in state.relationships],
        presences=UNSET,
        merged_presences=_merged_presences(len(guild_ids), presences),
        merged_members=[_own_member(state, guild_id) for guild_id in guild_ids],
        users=[users[user_id] for user_id in sorted(users)],
    )


def _own_member(state: AccountState, guild_id: GuildId) -> list[Raw]:
    """The user's member in a guild, with an id instead of the user; the list is empty for one just joined."""
    member = state.members.get(guild_id)
    if member is None or member.user is UNSET:
        return []
    encoded = encode(structs.replace(member, user=UNSET))
    return [Raw(b'%b,"user_id":"%d"}' % (encoded[:-1], member.user.id))]


def _with_recipient_ids(channel: Channel) -> Raw:
    recipient_ids = encode([user.id for user in channel.recipients or ()])
    return Raw(b'%b,"recipient_ids":%b}' % (encode(structs.replace(channel, recipients=UNSET))[:-1], recipient_ids))


def _with_user_id(presence: Presence) -> _FriendPresence:
    return _FriendPresence(presence.user.id, presence.status, presence.activities, presence.client_status)


def _session_objects(sessions: Sequence[Session]) -> list[_SessionObject]:
    """A user's newest sessions and, if there are several, "all" with the presence that others see."""
    objects = [_session_object(each) for each in sessions[-_MAX_SESSIONS:]]
    if len(objects) > 1:
        overall = merge_sessions(sessions)
        # Others see an invisible user as offline, which no session of their own is.
        status = "invisible" if overall is OFFLINE else str(overall.status)
        client = _ClientInfo("unknown", "unknown")
        objects.append(_SessionObject("all", client, status, list(overall.activities)))
    return objects


def _session_object(session: Session) -> _SessionObject:
    presence = session.presence
    return _SessionObject(
        session_id=session.id,
        client_info=_ClientInfo(session.client, session.system),
        status="online" if presence is None else str(presence.status),
        activities=[] if presence is None else list(presence.activities),
    )


def ready(session: Session, identity: Identity, user: bytes, guild_ids: Iterable[GuildId], resume_url: str) -> bytes:
    """Build the `d` of READY for a bot; `user` is the current user's object as JSON.

    Its guilds are unavailable until their GUILD_CREATE; without the GUILDS intent the list is empty.
    """
    listed_ids = guild_ids if session.intents & Intent.GUILDS else ()
    application = None
    if identity.application_id is not None:
        application = _Application(identity.application_id, identity.application_flags)
    fields = _Ready(
        v=10,
        user=Raw(user),
        guilds=[_UnavailableGuild(guild_id) for guild_id in listed_ids],
        session_id=session.id,
        resume_gateway_url=resume_url,
        shard=session.shard,
        application=application,
    )
    return encode(fields)[:-1] + _EXTRAS
