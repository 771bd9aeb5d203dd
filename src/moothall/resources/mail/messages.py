"""What mails say, in English and German, and how they look: plain text, and the same as HTML."""

from datetime import UTC, datetime
from email.message import EmailMessage
from email.policy import SMTP
from email.utils import format_datetime, formataddr
from enum import StrEnum
from functools import cache
from html import escape
from importlib import resources
from typing import Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct

from moothall.objects.locales import preferred_locale
from moothall.objects.wire import Timestamp
from moothall.resources.mail.config import MailConfig

ENGLISH: Final = "en"
LANGUAGES: Final = frozenset({ENGLISH, "de"})
_NAME: Final = "Moothall"


class MailKind(StrEnum):
    """The mails that there are. The values are stored."""

    VERIFY_ADDRESS = "verify_address"
    RESET_PASSWORD = "reset_password"  # noqa: S105 a kind
    ADDRESS_IN_USE = "address_in_use"
    NEW_LOGIN = "new_login"
    ADDRESS_CHANGED = "address_changed"
    PASSWORD_CHANGED = "password_changed"  # noqa: S105 a kind
    MFA_ENABLED = "mfa_enabled"
    MFA_DISABLED = "mfa_disabled"
    TOTP_DISABLED = "totp_disabled"
    PASSKEY_ADDED = "passkey_added"
    PASSKEY_REMOVED = "passkey_removed"
    RECOVERY_REQUESTED = "recovery_requested"
    RECOVERY_CALLED_OFF = "recovery_called_off"
    BACKUP_CODES_KEY = "backup_codes_key"
    BACKUP_CODES_CHANGED = "backup_codes_changed"
    WRONG_CODES = "wrong_codes"
    INVITATION = "invitation"
    LOGIN_LINKED = "login_linked"
    ACCOUNT_APPROVED = "account_approved"
    REPORT_CLOSED = "report_closed"
    TOKEN_POSTED = "token_posted"  # noqa: S105 a kind
    TEST = "test"


class Text(Struct, frozen=True, forbid_unknown_fields=True):
    """The text of a mail. `{name}` and the like stand for the values that it is sent with."""

    subject: str
    paragraphs: tuple[str, ...]
    action: str | None = None
    """The label of the link, which stands after the first paragraph; None for a mail without a link."""


_GREETING: Final = {ENGLISH: "Hello,", "de": "Hallo,"}
_FOOTER: Final = {
    ENGLISH: "Sent by {site} ({url}). Answers to this address are not read.",
    "de": "Gesendet von {site} ({url}). Antworten an diese Adresse werden nicht gelesen.",
}
_LINK_HINT: Final = {
    ENGLISH: "If the button does not work, open this address:",
    "de": "Wenn die Schaltfläche nicht geht, öffne diese Adresse:",
}
_ACTION_AFTER: Final = {MailKind.ADDRESS_IN_USE: 2}
"""After how many paragraphs the link stands, other than one."""

_PAGE: Final = """\
<!doctype html>
<html lang="{language}">
<head><meta charset="utf-8"><meta name="color-scheme" content="light dark"><title>{subject}</title></head>
<body style="margin:0;padding:24px;font:16px/1.5 system-ui,sans-serif">
<div style="max-width:36em;margin:0 auto">
{body}
<p style="margin-top:32px;font-size:13px;opacity:.75">{footer}</p>
</div>
</body>
</html>
"""
_BUTTON: Final = (
    '<p><a href="{link}" style="display:inline-block;padding:10px 18px;border-radius:8px;background:#ae4011;'
    'color:#fff;text-decoration:none">{label}</a></p>\n'
    '<p style="font-size:13px;overflow-wrap:anywhere">{hint}<br><a href="{link}">{link}</a></p>'
)


@cache
def texts(language: str) -> dict[MailKind, Text]:
    """The texts of a language. The first call for it reads a file of a few kilobytes."""
    file = resources.files("moothall.resources.mail").joinpath("texts", f"{language}.json")
    return msgspec.json.decode(file.read_bytes(), type=dict[MailKind, Text])


def language_of(locale: str | None) -> str:
    """The language of mail to a user with a locale."""
    return preferred_locale(locale, LANGUAGES) or ENGLISH


def time_text(time: Timestamp) -> str:
    """A time to the minute, in UTC: the reader's time zone is not known."""
    return datetime.fromtimestamp(time / 1000, UTC).strftime("%Y-%m-%d %H:%M UTC")


def build_message(
    config: MailConfig, kind: MailKind, language: str, address: str, values: dict[str, str], *, mail_id: int
) -> EmailMessage:
    """The mail of a kind, with `values` for its text: `name`, `link` and what else the text refers to.

    The link of an ADDRESS_IN_USE stands without a label. The Message-ID is the same for each attempt, so that a mail
    server that took the first one may drop the second.
    """
    text = texts(language)[kind]
    site = urlsplit(config.public_url).hostname or config.public_url
    filled = {**values, "site": site}
    subject = text.subject.format_map(filled)
    paragraphs = [_GREETING[language], *(each.format_map(filled) for each in text.paragraphs)]
    footer = _FOOTER[language].format(site=site, url=config.public_url)
    action_at = 1 + _ACTION_AFTER.get(kind, 1)
    link = values.get("link")
    plain = [*paragraphs]
    html = [f"<p>{escape(each)}</p>" for each in paragraphs]
    if link is not None:
        plain.insert(action_at, link)
        label = text.action or site
        button = _BUTTON.format(link=escape(link), label=escape(label), hint=escape(_LINK_HINT[language]))
        html.insert(action_at, button)
    message = EmailMessage(policy=SMTP)
    message["From"] = formataddr((_NAME, config.sender))
    message["To"] = address
    message["Subject"] = subject
    message["Date"] = format_datetime(datetime.fromtimestamp(Timestamp.now() / 1000, UTC))
    message["Message-ID"] = f"<{mail_id}@{config.domain}>"
    # RFC 3834: no vacation notice answers it.
    message["Auto-Submitted"] = "auto-generated"
    message.set_content("\n\n".join(plain) + f"\n\n-- \n{footer}\n", cte="quoted-printable")
    page = _PAGE.format(language=language, subject=escape(subject), body="\n".join(html), footer=escape(footer))
    message.add_alternative(page, subtype="html", cte="quoted-printable")
    message["Content-Language"] = language  # setting the content would remove it
    return message
