"""What a handler holds: the transaction, the actor, the place it stands in, and the ways to tell the world."""

from collections.abc import Callable, Iterable, Sequence
from typing import Any, Protocol

from msgspec import UNSET, Struct

from moothall.bus import Audience, Bus
from moothall.kernel.audit import AuditEntryCreate, insert_entries, insert_entry
from moothall.kernel.authenticate import Actor
from moothall.kernel.channel_access import ChannelAccess, find_channel
from moothall.kernel.events import Event
from moothall.kernel.file_ids import FileIds
from moothall.kernel.file_links import FileLinks
from moothall.kernel.guild_state import GuildState, GuildStates, MemberAuthority
from moothall.kernel.ratelimit import RateLimiter
from moothall.kernel.secrets import SecretBox
from moothall.kernel.staged import StagedFile
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogChange, AuditLogEntry, AuditLogEvent, AuditLogOptions
from moothall.objects.errors import Refusal
from moothall.objects.ids import AuditEntryId, ChannelId, GuildId, Snowflake, SnowflakeFactory, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.presence import Presence
from moothall.objects.wire import Timestamp
from moothall.storage.blobs import Blobs
from moothall.storage.database import Database, Transaction


class PresenceBook(Protocol):
    """What the gateway knows of who is here now."""

    def online_count(self, guild_id: GuildId) -> int:
        """Members of a guild with a live session that is not invisible."""

    def presences(
        self, guild_id: GuildId, user_ids: Iterable[UserId] | None = None, *, maximum: int = 1000
    ) -> list[Presence]:
        """Presences of at most `maximum` online members, of `user_ids` or of any."""

    def is_connected(self, user_id: UserId) -> bool:
        """Whether a user has a live session."""


class Limits(Struct, frozen=True, kw_only=True):
    """The settings that handlers ask for; the composition root fills them in."""

    public_url: str
    """Base URL without a trailing slash, as clients reach it."""
    reserved_words: tuple[str, ...]
    allow_private_addresses: bool
    registration: bool
    """Whether strangers may register."""
    verification_requires_email: bool = True
    """Whether verification levels of guilds ask for a verified email address."""
    password_min_score: int = 2
    """How hard a new password must be to guess, from 0 to 4."""
    session_unused_days: int = 90
    """Days without use after which a person's login ends."""


def _no_header(name: str) -> str | None:  # noqa: ARG001 there is no request
    return None


def _unnoted(actor: Actor) -> None:
    del actor


def _always(guild_id: int) -> bool:  # noqa: ARG001 whichever it is
    return True


class Services(Struct, kw_only=True):
    """The parts of a running platform that live longer than a request."""

    database: Database
    bus: Bus
    ids: SnowflakeFactory
    file_ids: FileIds
    states: GuildStates
    box: SecretBox
    blobs: Blobs
    links: FileLinks
    presences: PresenceBook
    limiter: RateLimiter | None
    """None where rate limits are switched off."""
    limits: Limits
    hears: Callable[[int], bool] = _always
    """Whether any session of this process is in a guild; not asked where other processes hear as well."""
    used: Callable[[Actor], None] = _unnoted
    """Told whose token a request came with, where that was looked up: not more often than it is remembered."""
    extra: dict[type, Any]
    """Services of single resources, by their type."""


class WriteNeeded(Exception):
    """A row that reads first has found something to write: it is run again, in a transaction."""


class Withdrawn(Exception):
    """A handler has refused what it was asked, and answers all the same: nothing of what it did remains."""

    def __init__(self, result: Any) -> None:
        super().__init__()
        self.result = result


class Context:
    """One request on its way down the line."""

    __slots__ = (
        "_channel",
        "_fires",
        "_guild",
        "_member",
        "actor",
        "after_commit",
        "credentials",
        "events",
        "files",
        "header",
        "ip",
        "now",
        "reason",
        "services",
        "subject",
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
        self.credentials = credentials
        """The Authorization header, on rows that read it themselves."""
        self.files = files
        """What came with the request on rows that take files: stored, and removed again if not `taken`."""
        self.header = header
        """A header of the request by its name in lower case, for the few rows that ask for one; None without it."""
        self.writes = writes
        self.events: list[Event] = []
        self.after_commit: list[Callable[[], None]] = []
        """Calls to make once the change is durable, before the answer."""
        self.subject: Any = None
        """What the row's own way in has looked up for its handler: a webhook, say."""
        self._fires = fires
        self._guild: GuildState | None = None
        self._member: MemberAuthority | None = None
        self._channel: ChannelAccess | None = None

    @property
    def ids(self) -> SnowflakeFactory:
        """Makes new ids."""
        return self.services.ids

    @property
    def guild(self) -> GuildState:
        """The guild entered."""
        if self._guild is None:
            raise RuntimeError("this row has entered no guild")
        return self._guild

    @property
    def member(self) -> MemberAuthority:
        """The actor's standing in the guild entered."""
        if self._member is None:
            raise RuntimeError("this row has entered no guild")
        return self._member

    @property
    def channel(self) -> ChannelAccess:
        """The channel entered."""
        if self._channel is None:
            raise RuntimeError("this row has entered no channel")
        return self._channel

    @property
    def entered_channel(self) -> ChannelAccess | None:
        """The channel entered; None on a row that has entered none."""
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
        """Stand in a guild as its member. Raises Refusal: 404/10004 for a guild unknown or not joined."""
        state, authority = await self.services.states.authority(
            self.tx, guild_id, self.actor.user_id, self.now, writes=self.writes
        )
        if state is None or authority is None:
            raise Refusal(errors.UNKNOWN_GUILD)
        self._guild, self._member = state, authority

    async def visit_guild(self, guild_id: GuildId) -> None:
        """Look at a guild as anybody. Raises Refusal: 404/10004. `member` stays unset for an outsider."""
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
        """Stand in a channel, thread or direct message that the actor may view.

        Raises Refusal: 404/10003 for an unknown one, 403/50001 for one the actor may not see.
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
        """Refuse (403/50013) unless the actor holds every bit in the place entered."""
        if self.permissions & bits != bits:
            raise Refusal(errors.MISSING_PERMISSIONS)
        self.require_mfa(bits)

    def has(self, bits: int) -> bool:
        """Whether the actor holds every bit in the place entered."""
        return self.permissions & bits == bits

    def require_mfa(self, bits: int) -> None:
        """In a guild of the elevated MFA level, moderation needs two-factor authentication (403/60003)."""
        if bits & Permissions.ELEVATED and not self.actor.mfa and self._guild is not None and self._guild.row.mfa_level:
            raise Refusal(errors.MFA_REQUIRED)

    def need_to_write(self) -> None:
        """On a row that reads first, begin again in a transaction, unless this is one. Raises WriteNeeded."""
        if not self.writes:
            raise WriteNeeded

    def emit(self, event: Event) -> None:
        """Announce an event once the change is durable. A row announces only what it declares.

        Audit entries and messages to the gateway nodes themselves need no declaration.
        """
        free = type(event) is AuditEntryCreate or event.audience is Audience.NODE
        if self._fires is not None and type(event) not in self._fires and not free:
            raise RuntimeError(f"{type(event).__name__} is not declared by this row")
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
        """Write an entry into the guild's audit log, with the request's reason, and announce it."""
        entry = self.audit_entry(action, target, changes, options)
        where = guild_id if guild_id is not None else self.guild.id
        await insert_entry(self.tx, where, entry)
        self.emit(AuditEntryCreate(guild_id=where, entry=entry))

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
