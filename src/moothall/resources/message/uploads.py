"""Who may upload files for a message: its author, checked before any file is read."""

from typing import Final

from moothall.api.access import PathValues
from moothall.api.context import Context
from moothall.api.request.uploads import Allowance
from moothall.objects import errors
from moothall.objects.channel_types import FORUMS
from moothall.objects.errors import Refusal
from moothall.resources.message.attachment.uploads import FileUploads
from moothall.resources.message.queries import select_message
from moothall.resources.message.rules import require_may_write, require_unrestricted, require_verified


class _NewMessageUploads(FileUploads):
    async def admit(self, ctx: Context, path: PathValues) -> Allowance:
        await require_may_write(ctx)
        return await super().admit(ctx, path)


async def upload_allowance(ctx: Context) -> Allowance:
    """How much the caller may upload for messages, or posts of a forum, in the channel entered.

    Raises Refusal: as `require_may_write`, and 403/50013.
    """
    if ctx.channel.channel.type in FORUMS:
        require_unrestricted(ctx)
        await require_verified(ctx)
        return await IN_CHANNEL.admit(ctx, {})
    return await NEW_MESSAGE.admit(ctx, {})


class _EditedMessageUploads(FileUploads):
    async def admit(self, ctx: Context, path: PathValues) -> Allowance:
        row = await select_message(ctx.tx, ctx.channel.id, path["message_id"])
        if row is None:
            raise Refusal(errors.UNKNOWN_MESSAGE)
        if row.webhook_id is not None or row.author_id != ctx.actor.user_id:
            raise Refusal(errors.NOT_MESSAGE_AUTHOR)
        require_unrestricted(ctx)
        return await super().admit(ctx, path)


NEW_MESSAGE: Final = _NewMessageUploads()
EDITED_MESSAGE: Final = _EditedMessageUploads()
"""The uploads of edits: for authors of messages."""
IN_CHANNEL: Final = FileUploads()
"""Uploads with ATTACH_FILES in the channel of the path, for endpoints that check the rest themselves."""
