"""Enabling Activities, and changing their settings and URL mappings."""

from typing import Any

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.activity import ApplicationProxyConfig, EmbeddedActivityConfig
from moothall.objects.application import ApplicationFlags
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId
from moothall.objects.url_mapping import has_parameters
from moothall.objects.wire import to_plain
from moothall.resources.application import queries
from moothall.resources.application.embedded_activity.objects import activity_config, stored_config
from moothall.resources.application.embedded_activity.requests import ModifyEmbeddedActivityConfig, ModifyProxyConfig
from moothall.resources.application.operations import APPLICATION_CHANGED
from moothall.resources.application.queries import ApplicationRow
from moothall.runtime.outgoing import OutgoingFailed, checked_url


async def set_embedded(ctx: Context, application_id: ApplicationId, *, embedded: bool) -> None:
    """Give an application an Activity, or take it away, which ends its instances. The rows declare the hook's events.

    Setting what is set changes nothing. Raises Refusal: 404/10002.
    """
    row = await _lock(ctx, application_id)
    flags = row.flags | ApplicationFlags.EMBEDDED if embedded else row.flags & ~ApplicationFlags.EMBEDDED
    await _update(ctx, row, {"flags": flags})


async def modify_activity_config(
    ctx: Context, application_id: ApplicationId, body: ModifyEmbeddedActivityConfig
) -> EmbeddedActivityConfig:
    """Change the settings of an Activity, and with them whether it is released. Raises Refusal: 404/10002."""
    row = await _lock(ctx, application_id)
    changes = {name: value for name, value in structs.asdict(body).items() if value is not UNSET}
    if changes.get("supported_platforms", UNSET) is None:
        changes["supported_platforms"] = []
    stored: dict[str, Any] = (row.embedded_activity_config or {}) | to_plain(changes)
    released = stored_config(stored).is_released
    flag = ApplicationFlags.EMBEDDED_RELEASED
    flags = row.flags | flag if released else row.flags & ~flag
    return activity_config(await _update(ctx, row, {"embedded_activity_config": stored, "flags": flags}))


async def modify_proxy_config(
    ctx: Context, application_id: ApplicationId, body: ModifyProxyConfig
) -> ApplicationProxyConfig:
    """Replace the URL mappings of an application.

    Raises Refusal: 404/10002, and 50035 for a target that is not public unless the operator allows private ones. That
    looks up no name: the proxy checks the addresses that names resolve to.
    """
    row = await _lock(ctx, application_id)
    mappings = body.mappings()
    form_errors = FormErrors()
    for index, mapping in enumerate(mappings):
        if has_parameters(mapping.target):
            continue
        try:
            checked_url(f"https://{mapping.target}", allow_private=ctx.services.limits.allow_private_addresses)
        except OutgoingFailed as problem:
            form_errors.add(("url_map", index, "target"), FormCode.BASE_TYPE_BAD_TYPE, str(problem))
    form_errors.raise_if_any()
    await _update(ctx, row, {"proxy_url_map": to_plain(mappings)})
    return ApplicationProxyConfig(mappings)


async def _lock(ctx: Context, application_id: ApplicationId) -> ApplicationRow:
    row = await queries.lock_application(ctx.tx, application_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    return row


async def _update(ctx: Context, row: ApplicationRow, values: dict[str, Any]) -> ApplicationRow:
    changes = {name: value for name, value in values.items() if getattr(row, name) != value}
    if not changes:
        return row
    await queries.update_application(ctx.tx, row.id, **changes)
    after = structs.replace(row, **changes)
    await APPLICATION_CHANGED(ctx, after)
    return after
