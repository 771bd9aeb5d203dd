"""The demo record: ids, tokens and passwords, stored encrypted in the database so that they can be printed again."""

import base64

from msgspec import Struct, ValidationError

from moothall.objects.ids import ApplicationId, ChannelId, GuildId, RoleId, UserId, WebhookId
from moothall.objects.wire import decoder, encode
from moothall.runtime.secrets import SecretBox, SecretUnreadable
from moothall.storage.database import Query, Reader, Transaction, insert_ignore, upsert
from moothall.storage.sql import bindparam, select
from moothall.storage.tables import meta, users

_RECORD = "demo"
_BASE_URL = "base_url"

_select_value = Query(lambda: select(meta.c.value).where(meta.c.key == bindparam("key")))
_insert_value = Query(lambda: insert_ignore(meta, key=("key",)))
_set_value = Query(lambda: upsert(meta, key=("key",), update=("value",)))
_select_any_user = Query(lambda: select(users.c.id).limit(1))


class DemoUser(Struct, frozen=True):
    """A user of the demo, with credentials."""

    id: UserId
    username: str
    password: str
    token: str
    """A session token."""


class DemoBot(Struct, frozen=True):
    """The bot of the demo, and its application."""

    id: UserId
    application_id: ApplicationId
    username: str
    token: str
    client_secret: str


class DemoWebhook(Struct, frozen=True):
    """The webhook of #general."""

    id: WebhookId
    token: str
    channel_id: ChannelId


class DemoGuild(Struct, frozen=True):
    """The guild of the demo, with the ids of its channels and roles by name."""

    id: GuildId
    name: str
    channels: dict[str, ChannelId]
    roles: dict[str, RoleId]


class DemoRecord(Struct, frozen=True):
    """Everything that the demo created, as it was at creation."""

    guild: DemoGuild
    people: list[DemoUser]
    bot: DemoBot
    webhook: DemoWebhook


_decoder = decoder(DemoRecord)


async def database_is_new(reader: Reader) -> bool:
    """Whether there is no account yet."""
    return await reader.scalar(_select_any_user) is None


async def load_record(reader: Reader, box: SecretBox) -> DemoRecord | None:
    """Read the demo record; None if there is no demo.

    Raises SecretUnreadable if it was encrypted with another key, or stored in another format by another version.
    """
    sealed: str | None = await reader.scalar(_select_value, key=_RECORD)
    if sealed is None:
        return None
    try:
        record: DemoRecord = _decoder.decode(box.decrypt(base64.b64decode(sealed), about=b"demo"))
    except ValidationError as problem:
        raise SecretUnreadable(f"it was stored by another version: {problem}") from None
    return record


async def save_record(tx: Transaction, box: SecretBox, record: DemoRecord) -> None:
    """Store the demo record."""
    sealed = base64.b64encode(box.encrypt(encode(record), about=b"demo")).decode()
    await tx.execute(_insert_value, key=_RECORD, value=sealed)


async def load_base_url(reader: Reader) -> str | None:
    """Read the URL of the server that was started last on this database."""
    url: str | None = await reader.scalar(_select_value, key=_BASE_URL)
    return url


async def save_base_url(tx: Transaction, url: str) -> None:
    """Store the URL of the server, for commands."""
    await tx.execute(_set_value, key=_BASE_URL, value=url)
