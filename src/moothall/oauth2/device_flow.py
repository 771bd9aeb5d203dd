"""Authorizing devices without a browser: the device authorization grant (RFC 8628)."""

from typing import Annotated, Final, Literal
from urllib.parse import urlencode

from msgspec import Meta, Struct

from moothall.api.context import Context
from moothall.oauth2.client_authentication import Client, ClientRequest
from moothall.oauth2.oauth_errors import INVALID_SCOPE, OAuthRefusal
from moothall.objects.ids import ApplicationId
from moothall.objects.scopes import GRANTABLE_SCOPES, INSTALL_SCOPES, WEBHOOK, read_scopes
from moothall.resources.application.authorization.operations import (
    DEVICE_SECONDS,
    POLL_SECONDS,
    DeviceStatus,
    find_device_code,
    issue_device_codes,
)

DEVICE_PATH: Final = "/activate"
"""The page where users enter the code of a device."""
_SCOPES: Final = GRANTABLE_SCOPES - {*INSTALL_SCOPES, WEBHOOK}
"""The scopes that need no choice of a guild or channel, which a device cannot show."""
USER_CODE_MAX: Final = 32

UserCode = Annotated[str, Meta(max_length=USER_CODE_MAX)]


class DeviceRequest(ClientRequest, frozen=True, kw_only=True):
    """The form with which a device asks for codes."""

    scope: str | None = None


class DeviceAuthorization(Struct, frozen=True, kw_only=True):
    """The codes of a device, and where its user enters one of them."""

    device_code: str
    user_code: str
    verification_uri: str
    verification_uri_complete: str
    """The same address with the code in it, for a link or a QR code."""
    expires_in: int = DEVICE_SECONDS
    """Seconds after which both codes expire."""
    interval: int = POLL_SECONDS
    """Seconds to wait between two polls."""


class VerifyDeviceFlow(Struct, frozen=True):
    """The code that a device shows."""

    user_code: UserCode


class FinishDeviceFlow(Struct, frozen=True):
    """The code that a device shows, and its user's answer."""

    user_code: UserCode
    result: Literal["granted", "denied"]


class DeviceFlow(Struct, frozen=True, kw_only=True):
    """What a device asks for, and whether its user has answered. Accounts are not linked in two ways here."""

    client_id: ApplicationId
    scopes: list[str]
    type: str
    two_way_link_code: None = None


async def authorize_device(ctx: Context, client: Client, body: DeviceRequest) -> DeviceAuthorization:
    """Issue the codes of a device. Raises OAuthRefusal 400 invalid_scope."""
    scopes = read_scopes(body.scope or "")
    if not scopes:
        raise OAuthRefusal(INVALID_SCOPE, "scope is required")
    if refused := [scope for scope in scopes if scope not in _SCOPES]:
        raise OAuthRefusal(INVALID_SCOPE, f"Not given to a device: {' '.join(refused)[:100]}")
    codes = await issue_device_codes(ctx, client.application.id, scopes)
    page = f"{ctx.services.limits.public_url}{DEVICE_PATH}"
    return DeviceAuthorization(
        device_code=codes.device_code,
        user_code=codes.user_code,
        verification_uri=page,
        verification_uri_complete=f"{page}?{urlencode({'user_code': codes.user_code})}",
    )


async def show_device_flow(ctx: Context, user_code: str) -> DeviceFlow:
    """What a device asks for. Raises Refusal 50035 for a code that is unknown or has expired."""
    row = await find_device_code(ctx, user_code)
    return DeviceFlow(
        client_id=row.application_id, scopes=row.scopes.split(), type=DeviceStatus(row.status).name.lower()
    )
