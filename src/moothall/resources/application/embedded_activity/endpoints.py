"""The Activity of an application over HTTP (resources: application)."""

from moothall.api.context import Context
from moothall.api.endpoint import get, patch, post
from moothall.objects.activity import ApplicationProxyConfig, EmbeddedActivityConfig
from moothall.objects.ids import ApplicationId
from moothall.resources.application.access import OWNER, READER, requested_application
from moothall.resources.application.embedded_activity import operations
from moothall.resources.application.embedded_activity.objects import activity_config, url_mappings
from moothall.resources.application.embedded_activity.requests import (
    ModifyEmbeddedActivityConfig,
    ModifyProxyConfig,
    SetEmbedded,
)
from moothall.resources.application.operations import APPLICATION_CHANGED

_APPLICATION = "/applications/{application_id}"


@post(f"{_APPLICATION}/set-embedded", permission=OWNER, fires=(APPLICATION_CHANGED,))
async def set_application_embeddability(ctx: Context, application_id: ApplicationId, body: SetEmbedded) -> None:
    """Enable or disable Activities for an application. The first time makes its command `Launch`."""
    await operations.set_embedded(ctx, application_id, embedded=body.embedded)


@get(f"{_APPLICATION}/embedded-activity-config", permission=READER)
async def get_embedded_activity_config(ctx: Context, application_id: ApplicationId) -> EmbeddedActivityConfig:
    """Get the settings of an application's Activity."""
    return activity_config(requested_application(ctx))


@patch(f"{_APPLICATION}/embedded-activity-config", permission=OWNER, fires=(APPLICATION_CHANGED,))
async def modify_embedded_activity_config(
    ctx: Context, application_id: ApplicationId, body: ModifyEmbeddedActivityConfig
) -> EmbeddedActivityConfig:
    """Change the settings of an application's Activity. Until it is released it is for its owner and team."""
    return await operations.modify_activity_config(ctx, application_id, body)


@get(f"{_APPLICATION}/proxy-config", permission=READER)
async def get_application_proxy_config(ctx: Context, application_id: ApplicationId) -> ApplicationProxyConfig:
    """Get the URL mappings of an application."""
    return ApplicationProxyConfig(url_mappings(requested_application(ctx)))


@post(f"{_APPLICATION}/proxy-config", permission=OWNER, fires=(APPLICATION_CHANGED,))
async def modify_application_proxy_config(
    ctx: Context, application_id: ApplicationId, body: ModifyProxyConfig
) -> ApplicationProxyConfig:
    """Replace the URL mappings of an application; the one with the longest fitting prefix decides."""
    return await operations.modify_proxy_config(ctx, application_id, body)
