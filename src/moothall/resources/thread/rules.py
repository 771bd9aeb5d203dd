"""What a thread may be: decisions over a request, the channel and the caller, with hardly any I/O."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from moothall.kernel.context import Context
from moothall.objects import errors, limits
from moothall.objects.channel import Channel, ForumTag
from moothall.objects.channel_types import ChannelFlags, ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId, Snowflake, TagId, snowflake_at
from moothall.objects.text import channel_name
from moothall.resources.message.rules import RecentWriters, slowmode_of, too_soon
from moothall.resources.thread import queries

DEFAULT_AUTO_ARCHIVE: Final = 4320
"""Minutes, where neither the request nor the channel says it."""
_BY_PARENT: Final = {
    ChannelType.GUILD_TEXT: (ChannelType.PUBLIC_THREAD, ChannelType.PRIVATE_THREAD),
    ChannelType.GUILD_ANNOUNCEMENT: (ChannelType.ANNOUNCEMENT_THREAD,),
}
"""The types of threads that a channel can have, without a message; those of forums are public."""


def stored_name(name: str, form_errors: FormErrors, field: str = "name") -> str:
    """A thread's name as it is stored; one of which nothing is left is an error."""
    stored = channel_name(name, text_like=False)
    if not stored:
        form_errors.add(field, *FieldError.length(1, limits.THREAD_NAME_MAX))
    return stored


def started_type(parent: Channel, asked: int | None, form_errors: FormErrors) -> int:
    """The type of a thread that is started without a message. Raises Refusal: 50024 where there are no threads."""
    kinds = _BY_PARENT.get(ChannelType(parent.type))
    if kinds is None:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    kind = ChannelType.PRIVATE_THREAD if asked is None else ChannelType(asked)
    if kind not in kinds:
        form_errors.add("type", *FieldError.choices(tuple(map(int, kinds))))
    return int(kind)


def public_type(parent: Channel) -> int:
    """The type of the threads of a channel that everybody sees who may view it."""
    announces = parent.type == ChannelType.GUILD_ANNOUNCEMENT
    return int(ChannelType.ANNOUNCEMENT_THREAD if announces else ChannelType.PUBLIC_THREAD)


def check_tags(
    parent: Channel, asked: Sequence[TagId], held: Sequence[Snowflake], *, manages: bool, form_errors: FormErrors
) -> list[Snowflake]:
    """The tags that a thread of a forum is to have instead of those that it held, each once.

    Raises Refusal: 40067 for none where one is required, 403/50013 for adding or taking one that is
    moderated without MANAGE_THREADS.
    """
    known = _tags(parent)
    for index, tag_id in enumerate(asked):
        if tag_id not in known:
            form_errors.at("applied_tags").add([index], FormCode.BASE_TYPE_CHOICES, "The channel has no such tag.")
    if not asked and parent.flags & ChannelFlags.REQUIRE_TAG and known:
        if not manages and all(tag.moderated for tag in known.values()):
            raise Refusal(errors.NO_TAGS_FOR_MEMBERS)
        raise Refusal(errors.TAG_REQUIRED)
    changed = set(asked) ^ {TagId(tag_id) for tag_id in held}
    if not manages and any(tag_id in known and known[tag_id].moderated for tag_id in changed):
        raise Refusal(errors.MISSING_PERMISSIONS)
    return [Snowflake(tag_id) for tag_id in dict.fromkeys(asked)]


async def require_start_over(ctx: Context, thread_id: Snowflake) -> None:
    """Slowmode lets somebody start one thread in a channel for each interval (429/20016)."""
    seconds = slowmode_of(ctx)
    if not seconds:
        return
    # Apart from the messages of the channel, of which one may be sent in the same time.
    kept, user_id, now = ChannelId(Snowflake(-ctx.channel.id)), ctx.actor.user_id, Snowflake(thread_id).created_ms
    started = await queries.select_last_started(ctx.tx, ctx.channel.id, user_id, snowflake_at(now - seconds * 1000))
    writers = RecentWriters.of(ctx)
    last = max(writers.last(kept, user_id), 0 if started is None else Snowflake(started).created_ms)
    if (left := last + seconds * 1000 - now) > 0:
        raise too_soon(left)
    ctx.after_commit.append(lambda: writers.note(kept, user_id, now))


def _tags(parent: Channel) -> dict[TagId, ForumTag]:
    listed = parent.available_tags
    return {} if listed is UNSET else {tag.id: tag for tag in listed}
