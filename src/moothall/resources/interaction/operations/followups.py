"""Create, edit and delete followups by an interaction's token, with the endpoints of a webhook's messages."""

from typing import Final

from msgspec import Struct, structs

from moothall.api.context import Context
from moothall.api.request.uploads import Allowance
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import MessageId, UserId, WebhookId
from moothall.objects.interaction import InteractionState
from moothall.objects.wire import to_plain
from moothall.resources.interaction import queries
from moothall.resources.interaction.access import find_interaction_by_token
from moothall.resources.interaction.operations.messages import (
    create_interaction_message,
    delete_interaction_message,
    edit_interaction_message,
)
from moothall.resources.interaction.queries import InteractionRow
from moothall.resources.interaction.respond.channel import bot_access, bot_id, is_ephemeral, response_flags
from moothall.resources.interaction.respond.data import read_message
from moothall.resources.interaction.respond.message_lookup import find_room_id, get_interaction_message
from moothall.resources.message.attachment.uploads import allowance_in
from moothall.resources.message.requests import EditMessage, MessageFields

_MAX_USER_INSTALL_FOLLOWUPS: Final = 5
_EDIT_FIELDS: Final = ("content", "embeds", "allowed_mentions", "flags", "components", "attachments")


class Followups(Struct, frozen=True):
    """The followups of an interaction, by the token that is used like a webhook's (a `Continuation`)."""

    row: InteractionRow

    async def execute(self, ctx: Context, body: MessageFields) -> bytes:
        """Create a followup; as JSON. After a deferred response it fills the loading message instead.

        Raises Refusal: 50035, 50006; 400/40094 for the sixth followup of an application that is installed to the user
        only.
        """
        row = self.row
        if row.state == InteractionState.DEFERRED and row.response_id is not None and row.response_room_id is not None:
            fields = {name: getattr(body, name) for name in _EDIT_FIELDS if getattr(body, name) is not None}
            edit = EditMessage(**fields, poll=None if body.poll is None else to_plain(body.poll))
            return await edit_interaction_message(ctx, row, row.response_room_id, row.response_id, edit)
        if "0" not in row.owners and row.followups >= _MAX_USER_INSTALL_FOLLOWUPS:
            raise Refusal(errors.TOO_MANY_FOLLOWUPS)
        access = await bot_access(ctx, row)
        body = structs.replace(body, flags=await response_flags(ctx, row, access, body.flags))
        draft = await read_message(ctx, row, access, body, FormErrors())
        message = await create_interaction_message(
            ctx, row, access, draft, ephemeral=is_ephemeral(body.flags), followup=True
        )
        await queries.update_interaction(ctx.tx, row.id, followups=row.followups + 1)
        return message.data

    async def get(self, ctx: Context, message_id: MessageId) -> bytes:
        """A message of the interaction, as JSON. Raises Refusal: 404/10008."""
        room_id = await find_room_id(ctx, self.row, message_id)
        return await get_interaction_message(ctx, self.row, room_id, message_id)

    async def edit(self, ctx: Context, message_id: MessageId, body: EditMessage) -> bytes:
        """Edit a message of the interaction; as JSON. Raises Refusal: 404/10008, 50035, 50006."""
        room_id = await find_room_id(ctx, self.row, message_id)
        return await edit_interaction_message(ctx, self.row, room_id, message_id, body)

    async def delete(self, ctx: Context, message_id: MessageId) -> None:
        """Delete a message of the interaction. Raises Refusal: 404/10008."""
        room_id = await find_room_id(ctx, self.row, message_id)
        await delete_interaction_message(ctx, self.row, room_id, message_id)

    @property
    def payer_id(self) -> UserId:
        """The bot, which is charged for the files."""
        return bot_id(self.row)

    async def allowance(self, ctx: Context) -> Allowance:
        """The size limits of uploads."""
        return allowance_in((await bot_access(ctx, self.row)).guild)


async def find_followups(ctx: Context, webhook_id: WebhookId, token: str) -> Followups | None:
    """The followups of the interaction with a token; None if there is none. Raises Refusal: 401/50027 if expired."""
    row = await find_interaction_by_token(ctx, webhook_id, token)
    return None if row is None else Followups(row)
