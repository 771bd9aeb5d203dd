"""READY, the first dispatch of a session (events: gateway events, ready)."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import UNSET, Raw, Struct, UnsetType, structs

from moothall.gateway.protocol.capabilities import Capability
from moothall.gateway.sessions.session import Session
from moothall.gateway.sessions.session_list import ListedSession
from moothall.gateway.sessions.user_presence import OFFLINE, UserPresence
from moothall.gateway.snapshot.account_state import AccountState
from moothall.gateway.snapshot.guild_snapshot import GuildSnapshot
from moothall.objects.activity import EmbeddedActivityInstance
from moothall.objects.channel import Channel
from moothall.objects.connection import Connection
from moothall.objects.ids import ApplicationId, GuildId, UserId
from moothall.objects.intents import Intent
from moothall.objects.member import Member
from moothall.objects.presence import Activity, ClientStatus, Presence
from moothall.objects.read_state import ReadState
from moothall.objects.relationship import Relationship
from moothall.objects.user import User
from moothall.objects.user_settings import UserGuildSettings, UserSettings
from moothall.objects.voice import VoiceState
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
    flags_new: str
    """The same bits in decimal, as those beyond 31 do not fit in `flags` of every client."""


def trace(seconds: float) -> bytes:
    """The `_trace` of READY and RESUMED as JSON: texts that are JSON themselves, of who answered in how long."""
    return encode([encode(["moothall", {"micros": int(seconds * 1e6)}]).decode()])


class UnavailableGuild(Struct):
    """A guild of READY that follows as GUILD_CREATE."""

    id: GuildId
    unavailable: bool = True


InitialGuild = UnavailableGuild | GuildSnapshot
"""A guild of READY, whole or to follow."""


class _Ready(Struct, omit_defaults=True):
    v: int
    user: Raw
    guilds: list[UnavailableGuild]
    session_id: str
    resume_gateway_url: str
    shard: tuple[int, int] | None = None
    application: _Application | None = None


# Fields that client libraries read although the public documentation omits them.
_EXTRAS: Final = (
    b',"session_type":"normal","private_channels":[],"relationships":[],"presences":[],"user_settings":{},'
    b'"geo_ordered_rtc_regions":[],"_trace":%b}'
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


class _MergedPresences(Struct):
    """Presences of friends, and of the members of each guild."""

    friends: list[_FriendPresence]
    guilds: list[list[_FriendPresence]]


class _Versioned(Struct):
    entries: Sequence[object]
    version: int
    partial: bool = False


class _SupplementalGuild(Struct):
    """A guild of READY_SUPPLEMENTAL, which has only the id of an unavailable one."""

    id: GuildId
    voice_states: list[VoiceState] | UnsetType = UNSET
    activity_instances: list[EmbeddedActivityInstance] | UnsetType = UNSET


class _ReadySupplemental(Struct):
    guilds: list[_SupplementalGuild]
    merged_members: list[list[Raw]]
    merged_presences: _MergedPresences
    lazy_private_channels: list[Channel] = []
    disclose: list[str] = []
    game_invites: list[str] = []


class _PersonReady(Struct, kw_only=True):
    v: int
    user: Raw
    guilds: list[UnavailableGuild | Raw]
    session_id: str
    resume_gateway_url: str
    shard: tuple[int, int] | UnsetType = UNSET
    session_type: str = "normal"
    sessions: list[_SessionObject]
    private_channels: list[Channel | Raw]
    read_state: _Versioned | list[ReadState]
    connected_accounts: list[Connection]
    relationships: Sequence[Relationship | Raw]
    notes: dict[str, str] | UnsetType
    presences: list[Presence] | UnsetType = []
    merged_presences: _MergedPresences | UnsetType = UNSET
    merged_members: list[list[Raw]] | UnsetType = UNSET
    users: list[User] = []
    user_settings: UserSettings | UnsetType
    user_settings_proto: str | UnsetType
    user_guild_settings: _Versioned | list[UserGuildSettings]
    friend_suggestion_count: int = 0
    guild_join_requests: list[str] = []
    geo_ordered_rtc_regions: list[str] = []
    max_upload_bytes: int
    """The largest request with files. Only clients of this server know it."""
    _trace: Raw


_MAX_SESSIONS: Final = 15


def person_ready(
    session: Session,
    user: bytes,
    guilds: Sequence[InitialGuild],
    resume_url: str,
    state: AccountState,
    *,
    sessions: Sequence[ListedSession],
    overall: UserPresence,
    presences: Sequence[Presence],
    max_upload_bytes: int,
    seconds: float,
) -> bytes:
    """Build the `d` of READY for a person.

    It has the guilds, the state of the account, the user's `sessions` and `overall` presence, the `presences` of online
    friends, the largest request with files and the `seconds` since Identify.
    """
    capabilities = session.capabilities
    dedupe, supplement = capabilities & Capability.DEDUPE_USER_OBJECTS, has_supplement(capabilities)
    read_states = state.read_states
    if not capabilities & Capability.NON_CHANNEL_READ_STATES:
        read_states = [read_state for read_state in read_states if read_state.read_state_type is UNSET]
    fields = _PersonReady(
        v=10,
        user=Raw(user),
        guilds=[
            Raw(guild.in_ready(with_members=not dedupe, with_voice=not supplement))
            if isinstance(guild, GuildSnapshot)
            else guild
            for guild in guilds
        ],
        session_id=session.id,
        resume_gateway_url=resume_url,
        shard=UNSET if session.shard is None else session.shard,
        sessions=_session_objects(sessions, overall),
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
        max_upload_bytes=max_upload_bytes,
        _trace=Raw(trace(seconds)),
    )
    return encode(_deduped(fields, state, session, guilds, presences) if dedupe else fields)


def has_supplement(capabilities: int) -> bool:
    """Whether READY_SUPPLEMENTAL follows READY."""
    both = Capability.DEDUPE_USER_OBJECTS | Capability.PRIORITIZED_READY_PAYLOAD
    return capabilities & both == both


def ready_supplemental(session: Session, guilds: Sequence[InitialGuild], presences: Sequence[Presence]) -> bytes:
    """Build the `d` of READY_SUPPLEMENTAL.

    It has the members other than the session's user, the presences, voice states and Activity instances of the guilds;
    those of unavailable guilds are in their GUILD_CREATE.
    """
    return encode(
        _ReadySupplemental(
            guilds=[_supplemental_guild(guild) for guild in guilds],
            merged_members=[
                _merged(member for member in _members(guild) if _user_id(member) != session.user_id) for guild in guilds
            ],
            merged_presences=_merged_presences(guilds, presences),
        )
    )


def _supplemental_guild(guild: InitialGuild) -> _SupplementalGuild:
    if isinstance(guild, UnavailableGuild):
        return _SupplementalGuild(guild.id)
    return _SupplementalGuild(guild.id, guild.fields.voice_states, guild.fields.activity_instances)


def _merged_presences(guilds: Sequence[InitialGuild], presences: Sequence[Presence]) -> _MergedPresences:
    return _MergedPresences(
        friends=[_with_user_id(presence) for presence in presences],
        guilds=[[_with_user_id(presence) for presence in _presences(guild)] for guild in guilds],
    )


def sessions_replace(sessions: Sequence[ListedSession], overall: UserPresence) -> bytes:
    """Build the `d` of SESSIONS_REPLACE: a user's sessions, and the presence that others see."""
    return encode(_session_objects(sessions, overall))


def _deduped(
    fields: _PersonReady,
    state: AccountState,
    session: Session,
    guilds: Sequence[InitialGuild],
    presences: Sequence[Presence],
) -> _PersonReady:
    """READY with every user object once, in `users`, and ids in their place.

    With READY_SUPPLEMENTAL, presences and members other than the session's user are in that, but their users here.
    """
    users = {user.id: user for channel in state.private_channels for user in channel.recipients or ()}
    users |= {each.user.id: each.user for each in state.relationships if each.user is not UNSET}
    users |= {member.user.id: member.user for guild in guilds for member in _members(guild) if member.user is not UNSET}
    has_presences = not has_supplement(session.capabilities)
    return structs.replace(
        fields,
        private_channels=[_with_recipient_ids(channel) for channel in state.private_channels],
        relationships=[_with_user_reference(each) for each in state.relationships],
        presences=UNSET,
        merged_presences=_merged_presences(guilds, presences) if has_presences else UNSET,
        merged_members=[_merged(_ready_members(state, session, guild)) for guild in guilds],
        users=[users[user_id] for user_id in sorted(users)],
    )


def _ready_members(state: AccountState, session: Session, guild: InitialGuild) -> list[Member]:
    """The members of a guild in READY; none of a guild just joined that is unavailable."""
    if isinstance(guild, UnavailableGuild):
        return [state.members[guild.id]] if guild.id in state.members else []
    members = _members(guild)
    if has_supplement(session.capabilities):
        return [member for member in members if _user_id(member) == session.user_id]
    return members


def _members(guild: InitialGuild) -> list[Member]:
    return guild.fields.members or [] if isinstance(guild, GuildSnapshot) else []


def _presences(guild: InitialGuild) -> list[Presence]:
    return guild.fields.presences or [] if isinstance(guild, GuildSnapshot) else []


def _merged(members: Iterable[Member]) -> list[Raw]:
    """Members with the ids of their users in place of these."""
    return [
        Raw(b'%b,"user_id":"%d"}' % (encode(structs.replace(member, user=UNSET))[:-1], member.user.id))
        for member in members
        if member.user is not UNSET
    ]


def _user_id(member: Member) -> UserId | None:
    return None if member.user is UNSET else member.user.id


def _with_recipient_ids(channel: Channel) -> Raw:
    recipient_ids = encode([user.id for user in channel.recipients or ()])
    return Raw(b'%b,"recipient_ids":%b}' % (encode(structs.replace(channel, recipients=UNSET))[:-1], recipient_ids))


def _with_user_reference(relationship: Relationship) -> Raw:
    encoded = encode(structs.replace(relationship, user=UNSET))
    return Raw(b'%b,"user_id":"%d"}' % (encoded[:-1], relationship.id))


def _with_user_id(presence: Presence) -> _FriendPresence:
    return _FriendPresence(presence.user.id, presence.status, presence.activities, presence.client_status)


def _session_objects(sessions: Sequence[ListedSession], overall: UserPresence) -> list[_SessionObject]:
    """A user's newest sessions and, if there are several, "all" with the presence that others see."""
    objects = [
        _SessionObject(each.id, _ClientInfo(each.client, each.system), str(each.status), list(each.activities))
        for each in sessions[-_MAX_SESSIONS:]
    ]
    if len(objects) > 1:
        # Others see an invisible user as offline, which no session of their own is.
        status = "invisible" if overall is OFFLINE else str(overall.status)
        client = _ClientInfo("unknown", "unknown")
        objects.append(_SessionObject("all", client, status, list(overall.activities)))
    return objects


def ready(
    session: Session, identity: Identity, user: bytes, guild_ids: Iterable[GuildId], resume_url: str, seconds: float
) -> bytes:
    """Build the `d` of READY for a bot; `user` is the current user's object as JSON.

    Its guilds are unavailable until their GUILD_CREATE; without the GUILDS intent the list is empty.
    """
    listed_ids = guild_ids if session.intents & Intent.GUILDS else ()
    application = None
    if identity.application_id is not None:
        application = _Application(identity.application_id, identity.application_flags, str(identity.application_flags))
    fields = _Ready(
        v=10,
        user=Raw(user),
        guilds=[UnavailableGuild(guild_id) for guild_id in listed_ids],
        session_id=session.id,
        resume_gateway_url=resume_url,
        shard=session.shard,
        application=application,
    )
    return encode(fields)[:-1] + _EXTRAS % trace(seconds)
