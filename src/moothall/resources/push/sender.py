"""Chooses the subscriptions that a message notifies, and sends to their push services, after its commit.

Notifications are not stored: those that wait when the process ends are lost, like those beyond the bounds of the
queues. A push service that does not answer holds up the user who has named it, and no other.
"""

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import TYPE_CHECKING, Final

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context
from moothall.objects.ids import GuildId, Snowflake, UserId
from moothall.objects.user_settings import UserGuildSettings
from moothall.objects.wire import Timestamp, convert, encode
from moothall.resources.push import queries
from moothall.resources.push.encryption import VapidKey, encrypt
from moothall.resources.push.queries import SubscriptionRow
from moothall.resources.push.rules import Notice, is_silenced, is_thread_silenced, may_view, mentions_member
from moothall.runtime.background import BackgroundTask
from moothall.runtime.budgets import Overloaded
from moothall.runtime.fair_slots import FairSlots
from moothall.runtime.outgoing import Outgoing, OutgoingFailed
from moothall.storage.database import Reader, StorageError

if TYPE_CHECKING:
    from moothall.api.context import Services

_DIRECT: Final = GuildId(Snowflake(0))
"""The `guild_id` of the settings of direct messages."""
_WAITING_MAX: Final = 1_000
_DELIVERIES_MAX: Final = 2_000
"""Deliveries to browsers that are under way or wait for a connection; no further message is read meanwhile."""
_DELIVERIES_EACH: Final = 50
"""The same for one user, beyond which notifications are dropped: push services of their choice may not answer."""
_CONNECTIONS: Final = 50
_SECONDS: Final = 10.0
_RESPONSE_BYTES: Final = 16_384
_TTL_SECONDS: Final = 86_400
_ENDED: Final = frozenset({404, 410})
_TITLE_MAX: Final = 120
_BODY_MAX: Final = 240

log = logging.getLogger("moothall.push")


class PushSender(BackgroundTask):
    """Sends notifications. Without the operator's key (None) it does nothing."""

    def __init__(self, services: "Services", key: VapidKey | None) -> None:
        super().__init__()
        self._services = services
        self.key = key
        self._waiting: asyncio.Queue[Notice] = asyncio.Queue(_WAITING_MAX)
        self._threads = ThreadPoolExecutor(1, thread_name_prefix="push")
        self._room = asyncio.Semaphore(_DELIVERIES_MAX)
        self._slots = FairSlots(_CONNECTIONS, waiting_max=_DELIVERIES_MAX, waiting_each=_DELIVERIES_EACH)
        self._deliveries: set[asyncio.Task[None]] = set()
        self.outgoing = Outgoing(
            allow_private=services.limits.allow_private_addresses,
            agent="Moothall/1.0",
            connections=_CONNECTIONS,
            connections_per_host=_CONNECTIONS,
        )

    def put(self, notice: Notice) -> None:
        """Notify of a message soon; a message beyond the bound notifies no one."""
        if self.key is not None and not self._waiting.full():
            self._waiting.put_nowait(notice)

    async def drain(self) -> None:
        """Send what waits."""
        while not self._waiting.empty():
            await self._notify(self._waiting.get_nowait())
        while self._deliveries:
            await asyncio.wait(self._deliveries)

    async def close(self) -> None:
        """Stop; what waits is dropped."""
        await self.stop()
        for delivery in self._deliveries:
            delivery.cancel()
        await asyncio.gather(*self._deliveries, return_exceptions=True)
        await self.outgoing.close()
        self._threads.shutdown(wait=False, cancel_futures=True)

    async def _run(self) -> None:
        while not self._stopping:
            notice = await self._waiting.get()
            try:
                await self._notify(notice)
            except StorageError as problem:
                log.warning("message %s notifies no one: %s", notice.message_id, problem)
            except Exception:
                log.exception("message %s notifies no one", notice.message_id)

    async def _notify(self, notice: Notice) -> None:
        now = Timestamp.now()
        async with self._services.database.read() as reader:
            user_ids = await self._choose(reader, notice, now)
            subscriptions = await queries.select_live(reader, user_ids) if user_ids else []
        payload = self._payload(notice)
        for subscription in subscriptions:
            await self._room.acquire()
            delivery = asyncio.create_task(self._deliver(subscription, payload, now))
            self._deliveries.add(delivery)
            delivery.add_done_callback(self._end_delivery)

    def _end_delivery(self, delivery: asyncio.Task[None]) -> None:
        self._deliveries.discard(delivery)
        self._room.release()

    async def _deliver(self, subscription: SubscriptionRow, payload: bytes, now: Timestamp) -> None:
        """Send to a browser when it is its user's turn."""
        try:
            async with self._slots.slot(subscription.user_id):
                await self._send(subscription, payload, now)
        except Overloaded:
            log.debug("push subscription %s: too many notifications wait for its user", subscription.id)
        except StorageError as problem:
            log.warning("push subscription %s: %s", subscription.id, problem)
        except Exception:
            log.exception("push subscription %s: it was not sent to", subscription.id)

    async def _choose(self, reader: Reader, notice: Notice, now: Timestamp) -> set[UserId]:
        """The users whom a message notifies."""
        guild = notice.access.guild
        if guild is None:
            not_accepted = await queries.select_not_accepted_by(reader, notice.access.id)
            user_ids, guild_id, members = set(notice.user_ids) - not_accepted, _DIRECT, []
        else:
            guild_id = guild.id
            named = None if notice.everyone or notice.role_ids else notice.user_ids
            members = await queries.select_members(reader, guild_id, named)
            user_ids = {member.user_id for member in members if may_view(notice, member, guild, now)}
        user_ids = {each for each in user_ids if not self._services.presences.is_connected(each)} - {notice.author_id}
        if not user_ids:
            return user_ids
        unheard_by = await queries.select_unheard_by(reader, notice.author_id, user_ids)
        changed = await queries.select_settings(reader, user_ids)
        busy = {each for each in user_ids if changed.get(each, {}).get("status") == "dnd"}
        user_ids = {each for each in user_ids if each not in unheard_by and each not in busy}
        stored = await queries.select_guild_settings(reader, guild_id, user_ids)
        settings = {each: _settings(stored.get(each)) for each in user_ids}
        mentioned = {
            member.user_id
            for member in members
            if member.user_id in user_ids and mentions_member(notice, member, settings[member.user_id])
        }
        chosen = user_ids if guild is None else mentioned
        chosen = {each for each in chosen if not is_silenced(notice, settings[each], now)}
        return chosen - await self._silenced_in_thread(reader, notice, chosen, now)

    @staticmethod
    async def _silenced_in_thread(reader: Reader, notice: Notice, user_ids: set[UserId], now: Timestamp) -> set[UserId]:
        """Those of some users who have muted the thread of a message, or want no messages of it."""
        if not user_ids or not notice.access.is_thread:
            return set()
        rows = await queries.select_thread_settings(reader, notice.access.id, user_ids)
        return {row.user_id for row in rows if is_thread_silenced(row, now)}

    def _payload(self, notice: Notice) -> bytes:
        guild = notice.access.guild
        where = "@me" if guild is None else str(int(guild.id))
        url = f"/channels/{where}/{int(notice.access.id)}/{int(notice.message_id)}"
        fields = {"title": notice.title[:_TITLE_MAX], "body": notice.body[:_BODY_MAX], "url": url}
        return encode({**fields, "tag": str(int(notice.access.id))})

    async def _send(self, subscription: SubscriptionRow, payload: bytes, now: Timestamp) -> None:
        if self.key is None:
            return
        seal = partial(encrypt, payload, subscription.p256dh, subscription.auth)
        body = await asyncio.get_running_loop().run_in_executor(self._threads, seal)
        headers = {
            "authorization": self.key.authorization(subscription.endpoint, now),
            "content-encoding": "aes128gcm",
            "content-type": "application/octet-stream",
            "ttl": str(_TTL_SECONDS),
            "urgency": "high",
        }
        try:
            response = await self.outgoing.post(
                subscription.endpoint, body, headers, seconds=_SECONDS, maximum=_RESPONSE_BYTES
            )
        except OutgoingFailed as problem:
            log.info("push subscription %s: %s", subscription.id, problem)
            return
        if response.status in _ENDED:
            await unit_of_work.run(self._services, ANONYMOUS, partial(_delete, subscription.endpoint_hash), fires=())


async def _delete(hashed: str, ctx: Context) -> None:
    await queries.delete_endpoint(ctx.tx, hashed)


def _settings(stored: dict[str, object] | None) -> UserGuildSettings:
    settings: UserGuildSettings = convert({**(stored or {}), "guild_id": None}, UserGuildSettings)
    return settings
