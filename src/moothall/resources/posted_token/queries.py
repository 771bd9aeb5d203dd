"""The SQL of posted tokens."""

from collections.abc import Collection

from msgspec import Struct

from moothall.objects.ids import Snowflake, UserId
from moothall.storage.database import Query, Reader
from moothall.storage.sql import bindparam, exists, select
from moothall.storage.tables import tokens, webhooks


class TokenRow(Struct, frozen=True):
    """A stored token of an account."""

    kind: int
    user_id: UserId


_select_token = Query(
    lambda: select(tokens.c.kind, tokens.c.user_id).where(tokens.c.hash == bindparam("hash")), into=TokenRow
)
_is_webhook = Query(
    lambda: select(
        exists().where(webhooks.c.id == bindparam("webhook_id"), webhooks.c.token_hash == bindparam("token_hash"))
    )
)


async def select_token(reader: Reader, digest: bytes) -> TokenRow | None:
    """Read a token by its hash; None for an unknown one."""
    return await reader.one(_select_token, hash=digest)


async def is_token_of_webhook(reader: Reader, webhook_id: Snowflake, digest: bytes) -> bool:
    """Whether a webhook has the token with a hash."""
    return bool(await reader.scalar(_is_webhook, webhook_id=webhook_id, token_hash=digest))


async def are_tokens(reader: Reader, digests: Collection[bytes], webhook_tokens: Collection[tuple[int, bytes]]) -> bool:
    """Whether at least one of a few hashes is that of a token of an account, or of the webhook that it is for."""
    for digest in digests:
        if await select_token(reader, digest) is not None:
            return True
    for webhook_id, digest in webhook_tokens:
        if await is_token_of_webhook(reader, Snowflake(webhook_id), digest):
            return True
    return False
