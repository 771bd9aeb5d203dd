"""An application's own emojis, which its bot may use anywhere."""

from collections.abc import Iterable

from msgspec import UNSET

from moothall.kernel.context import Context
from moothall.objects import errors, limits
from moothall.objects.emoji import Emoji
from moothall.objects.errors import Refusal
from moothall.objects.ids import ApplicationId, EmojiId
from moothall.objects.user import User
from moothall.resources.application.queries import lock_application
from moothall.resources.emoji import queries
from moothall.resources.emoji.queries import ApplicationEmojiRow
from moothall.resources.emoji.requests import CreateApplicationEmoji, ModifyApplicationEmoji
from moothall.resources.user.queries import get_users


async def list_emojis(ctx: Context, application_id: ApplicationId) -> list[Emoji]:
    """Every emoji of an application, oldest first."""
    return await _shown(ctx, await queries.select_application_emojis(ctx.tx, application_id))


async def get_emoji(ctx: Context, application_id: ApplicationId, emoji_id: EmojiId) -> Emoji:
    """One of them. Raises Refusal: 404/10014."""
    (emoji,) = await _shown(ctx, [await _find(ctx, application_id, emoji_id)])
    return emoji


async def create_emoji(ctx: Context, application_id: ApplicationId, body: CreateApplicationEmoji) -> Emoji:
    """Give an application an emoji. Raises Refusal: 400/30008 when it has as many as may be."""
    # Two requests at once count one after the other.
    if await lock_application(ctx.tx, application_id) is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    if await queries.count_application_emojis(ctx.tx, application_id) >= limits.APPLICATION_EMOJIS_MAX:
        raise Refusal(errors.TOO_MANY_EMOJIS)
    row = ApplicationEmojiRow(
        application_id=application_id,
        id=EmojiId(ctx.ids.next()),
        name=body.name,
        user_id=ctx.actor.user_id,
        animated=body.image.info.animated,
        image=body.image.hash,
    )
    await queries.insert_application_emoji(ctx.tx, row)
    (emoji,) = await _shown(ctx, [row])
    return emoji


async def change_emoji(
    ctx: Context, application_id: ApplicationId, emoji_id: EmojiId, body: ModifyApplicationEmoji
) -> Emoji:
    """Rename an emoji of an application's. Raises Refusal: 404/10014."""
    row = await _find(ctx, application_id, emoji_id)
    if isinstance(body.name, str):
        row.name = body.name
        await queries.rename_application_emoji(ctx.tx, application_id, emoji_id, body.name)
    (emoji,) = await _shown(ctx, [row])
    return emoji


async def delete_emoji(ctx: Context, application_id: ApplicationId, emoji_id: EmojiId) -> None:
    """Remove an emoji of an application's. Raises Refusal: 404/10014."""
    await _find(ctx, application_id, emoji_id)
    await queries.delete_application_emoji(ctx.tx, application_id, emoji_id)


async def _find(ctx: Context, application_id: ApplicationId, emoji_id: EmojiId) -> ApplicationEmojiRow:
    row = await queries.select_application_emoji(ctx.tx, application_id, emoji_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_EMOJI)
    return row


async def _shown(ctx: Context, rows: Iterable[ApplicationEmojiRow]) -> list[Emoji]:
    rows = list(rows)
    users = await get_users(ctx.tx, {row.user_id for row in rows if row.user_id is not None})
    return [_emoji(row, None if row.user_id is None else users.get(row.user_id)) for row in rows]


def _emoji(row: ApplicationEmojiRow, user: User | None) -> Emoji:
    return Emoji(id=row.id, name=row.name, roles=[], user=user or UNSET, animated=row.animated)
