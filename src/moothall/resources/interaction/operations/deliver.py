"""Send interactions to applications: over the gateway, or by a signed request to their interactions endpoint."""

import asyncio
import logging
from collections import Counter
from collections.abc import Coroutine
from functools import partial
from typing import Any, Final

from msgspec import Struct

from moothall.api import unit_of_work
from moothall.api.authenticate import ANONYMOUS
from moothall.api.context import Context, Services
from moothall.api.request.body import BodyReader, body_reader
from moothall.api.request.multipart import is_form
from moothall.api.request.uploads import Admission, UploadStaging
from moothall.api.storage_quota import open_quota_share
from moothall.objects import errors
from moothall.objects.clock import stopwatch
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, InteractionId, UserId
from moothall.objects.interaction import Interaction, InteractionState
from moothall.objects.wire import encode
from moothall.resources.application.endpoint_requests import signed_headers
from moothall.resources.application.queries import ApplicationRow
from moothall.resources.interaction import queries
from moothall.resources.interaction.access import RESPONSE_UPLOADS, response_allowance
from moothall.resources.interaction.events import InteractionCreate, InteractionCreateAck, InteractionFailure
from moothall.resources.interaction.operations.respond import RESPONSE_EVENTS, fail_interaction, respond
from moothall.resources.interaction.requests import InteractionResponse
from moothall.resources.interaction.respond.channel import bot_id
from moothall.resources.interaction.response_timers import ResponseTimers
from moothall.runtime.budgets import Payer, WorkRefused
from moothall.runtime.outgoing import ConnectionFailed, Outgoing, OutgoingFailed, ResponseStream, read_whole
from moothall.storage.database import StorageError

_RESPONSES: Final[BodyReader] = body_reader(InteractionResponse, optional=False)
_MAX_RESPONSE_BYTES: Final = 1024 * 1024
_MAX_IN_FLIGHT: Final = 50
_OK, _ACCEPTED, _NO_CONTENT = 200, 202, 204

log = logging.getLogger("moothall.interactions")


async def deliver_interaction(
    ctx: Context, application: ApplicationRow, interaction: Interaction, nonce: str | None
) -> None:
    """Send an interaction to its application after the commit, start its timer, and acknowledge it to the user."""
    deliveries = ctx.services.resources[Deliveries]
    ctx.emit(InteractionCreateAck(user_id=ctx.actor.user_id, id=interaction.id, nonce=nonce))
    ctx.after_commit.append(partial(deliveries.start_timer, interaction.id))
    if application.interactions_endpoint_url is None:
        bot_id = UserId(application.id) if application.bot_user_id is None else application.bot_user_id
        ctx.emit(InteractionCreate(user_id=bot_id, interaction=interaction))
    else:
        ctx.after_commit.append(partial(deliveries.post, application, interaction))


class _EndpointResponse(Struct, frozen=True):
    """What an interactions endpoint answered, with the files that came in it."""

    status: int
    body: bytes
    staging: UploadStaging | None = None


class Deliveries:
    """The timers of this process's interactions, and its requests to interactions endpoints.

    Each application has at most 50 requests in flight, so that a slow endpoint delays no other application.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._tasks: set[asyncio.Task[None]] = set()
        self._in_flight: Counter[ApplicationId] = Counter()
        self._timers = services.resources[ResponseTimers]
        self.outgoing = Outgoing(allow_private=services.limits.allow_private_addresses)

    def start_timer(self, interaction_id: InteractionId) -> None:
        """Fail an interaction unless it is responded to in time."""
        self._timers.start(interaction_id, self.time_out)

    def time_out(self, interaction_id: InteractionId) -> None:
        """Fail an interaction that has no response."""
        self._start_task(self._fail(interaction_id))

    def post(self, application: ApplicationRow, interaction: Interaction) -> None:
        """Send an interaction to the application's endpoint and respond with what it returns."""
        self._start_task(self._post_and_respond(application, interaction))

    async def wait_until_idle(self) -> None:
        """Wait until no request is in flight and no timer is running."""
        while self._tasks or len(self._timers):
            await asyncio.gather(*self._tasks, asyncio.sleep(0.005), return_exceptions=True)

    async def tasks_done(self) -> None:
        """Wait until the requests in flight are answered and the timeouts so far are stored."""
        await asyncio.gather(*self._tasks, return_exceptions=True)

    async def close(self) -> None:
        """Stop the timers and cancel the requests; the interactions stay without a response."""
        self._timers.close()
        for task in list(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        await self.outgoing.close()

    def _start_task(self, work: Coroutine[object, None, None]) -> None:
        task = asyncio.get_running_loop().create_task(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _fail(self, interaction_id: InteractionId) -> None:
        self._timers.stop(interaction_id)
        try:
            async with self._services.database.read() as reader:
                row = await queries.select_interaction(reader, interaction_id)
            if row is None or row.state != InteractionState.WAITING:
                return  # the response came to another process
            await unit_of_work.run(
                self._services, ANONYMOUS, partial(fail_interaction, interaction_id), fires=(InteractionFailure,)
            )
        except StorageError as problem:
            log.warning("interaction %s cannot be marked as failed: %s", interaction_id, problem)

    async def _post_and_respond(self, application: ApplicationRow, interaction: Interaction) -> None:
        if self._in_flight[application.id] >= _MAX_IN_FLIGHT:
            await self._fail(interaction.id)
            return
        self._in_flight[application.id] += 1
        try:
            answer = await self._post(application, interaction)
            await self._respond(interaction.id, answer)
        except (OutgoingFailed, Refusal, StorageError, WorkRefused) as problem:
            log.info("the endpoint of application %s: %s", application.id, problem)
            await self._fail(interaction.id)
        except Exception:
            log.exception("interaction %s cannot be delivered", interaction.id)
            await self._fail(interaction.id)
        finally:
            self._in_flight[application.id] -= 1
            if not self._in_flight[application.id]:
                del self._in_flight[application.id]

    async def _post(self, application: ApplicationRow, interaction: Interaction) -> _EndpointResponse:
        """Send a request, and a second one if the connection was lost before any response to the first."""
        url, body = application.interactions_endpoint_url or "", self._services.links.sign(encode(interaction))
        started_at, seconds = stopwatch(), self._timers.seconds
        headers = signed_headers(self._services, application, body)
        # The bot has the id of its application.
        read = partial(self._read_response, interaction.id, Payer(application.id, ""))
        try:
            return await self.outgoing.exchange(url, body, headers, seconds=seconds, read=read)
        except ConnectionFailed:
            left = seconds - (stopwatch() - started_at)
            if left < seconds / 2:
                raise
            return await self.outgoing.exchange(url, body, headers, seconds=left, read=read)

    async def _read_response(
        self, interaction_id: InteractionId, payer: Payer, answer: ResponseStream
    ) -> _EndpointResponse:
        """Read an answer: JSON, or a form of which the files are stored, which is charged to `payer`.

        Raises OutgoingFailed, Refusal, WorkRefused.
        """
        if answer.status != _OK or not is_form(answer.content_type):
            whole = await read_whole(answer, maximum=_MAX_RESPONSE_BYTES)
            return _EndpointResponse(whole.status, whole.body)
        services = self._services
        cost = services.budgets.cost_of(payer)
        staging = UploadStaging(
            RESPONSE_UPLOADS,
            services.blobs,
            services.file_ids,
            partial(self._admit, interaction_id),
            services.pools.images.for_payer(payer),
            cost,
        )
        try:
            form = await staging.read(answer.chunks, answer.content_type)
        finally:
            cost.release()
        return _EndpointResponse(answer.status, form.body(InteractionResponse), staging)

    async def _admit(self, interaction_id: InteractionId) -> Admission:
        reader: Any
        async with self._services.database.read() as reader:
            row = await queries.select_interaction(reader, interaction_id)
            if row is None:
                raise Refusal(errors.UNKNOWN_INTERACTION)
            ctx = Context(self._services, reader, ANONYMOUS, reason=None, fires=frozenset(), writes=False)
            share = await open_quota_share(self._services, reader, bot_id(row))
            return Admission(await response_allowance(ctx, row), share)

    async def _respond(self, interaction_id: InteractionId, answer: _EndpointResponse) -> None:
        if answer.status in {_ACCEPTED, _NO_CONTENT}:
            return  # the application will use Create Interaction Response
        if answer.status != _OK:
            raise OutgoingFailed(f"status {answer.status}")

        async def work(ctx: Context) -> None:
            row = await queries.select_interaction(ctx.tx, interaction_id)
            if row is not None:
                await respond(ctx, row, response)

        staging = answer.staging
        try:
            response: InteractionResponse = _RESPONSES.read(answer.body, "application/json")
            files = () if staging is None else staging.files
            await unit_of_work.run(self._services, ANONYMOUS, work, fires=RESPONSE_EVENTS, files=files)
        except Refusal:
            if staging is not None:
                await staging.discard()
            raise
        finally:
            if staging is not None:
                staging.release()
        if staging is not None:
            await staging.discard(taken=False)
