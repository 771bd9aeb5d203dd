"""Deleting the files that nothing refers to any more."""

from typing import Any

from moothall.api.staged import upload_key
from moothall.objects.ids import Snowflake
from moothall.resources.message.attachment.sweeper import FileSweeper
from tests.resources.message.attachment.uploading import stored
from tests.support.harness import Platform


async def sweep(platform: Platform) -> list[str]:
    """The keys that are stored after a sweep."""
    await FileSweeper(platform.services).sweep()
    return await stored(platform)


def keys(message: Any) -> list[str]:
    """Where the files lie that a message lists."""
    return sorted(upload_key(Snowflake(int(attachment["id"]))) for attachment in message["attachments"])
