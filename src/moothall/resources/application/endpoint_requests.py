"""Sign requests to the endpoints of an application (interactions: overview, security; events: webhook events)."""

from typing import Final

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from moothall.api.context import Services
from moothall.objects.clock import CLOCK
from moothall.resources.application.queries import ApplicationRow

RESPONSE_SECONDS: Final = 3.0
"""How long an application has for its response, in seconds."""

NO_RESPONSE: Final = "It gave no answer in time, or its address is not a public one."
"""One sentence for every failure to get an answer: more would let users map the operator's network, port by port."""


def signed_headers(
    services: Services, application: ApplicationRow, body: bytes, *, invalid_signature: bool = False
) -> dict[str, str]:
    """The headers of a request: the time in Unix seconds, and the Ed25519 signature of the time with the body.

    `invalid_signature` makes a signature that every endpoint must refuse.
    """
    timestamp = str(int(CLOCK.now()))
    signature = signing_key(services, application).sign(
        timestamp.encode() + body + (b" " if invalid_signature else b"")
    )
    return {
        "content-type": "application/json",
        "x-signature-ed25519": signature.hex(),
        "x-signature-timestamp": timestamp,
    }


def signing_key(services: Services, application: ApplicationRow) -> Ed25519PrivateKey:
    """The private key of an application, whose public part is its `verify_key`."""
    about = b"application %d" % application.id
    return Ed25519PrivateKey.from_private_bytes(services.box.decrypt(application.private_key, about=about))
