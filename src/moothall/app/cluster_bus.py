"""How this process reaches the others that serve the same database."""

from functools import partial
from typing import TYPE_CHECKING

import moothall.gateway.endpoints
import moothall.oauth2.endpoints  # noqa: F401 both register endpoints
from moothall.api.outbox import read_last_batch
from moothall.app.cluster import ClusterRole
from moothall.app.services import (
    base_url,
)
from moothall.bus.unix import WorkerBus, WriterBus
from moothall.gateway.settings import UNLIMITED, GatewaySettings
from moothall.objects.ids import GuildId
from moothall.runtime.secrets import ServerKey
from moothall.settings import Settings
from moothall.storage.database import Database

if TYPE_CHECKING:
    from moothall.bus.nats import NatsBus


def id_number(settings: Settings) -> int | None:
    """The node number of this process in the settings, ten bits; None for any free one."""
    if settings.worker_id is None and settings.process_id is None:
        return None
    return (settings.worker_id or 0) << 5 | (settings.process_id or 0)


def gateway_settings(settings: Settings, *, worker: int = 0) -> GatewaySettings:
    """The settings of the gateway, in a worker of this number."""
    limits = {
        "max_sessions_per_person": settings.gateway_sessions_per_person,
        "account_bytes": settings.gateway_account_bytes,
    }
    return GatewaySettings(
        worker=worker,
        public_url=base_url(settings).replace("http", "ws", 1) + "/gateway",
        public_url_is_guessed=settings.public_url is None,
        resume_url=settings.gateway_url or "",
        max_upload_bytes=settings.max_upload_bytes,
        heartbeat_ms=settings.gateway_heartbeat_ms,
        resume_seconds=settings.gateway_resume_seconds,
        replay_frames=settings.gateway_resume_events,
        queue_bytes=settings.gateway_queue_bytes,
        **(limits if settings.rate_limits else UNLIMITED),
    )


def shared_bus(settings: Settings, database: Database, name: str, key: ServerKey) -> "NatsBus":
    """The bus to other nodes over NATS."""
    # Importing the client takes a fifth of a second, which a single process saves.
    from moothall.bus.nats import NatsBus  # noqa: PLC0415
    from moothall.bus.sealing import Seal  # noqa: PLC0415

    return NatsBus(
        settings.nats_url or "",
        node=name,
        seal=Seal(key.subkeys("bus messages")),
        last_batch=partial(read_last_batch, database),
        replicas=settings.nats_replicas,
    )


def cluster_bus(role: ClusterRole | None, name: str) -> WriterBus | WorkerBus | None:
    """The bus of the processes of one machine; None for a process without a role among them."""
    if role is None:
        return None
    if role.writes:
        return WriterBus(role.cluster.events, node=name)
    return WorkerBus(role.cluster.events_path, node=name)


def everywhere(_guild_id: GuildId) -> bool:
    """Whether a guild may have listeners: with workers, any may."""
    return True
