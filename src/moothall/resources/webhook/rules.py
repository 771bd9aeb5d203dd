"""Names, audit log changes and objects of webhooks, without I/O."""

from collections.abc import Iterable
from functools import lru_cache
from typing import Final

from msgspec import UNSET, Struct, UnsetType, structs

from moothall.api.audit import differences
from moothall.objects import limits
from moothall.objects.audit_log import AuditLogChange
from moothall.objects.channel import PartialChannel
from moothall.objects.errors import FormErrors
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import WebhookId
from moothall.objects.text import clean_name, reserved_word_error
from moothall.objects.user import User
from moothall.objects.webhook import SourceGuild, Webhook, WebhookType
from moothall.resources.webhook.queries import SourceRow, WebhookRow
from moothall.runtime.secrets import SecretBox, SecretUnreadable

_AUDIT_KEYS: Final = {
    "type": "type",
    "channel_id": "channel_id",
    "name": "name",
    "avatar": "avatar_hash",
    "application_id": "application_id",
}
"""The keys in audit log entries, by column. The token has none."""


def audit_changes(before: Struct | None, after: Struct | None) -> list[AuditLogChange]:
    """Return the audit log changes of a created, updated or deleted webhook."""
    return [
        structs.replace(change, key=_AUDIT_KEYS[change.key])
        for change in differences(before, after, tuple(_AUDIT_KEYS))
    ]


def webhook_name(name: str, form_errors: FormErrors, *, reserved: Iterable[str]) -> str:
    """Return a webhook's name as stored; adds errors at `name` for its length and reserved words (api.md, Webhooks)."""
    name = clean_name(name)
    if not limits.WEBHOOK_NAME_MIN <= len(name) <= limits.WEBHOOK_NAME_MAX:
        form_errors.add("name", *FieldError.length(limits.WEBHOOK_NAME_MIN, limits.WEBHOOK_NAME_MAX))
    elif (error := reserved_word_error(name, reserved)) is not None:
        form_errors.add("name", *error)
    return name


def override_name(username: str | None, form_errors: FormErrors, *, reserved: tuple[str, ...]) -> str | None:
    """Return the author name of one message; None for that of the webhook. Adds errors at `username`.

    Bridges set it to the names of users of other networks, so only its length and reserved words are checked.
    """
    if not username:
        return None
    # Cached, since a bridge repeats names.
    check = _checked_name if len(username) <= limits.WEBHOOK_NAME_MAX else _checked_name.__wrapped__
    name, name_errors = check(username, reserved)
    for error in name_errors:
        form_errors.add("username", *error)
    return name or None


@lru_cache(maxsize=4096)
def _checked_name(username: str, reserved: tuple[str, ...]) -> tuple[str, tuple[FieldError, ...]]:
    name = clean_name(username)
    name_errors = []
    if len(name) > limits.WEBHOOK_NAME_MAX:
        name_errors.append(FieldError.length(limits.WEBHOOK_NAME_MIN, limits.WEBHOOK_NAME_MAX))
    if (error := reserved_word_error(name, reserved)) is not None:
        name_errors.append(error)
    return name, tuple(name_errors)


def encryption_context(webhook_id: WebhookId) -> bytes:
    """Return the associated data that binds an encrypted token to its webhook."""
    return b"webhook %d" % webhook_id


def webhook_object(
    row: WebhookRow,
    user: User | None,
    source: SourceRow | None = None,
    *,
    box: SecretBox,
    public_url: str,
    shows_token: bool = True,
) -> Webhook:
    """Build a webhook object, without `user` or `source` if that is None.

    Only incoming webhooks have a token, which is left out with its URL unless `shows_token`; only channel followers
    have a source. The webhook of an application has no guild and no channel.
    """
    token = _token(row, box) if shows_token else UNSET
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
        return box.decrypt(row.token, about=encryption_context(row.id)).decode()
    except SecretUnreadable:
        # The server's key was lost: the token stays valid, but cannot be shown.
        return UNSET
