"""Verify an interactions endpoint: it responds to a signed PING, and refuses one with an invalid signature."""

import secrets
from typing import Final

import msgspec

from moothall.api.context import Services
from moothall.objects.interaction import CallbackType, InteractionType
from moothall.objects.wire import encode
from moothall.resources.application.endpoint_requests import NO_RESPONSE, RESPONSE_SECONDS, signed_headers
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.interaction.operations.deliver import Deliveries
from moothall.runtime.outgoing import OutgoingFailed, OutgoingResponse, UrlRefused

_MAX_RESPONSE_BYTES: Final = 65_536
_OK, _UNAUTHORIZED = 200, 401


class _Response(msgspec.Struct):
    """The response to a PING."""

    type: int


async def verify_endpoint(services: Services, application: ApplicationRow, url: str) -> str | None:
    """Verify an endpoint with two requests; a sentence that says what is wrong, or None."""
    body = encode(
        {
            "app_permissions": "0",
            "application_id": str(int(application.id)),
            "authorizing_integration_owners": {},
            "entitlements": [],
            "id": str(int(services.ids.next())),
            "token": secrets.token_urlsafe(48),
            "type": int(InteractionType.PING),
            "version": 1,
        }
    )
    try:
        response = await _post(services, application, url, body, invalid_signature=False)
        if response.status != _OK or not _is_pong(response.body):
            return 'It must answer a signed PING with 200 and {"type": 1}.'
        response = await _post(services, application, url, body, invalid_signature=True)
        if response.status != _UNAUTHORIZED:
            return "It must answer a PING whose signature is wrong with 401."
    except UrlRefused as problem:
        return str(problem)
    except OutgoingFailed:
        return NO_RESPONSE
    return None


async def _post(
    services: Services, application: ApplicationRow, url: str, body: bytes, *, invalid_signature: bool
) -> OutgoingResponse:
    headers = signed_headers(services, application, body, invalid_signature=invalid_signature)
    outgoing = services.resources[Deliveries].outgoing
    return await outgoing.post(url, body, headers, seconds=RESPONSE_SECONDS, maximum=_MAX_RESPONSE_BYTES)


def _is_pong(body: bytes) -> bool:
    try:
        return msgspec.json.decode(body, type=_Response).type == CallbackType.PONG
    except (msgspec.ValidationError, msgspec.DecodeError):
        return False
