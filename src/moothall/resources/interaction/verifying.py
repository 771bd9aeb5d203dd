"""Whether an address is an interactions endpoint: it answers a signed PING, and refuses one that is signed wrongly."""

import secrets
from typing import Final

import msgspec

from moothall.kernel.context import Services
from moothall.kernel.outgoing import OutgoingAnswer, OutgoingFailed, UrlRefused
from moothall.objects.wire import encode
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.interaction.delivery import SECONDS, Deliveries, signed_headers

_PING: Final = 1
_MAX: Final = 65_536
_OK, _UNAUTHORIZED = 200, 401
_UNANSWERED: Final = "It gave no answer in time, or its address is not a public one."
"""One sentence for every failure to get an answer: more would let users map the operator's network, port by port."""


class _Answer(msgspec.Struct):
    """What a PING is answered with."""

    type: int


async def verify(services: Services, application: ApplicationRow, url: str) -> str | None:
    """What is wrong with an endpoint, in words; None for one that does what it must."""
    body = encode(
        {
            "app_permissions": "0",
            "application_id": str(int(application.id)),
            "authorizing_integration_owners": {},
            "entitlements": [],
            "id": str(int(services.ids.next())),
            "token": secrets.token_urlsafe(48),
            "type": _PING,
            "version": 1,
        }
    )
    try:
        answer = await _post(services, application, url, body, spoil=False)
        if answer.status != _OK or not _is_pong(answer.body):
            return 'It must answer a signed PING with 200 and {"type": 1}.'
        answer = await _post(services, application, url, body, spoil=True)
        if answer.status != _UNAUTHORIZED:
            return "It must answer a PING whose signature is wrong with 401."
    except UrlRefused as problem:
        return str(problem)
    except OutgoingFailed:
        return _UNANSWERED
    return None


async def _post(
    services: Services, application: ApplicationRow, url: str, body: bytes, *, spoil: bool
) -> OutgoingAnswer:
    headers = signed_headers(services, application, body, spoil=spoil)
    return await Deliveries.of(services).outgoing.post(url, body, headers, seconds=SECONDS, maximum=_MAX)


def _is_pong(body: bytes) -> bool:
    try:
        return msgspec.json.decode(body, type=_Answer).type == _PING
    except (msgspec.ValidationError, msgspec.DecodeError):
        return False
