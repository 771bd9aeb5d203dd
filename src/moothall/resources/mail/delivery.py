"""Delivers one mail by SMTP, within a bounded time, whatever the mail server does."""

import asyncio
import re
from contextlib import suppress
from email.message import EmailMessage
from typing import TYPE_CHECKING, Any, Final

from moothall.resources.mail.config import MailConfig
from moothall.runtime.lifecycle import Lazy

if TYPE_CHECKING:
    import ssl

_ERROR_MAX: Final = 300
_LINK: Final = re.compile(r"https?://\S+")


class DeliveryFailed(Exception):
    """The mail was not taken. The message says why, in one line and without links.

    `permanent` is True where a further attempt cannot end otherwise, because the mail server refuses the recipient.
    """

    def __init__(self, reason: str, *, permanent: bool = False) -> None:
        # A mail server may repeat what it refuses, and a link in it is a secret.
        line = _LINK.sub("(link)", " ".join(reason.split())).replace("\0", "\ufffd")
        super().__init__(line.encode("utf-8", "replace").decode()[:_ERROR_MAX])
        self.permanent = permanent


def _load() -> "tuple[Any, ssl.SSLContext]":
    # The client takes 60 ms to import and the certificates of the system 20 ms, which few servers need.
    import ssl  # noqa: PLC0415

    import aiosmtplib  # noqa: PLC0415

    return aiosmtplib, ssl.create_default_context()


_LOADED: Final = Lazy(_load)


async def deliver(config: MailConfig, message: EmailMessage, address: str) -> str:
    """Hand a message for `address` to the mail server; return what it answered. Raises DeliveryFailed.

    The connection is encrypted as the settings say and the server's certificate verified, before anything is sent that
    is not public. A server that does not offer STARTTLS gets nothing.
    """
    aiosmtplib, context = await _LOADED.get()
    client = aiosmtplib.SMTP(
        hostname=config.host,
        port=config.port,
        use_tls=config.tls == "tls",
        start_tls=config.tls == "starttls",
        tls_context=None if config.tls == "none" else context,
        username=config.user,
        password=config.password,
        timeout=config.seconds,
        # Otherwise the name of this machine is looked up, on the event loop.
        local_hostname=config.domain,
    )
    try:
        # The client's own limit is for each command: a server could answer line by line for ever.
        async with asyncio.timeout(config.seconds):
            await client.connect()
            answer: str = (await client.send_message(message, sender=config.sender, recipients=[address]))[1]
    except TimeoutError:
        raise DeliveryFailed(f"{config.where} did not answer within {config.seconds:.0f} seconds") from None
    except aiosmtplib.SMTPRecipientsRefused as error:
        refusal = error.recipients[0]
        text = f"the address was refused: {refusal.code} {refusal.message}"
        raise DeliveryFailed(text, permanent=refusal.code >= 500) from None
    except aiosmtplib.SMTPAuthenticationError as error:
        raise DeliveryFailed(f"{config.where} refused the login: {error.code} {error.message}") from None
    except aiosmtplib.SMTPException as error:
        raise DeliveryFailed(f"{config.where}: {error}") from None
    except (OSError, ValueError) as error:
        raise DeliveryFailed(f"{config.where}: {error}") from None
    finally:
        with suppress(Exception):
            client.close()
    return " ".join(answer.split())[:_ERROR_MAX]
