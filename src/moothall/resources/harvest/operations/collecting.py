"""The job that collects an archive: each step adds one file to it."""

from collections.abc import Awaitable, Callable
from functools import partial
from typing import ClassVar, Final

import msgspec
from msgspec import structs

from moothall.api.context import Context
from moothall.api.jobs import Job, enqueue, job
from moothall.objects.ids import MessageId, Snowflake, UserId
from moothall.objects.wire import Timestamp
from moothall.resources.harvest import queries
from moothall.resources.harvest.account import account_document, guilds_document
from moothall.resources.harvest.archive import ArchiveFile, make_directory, make_entry
from moothall.resources.harvest.objects import EXTRACTED, RUNNING, HarvestStatus
from moothall.resources.harvest.operations.removal import DeleteHarvest, blob_key
from moothall.resources.harvest.queries import CollectedMessage, HarvestRow

KEPT_MS: Final = 7 * 86_400_000
"""How long a complete archive can be downloaded."""

_DOCUMENTS: Final[dict[str, tuple[str, Callable[[Context, UserId], Awaitable[bytes]]]]] = {
    "users": ("account.json", account_document),
    "guilds": ("servers.json", guilds_document),
}


@job
class CollectHarvest(Job, frozen=True, kw_only=True):
    """Collects an archive; stops if a newer one was requested, or the account was deleted."""

    kind: ClassVar[str] = "collect_harvest"
    user_id: UserId
    harvest_id: Snowflake
    number: int = 0
    """The number of the next file."""
    after: MessageId = MessageId(Snowflake(0))
    """The last message collected."""

    async def step(self, ctx: Context) -> Job | None:
        """Add the next file, or the directory once all are there."""
        row = await queries.select_harvest(ctx.tx, self.user_id)
        if row is None or row.id != self.harvest_id:
            return DeleteHarvest(user_id=self.user_id, harvest_id=self.harvest_id)
        backend = next((name for name, state in row.backends.items() if state != EXTRACTED), None)
        if backend is None:
            await self._finish(ctx, row)
            return None
        if backend != "messages":
            name, read = _DOCUMENTS[backend]
            await self._add(ctx, name, await read(ctx, self.user_id))
            await _save_state(ctx, row, backend, EXTRACTED)
            return structs.replace(self, number=self.number + 1)
        messages = await queries.select_messages_of(ctx.tx, self.user_id, self.after)
        if not messages:
            await _save_state(ctx, row, backend, EXTRACTED)
            return self
        await self._add(ctx, f"messages/{self.number:05}.json", _messages_document(ctx, messages))
        await _save_state(ctx, row, backend, RUNNING)
        return structs.replace(self, number=self.number + 1, after=messages[-1].id)

    async def _add(self, ctx: Context, name: str, content: bytes) -> None:
        """Store one file. The blob is stored first; a repeated step replaces it."""
        file, entry = await ctx.services.pools.archives.run(ctx.payer, partial(make_entry, name, content))
        await ctx.services.blobs.put(blob_key(self.harvest_id, self.number), entry)
        await queries.insert_file(ctx.tx, self.harvest_id, self.number, file)

    async def _finish(self, ctx: Context, row: HarvestRow) -> None:
        """Store the directory, after which the archive is complete, and enqueue its deletion."""
        files = [file for file in await queries.select_files(ctx.tx, self.harvest_id) if file.name]
        try:
            directory = make_directory(files)
        except ValueError:
            failed = structs.replace(row, status=int(HarvestStatus.FAILED), updated_at=ctx.now)
            await queries.upsert_harvest(ctx.tx, failed)
            await enqueue(ctx, DeleteHarvest(user_id=self.user_id, harvest_id=self.harvest_id))
            return
        await ctx.services.blobs.put(blob_key(self.harvest_id, self.number), directory)
        end = ArchiveFile(name="", checksum=0, size=0, compressed_size=0, length=len(directory))
        await queries.insert_file(ctx.tx, self.harvest_id, self.number, end)
        complete = structs.replace(
            row,
            status=int(HarvestStatus.COMPLETED),
            size=sum(file.length for file in files) + len(directory),
            updated_at=ctx.now,
            completed_at=ctx.now,
        )
        await queries.upsert_harvest(ctx.tx, complete)
        removal = DeleteHarvest(user_id=self.user_id, harvest_id=self.harvest_id)
        await enqueue(ctx, removal, at=Timestamp(ctx.now + KEPT_MS))


async def _save_state(ctx: Context, row: HarvestRow, backend: str, state: str) -> None:
    changed = structs.replace(
        row,
        status=int(HarvestStatus.RUNNING),
        backends={**row.backends, backend: state},
        updated_at=ctx.now,
    )
    await queries.upsert_harvest(ctx.tx, changed)


def _messages_document(ctx: Context, messages: list[CollectedMessage]) -> bytes:
    """A JSON list of messages as they are stored, with the guild of each. The URLs of files are not signed."""
    bodies = [
        ctx.services.links.with_plain_urls(message.body)[:-1]
        + b',"guild_id":'
        + msgspec.json.encode(None if message.guild_id is None else message.guild_id.wire())
        + b"}"
        for message in messages
    ]
    return b"[" + b",\n".join(bodies) + b"]\n"
