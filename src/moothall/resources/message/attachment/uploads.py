"""Who may upload how much, and what is found out of a file before it is anybody's."""

import asyncio
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, Final

from msgspec import Struct

from moothall.kernel.context import Context
from moothall.kernel.guild_state import GuildState
from moothall.kernel.staged import StagedFile
from moothall.kernel.uploads import Allowance, Uploads
from moothall.objects import limits
from moothall.objects.permissions import Permissions
from moothall.resources.message.attachment.names import BINARY, content_type_of
from moothall.resources.message.attachment.pictures import Measures, is_measured, measure
from moothall.storage.blobs import Blobs

_MEASURING: Final = ThreadPoolExecutor(2, thread_name_prefix="measuring")
"""Pictures are looked at by two threads only, however many are uploaded at once."""


class Examined(Struct, frozen=True):
    """What a file is."""

    content_type: str
    measures: Measures | None = None
    """None for what is no picture."""


def allowance_in(guild: GuildState | None) -> Allowance:
    """What may be uploaded in a guild, by its boosts, or in a direct message."""
    each = limits.FILE_SIZE_BY_TIER[0 if guild is None else guild.row.premium_tier]
    return Allowance(each, max(each, limits.REQUEST_SIZE_MAX))


class FileUploads(Uploads):
    """What rows take that write messages: up to ten files of those with ATTACH_FILES, in the place entered."""

    async def admit(self, ctx: Context, path: Mapping[str, Any]) -> Allowance:
        """As the guild's boosts allow. Raises Refusal: 403/50013."""
        del path
        ctx.require(Permissions.ATTACH_FILES)
        return allowance_in(ctx.channel.guild)

    async def examine(self, file: StagedFile, blobs: Blobs) -> None:
        """Find out what the file is, and how large a picture."""
        kind = content_type_of(file.head, file.filename)
        measures = None
        if is_measured(kind):
            measures = await asyncio.get_running_loop().run_in_executor(_MEASURING, measure, blobs, file.key)
            if measures is None:
                kind = BINARY  # it only begins like a picture
        file.info = Examined(kind, measures)
