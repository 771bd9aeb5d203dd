"""How an application hears of an interaction: over the gateway, or by a signed request to its own endpoint."""

import asyncio
import logging
import time
from collections import Counter
from collections.abc import Coroutine
from functools import partial
from typing import Any, Final

import msgspec
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from moothall.kernel import unit_of_work
from moothall.kernel.authenticate import ANONYMOUS
from moothall.kernel.context import Context, Services
from moothall.kernel.outgoing import Outgoing, OutgoingAnswer, OutgoingFailed, Unreached
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, InteractionId, UserId
from moothall.objects.interaction import Interaction, InteractionState
from moothall.objects.wire import decoder, encode
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.interaction import queries
from moothall.resources.interaction.answering import ANSWERING, answer
from moothall.resources.interaction.events import InteractionCreate, InteractionFailure, InteractionRaised
from moothall.resources.interaction.requests import Callback
from moothall.resources.interaction.timers import Timers
from moothall.storage.database import StorageError

SECONDS: Final = 3.0
"""How long an application has for its answer."""
_MAX_ANSWER: Final = 1024 * 1024
_MAX_IN_FLIGHT: Final = 50
_OK, _ACCEPTED, _NO_CONTENT = 200, 202, 204

log = logging.getLogger("moothall.interactions")


class Deliveries:
    """What waits for an answer: a timer for each interaction, and the requests to endpoints.

    An endpoint that is slow or dead holds up nobody but its own application: each has so many requests at once.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._tasks: set[asyncio.Task[None]] = set()
        self._in_flight: Counter[ApplicationId] = Counter()
        self._timers = Timers.of(services)
        self.outgoing = Outgoing(allow_private=services.limits.allow_private_addresses)
        self.seconds = SECONDS

    @classmethod
    def of(cls, services: Services) -> "Deliveries":
        """The one of this process."""
        found: Deliveries | None = services.extra.get(cls)
        if found is None:
            found = services.extra[cls] = cls(services)
        return found

    def expect(self, interaction_id: InteractionId) -> None:
        """Give an interaction up when its time is over."""
        self._timers.start(interaction_id, self.seconds, self.give_up)

    def give_up(self, interaction_id: InteractionId) -> None:
        """Nobody has answered in time."""
        self._start(self._fail(interaction_id))

    def post(self, application: ApplicationRow, interaction: Interaction) -> None:
        """Tell an endpoint; what it answers in time is the answer."""
        self._start(self._post(application, interaction))

    async def settled(self) -> None:
        """Wait until nothing waits any more."""
        while self._tasks or len(self._timers):
            await asyncio.gather(*self._tasks, asyncio.sleep(0.005), return_exceptions=True)

    async def close(self) -> None:
        """Wait for nothing any more; what was not answered is never told to its person."""
        self._timers.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.outgoing.close()

    def _start(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _fail(self, interaction_id: InteractionId) -> None:
        self._timers.stop(interaction_id)
        try:
            async with self._services.database.read() as reader:
                row = await queries.select_interaction(reader, interaction_id)
            if row is None or row.state != InteractionState.WAITING:
                return  # another process has seen to it
            await unit_of_work.run(
                self._services, ANONYMOUS, partial(fail_interaction, interaction_id), fires=(InteractionFailure,)
            )
        except StorageError as problem:
            log.warning("interaction %s cannot be given up: %s", interaction_id, problem)

    async def _post(self, application: ApplicationRow, interaction: Interaction) -> None:
        if self._in_flight[application.id] >= _MAX_IN_FLIGHT:
            await self._fail(interaction.id)
            return
        self._in_flight[application.id] += 1
        try:
            found = await self._ask(application, self._services.links.sign(encode(interaction)))
            await self._take(interaction.id, found)
        except (OutgoingFailed, Refusal, msgspec.ValidationError, msgspec.DecodeError, StorageError) as problem:
            log.info("the endpoint of application %s: %s", application.id, problem)
            await self._fail(interaction.id)
        except Exception:
            log.exception("interaction %s cannot be delivered", interaction.id)
            await self._fail(interaction.id)
        finally:
            self._in_flight[application.id] -= 1
            if not self._in_flight[application.id]:
                del self._in_flight[application.id]

    async def _ask(self, application: ApplicationRow, body: bytes) -> OutgoingAnswer:
        """One request, and a second one if the connection was lost before any answer to the first."""
        url = application.interactions_endpoint_url or ""
        began = time.monotonic()
        headers = signed_headers(self._services, application, body)
        try:
            return await self.outgoing.post(url, body, headers, seconds=self.seconds, maximum=_MAX_ANSWER)
        except Unreached:
            left = self.seconds - (time.monotonic() - began)
            if left < self.seconds / 2:
                raise
            return await self.outgoing.post(url, body, headers, seconds=left, maximum=_MAX_ANSWER)

    async def _take(self, interaction_id: InteractionId, found: OutgoingAnswer) -> None:
        if found.status in {_ACCEPTED, _NO_CONTENT}:
            return  # it will answer by the API
        if found.status != _OK:
            raise OutgoingFailed(f"status {found.status}")
        callback: Callback = decoder(Callback).decode(found.body)

        async def work(ctx: Context) -> None:
            row = await queries.select_interaction(ctx.tx, interaction_id)
            if row is not None:
                await answer(ctx, row, callback)

        await unit_of_work.run(self._services, ANONYMOUS, work, fires=ANSWERING)


async def deliver(ctx: Context, application: ApplicationRow, interaction: Interaction, nonce: str | None) -> None:
    """Tell an application of an interaction that has just been stored, and its person that it was told."""
    deliveries = Deliveries.of(ctx.services)
    ctx.emit(InteractionRaised(user_id=ctx.actor.user_id, id=interaction.id, nonce=nonce))
    if application.interactions_endpoint_url is None:
        bot_id = UserId(application.id) if application.bot_user_id is None else application.bot_user_id
        ctx.emit(InteractionCreate(user_id=bot_id, interaction=interaction))
        ctx.after_commit.append(partial(deliveries.expect, interaction.id))
    else:
        ctx.after_commit.append(partial(deliveries.expect, interaction.id))
        ctx.after_commit.append(partial(deliveries.post, application, interaction))


async def fail_interaction(interaction_id: InteractionId, ctx: Context) -> None:
    """Give up an interaction that nobody has answered, and tell its person."""
    if await queries.take_interaction(ctx.tx, interaction_id, InteractionState.FAILED):
        row = await queries.select_interaction(ctx.tx, interaction_id)
        if row is not None:
            ctx.emit(InteractionFailure(user_id=row.user_id, id=row.id, nonce=row.nonce))


def signed_headers(
    services: Services, application: ApplicationRow, body: bytes, *, spoil: bool = False
) -> dict[str, str]:
    """The headers of a request to an endpoint: its moment, and the signature of that with the body.

    `spoil` makes the signature a wrong one, which every endpoint must refuse.
    """
    about = b"application %d" % application.id
    key = Ed25519PrivateKey.from_private_bytes(services.box.decrypt(application.private_key, about=about))
    moment = str(int(time.time()))
    signature = key.sign(moment.encode() + body + (b" " if spoil else b""))
    return {
        "content-type": "application/json",
        "x-signature-ed25519": signature.hex(),
        "x-signature-timestamp": moment,
    }
