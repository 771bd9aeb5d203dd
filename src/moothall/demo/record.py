"""What the demo made, kept in the database under the server key: its tokens and passwords can be told again."""

import base64

from msgspec import Struct, ValidationError
from sqlalchemy import bindparam, select

from moothall.kernel.secrets import SecretBox, SecretUnreadable
from moothall.objects.ids import ApplicationId, ChannelId, GuildId, RoleId, UserId, WebhookId
from moothall.objects.wire import decoder, encode
from moothall.storage.database import Query, Reader, Transaction, insert_ignore, upsert
from moothall.storage.schema import meta, users

_RECORD = "demo"
_BASE_URL = "base_url"

_select_value = Query(select(meta.c.value).where(meta.c.key == bindparam("key")))
_insert_value = Query(insert_ignore(meta, key=("key",)))
_set_value = Query(upsert(meta, key=("key",), update=("value",)))
_select_somebody = Query(select(users.c.id).limit(1))


class DemoPerson(Struct, frozen=True):
    """Somebody who can log in."""

    id: UserId
    username: str
    password: str
    token: str
    """A session token."""


class DemoBot(Struct, frozen=True):
    """The application whose bot is a member."""

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
    """The guild, and what is in it by name."""

    id: GuildId
    name: str
    channels: dict[str, ChannelId]
    roles: dict[str, RoleId]


class DemoRecord(Struct, frozen=True):
    """Everything that was made. What was changed or deleted afterwards is told as it was."""

    guild: DemoGuild
    people: list[DemoPerson]
    bot: DemoBot
    webhook: DemoWebhook


_decoder = decoder(DemoRecord)


async def database_is_new(reader: Reader) -> bool:
    """Whether nobody has an account yet."""
    return await reader.scalar(_select_somebody) is None


async def load_record(reader: Reader, box: SecretBox) -> DemoRecord | None:
    """What the demo made; None if there is no demo.

    Raises SecretUnreadable if the key that it was kept with is gone, or if another version kept it in another form.
    """
    sealed: str | None = await reader.scalar(_select_value, key=_RECORD)
    if sealed is None:
        return None
    try:
        record: DemoRecord = _decoder.decode(box.decrypt(base64.b64decode(sealed), about=b"demo"))
    except ValidationError as problem:
        raise SecretUnreadable(f"it was kept by another version: {problem}") from None
    return record


async def save_record(tx: Transaction, box: SecretBox, record: DemoRecord) -> None:
    """Keep what the demo made."""
    sealed = base64.b64encode(box.encrypt(encode(record), about=b"demo")).decode()
    await tx.execute(_insert_value, key=_RECORD, value=sealed)


async def load_base_url(reader: Reader) -> str | None:
    """The URL of the server that was started last on this database."""
    found: str | None = await reader.scalar(_select_value, key=_BASE_URL)
    return found


async def save_base_url(tx: Transaction, url: str) -> None:
    """Let commands know where the server is reached."""
    await tx.execute(_set_value, key=_BASE_URL, value=url)
