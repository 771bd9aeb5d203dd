"""The SQL of cached link previews."""

import hashlib
from collections.abc import Sequence
from typing import Final

from msgspec import Raw

from moothall.objects.wire import Timestamp, decoder, encode
from moothall.storage.database import Query, Reader, Transaction, in_list, upsert
from moothall.storage.sql import bindparam, delete, func, select
from moothall.storage.tables import link_previews

_p = link_previews.c
_select = Query(
    lambda: select(_p.link_hash, _p.embeds).where(
        in_list(_p.link_hash, "link_hashes"), _p.expires_at > bindparam("now", type_=_p.expires_at.type)
    )
)
_upsert = Query(lambda: upsert(link_previews, key=("link_hash",), update=("embeds", "expires_at")))
_delete_expired = Query(
    lambda: delete(link_previews).where(_p.expires_at <= bindparam("now", type_=_p.expires_at.type))
)
_count = Query(lambda: select(func.count()).select_from(link_previews))
_delete_first = Query(
    lambda: delete(link_previews).where(
        _p.link_hash.in_(select(_p.link_hash).order_by(_p.expires_at).limit(bindparam("number")))
    )
)
_embeds: Final = decoder(list[Raw])


async def select_previews(reader: Reader, links: Sequence[str], now: Timestamp) -> dict[str, list[Raw]]:
    """The cached embeds of links as JSON objects, by link; links that are not cached are left out."""
    by_hash = {_hash(link): link for link in links}
    rows = await reader.all(_select, link_hashes=list(by_hash), now=now)
    return {by_hash[link_hash]: _embeds.decode(embeds) for link_hash, embeds in rows}


async def upsert_preview(tx: Transaction, link: str, embeds: Sequence[Raw], expires_at: Timestamp) -> None:
    """Cache the embeds of a link."""
    await tx.execute(_upsert, link_hash=_hash(link), embeds=encode(embeds).decode(), expires_at=expires_at)


async def delete_previews(tx: Transaction, now: Timestamp, *, maximum: int) -> None:
    """Remove what has expired, and of more than `maximum` links those that expire first."""
    await tx.execute(_delete_expired, now=now)
    excess = int(await tx.scalar(_count)) - maximum
    if excess > 0:
        await tx.execute(_delete_first, number=excess)


def _hash(link: str) -> str:
    return hashlib.sha256(link.encode("utf-8", "surrogatepass")).hexdigest()
