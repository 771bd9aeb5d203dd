"""Notes about users over HTTP (resources: user, notes)."""

from typing import Annotated

from msgspec import Meta, Struct

from moothall.api.access import PERSON
from moothall.api.context import Context
from moothall.api.endpoint import get, put
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.ids import UserId
from moothall.objects.relationship import UserNote
from moothall.resources.user.note import operations, queries
from moothall.resources.user.note.events import UserNoteUpdate


class SetUserNote(Struct, frozen=True, kw_only=True):
    """The text of a note; null or an empty text removes it."""

    note: Annotated[str, Meta(max_length=limits.USER_NOTE_MAX)] | None = None


@get("/users/@me/notes", permission=PERSON)
async def list_user_notes(ctx: Context) -> dict[str, str]:
    """List the caller's notes by the id of the user whom each is about."""
    return await queries.select_texts(ctx.tx, ctx.actor.user_id)


@get("/users/@me/notes/{user_id}", permission=PERSON)
async def get_user_note(ctx: Context, user_id: UserId) -> UserNote:
    """Get the caller's note about a user."""
    text = await queries.select_text(ctx.tx, ctx.actor.user_id, user_id)
    if text is None:
        raise Refusal(errors.UNKNOWN_USER)
    return UserNote(note=text, note_user_id=user_id, user_id=ctx.actor.user_id)


@put("/users/@me/notes/{user_id}", permission=PERSON, fires=(UserNoteUpdate,))
async def set_user_note(ctx: Context, user_id: UserId, body: SetUserNote) -> None:
    """Write a note about a user, which only the caller sees. At most 1,500 notes."""
    await operations.set_note(ctx, user_id, body.note or "")
