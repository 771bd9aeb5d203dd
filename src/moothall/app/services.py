"""The services that requests, jobs and commands share, built from the settings."""

import asyncio
from collections.abc import Callable, Iterable
from collections.abc import Set as AbstractSet
from typing import Final
from urllib.parse import urlsplit

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 both register endpoints
from moothall.api.authenticate import Actor
from moothall.api.context import GatewaySession, Limits, PresenceSource, Services
from moothall.api.file_ids import FileIds
from moothall.api.file_links import FileLinks
from moothall.api.ratelimit import RateLimiter
from moothall.api.resource_services import ResourceServices
from moothall.api.shared_windows import ProcessWindows
from moothall.api.storage_quota import UploadsInFlight
from moothall.authority.guild_states import GuildStates
from moothall.bus import Bus
from moothall.oauth2.client_authentication import SecretThrottle
from moothall.oauth2.openid import SigningKeys
from moothall.objects.ids import GuildId, SnowflakeFactory, UserId
from moothall.objects.presence import Presence
from moothall.resources.auto_moderation.matcher import RuleMatchers
from moothall.resources.auto_moderation.spam import RecentContent
from moothall.resources.auto_moderation.words import PresetWords
from moothall.resources.channel.encoded import EncodedChannels
from moothall.resources.channel.thread_activity.encoded import ThreadCache
from moothall.resources.discovery.listing import DiscoveryListing
from moothall.resources.guild.prune.cache import InactiveMembers
from moothall.resources.guild.prune.operations import RunningPrunes
from moothall.resources.guild.widget.image_cache import WidgetImageCache
from moothall.resources.harvest.links import ArchiveLinks
from moothall.resources.identity_provider.provider_client import ProviderClient
from moothall.resources.interaction.jobs import ExpirySchedule
from moothall.resources.interaction.operations.deliver import Deliveries
from moothall.resources.interaction.response_timers import ResponseTimers
from moothall.resources.link_preview.fetcher import LinkPreviews
from moothall.resources.mail.config import DEFAULT_PORTS, MailConfig
from moothall.resources.mail.sender import MailSender
from moothall.resources.member.activity import ActivityRecorder
from moothall.resources.member.encoded import EncodedMembers
from moothall.resources.message.attachment.pending_upload.links import UploadLinks
from moothall.resources.message.first_messages import FirstMessages
from moothall.resources.message.operations.nonces import NonceSweep
from moothall.resources.message.operations.previews import PreviewsRequested
from moothall.resources.message.page_cache import PageCache
from moothall.resources.message.people import UserCache
from moothall.resources.message.preview_worker import PreviewWorker
from moothall.resources.message.rules import RecentMessages
from moothall.resources.message.search.cache import SearchCache
from moothall.resources.push.encryption import VapidKey
from moothall.resources.push.sender import PushSender
from moothall.resources.server_figure.counts import FigureCounts
from moothall.resources.server_setting.running import RunningSettings
from moothall.resources.user.factor.attempts import CodeThrottle
from moothall.resources.user.password.verification import PasswordThrottle
from moothall.resources.webhook_event.sender import WebhookEventSender
from moothall.runtime.budgets import Allowance, Budgets, Holdings, Rates
from moothall.runtime.pools import Pools
from moothall.runtime.secrets import Passwords, ServerKey
from moothall.settings import Settings, parse_networks
from moothall.storage.blobs import Blobs
from moothall.storage.database import Database

CPU_BURST: Final = 3
"""How much CPU time an account may use at once, as a multiple of what it may use in ten seconds."""
REQUEST_BYTES_MAX: Final = 512 * 1024 * 1024
"""Bytes of bodies that are in memory at once."""


def base_url(settings: Settings) -> str:
    """The URL that clients reach the platform by, without a trailing slash."""
    if settings.public_url is not None:
        return settings.public_url.rstrip("/")
    host = "localhost" if settings.host in {"127.0.0.1", "::1", "0.0.0.0", "::"} else settings.host  # noqa: S104 compared
    return f"http://{host}:{settings.port}"


def activities_url(settings: Settings) -> str | None:
    """The URL of the activities host; None if none is set and browsers could not find the default one.

    Browsers resolve every name below localhost to their own machine.
    """
    if settings.activities_url is not None:
        return settings.activities_url.rstrip("/")
    parts = urlsplit(base_url(settings))
    if parts.hostname != "localhost":
        return None
    return f"{parts.scheme}://activities.localhost" + ("" if parts.port is None else f":{parts.port}")


def server_key(settings: Settings) -> ServerKey:
    """The key of this installation, generated at the first start. Raises ServerKeyError, OSError."""
    if settings.secret_key is not None:
        return ServerKey.parse(settings.secret_key)
    return ServerKey.load_or_create(settings.key_path)


def build_services(
    settings: Settings,
    database: Database,
    bus: Bus,
    key: ServerKey,
    *,
    ids: SnowflakeFactory | None = None,
    states: GuildStates | None = None,
    presences: PresenceSource | None = None,
    has_listeners: Callable[[GuildId], bool] = lambda _guild_id: True,
    count_unreceived: Callable[[str], None] = lambda _name: None,
    record_token_use: Callable[[Actor], None] = lambda _actor: None,
    windows: ProcessWindows | None = None,
    budgets: Budgets | None = None,
) -> Services:
    """Build the services that requests, jobs and commands share. `close_services` closes them."""
    ids = SnowflakeFactory() if ids is None else ids
    budgets = build_budgets(settings) if budgets is None else budgets
    services = Services(
        database=database,
        bus=bus,
        ids=ids,
        file_ids=FileIds(ids, key.subkeys("file ids")[0]),
        states=GuildStates(database) if states is None else states,
        box=key.box("stored secrets"),
        passwords=Passwords(budgets),
        budgets=budgets,
        pools=Pools.start(budgets),
        blobs=Blobs.open(settings.blob_url or str(settings.data / "files"), spool=settings.data / "incoming"),
        links=FileLinks(key.subkeys("file links"), base_url(settings), proxies=settings.link_previews),
        presences=NoPresences() if presences is None else presences,
        limiter=build_limiter(settings, windows) if settings.rate_limits else None,
        limits=Limits(
            public_url=base_url(settings),
            activities_url=activities_url(settings),
            reserved_words=settings.reserved_words,
            guild_features=settings.guild_features,
            guild_level=settings.guild_level,
            allow_private_addresses=settings.allow_private_addresses,
            instance_name=settings.instance_name,
            instance_description=settings.instance_description or "",
            discovery=settings.discovery,
            security_contact=settings.security_contact,
            operators_require_mfa=settings.operators_require_mfa,
            registration=settings.registration,
            registration_domains=settings.registration_domains,
            blocked_usernames=settings.blocked_usernames,
            blocked_address_domains=settings.blocked_address_domains,
            blocked_networks=parse_networks(settings.registration_blocked_networks),
            registration_min_age=settings.registration_min_age,
            registration_proof_of_work=settings.registration_proof_of_work,
            terms_url=settings.terms_url,
            terms_version=settings.terms_version,
            password_login=settings.password_login,
            private_provider_hosts=settings.private_provider_hosts,
            verification_requires_email=settings.verification_requires_email,
            password_min_score=settings.password_min_score,
            factor_recovery_days=settings.factor_recovery_days,
            account_deletion_days=settings.account_deletion_days,
            guild_deletion_days=settings.guild_deletion_days,
            session_max_days=settings.session_max_days,
            session_unused_days=settings.session_unused_days,
            message_requests=settings.message_requests,
            opened_direct_messages=settings.rate_limit_direct_messages,
            new_contacts=settings.rate_limit_new_contacts,
            link_previews=settings.link_previews,
            max_upload_bytes=settings.max_upload_bytes,
            storage_quota_bytes=settings.storage_quota_mb_per_user * 1_000_000,
            storage_quota_mb_per_guild=settings.storage_quota_mb_per_guild,
            guilds_per_user=settings.guilds_per_user,
            members_per_guild=settings.members_per_guild,
            outgoing_proxy=settings.link_previews_proxy_url,
        ),
        has_listeners=has_listeners,
        count_unreceived=count_unreceived,
        record_token_use=record_token_use,
        jobs_due=asyncio.Event(),
        outbox_filled=asyncio.Event(),
        resources=ResourceServices(
            ActivityRecorder(database),
            CodeThrottle(),
            DiscoveryListing(database),
            EncodedMembers(database),
            ArchiveLinks(key.subkeys("archive links"), base_url(settings)),
            ExpirySchedule(),
            FigureCounts(),
            InactiveMembers(database),
            NonceSweep(),
            PasswordThrottle(),
            PreviewsRequested(),
            RecentContent(),
            WidgetImageCache(),
            RecentMessages(),
            ResponseTimers(),
            RuleMatchers(PresetWords.read(settings.auto_moderation_words)),
            RunningPrunes(),
            SearchCache(database),
            SecretThrottle(),
            SigningKeys(),
            ThreadCache(database),
            UploadsInFlight(),
            UploadLinks(key.subkeys("upload links"), base_url(settings)),
            user_cache := UserCache(database),
            EncodedChannels(database),
            FirstMessages(database, user_cache),
            PageCache(database, user_cache),
        ),
    )
    services.resources.add(Deliveries(services), WebhookEventSender(services), LinkPreviews(services))
    services.resources.add(PreviewWorker(services), PushSender(services, _vapid_key(settings)))
    services.resources.add(MailSender(services, mail_config(settings), seconds_each=settings.smtp_timeout_seconds))
    services.resources.add(RunningSettings(services), ProviderClient(services))
    return services


async def close_services(services: Services) -> None:
    """Close the services of `build_services`, once no request is served and while the database is still open."""
    await services.resources[Deliveries].close()
    await services.resources[WebhookEventSender].close()
    await services.resources[MailSender].close()
    await services.resources[ProviderClient].close()
    await services.resources[PreviewWorker].close()
    await services.resources[PushSender].close()
    await services.resources[LinkPreviews].close()
    await services.resources[DiscoveryListing].close()
    await services.resources[ActivityRecorder].close()
    services.passwords.close()
    services.pools.close()


def _vapid_key(settings: Settings) -> VapidKey | None:
    """The key of Web Push; None if the operator has set none."""
    if settings.push_private_key is None:
        return None
    return VapidKey(settings.push_private_key, settings.push_contact or base_url(settings))


def mail_config(settings: Settings) -> MailConfig | None:
    """How mail is sent; None if the operator has set no mail server."""
    if settings.smtp_host is None or settings.mail_from is None:
        return None
    return MailConfig(
        host=settings.smtp_host,
        port=settings.smtp_port or DEFAULT_PORTS[settings.smtp_tls],
        tls=settings.smtp_tls,
        user=settings.smtp_user,
        password=settings.smtp_password,
        sender=settings.mail_from,
        public_url=base_url(settings),
        seconds=settings.smtp_timeout_seconds,
    )


def build_limiter(settings: Settings, windows: ProcessWindows | None = None) -> RateLimiter:
    """The rate limits of the API, counted together with the processes that share `windows`."""
    return RateLimiter(
        loopback_multiplier=settings.rate_limit_loopback_factor,
        global_requests=settings.rate_limit_global,
        invalid_requests=settings.rate_limit_invalid,
        webhook_requests=settings.rate_limit_webhook,
        webhook_minute_requests=settings.rate_limit_webhook_minute,
        shared=windows,
    )


def build_budgets(settings: Settings) -> Budgets:
    """What accounts and networks may cost this process."""
    if not settings.rate_limits:
        return Budgets.unlimited()
    seconds = settings.rate_limit_cpu_ms / 1000
    account = Allowance(capacity=seconds * CPU_BURST, per_second=seconds / 10)
    factor = settings.rate_limit_loopback_factor
    return Budgets(
        Rates(account=account, network=account.times(8), anonymous=account.times(3), loopback_multiplier=factor),
        Holdings(
            account=settings.max_body_bytes * 2,
            network=settings.max_body_bytes * 8,
            anonymous=settings.max_body_bytes * 2,
            total=REQUEST_BYTES_MAX,
            loopback_multiplier=factor,
        ),
    )


class NoPresences:
    """The presences of a process without a gateway: every user is offline."""

    def online_count(self, guild_id: GuildId) -> int:
        """Return 0."""
        del guild_id
        return 0

    def presences(
        self, guild_id: GuildId, user_ids: Iterable[UserId] | None = None, *, maximum: int = 1000
    ) -> list[Presence]:
        """Return no member."""
        del guild_id, user_ids, maximum
        return []

    def is_connected(self, user_id: UserId) -> bool:
        """Return False."""
        del user_id
        return False

    def connected_among(self, user_ids: AbstractSet[UserId]) -> AbstractSet[UserId]:
        """Return no user."""
        del user_ids
        return frozenset()

    def find_session(self, user_id: UserId, session_id: str | None) -> GatewaySession | None:
        """Return None."""
        del user_id, session_id
        return None
