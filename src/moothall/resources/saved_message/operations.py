"""Operations: save messages, list them, and save them no longer."""

from collections.abc import Sequence

from msgspec import UNSET

from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ChannelId, GuildId, MessageId
from moothall.objects.permissions import Permissions
from moothall.objects.saved_message import SaveData
from moothall.objects.wire import Timestamp, encode
from moothall.resources.message.rendering import Viewer
from moothall.resources.message.search.results import encoded_messages
from moothall.resources.read_state.queries import select_channel_keys
from moothall.resources.read_state.visibility import viewable
from moothall.resources.saved_message import queries
from moothall.resources.saved_message.events import SavedMessageCreate, SavedMessageDelete
from moothall.resources.saved_message.queries import SavedRow
from moothall.resources.user.queries import lock_user

_READ = int(Permissions.VIEW_CHANNEL | Permissions.READ_MESSAGE_HISTORY)


async def list_saved(ctx: Context) -> bytes:
    """Return the saved messages of the caller as JSON (`SavedMessages`), those saved last first."""
    rows = await queries.select_saved(ctx.tx, ctx.actor.user_id)
    return b'{"results":[%b]}' % b",".join(await _shown(ctx, rows))


async def save_message(ctx: Context, message_id: MessageId, due_at: Timestamp | None) -> bytes:
    """Save a message of the channel entered; return it as JSON (`SavedMessage`).

    Saving it again changes when it is due. Raises Refusal: 403/50013 without READ_MESSAGE_HISTORY, 404/10008,
    400/50035 at `SAVED_MESSAGES_MAX`.
    """
    if ctx.in_guild:
        ctx.require(Permissions.READ_MESSAGE_HISTORY)
    user_id, channel_id = ctx.actor.user_id, ctx.channel.id
    # Locked, so that two requests at once cannot both count the last but one.
    await lock_user(ctx.tx, user_id)
    before = await queries.get_saved(ctx.tx, user_id, channel_id, message_id)
    saved_at = ctx.now if before is None else before.saved_at
    row = SavedRow(user_id=user_id, channel_id=channel_id, message_id=message_id, saved_at=saved_at, due_at=due_at)
    (shown,) = await _shown(ctx, [row], requires_message=True)
    if row == before:
        return shown
    if before is None or (before.due_at is None) != (due_at is None):
        undated, dated = await queries.count_saved(ctx.tx, user_id)
        if (undated if due_at is None else dated) >= limits.SAVED_MESSAGES_MAX:
            refuse_field("message_id", FormCode.BASE_TYPE_MAX_LENGTH, "No more messages can be saved.")
    await queries.upsert_saved(ctx.tx, row)
    ctx.emit(SavedMessageCreate(user_id=user_id, saved=shown))
    return shown


async def unsave_message(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> None:
    """Save a message no longer, which need not exist any more. Raises Refusal: 404/10008 if it is not saved."""
    if not await queries.delete_saved(ctx.tx, ctx.actor.user_id, channel_id, message_id):
        raise Refusal(errors.UNKNOWN_MESSAGE)
    ctx.emit(SavedMessageDelete(user_id=ctx.actor.user_id, channel_id=channel_id, message_id=message_id))


async def _shown(ctx: Context, rows: Sequence[SavedRow], *, requires_message: bool = False) -> list[bytes]:
    """Saved messages as JSON (`SavedMessage`). Raises Refusal: 404/10008 if one is required and there is none."""
    channels = {key.id: key for key in await select_channel_keys(ctx.tx, {row.channel_id for row in rows})}
    user_id = ctx.actor.user_id
    readable = await viewable(ctx.tx, ctx.services.states, user_id, channels.values(), permissions=_READ)
    hits = [(int(row.message_id), int(row.channel_id)) for row in rows if row.channel_id in readable]
    messages = await encoded_messages(ctx, Viewer(user_id), hits)
    if requires_message and len(messages) < len(rows):
        raise Refusal(errors.UNKNOWN_MESSAGE)
    shown = []
    for row in rows:
        channel = channels.get(row.channel_id)
        guild_id: GuildId | None = None if channel is None else channel.guild_id
        data = SaveData(
            channel_id=row.channel_id,
            message_id=row.message_id,
            guild_id=UNSET if guild_id is None else guild_id,
            saved_at=row.saved_at,
            due_at=row.due_at,
        )
        message = messages.get(row.message_id, b"null")
        shown.append(b'{"message":%b,"save_data":%b}' % (message, encode(data)))
    return shown
