"""The settings in force: those of the configuration, and in their place what operators have changed."""

from collections.abc import Callable, Iterable, Mapping
from typing import Any, Final

import msgspec
from msgspec import structs

from moothall.api.context import Limits, Services
from moothall.resources.server_setting.queries import SettingRow, select_settings
from moothall.runtime.background import PeriodicTask
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
    "instance_description",
    "registration",
    "registration_domains",
    "blocked_usernames",
    "blocked_address_domains",
    "password_min_score",
    "account_deletion_days",
    "guild_deletion_days",
    "storage_quota_mb_per_user",
    "message_requests",
)


def value_of(limits: Limits, name: str) -> Any:
    """The value of a setting, as JSON has it."""
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
        self._applied: dict[str, str] = {}

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
        for name in ended:
            changes |= _limits_of(name, value_of(self.configured, name))
        for name, text in present.items():
            changes |= _limits_of(name, msgspec.json.decode(text))
        self._applied = present
        self._services.limits = structs.replace(self._services.limits, **changes)

    async def _round(self) -> bool:
        await self.load()
        return False


def _limits_of(name: str, value: object) -> Mapping[str, object]:
    convert = _TO_LIMITS.get(name)
    return {name: value} if convert is None else convert(value)
