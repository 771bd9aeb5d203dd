"""Applications (resources: application)."""

from enum import IntEnum, StrEnum
from functools import lru_cache
from typing import Final

from msgspec import UNSET, Struct, UnsetType, field

from moothall.objects.activity import EmbeddedActivityConfig
from moothall.objects.ids import ApplicationId, GuildId, Snowflake, TeamId, UserId
from moothall.objects.intents import Intent
from moothall.objects.json_object import JsonObject
from moothall.objects.permissions import PermissionSet
from moothall.objects.user import User


class ApplicationFlags:
    """The bits of an application's `flags`."""

    EMBEDDED_RELEASED: Final = 1 << 1
    APPLICATION_AUTO_MODERATION_RULE_CREATE_BADGE: Final = 1 << 6
    GATEWAY_PRESENCE: Final = 1 << 12
    GATEWAY_PRESENCE_LIMITED: Final = 1 << 13
    GATEWAY_GUILD_MEMBERS: Final = 1 << 14
    GATEWAY_GUILD_MEMBERS_LIMITED: Final = 1 << 15
    VERIFICATION_PENDING_GUILD_LIMIT: Final = 1 << 16
    EMBEDDED: Final = 1 << 17
    GATEWAY_MESSAGE_CONTENT: Final = 1 << 18
    GATEWAY_MESSAGE_CONTENT_LIMITED: Final = 1 << 19
    APPLICATION_COMMAND_BADGE: Final = 1 << 23


_F = ApplicationFlags

SETTABLE: Final[int] = (
    _F.GATEWAY_PRESENCE_LIMITED | _F.GATEWAY_GUILD_MEMBERS_LIMITED | _F.GATEWAY_MESSAGE_CONTENT_LIMITED | _F.EMBEDDED
)
"""The flags that Modify Application may change."""

_FLAGS_BY_INTENT: Final = (
    (Intent.GUILD_PRESENCES, _F.GATEWAY_PRESENCE | _F.GATEWAY_PRESENCE_LIMITED),
    (Intent.GUILD_MEMBERS, _F.GATEWAY_GUILD_MEMBERS | _F.GATEWAY_GUILD_MEMBERS_LIMITED),
    (Intent.MESSAGE_CONTENT, _F.GATEWAY_MESSAGE_CONTENT | _F.GATEWAY_MESSAGE_CONTENT_LIMITED),
)


@lru_cache(256)
def privileged_intents(flags: int) -> int:
    """The privileged intents that an application's flags allow, by the limited or the unlimited flag of each."""
    return sum(intent for intent, either in _FLAGS_BY_INTENT if flags & either)


class IntegrationType(IntEnum):
    """How an application can be installed."""

    GUILD_INSTALL = 0
    USER_INSTALL = 1


class InstallParams(Struct, frozen=True, kw_only=True):
    """The scopes and permissions that installing an application requests."""

    scopes: list[str]
    permissions: PermissionSet


class MembershipState(IntEnum):
    """Whether a user is invited to a team or has joined it."""

    INVITED = 1
    ACCEPTED = 2


class TeamRole(StrEnum):
    """A member's role in a team. Its owner is an admin with further rights."""

    ADMIN = "admin"
    """May do everything but delete or transfer the team."""
    DEVELOPER = "developer"
    """May change its applications and reset their secrets, but not its members."""
    READ_ONLY = "read_only"


class TeamMember(Struct, frozen=True, kw_only=True):
    """A member or invited user of a team. `permissions` is deprecated, but read by clients."""

    membership_state: MembershipState
    team_id: TeamId
    user: User
    role: TeamRole
    permissions: list[str] = field(default_factory=lambda: ["*"])


class Team(Struct, frozen=True, kw_only=True):
    """A team, whose members own applications together."""

    id: TeamId
    icon: str | None
    name: str
    members: list[TeamMember]
    owner_user_id: UserId


class PartialApplication(Struct, frozen=True, kw_only=True):
    """The application object of READY."""

    id: ApplicationId
    flags: int


class IntegrationApplication(Struct, frozen=True, kw_only=True):
    """The application object of integrations and messages. `summary` is deprecated but read by clients."""

    id: ApplicationId
    name: str
    icon: str | None
    description: str
    summary: str = ""
    type: int | None = None
    bot: User | UnsetType = UNSET


class Application(Struct, frozen=True, kw_only=True):
    """An application with its public fields."""

    id: ApplicationId
    name: str
    icon: str | None
    description: str
    summary: str = ""
    type: int | None = None
    bot: User | UnsetType = UNSET
    guild_id: GuildId | UnsetType = UNSET
    cover_image: str | UnsetType = UNSET
    primary_sku_id: Snowflake | UnsetType = UNSET
    slug: str | UnsetType = UNSET
    rpc_origins: list[str] | UnsetType = UNSET
    bot_public: bool = True
    bot_require_code_grant: bool = False
    terms_of_service_url: str | UnsetType = UNSET
    privacy_policy_url: str | UnsetType = UNSET
    custom_install_url: str | UnsetType = UNSET
    install_params: InstallParams | UnsetType = UNSET
    integration_types_config: JsonObject | UnsetType = UNSET
    """By integration type, "0" and "1": `{}` or `{"oauth2_install_params": ...}`."""
    verify_key: str
    flags: int
    flags_new: str = "0"
    """`flags` as text, for bits beyond 31."""
    max_participants: int | UnsetType | None = UNSET
    embedded_activity_config: EmbeddedActivityConfig | UnsetType = UNSET
    """Only with Activities, as `max_participants`."""
    tags: list[str] | UnsetType = UNSET


class OwnApplication(Application, frozen=True, kw_only=True):
    """An application with the fields that only its owner and its bot may read."""

    owner: User
    team: Team | None = None
    redirect_uris: list[str]
    interactions_endpoint_url: str | None = None
    role_connections_verification_url: str | None = None
    event_webhooks_url: str | None = None
    event_webhooks_status: int = 1
    event_webhooks_types: list[str] | UnsetType = UNSET
    explicit_content_filter: int = 0
    approximate_guild_count: int = 0
    approximate_user_install_count: int = 0
    approximate_user_authorization_count: int = 0
    eligible_oauth2_scopes: list[str] = []
    """The scopes that users can grant on this server."""
    public_client: bool = False
    """Whether it may exchange codes with PKCE instead of its secret."""
