"""The mail server as operators set it while the server runs: together, or else as the configuration says."""

import base64
import binascii
from collections.abc import Mapping
from typing import Final

from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.resources.mail.config import DEFAULT_PORTS, MailConfig, TlsMode
from moothall.runtime.secrets import SecretBox

NAMES: Final = ("smtp_host", "smtp_port", "smtp_tls", "smtp_user", "smtp_password", "mail_from")
LOGIN: Final = ("smtp_user", "smtp_password")
PASSWORD_ABOUT: Final = b"smtp password"
"""Binds the encrypted password to its place."""
_LOCAL: Final = frozenset({"localhost", "127.0.0.1", "::1"})


def seal_password(box: SecretBox, password: str) -> str:
    """The password as it is stored: encrypted."""
    return base64.b64encode(box.encrypt(password.encode(), about=PASSWORD_ABOUT)).decode()


def mail_values(changed: Mapping[str, object], configured: MailConfig | None) -> dict[str, object]:
    """The settings of mail in force, by name; the password is encrypted, or that of the configuration as `***`.

    With a host that an operator has set, nothing of the configuration counts: its password is for its own host.
    """
    if "smtp_host" in changed:
        return {name: changed.get(name) for name in NAMES} | {"smtp_tls": changed.get("smtp_tls", "starttls")}
    if configured is None:
        return dict.fromkeys(NAMES) | {"smtp_tls": "starttls"}
    return {
        "smtp_host": configured.host,
        "smtp_port": configured.port,
        "smtp_tls": configured.tls,
        "smtp_user": configured.user,
        "smtp_password": None if configured.password is None else "***",
        "mail_from": configured.sender,
    }


def mail_config(values: Mapping[str, object], box: SecretBox, *, public_url: str, seconds: float) -> MailConfig | None:
    """How mail is sent by a host that an operator has set; None without a host and a sender.

    Raises SecretUnreadable.
    """
    host, sender = values["smtp_host"], values["mail_from"]
    if not isinstance(host, str) or not isinstance(sender, str):
        return None
    tls = _tls(values["smtp_tls"])
    port, user, sealed = values["smtp_port"], values["smtp_user"], values["smtp_password"]
    return MailConfig(
        host=host,
        port=port if isinstance(port, int) else DEFAULT_PORTS[tls],
        tls=tls,
        user=user if isinstance(user, str) else None,
        password=_open(box, sealed) if isinstance(sealed, str) else None,
        sender=sender,
        public_url=public_url,
        seconds=seconds,
    )


def check_mail(changed: Mapping[str, object], values: Mapping[str, object]) -> None:
    """Raise Refusal 50035 for settings of mail that contradict each other, as the start of the server does.

    `changed` are those that operators have set, `values` those in force.
    """
    form_errors = FormErrors()
    host, user, sender = values["smtp_host"], values["smtp_user"], values["mail_from"]
    if "smtp_host" not in changed and changed.keys() & set(NAMES):
        form_errors.add("smtp_host", *FieldError.required())
    elif host is not None and sender is None:
        form_errors.add("mail_from", *FieldError.required())
    elif sender is not None and not str(sender).isascii():
        form_errors.add("mail_from", FormCode.EMAIL_TYPE_INVALID_EMAIL, "Only few mail servers take such an address.")
    if (user is None) != (values["smtp_password"] is None):
        missing = "smtp_user" if user is None else "smtp_password"
        form_errors.add(missing, *FieldError.required())
    elif user is not None and values["smtp_tls"] == "none" and host not in _LOCAL:
        form_errors.add("smtp_tls", FormCode.BASE_TYPE_CHOICES, "Without encryption the password could be read.")
    form_errors.raise_if_any()


def _tls(value: object) -> TlsMode:
    if value == "tls":
        return "tls"
    return "none" if value == "none" else "starttls"


def _open(box: SecretBox, sealed: str) -> str:
    try:
        return box.decrypt(base64.b64decode(sealed), about=PASSWORD_ABOUT).decode()
    except binascii.Error:
        return ""
