"""Content of members that is checked before it is stored: messages, edits, names of threads.

Other rooms register what checks it, and may refuse it.
"""

from collections.abc import Awaitable, Callable, Sequence
from typing import Final

import msgspec
from msgspec import UNSET, Struct

from moothall.api.context import Context
from moothall.api.hooks import Hook
from moothall.authority.channel_access import ChannelAccess
from moothall.objects.component import texts_of
from moothall.objects.ids import MessageId, UserId
from moothall.objects.json_object import JsonObject
from moothall.resources.message.authors import Author
from moothall.resources.message.drafts import Draft, EditDraft
from moothall.resources.message.people import Person
from moothall.resources.message.references import MessageReferences


class SubmittedContent(Struct, frozen=True, kw_only=True):
    """Content that a member submits to a channel of a guild."""

    access: ChannelAccess
    user_id: UserId
    texts: Sequence[str]
    """None of them is empty."""
    message_id: MessageId | None = None
    """The message that it will be stored in; None for the name of a thread."""
    mentions: int = 0
    """The number of users and roles that it mentions."""
    author: Person | None = None
    """The member who submits it; None for the name of a thread."""
    is_new: bool = True
    """Whether it is not an edit."""


AfterStoring = Callable[[Context], Awaitable[None]]
"""What a check does once the content is stored."""

CONTENT_SUBMITTED: Final = Hook[[Context, SubmittedContent], AfterStoring | None]("content submitted")
"""Called before content of a member who is no bot is stored in a guild. A handler may refuse it, or return what it does
once the content is stored."""


async def check_message(
    ctx: Context, access: ChannelAccess, author: Author, draft: Draft, references: MessageReferences, *, id: MessageId
) -> AfterStoring | None:
    """Check a new message. The row must declare `CONTENT_SUBMITTED`. Raises what a handler raises."""
    if not _is_checked(ctx, access, author):
        return None
    texts = [draft.content, *texts_of(draft.components)]
    if draft.poll is not None:
        texts += (draft.poll.question, *(answer.text or "" for answer in draft.poll.answers))
    if references.forwarded is not None:
        texts += _forwarded_texts(bytes(references.forwarded.snapshots))
    return await _submit(ctx, access, texts, references, id, is_new=True)


async def check_edit(
    ctx: Context, access: ChannelAccess, author: Author, draft: EditDraft, references: MessageReferences, id: MessageId
) -> AfterStoring | None:
    """Check the new texts of an edited message. The row must declare `CONTENT_SUBMITTED`."""
    if draft.only_flags or not _is_checked(ctx, access, author):
        return None
    texts = [] if draft.content is UNSET else [draft.content]
    if draft.components is not UNSET:
        texts += texts_of(draft.components)
    return await _submit(ctx, access, texts, references, id, is_new=False)


async def check_title(ctx: Context, access: ChannelAccess, title: str) -> AfterStoring | None:
    """Check the name of a thread that is started or renamed in a channel. The row must declare `CONTENT_SUBMITTED`."""
    if not _is_checked(ctx, access, ctx.actor.user_id):
        return None
    return await CONTENT_SUBMITTED.first(ctx, SubmittedContent(access=access, user_id=ctx.actor.user_id, texts=[title]))


def _is_checked(ctx: Context, access: ChannelAccess, author: Author) -> bool:
    return access.guild is not None and author == ctx.actor.user_id and not ctx.actor.bot


async def _submit(
    ctx: Context,
    access: ChannelAccess,
    texts: Sequence[str],
    references: MessageReferences,
    message_id: MessageId,
    *,
    is_new: bool,
) -> AfterStoring | None:
    mentioned = references.mentioned
    content = SubmittedContent(
        access=access,
        user_id=ctx.actor.user_id,
        texts=[text for text in texts if text],
        message_id=message_id,
        mentions=len(mentioned.users) + len(mentioned.roles),
        author=references.people.get(ctx.actor.user_id),
        is_new=is_new,
    )
    return await CONTENT_SUBMITTED.first(ctx, content)


_decode: Final = msgspec.json.Decoder(list[dict[str, JsonObject]]).decode


def _forwarded_texts(snapshots: bytes) -> list[str]:
    return [str(snapshot["message"].get("content", "")) for snapshot in _decode(snapshots)]
