"""SQL of the networks from which users have logged in."""

from moothall.objects.ids import UserId
from moothall.objects.wire import Timestamp
from moothall.storage.database import Query, Reader, Transaction, upsert
from moothall.storage.sql import bindparam, delete, select
from moothall.storage.tables import known_networks

MAX_KNOWN_NETWORKS = 32

_KEY = ("user_id", "network")
_of_user = known_networks.c.user_id == bindparam("user_id")
_select_known = Query(
    lambda: select(known_networks.c.user_id).where(_of_user, known_networks.c.network == bindparam("network"))
)
_keep = Query(lambda: upsert(known_networks, key=_KEY, update=["last_login_at"]))
_delete_surplus = Query(
    lambda: delete(known_networks).where(
        _of_user,
        known_networks.c.network.in_(
            select(known_networks.c.network)
            .where(_of_user)
            .order_by(known_networks.c.last_login_at.desc(), known_networks.c.network)
            .offset(MAX_KNOWN_NETWORKS)
        ),
    )
)
_select_unused = Query(
    lambda: select(known_networks.c.user_id).where(known_networks.c.last_login_at < bindparam("before")).limit(1)
)
_delete_unused = Query(lambda: delete(known_networks).where(known_networks.c.last_login_at < bindparam("before")))


async def is_known(reader: Reader, user_id: UserId, network: str) -> bool:
    """Whether a user has logged in from a network."""
    return await reader.one(_select_known, user_id=user_id, network=network) is not None


async def upsert_known(tx: Transaction, user_id: UserId, network: str, now: Timestamp) -> None:
    """Store a network of a login; only the latest `MAX_KNOWN_NETWORKS` are kept."""
    await tx.execute(_keep, user_id=user_id, network=network, last_login_at=now)
    await tx.execute(_delete_surplus, user_id=user_id)


async def has_unused(reader: Reader, before: Timestamp) -> bool:
    """Whether there are networks whose last login is before a time."""
    return await reader.one(_select_unused, before=before) is not None


async def delete_unused(tx: Transaction, before: Timestamp) -> None:
    """Delete networks whose last login is before a time."""
    await tx.execute(_delete_unused, before=before)
