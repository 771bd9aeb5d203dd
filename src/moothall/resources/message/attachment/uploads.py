"""Who may upload files and how large, and what is read from a file before any message has it."""

from functools import partial

from msgspec import Struct

from moothall.api.access import PathValues
from moothall.api.context import Context
from moothall.api.request.uploads import Allowance, Uploads
from moothall.api.staged import StagedFile
from moothall.authority.guild_state import GuildState
from moothall.objects import limits
from moothall.objects.ids import UserId
from moothall.objects.permissions import Permissions
from moothall.resources.message.attachment.filenames import BINARY, content_type_of
from moothall.resources.message.attachment.images import Dimensions, is_measured, measure
from moothall.runtime.work_pool import PayerPool
from moothall.storage.blobs import Blobs


class ExaminedFile(Struct, frozen=True):
    """The content type of a file, and its dimensions."""

    content_type: str
    dimensions: Dimensions | None = None
    """None for a file that is no image."""


def allowance_in(guild: GuildState | None) -> Allowance:
    """The limits of uploads in a guild, by its boosts, or in a direct message."""
    each = limits.FILE_SIZE_BY_TIER[0 if guild is None else guild.row.premium_tier]
    return Allowance(each, max(each, limits.REQUEST_SIZE_MAX))


class FileUploads(Uploads):
    """The uploads of endpoints that write messages: up to ten files, with ATTACH_FILES in the channel entered."""

    async def admit(self, ctx: Context, path: PathValues) -> Allowance:
        """The limits by the guild's boosts. Raises Refusal: 403/50013."""
        del path
        ctx.require(Permissions.ATTACH_FILES)
        return allowance_in(ctx.channel.guild)

    async def payer_id(self, ctx: Context) -> UserId | None:
        """The caller."""
        return ctx.actor.user_id

    async def examine(self, file: StagedFile, blobs: Blobs, pool: PayerPool) -> None:
        """Set the `info` of a file: its `ExaminedFile`."""
        kind = content_type_of(file.head, file.filename)
        dimensions = None
        if is_measured(kind):
            dimensions = await pool.run(partial(measure, blobs, file.key))
            if dimensions is None:
                kind = BINARY  # only its first bytes are those of an image
        file.info = ExaminedFile(kind, dimensions)
