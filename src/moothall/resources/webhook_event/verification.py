"""Verify the URL for webhook events: it acknowledges a signed PING, and refuses one with an invalid signature."""

from typing import Final

from moothall.api.context import Services
from moothall.objects.webhook_event import WebhookEventPayload, WebhookType
from moothall.objects.wire import encode
from moothall.resources.application.endpoint_requests import NO_RESPONSE, RESPONSE_SECONDS, signed_headers
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.webhook_event.sender import WebhookEventSender
from moothall.runtime.outgoing import OutgoingFailed, UrlRefused

_MAX_RESPONSE_BYTES: Final = 65_536
_NO_CONTENT, _UNAUTHORIZED = 204, 401


async def verify_event_webhook(services: Services, application: ApplicationRow, url: str) -> str | None:
    """Verify a URL with two requests; a sentence that says what is wrong, or None."""
    body = encode(WebhookEventPayload(application_id=application.id, type=WebhookType.PING))

    async def ping(*, invalid_signature: bool) -> int:
        headers = signed_headers(services, application, body, invalid_signature=invalid_signature)
        outgoing = services.resources[WebhookEventSender].outgoing
        response = await outgoing.post(url, body, headers, seconds=RESPONSE_SECONDS, maximum=_MAX_RESPONSE_BYTES)
        return response.status

    try:
        if await ping(invalid_signature=False) != _NO_CONTENT:
            return "It must answer a signed PING with 204."
        if await ping(invalid_signature=True) != _UNAUTHORIZED:
            return "It must answer a PING whose signature is wrong with 401."
    except UrlRefused as problem:
        return str(problem)
    except OutgoingFailed:
        return NO_RESPONSE
    return None
