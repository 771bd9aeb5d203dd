"""Writing and removing notes about users."""

from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FieldError
from moothall.objects.ids import UserId
from moothall.resources.user.note import queries
from moothall.resources.user.note.events import UserNoteUpdate
from moothall.resources.user.queries import lock_user, select_user


async def set_note(ctx: Context, about_id: UserId, text: str) -> None:
    """Store the caller's note about a user; an empty one removes it.

    Raises Refusal: 404/10013 for an unknown user, 50035 for more than `USER_NOTES_MAX` notes.
    """
    if await select_user(ctx.tx, about_id) is None:
        raise Refusal(errors.UNKNOWN_USER)
    user_id = ctx.actor.user_id
    await lock_user(ctx.tx, user_id)
    earlier = await queries.select_text(ctx.tx, user_id, about_id)
    if text == (earlier or ""):
        return
    if not text:
        await queries.delete_text(ctx.tx, user_id, about_id)
    else:
        if earlier is None and await queries.count_texts(ctx.tx, user_id) >= limits.USER_NOTES_MAX:
            refuse_field("note", *FieldError.length(None, limits.USER_NOTES_MAX))
        await queries.upsert_text(ctx.tx, user_id, about_id, text)
    ctx.emit(UserNoteUpdate(user_id=user_id, about_id=about_id, note=text))
