"""The context of a request: its transaction, actor, guild and channel, and the events that it emits."""

import asyncio
import ipaddress
from collections.abc import Callable, Iterable, Sequence
from collections.abc import Set as AbstractSet
from typing import Final, Protocol, TypeVar

from msgspec import UNSET, Struct

from moothall.api.audit import AuditEntryCreate, insert_entries, insert_entry
from moothall.api.authenticate import Actor
from moothall.api.events import Event
from moothall.api.file_ids import FileIds
from moothall.api.file_links import FileLinks
from moothall.api.ratelimit import RateLimiter
from moothall.api.resource_services import ResourceServices
from moothall.api.staged import StagedFile
from moothall.authority.channel_access import ChannelAccess, find_channel
from moothall.authority.guild_state import GuildState
from moothall.authority.guild_states import GuildStates
from moothall.authority.member_authority import MemberAuthority
from moothall.bus import Audience, Bus, Envelope
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogChange, AuditLogEntry, AuditLogEvent, AuditLogOptions
from moothall.objects.errors import Refusal
from moothall.objects.ids import AuditEntryId, ChannelId, GuildId, Snowflake, SnowflakeFactory, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.presence import Presence
from moothall.objects.wire import Timestamp
from moothall.runtime.budgets import Budgets, Payer
from moothall.runtime.pools import Pools
from moothall.runtime.secrets import Passwords, SecretBox
from moothall.storage.blobs import Blobs
from moothall.storage.database import Database, Transaction

ResourceT = TypeVar("ResourceT")

_NODE: Final = Audience.NODE


class GatewaySession(Struct, frozen=True):
    """A live gateway session of a user, on any process."""

    id: str
    node: str
    """The process that holds it, as `ClusterMembers` names it; "" for a process alone."""
    platform: str
    """web, android or ios: a client for desktops counts as web."""


class PresenceSource(Protocol):
    """The presences that the gateway knows."""

    def online_count(self, guild_id: GuildId) -> int:
        """Members of a guild with a live session that is not invisible."""

    def presences(
        self, guild_id: GuildId, user_ids: Iterable[UserId] | None = None, *, maximum: int = 1000
    ) -> list[Presence]:
        """Presences of at most `maximum` online members, of `user_ids` or of any."""

    def is_connected(self, user_id: UserId) -> bool:
        """Whether a user has a live session."""

    def connected_among(self, user_ids: AbstractSet[UserId]) -> AbstractSet[UserId]:
        """Those of several users who have a live session, in time proportional to the connected ones."""

    def find_session(self, user_id: UserId, session_id: str | None) -> GatewaySession | None:
        """A live session of a user; with None the latest one. None if the user has no such session."""


class Limits(Struct, frozen=True, kw_only=True):
    """The settings that operations apply."""

    public_url: str
    """Base URL without a trailing slash, as clients reach it."""
    activities_url: str | None = None
    """URL of the activities host, below which each Activity has an origin of its own; None without one."""
    reserved_words: tuple[str, ...]
    guild_features: tuple[str, ...] = ()
    """Features that new guilds have."""
    guild_level: int = 0
    """The premium tier of new guilds."""
    allow_private_addresses: bool
    operators_require_mfa: bool = False
    """Whether operators need two-factor authentication to act."""
    instance_name: str = "Moothall"
    """What the pages call this server."""
    instance_icon: str | None = None
    """The hash of the picture that operators have set; None for that of the configuration."""
    instance_description: str = ""
    """What the start page says of it."""
    discovery: bool = False
    """Whether discoverable guilds are listed, on the start page too."""
    security_contact: str | None = None
    """The URL to report security problems by."""
    registration: str = "open"
    """Who may register an account: the setting of that name."""
    registration_domains: tuple[str, ...] = ()
    """Domains of email addresses that accounts may have where `registration` is "domain"."""
    blocked_usernames: tuple[str, ...] = ()
    """Words that no username may contain."""
    blocked_address_domains: tuple[str, ...] = ()
    """Domains that no address may have, nor one below them."""
    blocked_networks: tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...] = ()
    """Networks from which no one may register."""
    registration_min_age: int = 0
    """How old one must be to register, in years; 0 for any age."""
    registration_proof_of_work: int = 0
    """How many hashes it takes at most to register; 0 for none."""
    terms_url: str | None = None
    """Where the terms are that one must accept to register; None for no terms."""
    terms_version: str = "1"
    """What these terms are called."""
    password_login: bool = True
    """Whether people may log in and register with passwords."""
    private_provider_hosts: tuple[str, ...] = ()
    """Hosts of identity providers that may have private addresses."""
    verification_requires_email: bool = True
    """Whether verification levels of guilds ask for a verified email address."""
    password_min_score: int = 2
    """The least zxcvbn score of a new password, from 0 to 4."""
    factor_recovery_days: int = 3
    """Days after which lost second factors are removed; 0 for never."""
    account_deletion_days: int = 14
    """Days after which an account is deleted whose user requested it."""
    guild_deletion_days: int = 30
    """Days in which a guild that an operator has deleted can be restored."""
    message_requests: bool = True
    """Whether users who share no guild may write to each other, as message requests."""
    opened_direct_messages: int = 50
    """Direct messages that an account may open anew in ten minutes."""
    new_contacts: int = 10
    """Strangers whom an account may write to or befriend in ten minutes."""
    session_max_days: int = 0
    """Days after which a session of a user ends in any case; 0 is never."""
    session_unused_days: int = 90
    """Days without use after which a session of a user ends."""
    link_previews: bool = True
    """Whether previews of links are fetched, and media of other servers are proxied."""
    max_upload_bytes: int = 104 * 1024 * 1024
    """The largest request with files, in bytes."""
    storage_quota_bytes: int = 0
    """Bytes of files that an account may have stored; 0 for any number."""
    storage_quota_mb_per_guild: int = 0
    """Megabytes of files that a guild may have stored, unless an operator has set its own quota; 0 for any number."""
    guilds_per_user: int = limits.GUILDS_PER_USER
    """How many guilds a person may be a member of."""
    members_per_guild: int = limits.GUILD_MEMBERS_MAX
    """How many members a new guild may have."""
    outgoing_proxy: str | None = None
    """The URL of the HTTP proxy that these requests go through."""

    def max_guilds(self, *, premium: bool) -> int:
        """How many guilds a person may be a member of, with Nitro or without."""
        return min(2 * self.guilds_per_user, limits.GUILDS_PER_PREMIUM_USER) if premium else self.guilds_per_user


def _no_header(name: str) -> str | None:  # noqa: ARG001 there is no request
    return None


class Services(Struct, kw_only=True):
    """The parts of a running platform that outlive a request; `app.build_services` builds them."""

    database: Database
    bus: Bus
    ids: SnowflakeFactory
    file_ids: FileIds
    states: GuildStates
    box: SecretBox
    passwords: Passwords
    budgets: Budgets
    """What accounts and networks have cost lately."""
    pools: Pools
    """The threads for long work, which is charged to the budgets."""
    blobs: Blobs
    links: FileLinks
    presences: PresenceSource
    limiter: RateLimiter | None
    """None where rate limits are switched off."""
    limits: Limits
    has_listeners: Callable[[GuildId], bool]
    """Whether any session of this process is in a guild. Not called where other processes have sessions too."""
    count_unreceived: Callable[[str], None]
    """Called with the name of each event that no session can receive, and which is therefore not published."""
    record_token_use: Callable[[Actor], None]
    """Called for each request whose token was looked up in the database rather than in a cache."""
    jobs_due: asyncio.Event
    """Set when jobs are due: the job runner wakes up."""
    outbox_filled: asyncio.Event
    """Set when the outbox has new events: its relay wakes up."""
    resources: ResourceServices


class WriteNeeded(Exception):
    """An endpoint that reads first needs to write: it is run again, in a transaction."""


class Withdrawn(Exception):
    """An endpoint answers with `result`, but its transaction is rolled back."""

    def __init__(self, result: object) -> None:
        super().__init__()
        self.result = result


class Context:
    """One request, from its authentication to its commit."""

    __slots__ = (
        "_channel",
        "_fires",
        "_guild",
        "_member",
        "_resource",
        "actor",
        "after_commit",
        "credentials",
        "encoded_events",
        "events",
        "files",
        "header",
        "ip",
        "loopback",
        "now",
        "reason",
        "services",
        "state_versions",
        "tx",
        "writes",
    )

    def __init__(
        self,
        services: Services,
        tx: Transaction,
        actor: Actor,
        *,
        reason: str | None,
        fires: frozenset[type[Event]] | None,
        writes: bool,
        ip: str = "",
        loopback: bool = False,
        credentials: str | None = None,
        files: Sequence[StagedFile] = (),
        header: Callable[[str], str | None] = _no_header,
    ) -> None:
        self.services = services
        self.tx = tx
        """The open transaction; on rows that only read, a reader that refuses `execute`."""
        self.actor = actor
        self.reason = reason
        self.now = Timestamp.now()
        self.ip = ip
        self.loopback = loopback
        self.credentials = credentials
        """The Authorization header, for endpoints that read it themselves."""
        self.files = files
        """The uploaded files, for endpoints that accept files: stored already, and deleted again if not `taken`."""
        self.header = header
        """Returns a header of the request by its name in lower case; None if the request has none."""
        self.writes = writes
        self.events: list[Event] = []
        self.state_versions: dict[int, int] = {}
        """The numbers of events in their guilds, by the identity of the event."""
        self.after_commit: list[Callable[[], None]] = []
        """Called once the change is durable, before the response."""
        self.encoded_events: dict[int, Envelope] = {}
        """Envelopes of events by their identity, made before the commit."""
        self._resource: object = None
        self._fires = fires
        self._guild: GuildState | None = None
        self._member: MemberAuthority | None = None
        self._channel: ChannelAccess | None = None

    @property
    def payer(self) -> Payer:
        """Whom the cost of this request is charged to; the server itself for jobs."""
        return Payer(self.actor.user_id or None, self.ip, self.loopback)

    @property
    def ids(self) -> SnowflakeFactory:
        """Makes new ids."""
        return self.services.ids

    def set_resource(self, resource: object) -> None:
        """Keep what the endpoint's access check has loaded, such as a webhook's row, for the endpoint."""
        self._resource = resource

    def resource(self, kind: type[ResourceT]) -> ResourceT:
        """The resource that the access check has loaded. Raises RuntimeError if it is of another class."""
        resource = self.find_resource(kind)
        if resource is None:
            raise RuntimeError(f"the access check has loaded no {kind.__name__}")
        return resource

    def find_resource(self, kind: type[ResourceT]) -> ResourceT | None:
        """The resource that the access check has loaded; None if it is of another class."""
        return self._resource if isinstance(self._resource, kind) else None

    @property
    def guild(self) -> GuildState:
        """The guild entered. Raises RuntimeError if there is none."""
        if self._guild is None:
            raise RuntimeError("this endpoint has entered no guild")
        return self._guild

    @property
    def member(self) -> MemberAuthority:
        """The actor's authority in the guild entered. Raises RuntimeError if there is none."""
        if self._member is None:
            raise RuntimeError("this endpoint has entered no guild")
        return self._member

    @property
    def channel(self) -> ChannelAccess:
        """The channel entered. Raises RuntimeError if there is none."""
        if self._channel is None:
            raise RuntimeError("this endpoint has entered no channel")
        return self._channel

    @property
    def entered_channel(self) -> ChannelAccess | None:
        """The channel entered; None if there is none."""
        return self._channel

    @property
    def in_guild(self) -> bool:
        """Whether a guild has been entered (not so for a direct message channel)."""
        return self._guild is not None

    @property
    def permissions(self) -> int:
        """The actor's permissions in the channel entered, else in the guild; in a direct message, what it allows."""
        if self._channel is not None:
            return self._channel.permissions
        return self.member.permissions

    async def enter_guild(self, guild_id: GuildId) -> None:
        """Load a guild that the actor is a member of. Raises Refusal: 404/10004 for any other guild."""
        state, authority = await self.services.states.authority(
            self.tx, guild_id, self.actor.user_id, self.now, writes=self.writes
        )
        if state is None or authority is None:
            raise Refusal(errors.UNKNOWN_GUILD)
        self._guild, self._member = state, authority

    async def visit_guild(self, guild_id: GuildId) -> None:
        """Load a guild, which the actor need not be a member of. Raises Refusal: 404/10004 for an unknown guild."""
        state, authority = await self.services.states.authority(
            self.tx, guild_id, self.actor.user_id, self.now, writes=self.writes
        )
        if state is None:
            raise Refusal(errors.UNKNOWN_GUILD)
        self._guild, self._member = state, authority

    @property
    def is_member(self) -> bool:
        """Whether the actor belongs to the guild entered or visited."""
        return self._member is not None

    async def enter_channel(self, channel_id: ChannelId) -> ChannelAccess:
        """Load a channel, thread or direct message that the actor may view.

        Raises Refusal: 404/10003 for an unknown one, 403/50001 for one that the actor may not view.
        """
        access = await find_channel(
            self.services.states, self.tx, channel_id, self.actor.user_id, self.now, writes=self.writes
        )
        if access is None:
            raise Refusal(errors.UNKNOWN_CHANNEL)
        if not access.permissions & Permissions.VIEW_CHANNEL:
            raise Refusal(errors.MISSING_ACCESS)
        self._channel, self._guild, self._member = access, access.guild, access.member
        return access

    def require(self, bits: int) -> None:
        """Refuse (403/50013) unless the actor has all permissions of `bits` in the channel or guild entered."""
        if self.permissions & bits != bits:
            raise Refusal(errors.MISSING_PERMISSIONS)
        self.require_mfa(bits)

    def has(self, bits: int) -> bool:
        """Whether the actor has all permissions of `bits` in the channel or guild entered."""
        return self.permissions & bits == bits

    def require_mfa(self, bits: int) -> None:
        """Refuse (403/60003) moderation without two-factor authentication in a guild with the elevated MFA level."""
        if bits & Permissions.ELEVATED and not self.actor.mfa and self._guild is not None and self._guild.row.mfa_level:
            raise Refusal(errors.MFA_REQUIRED)

    def need_to_write(self) -> None:
        """Run the endpoint again in a transaction, unless this is one already: raises WriteNeeded."""
        if not self.writes:
            raise WriteNeeded

    def emit(self, event: Event) -> None:
        """Publish an event once the change is durable. Raises RuntimeError for one that the endpoint does not declare.

        Audit log entries and messages to gateway nodes need no declaration.
        """
        undeclared_allowed = type(event) is AuditEntryCreate or event.audience is _NODE
        if self._fires is not None and type(event) not in self._fires and not undeclared_allowed:
            raise RuntimeError(f"{type(event).__name__} is not declared by this endpoint")
        self.events.append(event)

    async def audit(
        self,
        action: AuditLogEvent,
        *,
        target: Snowflake | None = None,
        changes: Sequence[AuditLogChange] = (),
        options: AuditLogOptions | None = None,
        guild_id: GuildId | None = None,
    ) -> None:
        """Write an entry into the guild's audit log, with the request's reason, and publish it."""
        entry = self.audit_entry(action, target, changes, options)
        audited_guild_id = guild_id if guild_id is not None else self.guild.id
        await insert_entry(self.tx, audited_guild_id, entry)
        self.emit(AuditEntryCreate(guild_id=audited_guild_id, entry=entry))

    async def audit_each(
        self, action: AuditLogEvent, targets: Iterable[tuple[Snowflake, Sequence[AuditLogChange]]]
    ) -> None:
        """The same for several targets of the guild entered, each with its changes, in one statement."""
        await self.audit_all([self.audit_entry(action, target, changes) for target, changes in targets])

    async def audit_all(self, entries: Sequence[AuditLogEntry]) -> None:
        """The same for entries made by `audit_entry`, about the guild entered."""
        if entries:
            await insert_entries(self.tx, self.guild.id, entries)
        for entry in entries:
            self.emit(AuditEntryCreate(guild_id=self.guild.id, entry=entry))

    def audit_entry(
        self,
        action: AuditLogEvent,
        target: Snowflake | None,
        changes: Sequence[AuditLogChange] = (),
        options: AuditLogOptions | None = None,
    ) -> AuditLogEntry:
        """An entry that is not written yet."""
        return AuditLogEntry(
            id=AuditEntryId(self.ids.next()),
            user_id=self.actor.user_id if self.actor.signed_in else None,
            target_id=None if target is None else str(int(target)),
            action_type=action,
            changes=list(changes) or UNSET,
            options=UNSET if options is None else options,
            reason=UNSET if self.reason is None else self.reason,
        )
