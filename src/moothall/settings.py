"""The settings, read once at the start.

Each field of `Settings` is a setting. Its name is the key in the TOML file; in the environment it is the same name in
capitals after `MOOTHALL_` (`MOOTHALL_PORT`), and the command line has a flag for the most used ones. A later source
wins: defaults, TOML file (`--config` or `MOOTHALL_CONFIG`), environment, flags. Unknown keys and invalid values
are errors, reported all at once.
"""

import base64
import binascii
import ipaddress
import os
import re
import types
from collections.abc import Callable, Iterator, Mapping
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal, Union, get_args, get_origin, get_type_hints
from urllib.parse import urlsplit

import msgspec
from msgspec import Meta, Struct

from moothall.objects.email_address import EmailAddress
from moothall.objects.features import ALL as ALL_FEATURES
from moothall.objects.features import CHANGEABLE

PREFIX = "MOOTHALL_"
CONFIG_VARIABLE = "MOOTHALL_CONFIG"
TEST_PREFIX = "MOOTHALL_TEST_"
"""Prefix of variables that name servers to the test suite; servers that the suite starts inherit them."""


def _flag(name: str, metavar: str = "") -> dict[str, str]:
    return {"flag": name, "metavar": metavar}


class Settings(Struct, frozen=True, kw_only=True):
    """Everything an operator decides. Sizes are bytes, durations seconds unless the name says otherwise."""

    host: Annotated[str, Meta(description="Address to listen at.", min_length=1, extra=_flag("--host", "ADDRESS"))] = (
        "127.0.0.1"
    )
    port: Annotated[
        int,
        Meta(description="Port to listen at; 0 takes a free one.", ge=0, le=65535, extra=_flag("--port", "PORT")),
    ] = 3333
    data: Annotated[
        Path,
        Meta(description="Folder of the SQLite database, files and server key.", extra=_flag("--data", "FOLDER")),
    ] = Path("data")
    database_url: Annotated[
        str | None,
        Meta(
            description="postgresql://user:password@host/name or sqlite:///file; else a file in the data folder.",
            extra=_flag("--database-url", "URL"),
        ),
    ] = None
    database_connections: Annotated[
        int, Meta(description="Maximum number of PostgreSQL connections of a process.", ge=2, le=500)
    ] = 16
    database_statement_seconds: Annotated[
        float,
        Meta(
            description="Seconds after which a statement of PostgreSQL is given up, and its connection closed.",
            ge=1,
            le=600,
        ),
    ] = 10.0
    database_long_read_seconds: Annotated[
        float,
        Meta(description="The same for reads of many rows, such as searches.", ge=1, le=3600),
    ] = 60.0
    blob_url: Annotated[
        str | None,
        Meta(description="Where files are kept: file:///..., s3://..., gs://..., az://...; else in the data folder."),
    ] = None
    nats_url: Annotated[
        str | None,
        Meta(description="nats://host:4222 when several processes serve; without one, events stay in the process."),
    ] = None
    nats_replicas: Annotated[
        int,
        Meta(
            description="On how many servers of a NATS cluster the stream of events is stored: 1, 3 or 5.", ge=1, le=5
        ),
    ] = 1
    workers: Annotated[
        int,
        Meta(
            description="Processes that share the port and an SQLite file, for more than one core; "
            "above 1 another one beside them writes.",
            ge=1,
            le=64,
            extra=_flag("--workers", "NUMBER"),
        ),
    ] = 1
    worker_id: Annotated[
        Annotated[int, Meta(ge=0, le=31)] | None,
        Meta(description="First half of the number that keeps ids of processes apart; else a free number is taken."),
    ] = None
    process_id: Annotated[
        Annotated[int, Meta(ge=0, le=31)] | None, Meta(description="The other half; 0 if only the first is set.")
    ] = None
    secret_key: Annotated[
        str | None,
        Meta(
            description="The server key: base64 of 32 bytes, retired ones after commas; "
            "without one, server.key in the data folder."
        ),
    ] = None

    public_url: Annotated[
        str | None,
        Meta(
            description="URL that clients reach the server by, when a proxy stands in front.",
            extra=_flag("--public-url", "URL"),
        ),
    ] = None
    activities_url: Annotated[
        str | None,
        Meta(
            description="URL of the activities host, below which each Activity has an origin of its own: with "
            "https://activities.example.net it is https://ID.activities.example.net. Without one Activities run "
            "where the server is reached as localhost."
        ),
    ] = None
    gateway_url: Annotated[
        str | None,
        Meta(description="ws:// or wss:// URL of this process alone, which clients resume at when several serve."),
    ] = None
    voice: Annotated[
        bool,
        Meta(description="Carry sound in voice channels, by a process that starts with the first participant."),
    ] = True
    voice_host: Annotated[
        Annotated[str, Meta(min_length=1)] | None,
        Meta(
            description="Address to receive sound at; else every one where public_url or voice_address is set, and "
            "host where neither is."
        ),
    ] = None
    voice_port: Annotated[
        Annotated[int, Meta(ge=0, le=65535)] | None,
        Meta(description="UDP port for sound; else that of the same number as port."),
    ] = None
    voice_address: Annotated[
        str | None,
        Meta(
            description="IP address that clients send sound to; else that of public_url's host, or the one at which "
            "each has reached the server."
        ),
    ] = None
    voice_endpoint: Annotated[
        str | None,
        Meta(
            description="host:port of the voice gateway, which libraries open as wss://; else those of public_url or "
            "gateway_url."
        ),
    ] = None
    trusted_proxies: Annotated[
        tuple[str, ...],
        Meta(
            description="Proxy whose X-Forwarded-For and -Proto are trusted: an address or a network.",
            extra=_flag("--trusted-proxy", "CIDR"),
        ),
    ] = ()
    allow_private_addresses: Annotated[
        bool,
        Meta(
            description="Let requests that users cause go to private addresses (for development).",
            extra=_flag("--allow-private-addresses"),
        ),
    ] = False
    link_previews: Annotated[
        bool,
        Meta(description="Fetch previews of links in messages, and pass images of other servers on to readers."),
    ] = True
    link_previews_proxy_url: Annotated[
        str | None,
        Meta(description="http:// URL of a proxy that fetches them; it must refuse private addresses itself."),
    ] = None
    external_cache_bytes: Annotated[
        int, Meta(description="Disk space for the cache of images of other servers.", ge=0)
    ] = 512 * 1024 * 1024
    push_private_key: Annotated[
        str | None,
        Meta(description="Key of Web Push, as `moothall push-key` makes it; without one there are no notifications."),
    ] = None
    push_contact: Annotated[
        str | None, Meta(description="mailto: or https: URL for the operators of push services; else public_url.")
    ] = None
    smtp_host: Annotated[
        Annotated[str, Meta(pattern=r"\A[A-Za-z0-9.:_-]{1,253}\Z")] | None,
        Meta(description="Mail server (SMTP) for links to reset passwords, and notices; without one no mail is sent."),
    ] = None
    smtp_port: Annotated[
        Annotated[int, Meta(ge=1, le=65535)] | None,
        Meta(description="Its port; else 587 for starttls, 465 for tls, 25 for none."),
    ] = None
    smtp_tls: Annotated[
        Literal["starttls", "tls", "none"],
        Meta(description="How the connection to it is encrypted: none only within a machine or a private network."),
    ] = "starttls"
    smtp_user: Annotated[str | None, Meta(description="Name to log in to it by; without one there is no login.")] = None
    smtp_password: Annotated[str | None, Meta(description="Password to log in to it.")] = None
    smtp_timeout_seconds: Annotated[
        float,
        Meta(description="Seconds that the delivery of a mail may take before it is tried again later.", ge=1, le=120),
    ] = 20.0
    mail_from: Annotated[str | None, Meta(description="Address that mail is sent from.")] = None
    operators_require_mfa: Annotated[
        bool,
        Meta(description="Let operators act only with two-factor authentication, by their tokens for programs too."),
    ] = False
    instance_name: Annotated[
        str,
        Meta(description="What the pages call this server.", min_length=1, max_length=64),
    ] = "Moothall"
    instance_icon: Annotated[
        Path | None,
        Meta(description="Picture (PNG, JPEG, GIF or WebP) in place of Moothall's, in the client, pages and tabs."),
    ] = None
    instance_description: Annotated[
        Annotated[str, Meta(max_length=1000)] | None,
        Meta(description="What the start page says of this server, in plain text."),
    ] = None
    discovery: Annotated[
        bool,
        Meta(
            description="List guilds that are discoverable, with search: on the start page and in the client, where "
            "people can then join them without an invitation."
        ),
    ] = False
    security_contact: Annotated[
        str | None,
        Meta(description="Where to report security problems, for /.well-known/security.txt: mailto: or https://."),
    ] = None
    registration: Annotated[
        Literal["open", "token", "domain", "approval", "closed"],
        Meta(
            description="Who may register an account: anyone (open), with an invitation of the operator (token), with "
            "an address of registration_domains (domain), with the operator's approval, or no one (closed)."
        ),
    ] = "open"
    registration_domains: Annotated[
        tuple[str, ...],
        Meta(description="With registration = domain: the domains that addresses of accounts may have."),
    ] = ()
    blocked_usernames: Annotated[
        tuple[str, ...], Meta(description="Words that a username may not contain, in any case.")
    ] = ()
    blocked_address_domains: Annotated[
        tuple[str, ...],
        Meta(description="Domains that addresses of accounts may not have, nor one below them."),
    ] = ()
    registration_blocked_networks: Annotated[
        tuple[str, ...], Meta(description="Addresses or networks from which no one may register.")
    ] = ()
    registration_min_age: Annotated[
        int,
        Meta(
            description="How old one must be to register, in years: the date of birth is asked for, and not stored. "
            "0 asks for none.",
            ge=0,
            le=120,
        ),
    ] = 0
    registration_proof_of_work: Annotated[
        int,
        Meta(
            description="How many hashes a browser computes at most to register an account (ALTCHA), half of it on "
            "average; 100000 are about a second. 0 asks for none.",
            ge=0,
            le=10_000_000,
        ),
    ] = 0
    terms_url: Annotated[
        str | None,
        Meta(description="Terms that one must accept to register: the URL where they can be read."),
    ] = None
    terms_version: Annotated[
        str,
        Meta(
            description="What the terms are called that are there now, for example a date. It is stored with the time "
            "who has accepted which.",
            min_length=1,
            max_length=64,
        ),
    ] = "1"
    password_login: Annotated[
        bool,
        Meta(
            description="Let people log in and register with passwords; without, with an identity provider or a "
            "passkey, or by a link of the operator."
        ),
    ] = True
    private_provider_hosts: Annotated[
        tuple[str, ...],
        Meta(description="Hosts of identity providers that may have private addresses, and URLs of plain http."),
    ] = ()
    message_requests: Annotated[
        bool,
        Meta(
            description="Let people write to those with whom they share no community, as message requests; "
            "else only to friends and members of their communities."
        ),
    ] = True
    verification_requires_email: Annotated[
        bool,
        Meta(description="Verification levels of guilds require a verified email address; else only waiting times."),
    ] = True
    password_min_score: Annotated[
        int,
        Meta(
            description="How hard a new password must be to guess, by zxcvbn: 0 takes any, "
            "2 withstands a million guesses, 4 ten thousand million.",
            ge=0,
            le=4,
        ),
    ] = 2
    factor_recovery_days: Annotated[
        int,
        Meta(
            description="Days after which lost second factors are removed at the request of who has the password, "
            "unless the owner calls it off. 0 lets operators alone do it.",
            ge=0,
            le=30,
        ),
    ] = 3
    account_deletion_days: Annotated[
        int, Meta(description="Days after which an account is deleted whose user requested it.", ge=0, le=365)
    ] = 14
    guild_deletion_days: Annotated[
        int,
        Meta(description="Days in which a guild that an operator has deleted can be restored.", ge=0, le=365),
    ] = 30
    session_max_days: Annotated[
        int,
        Meta(
            description="Days after which a person's login ends in any case, unless it began before this was set; "
            "0 is never.",
            ge=0,
        ),
    ] = 0
    session_unused_days: Annotated[
        int, Meta(description="Days without use after which a person's login ends.", ge=1, le=3650)
    ] = 90
    hsts: Annotated[
        Annotated[str, Meta(pattern=r"\A[!-~](?:[ -~]*[!-~])?\Z")] | None,
        Meta(description="Strict-Transport-Security of every response where public_url is https; empty sends none."),
    ] = "max-age=31536000; includeSubDomains"
    demo: Annotated[
        bool,
        Meta(description="Make a demo community when the database is new.", extra=_flag("--demo")),
    ] = True
    fixture: Annotated[
        Path | None,
        Meta(
            description="Community to create when the database is new, instead of the demo (JSON or YAML).",
            extra=_flag("--fixture", "FILE"),
        ),
    ] = None
    guild_features: Annotated[
        tuple[str, ...],
        Meta(description="Features that new guilds have, like BANNER; elsewhere they are sold with boosts."),
    ] = (
        "ANIMATED_BANNER", "ANIMATED_ICON", "BANNER", "ENHANCED_ROLE_COLORS", "GUILD_TAGS", "INVITE_SPLASH",
        "MORE_SOUNDBOARD", "MORE_STICKERS", "ROLE_ICONS", "VANITY_URL", "VIP_REGIONS",
    )  # fmt: skip
    guild_level: Annotated[
        int,
        Meta(
            description="Premium tier of new guilds: 3 has the largest files and the most emojis, 0 the least.",
            ge=0,
            le=3,
        ),
    ] = 3
    reserved_words: Annotated[
        tuple[str, ...],
        Meta(description="Words that a webhook's name may not contain, in any case."),
    ] = ("discord", "clyde", "moothall")
    auto_moderation_words: Annotated[
        Path | None,
        Meta(
            description="Folder of word lists for keyword presets: profanity.txt, sexual_content.txt, slurs.txt; "
            "for each that is missing, Moothall's own."
        ),
    ] = None

    theme_css: Annotated[
        Path | None,
        Meta(description="Style sheet with design tokens of your own, after those of the pages and the client."),
    ] = None

    rate_limits: Annotated[bool, Meta(description="Limit the rate of requests.", extra=_flag("--rate-limits"))] = True
    rate_limit_global: Annotated[int, Meta(description="Requests a second that one account may make.", ge=1)] = 50
    rate_limit_invalid: Annotated[
        int, Meta(description="Refused requests in ten minutes after which an address is blocked.", ge=1)
    ] = 10_000
    rate_limit_webhook: Annotated[int, Meta(description="Messages that a webhook may post in two seconds.", ge=1)] = 5
    rate_limit_webhook_minute: Annotated[
        int, Meta(description="Messages that a webhook may post in a minute.", ge=1)
    ] = 30
    rate_limit_direct_messages: Annotated[
        int, Meta(description="Direct messages that an account may open anew in ten minutes.", ge=1)
    ] = 50
    rate_limit_new_contacts: Annotated[
        int,
        Meta(
            description="Strangers whom an account may write to, or send friend requests to, in ten minutes: users "
            "with whom it shares no community.",
            ge=1,
        ),
    ] = 10
    rate_limit_loopback_factor: Annotated[
        int, Meta(description="Factor of all rate limits for clients on this machine.", ge=1)
    ] = 20
    rate_limit_pages: Annotated[
        int, Meta(description="Requests to pages that an address may make in ten seconds.", ge=1)
    ] = 200
    rate_limit_files: Annotated[
        int,
        Meta(
            description="Requests for avatars, icons, emojis and the like that an address may make in ten seconds.",
            ge=1,
        ),
    ] = 1_000
    rate_limit_activities: Annotated[
        int, Meta(description="Requests to Activities that an address may make in ten seconds.", ge=1)
    ] = 2_000
    rate_limit_attachments: Annotated[
        int, Meta(description="Requests for files of messages that an address may make in ten seconds.", ge=1)
    ] = 300
    rate_limit_external: Annotated[
        int, Meta(description="Requests for images of other servers that an address may make in ten seconds.", ge=1)
    ] = 300
    rate_limit_scaling_ms: Annotated[
        int,
        Meta(description="Milliseconds of CPU time in ten seconds for scaling images for an address.", ge=1),
    ] = 5_000
    rate_limit_cpu_ms: Annotated[
        int,
        Meta(
            description="Milliseconds of CPU time in ten seconds for an account's images, large bodies and other long "
            "work; an address has three times as much for logins and the like, and eight times for its accounts.",
            ge=1,
        ),
    ] = 3_000
    scaled_cache_bytes: Annotated[int, Meta(description="Disk space for the cache of scaled images.", ge=0)] = (
        512 * 1024 * 1024
    )
    max_body_bytes: Annotated[int, Meta(description="Largest request body that has no files.", ge=1024)] = (
        26 * 1024 * 1024
    )
    max_upload_bytes: Annotated[
        int, Meta(description="Largest request with files; within it, the guild's boosts decide.", ge=1024)
    ] = 104 * 1024 * 1024

    storage_quota_mb_per_user: Annotated[
        int,
        Meta(
            description="Megabytes that the files of an account's messages may have in all, each file at least 4 KiB; "
            "0 for any number.",
            ge=0,
        ),
    ] = 10_000
    storage_quota_mb_per_guild: Annotated[
        int,
        Meta(
            description="Megabytes that the files of a guild's messages may have in all, each file at least 4 KiB; "
            "0 for any number. Operators set other ones for single guilds.",
            ge=0,
        ),
    ] = 0
    guilds_per_user: Annotated[
        int,
        Meta(description="Guilds that a person may be in; twice as many, at most 200, with Nitro.", ge=1, le=200),
    ] = 100
    members_per_guild: Annotated[
        int,
        Meta(
            description="Members that a new guild may have. Operators set other numbers for single guilds.",
            ge=2,
            le=500_000,
        ),
    ] = 500_000

    gateway_heartbeat_ms: Annotated[
        int, Meta(description="Interval of clients' heartbeats in milliseconds.", ge=1000)
    ] = 41_250
    gateway_resume_seconds: Annotated[
        int, Meta(description="How long a session waits for its client to return.", ge=0)
    ] = 90
    gateway_resume_events: Annotated[
        int,
        Meta(
            description="Events buffered for a client that resumes; one further behind must start a new session.", ge=0
        ),
    ] = 1_000
    gateway_queue_bytes: Annotated[
        int, Meta(description="Unsent bytes after which a slow client is dropped.", ge=65_536)
    ] = 8 * 1024 * 1024
    gateway_sessions_per_person: Annotated[
        int, Meta(description="Sessions that a person may have, with those that wait for their clients.", ge=1)
    ] = 50
    gateway_account_bytes: Annotated[
        int,
        Meta(
            description="Bytes held for all sessions of an account, unsent or unacknowledged; the most costly sessions "
            "end beyond.",
            ge=1_048_576,
        ),
    ] = 64 * 1024 * 1024
    shutdown_seconds: Annotated[int, Meta(description="How long running requests may take to finish.", ge=0)] = 10

    metrics_listen: Annotated[
        str | None,
        Meta(
            description="host:port that /metrics is served at, to any client that can connect there, and nowhere else."
        ),
    ] = None
    metrics_token: Annotated[
        str | None,
        Meta(description="Bearer token that /metrics requires; without one, only clients on this machine may read it."),
    ] = None

    log_level: Annotated[
        Literal["debug", "info", "warning", "error"],
        Meta(description="Minimum level of logged lines.", extra=_flag("--log-level", "LEVEL")),
    ] = "info"
    log_format: Annotated[
        Literal["human", "json"],
        Meta(description="Readable lines, or one JSON object a line.", extra=_flag("--log-format", "FORMAT")),
    ] = "human"
    slow_turn_ms: Annotated[
        int,
        Meta(
            description="Milliseconds without a turn of the event loop that are logged, "
            "with the endpoints that ran then; 0 for none.",
            ge=0,
        ),
    ] = 0

    @property
    def carries_voice(self) -> bool:
        """Whether sound is carried: not where several servers share the participants of a channel."""
        return self.voice and self.nats_url is None

    @property
    def public_host(self) -> str | None:
        """The host of `public_url`."""
        return None if self.public_url is None else urlsplit(self.public_url).hostname

    @property
    def database(self) -> str:
        """URL of the database, also where that is the file in the data folder."""
        return self.database_url or f"sqlite:///{self.data / 'moothall.sqlite3'}"

    @property
    def database_path(self) -> Path | None:
        """The SQLite file; None where the database is a PostgreSQL server."""
        return Path(self.database.removeprefix("sqlite:///")) if self.database.startswith("sqlite:") else None

    @property
    def key_path(self) -> Path:
        """The file of the server key, used without `secret_key`."""
        return self.data / "server.key"

    @property
    def networks(self) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
        """`trusted_proxies`, parsed."""
        return parse_networks(self.trusted_proxies)

    @property
    def metrics_address(self) -> tuple[str, int] | None:
        """`metrics_listen`, parsed: host and port."""
        return None if self.metrics_listen is None else split_address(self.metrics_listen)

    def trusts(self, address: str) -> bool:
        """Whether a peer is a trusted proxy; False for anything but an IP address."""
        if not self.trusted_proxies:
            return False
        try:
            peer = ipaddress.ip_address(address)
        except ValueError:
            return False
        return any(peer in network for network in self.networks)

    def __repr__(self) -> str:
        """All settings, with the secrets masked, because this may be logged."""
        shown = (f"{name}={masked(name, getattr(self, name))!r}" for name in self.__struct_fields__)
        return f"Settings({', '.join(shown)})"


def parse_networks(texts: tuple[str, ...]) -> tuple[ipaddress.IPv4Network | ipaddress.IPv6Network, ...]:
    """Networks and single addresses, which were checked when the settings were read."""
    return tuple(ipaddress.ip_network(text, strict=False) for text in texts)


class Setting(Struct, frozen=True):
    """The name, type and default of a setting, and its flag."""

    name: str
    kind: Any
    default: Any
    description: str
    flag: str | None
    """`--port`; of a boolean the positive form, the negative one being `--no-...`."""
    metavar: str

    @property
    def variable(self) -> str:
        """The environment variable."""
        return PREFIX + self.name.upper()

    @property
    def boolean(self) -> bool:
        """Whether the value is a boolean."""
        return get_args(self.kind)[0] is bool

    @property
    def repeated(self) -> bool:
        """Whether it takes several values: commas in the environment, an array in TOML, a repeated flag."""
        return get_origin(get_args(self.kind)[0]) is tuple

    @property
    def nullable(self) -> bool:
        """Whether the value may be None."""
        return get_origin(get_args(self.kind)[0]) in {Union, types.UnionType}


def _table() -> Iterator[Setting]:
    hints = get_type_hints(Settings, include_extras=True)
    for field in msgspec.structs.fields(Settings):
        meta: Meta = get_args(hints[field.name])[1]
        extra = meta.extra or {}
        yield Setting(
            name=field.name,
            kind=hints[field.name],
            default=field.default,
            description=meta.description or "",
            flag=extra.get("flag"),
            metavar=extra.get("metavar", ""),
        )


TABLE: dict[str, Setting] = {setting.name: setting for setting in _table()}
"""Every setting by name, in the order of the documentation."""


_SECRETS = frozenset({"secret_key", "push_private_key", "metrics_token", "smtp_password"})
"""Settings whose values are never shown."""


def masked(name: str, value: object) -> object:
    """A setting's value for display: secrets as stars, URLs without their password, paths as text."""
    if name in _SECRETS and value is not None:
        return "***"
    if name.endswith("_url") and isinstance(value, str):
        return re.sub(r"(?<=://)([^/@:]*):[^/@]*@", r"\1:***@", value)
    return str(value) if isinstance(value, Path) else value


class SettingsError(Exception):
    """Invalid settings: one line for each problem, with the setting and its source."""

    def __init__(self, problems: list[str]) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems


def load(
    flags: Mapping[str, object] | None = None,
    *,
    config: Path | None = None,
    environ: Mapping[str, str] | None = None,
) -> Settings:
    """Read all sources into one `Settings`.

    `flags` are the command line's by setting name, as text (booleans as such, repeated ones as a sequence); unset
    flags are absent or None. `config` is the TOML file, else the one that `MOOTHALL_CONFIG` names.
    Raises SettingsError with every problem of every source.
    """
    environ = os.environ if environ is None else environ
    problems: list[str] = []
    values: dict[str, Any] = {}
    path = config or (Path(environ[CONFIG_VARIABLE]) if environ.get(CONFIG_VARIABLE) else None)
    # A later source wins.
    for setting, value, source, is_text in chain(
        _from_file(path, problems), _from_environment(environ, problems), _from_flags(flags or {})
    ):
        try:
            values[setting.name] = _parse(setting, value, text=is_text)
        except ValueError as error:
            problems.append(f"{setting.name}: {error} ({source})")
    problems += _check_combinations(values)
    if problems:
        raise SettingsError(problems)
    return Settings(**values)


_SourcedValue = tuple[Setting, object, str, bool]
"""A setting, its value, where it was set, and whether the source has text only."""


def _from_file(path: Path | None, problems: list[str]) -> Iterator[_SourcedValue]:
    for key, value in ({} if path is None else _read_toml(path, problems)).items():
        if key in TABLE:
            yield TABLE[key], value, str(path), False
        else:
            problems.append(f"{key}: no such setting{_suggestion(key, TABLE)} ({path})")


def _from_environment(environ: Mapping[str, str], problems: list[str]) -> Iterator[_SourcedValue]:
    by_variable = {setting.variable: setting for setting in TABLE.values()}
    for variable, value in sorted(environ.items()):
        if variable in by_variable:
            yield by_variable[variable], value, variable, True
        elif variable.startswith(PREFIX) and variable != CONFIG_VARIABLE and not variable.startswith(TEST_PREFIX):
            problems.append(f"{variable}: no such setting{_suggestion(variable, by_variable)} (environment)")


def _from_flags(flags: Mapping[str, object]) -> Iterator[_SourcedValue]:
    for name, value in flags.items():
        if value is not None:
            setting = TABLE[name]
            yield setting, value, setting.flag or name, not (setting.boolean or setting.repeated)


def _check_combinations(values: Mapping[str, Any]) -> Iterator[str]:
    """Problems of values that are valid alone and conflict with each other."""
    if values.get("nats_url") and not str(values.get("database_url") or "").startswith("postgres"):
        yield "nats_url: several processes cannot share an SQLite file; database_url must be a PostgreSQL server's"
    if values.get("workers", 1) > 1 and not str(values.get("database_url") or "sqlite:").startswith("sqlite:"):
        yield "workers: several share an SQLite file; with PostgreSQL, start several servers"
    yield from _check_drivers(values)
    yield from _check_mail(values)
    if values.get("registration") == "domain":
        if not values.get("registration_domains"):
            yield "registration: domain needs registration_domains"
        if values.get("smtp_host") is None:
            yield "registration: domain needs smtp_host, as addresses are confirmed by mail"
    if values.get("metrics_listen"):
        port = split_address(values["metrics_listen"])[1]
        if port and port == values.get("port", TABLE["port"].default):
            yield f"metrics_listen: port {port} is the server's own"


def _check_drivers(values: Mapping[str, object]) -> Iterator[str]:
    """Settings whose package is not installed: it is an extra, as few need it."""
    for name, start, module, extra in (
        ("database_url", "postgres", "asyncpg", "postgres"),
        ("nats_url", "", "nats", "nats"),
    ):
        value = values.get(name)
        if value and str(value).startswith(start) and find_spec(module) is None:
            yield f"{name}: needs a package that is not installed: pip install 'moothall[{extra}]'"


def _check_mail(values: Mapping[str, object]) -> Iterator[str]:
    """Problems of the settings of mail."""
    host, user = values.get("smtp_host"), values.get("smtp_user")
    if host is None:
        for name in ("smtp_user", "smtp_password", "mail_from"):
            if values.get(name) is not None:
                yield f"{name}: mail needs smtp_host"
        return
    if values.get("mail_from") is None:
        yield "smtp_host: mail needs mail_from, the address that it is sent from"
    if values.get("public_url") is None:
        yield "smtp_host: mail needs public_url, which its links begin with"
    if (user is None) != (values.get("smtp_password") is None):
        yield "smtp_user: a login needs smtp_user and smtp_password"
    if user is not None and values.get("smtp_tls") == "none" and host not in {"localhost", "127.0.0.1", "::1"}:
        yield "smtp_tls: none would send smtp_password in the clear"


def _read_toml(path: Path, problems: list[str]) -> dict[str, object]:
    """Read a TOML file; an unreadable file adds a problem and is empty."""
    try:
        import tomllib  # noqa: PLC0415 not without a file

        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        problems.append(f"config: cannot read {path}: {error.strerror}")
    except ValueError as error:
        problems.append(f"config: {path} is no TOML: {error}")
    return {}


def _suggestion(key: str, known: Mapping[str, object]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415 not without a mistake

    close = get_close_matches(key, known, n=1)
    return f"; did you mean {close[0]}?" if close else ""


def _parse(setting: Setting, value: Any, *, text: bool) -> Any:
    """Convert a source's value to the setting's type; `text` for sources that have only text. Raises ValueError."""
    if text and setting.nullable and value == "":
        return None
    raw = value
    if setting.name == "registration":
        # It was a switch once.
        raw = _SWITCH.get(str(value).lower(), value)
    if text and setting.repeated:
        raw = [item.strip() for item in value.split(",") if item.strip()]
    elif text and setting.boolean:
        raw = _WORDS.get(value.lower(), value)
    try:
        parsed = msgspec.convert(raw, setting.kind, strict=not text, dec_hook=_to_path)
    except msgspec.ValidationError as error:
        raise ValueError(_error_text(setting, error, value)) from None
    check = _CHECKS.get(setting.name)
    if check is not None and parsed is not None:
        check(parsed)
    return parsed


_STYLE_SHEET_BYTES = 100_000
_ICON_BYTES = 1_000_000
_ICON_TYPES = ((b"\x89PNG\r\n\x1a\n", "image/png"), (b"\xff\xd8\xff", "image/jpeg"), (b"GIF8", "image/gif"))
_ADDRESS = re.compile(r"(?:\[(?P<bracketed>[0-9A-Fa-f:.%]+)\]|(?P<host>[^\s:\[\]]+)):(?P<port>[0-9]{1,5})")
_TOKEN = re.compile(r"[!-~]{16,}")
_SWITCH = {"true": "open", "false": "closed"}
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _error_text(setting: Setting, error: msgspec.ValidationError, value: object) -> str:
    """The error of msgspec without Python's terms, with the value unless that is secret."""
    kind = get_args(setting.kind)[0]
    if setting.boolean:
        words = "Expected true or false"
    elif get_origin(kind) is Literal:
        words = f"Expected {', '.join(get_args(kind)[:-1])} or {get_args(kind)[-1]}"
    else:
        words = re.sub(r", got .*", "", str(error).split(" - at ", 1)[0]).replace("`", "")
        words = words.replace(" | null", "").replace("int", "a whole number").replace("str", "text")
    return words if setting.name in _SECRETS else f"{words}, not {value!r}"


def _to_path(kind: type, value: object) -> object:
    if kind is Path and isinstance(value, str) and value:
        return Path(value).expanduser()
    raise ValueError("Expected a path")


def _check_networks(texts: tuple[str, ...]) -> None:
    for text in texts:
        try:
            ipaddress.ip_network(text, strict=False)
        except ValueError:
            raise ValueError(f"Expected addresses or networks, like 10.0.0.0/8; not {text!r}") from None


def _check_domains(texts: tuple[str, ...]) -> None:
    for text in texts:
        try:
            normalised = str(EmailAddress.from_wire(f"x@{text}")).removeprefix("x@")
        except ValueError:
            normalised = None
        if normalised != text:
            raise ValueError(f"Expected domains in lower case, in Punycode, like example.org; not {text!r}")


def _check_hosts(texts: tuple[str, ...]) -> None:
    for text in texts:
        if urlsplit(f"https://{text}").hostname != text:
            raise ValueError(f"Expected hosts in lower case, without a port, like login.example.org; not {text!r}")


def _check_features(texts: tuple[str, ...]) -> None:
    for text in texts:
        if text not in ALL_FEATURES or text in CHANGEABLE:
            granted = ", ".join(sorted(ALL_FEATURES - CHANGEABLE.keys()))
            raise ValueError(f"Expected features that guilds cannot choose themselves: {granted}; not {text!r}")


def split_address(text: str) -> tuple[str, int]:
    """Split `host:port`, with an IPv6 address in brackets. Raises ValueError."""
    match = _ADDRESS.fullmatch(text)
    if match is None or int(match["port"]) > 65535:
        raise ValueError(f"Expected host:port, like 127.0.0.1:9100; not {text!r}")
    return match["bracketed"] or match["host"], int(match["port"])


def _check_ip_address(text: str) -> None:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        raise ValueError(f"Expected an IP address, like 203.0.113.7; not {text!r}") from None


def _check_token(text: str) -> None:
    if not _TOKEN.fullmatch(text):
        raise ValueError("Expected at least 16 letters, digits and signs of ASCII, without spaces")


def _check_key(text: str) -> None:
    for part in text.split(","):
        try:
            size = len(base64.b64decode(part.strip(), validate=True))
        except binascii.Error:
            size = 0
        if size != 32:
            raise ValueError("Expected base64 of 32 bytes")


def _check_push_key(text: str) -> None:
    try:
        size = len(base64.urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except binascii.Error:
        size = 0
    if size != 32:
        raise ValueError("Expected a key of `moothall push-key`")


def _check_style_sheet(path: Path | None) -> None:
    try:
        large = path is not None and path.stat().st_size > _STYLE_SHEET_BYTES
    except OSError as error:
        raise ValueError(f"Expected a file that can be read: {error}") from None
    if large:
        raise ValueError(f"Expected a style sheet of at most {_STYLE_SHEET_BYTES} bytes")


def _check_icon(path: Path | None) -> None:
    try:
        data = b"" if path is None else path.read_bytes()
    except OSError as error:
        raise ValueError(f"Expected a file that can be read: {error}") from None
    if path is not None and (len(data) > _ICON_BYTES or icon_type(data) is None):
        raise ValueError(f"Expected a PNG, JPEG, GIF or WebP of at most {_ICON_BYTES} bytes")


def icon_type(data: bytes) -> str | None:
    """The media type of a picture, by how its file begins; None for any other file."""
    if data[:4] == b"RIFF" and data[8:12] == b"WEBP":
        return "image/webp"
    return next((kind for start, kind in _ICON_TYPES if data.startswith(start)), None)


def _check_contact(text: str) -> None:
    if not text.isprintable() or not text.startswith(("mailto:", "https://")):
        raise ValueError("Expected a URL that starts with mailto: or https://")


def _check_address(text: str) -> None:
    try:
        address = EmailAddress.from_wire(text)
    except ValueError:
        raise ValueError(f"Expected an email address, like hall@example.org; not {text!r}") from None
    if str(address) != text or not text.isascii():
        # Only few mail servers take others as a sender.
        raise ValueError(f"Expected an email address in ASCII, like hall@example.org; not {text!r}")


def _url(*schemes: str) -> Callable[[str], None]:
    def check(text: str) -> None:
        parts = urlsplit(text)
        # A file and a database behind a socket have no host.
        access = parts.netloc or (parts.scheme not in {"http", "https"} and parts.path.strip("/"))
        # Splitting drops line breaks and tabs, and what stays in the setting would go into headers.
        one_line = text.isprintable() and " " not in parts.netloc
        if not (one_line and access and text.startswith(tuple(f"{scheme}://" for scheme in schemes))):
            raise ValueError(f"Expected a URL that starts with {' or '.join(f'{scheme}://' for scheme in schemes)}")

    return check


def _activities_url(text: str) -> None:
    _url("http", "https")(text)
    parts = urlsplit(text)
    if parts.path.strip("/") or parts.query or not parts.hostname or parts.hostname.replace(".", "").isdigit():
        raise ValueError(f"Expected a URL of a host name alone, like https://activities.example.net; not {text!r}")


_CHECKS: dict[str, Callable[[Any], object]] = {
    "database_url": _url("postgresql", "postgres", "sqlite"),
    "nats_url": _url("nats", "tls"),
    "blob_url": _url("file", "s3", "gs", "az"),
    "public_url": _url("http", "https"),
    "link_previews_proxy_url": _url("http"),
    "activities_url": _activities_url,
    "gateway_url": _url("ws", "wss"),
    "voice_address": _check_ip_address,
    "voice_endpoint": split_address,
    "metrics_listen": split_address,
    "metrics_token": _check_token,
    "secret_key": _check_key,
    "push_private_key": _check_push_key,
    "push_contact": _check_contact,
    "security_contact": _check_contact,
    "theme_css": _check_style_sheet,
    "instance_icon": _check_icon,
    "trusted_proxies": _check_networks,
    "registration_blocked_networks": _check_networks,
    "registration_domains": _check_domains,
    "blocked_address_domains": _check_domains,
    "private_provider_hosts": _check_hosts,
    "mail_from": _check_address,
    "guild_features": _check_features,
}
"""Validators beyond the types; each raises ValueError."""
