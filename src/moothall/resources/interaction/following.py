"""What an application does by an interaction's token after its answer, as by a webhook's."""

from typing import Final

from msgspec import Struct, structs

from moothall.kernel.context import Context
from moothall.kernel.uploads import Allowance
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import ChannelId, MessageId, WebhookId
from moothall.objects.interaction import InteractionState
from moothall.objects.message_types import MessageFlags
from moothall.objects.wire import to_plain
from moothall.resources.interaction import queries
from moothall.resources.interaction.access import find_followed
from moothall.resources.interaction.messages import (
    access_of,
    delete_posted,
    edit_posted,
    flags_of,
    post_message,
    read_new,
    show_posted,
)
from moothall.resources.interaction.queries import InteractionRow
from moothall.resources.message.attachment.uploads import allowance_in
from moothall.resources.message.drafts import EditMessage, MessageFields
from moothall.resources.webhook.access import finds_continuations

_OF_USERS_APPS: Final = 5
_FILLED: Final = ("content", "embeds", "allowed_mentions", "flags", "components", "attachments")


class Following(Struct, frozen=True):
    """An interaction that was answered, in the place of a webhook."""

    row: InteractionRow

    async def execute(self, ctx: Context, body: MessageFields) -> bytes:
        """Post a followup; after a deferred answer, which still loads, this is the answer.

        Raises Refusal: 50035, 50006; 400/40094 for the sixth of an application that only its person has installed.
        """
        row = self.row
        if row.state == InteractionState.DEFERRED and row.response_id is not None and row.response_room_id is not None:
            given = {name: getattr(body, name) for name in _FILLED if getattr(body, name) is not None}
            edit = EditMessage(**given, poll=None if body.poll is None else to_plain(body.poll))
            return await edit_posted(ctx, row, row.response_room_id, row.response_id, edit)
        if "0" not in row.owners and row.followups >= _OF_USERS_APPS:
            raise Refusal(errors.TOO_MANY_FOLLOWUPS)
        access = await access_of(ctx, row)
        body = structs.replace(body, flags=await flags_of(ctx, row, access, body.flags))
        draft = await read_new(ctx, row, access, body, FormErrors())
        ephemeral = bool((body.flags or 0) & MessageFlags.EPHEMERAL)
        posted = await post_message(ctx, row, access, draft, ephemeral=ephemeral, follows=True)
        await queries.update_interaction(ctx.tx, row.id, followups=row.followups + 1)
        return posted.data

    async def get(self, ctx: Context, message_id: MessageId) -> bytes:
        """A message of the interaction. Raises Refusal: 404/10008."""
        return await show_posted(ctx, self.row, await self._room(ctx, message_id), message_id)

    async def edit(self, ctx: Context, message_id: MessageId, body: EditMessage) -> bytes:
        """Change a message of the interaction. Raises Refusal: 404/10008, 50035, 50006."""
        return await edit_posted(ctx, self.row, await self._room(ctx, message_id), message_id, body)

    async def delete(self, ctx: Context, message_id: MessageId) -> None:
        """Remove a message of the interaction. Raises Refusal: 404/10008."""
        await delete_posted(ctx, self.row, await self._room(ctx, message_id), message_id)

    async def allowance(self, ctx: Context) -> Allowance:
        """How much may be uploaded."""
        return allowance_in((await access_of(ctx, self.row)).guild)

    async def _room(self, ctx: Context, message_id: MessageId) -> ChannelId:
        """Where a message lies; whether it is one of the interaction's is asked where it is found."""
        if message_id == self.row.source_id and self.row.source_room_id is not None:
            return self.row.source_room_id
        hidden = await queries.select_ephemeral(ctx.tx, message_id)
        return self.row.channel_id if hidden is None else ChannelId(hidden.interaction_id)


def original_of(row: InteractionRow) -> tuple[ChannelId, MessageId]:
    """Where `@original` lies, and its id. Raises Refusal: 404/10008 for an answer without a message."""
    if row.response_id is None or row.response_room_id is None:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return row.response_room_id, row.response_id


@finds_continuations
async def find_following(ctx: Context, webhook_id: WebhookId, token: str) -> Following | None:
    """The interaction of a token that stands where a webhook's would. Raises Refusal: 401/50027 once it is over."""
    row = await find_followed(ctx, webhook_id, token)
    return None if row is None else Following(row)
