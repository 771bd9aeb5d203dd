"""The settings in force: those of the configuration, and in their place what operators have changed."""

import logging
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec import structs

from moothall.api.context import Limits, Services
from moothall.resources.mail.sender import MailSender
from moothall.resources.server_setting import mail
from moothall.resources.server_setting.queries import SettingRow, select_settings
from moothall.runtime.background import PeriodicTask
from moothall.runtime.secrets import SecretUnreadable
from moothall.storage.database import Reader

_SECONDS: Final = 2.0
"""How soon a change that another process has made is in force."""
_MEGABYTE: Final = 1_000_000

_TO_LIMITS: Final[Mapping[str, Callable[[Any], Mapping[str, object]]]] = {
    "registration_domains": lambda value: {"registration_domains": tuple(value)},
    "blocked_usernames": lambda value: {"blocked_usernames": tuple(value)},
    "blocked_address_domains": lambda value: {"blocked_address_domains": tuple(value)},
    "storage_quota_mb_per_user": lambda value: {"storage_quota_bytes": value * _MEGABYTE},
}
"""Settings that `Limits` has in another form."""
NAMES: Final = (
    "instance_name",
    "instance_icon",
    "instance_description",
    "discovery",
    "registration",
    "registration_domains",
    "registration_proof_of_work",
    "blocked_usernames",
    "blocked_address_domains",
    "password_min_score",
    "factor_recovery_days",
    "account_deletion_days",
    "guild_deletion_days",
    "storage_quota_mb_per_user",
    "storage_quota_mb_per_guild",
    "guilds_per_user",
    "members_per_guild",
    "message_requests",
    *mail.NAMES,
)

log = logging.getLogger("moothall")


def value_of(limits: Limits, name: str) -> Any:
    """The value of a setting that is none of mail, as JSON has it."""
    if name == "storage_quota_mb_per_user":
        return limits.storage_quota_bytes // _MEGABYTE
    value = getattr(limits, name)
    return list(value) if isinstance(value, tuple) else value


class RunningSettings(PeriodicTask):
    """Keeps `Services.limits` as operators have changed them, also by other processes."""

    def __init__(self, services: Services) -> None:
        super().__init__(seconds=_SECONDS)
        self._services = services
        self.configured = services.limits
        """What the server was started with."""
        self.configured_mail = services.resources[MailSender].config
        self._applied: dict[str, str] = {}

    def configured_value(self, name: str) -> Any:
        """The value of a setting that the server was started with, as JSON has it; a password as stars."""
        if name in mail.NAMES:
            return mail.mail_values({}, self.configured_mail)[name]
        return value_of(self.configured, name)

    async def load(self, reader: Reader | None = None) -> None:
        """Read the changed settings, and apply them."""
        if reader is not None:
            self.apply(await select_settings(reader))
            return
        async with self._services.database.read() as opened:
            self.apply(await select_settings(opened))

    def apply(self, rows: Iterable[SettingRow]) -> None:
        """Let the changed settings be those of `rows`. Names of other versions are left out."""
        present = {row.name: row.value for row in rows if row.name in NAMES}
        if present == self._applied:
            return
        ended = self._applied.keys() - present.keys()
        changes: dict[str, object] = {}
        if any(present.get(name) != self._applied.get(name) for name in mail.NAMES):
            self._apply_mail({name: msgspec.json.decode(present[name]) for name in mail.NAMES if name in present})
        for name in ended - set(mail.NAMES):
            changes |= _limits_of(name, value_of(self.configured, name))
        for name, text in present.items():
            if name not in mail.NAMES:
                changes |= _limits_of(name, msgspec.json.decode(text))
        self._applied = present
        self._services.limits = structs.replace(self._services.limits, **changes)

    def _apply_mail(self, changed: Mapping[str, object]) -> None:
        """Send mail by the host that operators have set, or again by that of the configuration."""
        services, sender = self._services, self._services.resources[MailSender]
        if "smtp_host" not in changed:
            sender.config = self.configured_mail
            return
        values = mail.mail_values(changed, self.configured_mail)
        try:
            sender.config = mail.mail_config(
                values, services.box, public_url=services.limits.public_url, seconds=sender.seconds_each
            )
        except SecretUnreadable as error:
            log.warning("no mail is sent, as its password cannot be read: %s", error)
            sender.config = None

    async def _round(self) -> bool:
        await self.load()
        return False


def _limits_of(name: str, value: object) -> Mapping[str, object]:
    convert = _TO_LIMITS.get(name)
    return {name: value} if convert is None else convert(value)
