"""Pure decisions about webhooks: their names, and what is shown of them."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.kernel.audit import differences
from moothall.kernel.secrets import SecretBox, SecretUnreadable
from moothall.objects import limits
from moothall.objects.audit_log import AuditLogChange
from moothall.objects.channel import PartialChannel
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import WebhookId
from moothall.objects.text import clean_name, nickname_error
from moothall.objects.user import User
from moothall.objects.webhook import SourceGuild, Webhook, WebhookType
from moothall.resources.webhook.queries import SourceRow, WebhookRow

_AUDITED: Final = {
    "type": "type",
    "channel_id": "channel_id",
    "name": "name",
    "avatar": "avatar_hash",
    "application_id": "application_id",
}
"""The columns that the audit log tells of, by the key that it knows them under. No token is among them."""


def changes_between(before: Struct | None, after: Struct | None) -> list[AuditLogChange]:
    """What the audit log says of a new, a changed or a deleted webhook."""
    return [structs.replace(change, key=_AUDITED[change.key]) for change in differences(before, after, tuple(_AUDITED))]


def webhook_name(given: str, form_errors: FormErrors, *, reserved: Iterable[str]) -> str:
    """A webhook's name as it is kept; what is wrong with it is reported at `name`."""
    name = clean_name(given)
    wrong = nickname_error(name, high=limits.WEBHOOK_NAME_MAX, reserved=reserved)
    if wrong is not None:
        form_errors.add("name", *wrong)
    return name


def shown_name(given: str | None, form_errors: FormErrors, *, reserved: tuple[str, ...]) -> str | None:
    """The name that one message is shown under; None if it has none of its own.

    Bridges show the people of other networks by it, so only its length and reserved words are
    looked at; what is wrong is reported at `username`.
    """
    if not given:
        return None
    # A bridge repeats the names of those who talk.
    name, wrong = (_read_name if len(given) <= limits.WEBHOOK_NAME_MAX else _read_name.__wrapped__)(given, reserved)
    for error in wrong:
        form_errors.add("username", *error)
    return name or None


@lru_cache(maxsize=4096)
def _read_name(given: str, reserved: tuple[str, ...]) -> tuple[str, tuple[FieldError, ...]]:
    name = clean_name(given)
    wrong = []
    if len(name) > limits.WEBHOOK_NAME_MAX:
        wrong.append(FieldError.length(limits.WEBHOOK_NAME_MIN, limits.WEBHOOK_NAME_MAX))
    folded = name.casefold()
    word = next((word for word in reserved if word.casefold() in folded), None)
    if word is not None:
        wrong.append(FieldError(FormCode.USERNAME_INVALID_CONTAINS, f'Username cannot contain "{word}"'))
    return name, tuple(wrong)


def about(webhook_id: WebhookId) -> bytes:
    """What ties an encrypted token to its webhook."""
    return b"webhook %d" % webhook_id


def webhook_object(
    row: WebhookRow, user: User | None, source: SourceRow | None = None, *, box: SecretBox, public_url: str
) -> Webhook:
    """A webhook as those see it who may use it; without `user` or `source` where that is None.

    Only incoming webhooks have a token. A channel follower says where its messages come from; an
    application's own webhook is in no guild and no channel.
    """
    token = _token(row, box)
    return Webhook(
        id=row.id,
        type=row.type,
        guild_id=row.guild_id,
        channel_id=row.channel_id,
        user=UNSET if user is None else user,
        name=row.name,
        avatar=row.avatar,
        token=token,
        application_id=row.application_id,
        source_guild=UNSET
        if source is None
        else SourceGuild(id=source.guild_id, name=source.guild_name, icon=source.guild_icon),
        source_channel=UNSET if source is None else PartialChannel(id=source.channel_id, name=source.channel_name),
        url=UNSET if token is UNSET else f"{public_url}/api/webhooks/{int(row.id)}/{token}",
    )


def _token(row: WebhookRow, box: SecretBox) -> str | UnsetType:
    if row.type != WebhookType.INCOMING or row.token is None:
        return UNSET
    try:
        return box.decrypt(row.token, about=about(row.id)).decode()
    except SecretUnreadable:
        # The server's key was lost: whoever knows the token can still use it, it only cannot be shown again.
        return UNSET
