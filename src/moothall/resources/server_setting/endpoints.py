"""Settings that change while the server runs, over HTTP."""

from typing import Any

import msgspec
from msgspec import Struct

from moothall.api.context import Context
from moothall.api.endpoint import get, patch
from moothall.api.operators import may_act, may_read
from moothall.objects.ids import UserId
from moothall.objects.operator import OperatorPermission
from moothall.objects.wire import Timestamp
from moothall.resources.server_setting import operations, queries
from moothall.resources.server_setting.requests import ModifyServerSettings
from moothall.resources.server_setting.running import NAMES, RunningSettings, value_of


class ServerSetting(Struct, frozen=True):
    """A setting: its value, that of the configuration, and who has changed it."""

    name: str
    value: Any
    configured: Any
    changed_at: Timestamp | None
    changed_by: UserId | None
    """Null if it is as configured, and if a command has changed it."""


@get("/admin/v1/settings", permission=may_read(OperatorPermission.SETTINGS))
async def list_server_settings(ctx: Context) -> list[ServerSetting]:
    """List the settings that can change while the server runs, with their values."""
    return await _settings(ctx)


@patch("/admin/v1/settings", permission=may_act(OperatorPermission.SETTINGS), audit_reason=True)
async def modify_server_settings(ctx: Context, body: ModifyServerSettings) -> list[ServerSetting]:
    """Change settings, in force at once; null brings back the configuration's value."""
    await operations.modify_settings(ctx, body)
    return await _settings(ctx)


async def _settings(ctx: Context) -> list[ServerSetting]:
    rows = {row.name: row for row in await queries.select_settings(ctx.tx)}
    configured = ctx.services.resources[RunningSettings].configured
    return [
        ServerSetting(
            name=name,
            value=msgspec.json.decode(row.value) if row is not None else value_of(configured, name),
            configured=value_of(configured, name),
            changed_at=None if row is None else row.changed_at,
            changed_by=None if row is None else row.changed_by,
        )
        for name in NAMES
        for row in [rows.get(name)]
    ]
