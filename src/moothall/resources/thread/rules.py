"""Validation of threads: name, type, tags, slowmode."""

from collections.abc import Sequence
from typing import Final

from msgspec import UNSET

from moothall.api.context import Context
from moothall.authority.channel_access import ChannelAccess
from moothall.objects import errors, limits
from moothall.objects.channel import Channel, ForumTag
from moothall.objects.channel_types import ChannelFlags, ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId, Snowflake, TagId, snowflake_at
from moothall.objects.text import channel_name
from moothall.resources.message.rules import RecentMessages, slowmode_of, too_soon
from moothall.resources.thread import queries

DEFAULT_AUTO_ARCHIVE: Final = 4320
"""In minutes, if neither the request nor the channel sets it."""
_TYPES_BY_PARENT: Final = {
    ChannelType.GUILD_TEXT: (ChannelType.PUBLIC_THREAD, ChannelType.PRIVATE_THREAD),
    ChannelType.GUILD_ANNOUNCEMENT: (ChannelType.ANNOUNCEMENT_THREAD,),
}
"""The thread types of each parent type, except forums."""


def stored_name(name: str, form_errors: FormErrors, field: str = "name") -> str:
    """Return a thread's name as stored; adds an error if nothing is left of it."""
    stored = channel_name(name, text_like=False)
    if not stored:
        form_errors.add(field, *FieldError.length(1, limits.THREAD_NAME_MAX))
    return stored


def thread_type(parent: Channel, requested: int | None, form_errors: FormErrors) -> int:
    """Return the type of a thread started without a message. Raises Refusal: 400/50024 in a channel without threads."""
    kinds = _TYPES_BY_PARENT.get(ChannelType(parent.type))
    if kinds is None:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    kind = ChannelType.PRIVATE_THREAD if requested is None else ChannelType(requested)
    if kind not in kinds:
        form_errors.add("type", *FieldError.choices(tuple(map(int, kinds))))
    return int(kind)


def public_thread_type(parent: Channel) -> int:
    """Return the type of public threads in a channel."""
    announces = parent.type == ChannelType.GUILD_ANNOUNCEMENT
    return int(ChannelType.ANNOUNCEMENT_THREAD if announces else ChannelType.PUBLIC_THREAD)


def check_tags(
    parent: Channel, tag_ids: Sequence[TagId], before: Sequence[Snowflake], *, manages: bool, form_errors: FormErrors
) -> list[Snowflake]:
    """Check the tags that a request sets on a forum thread, given those before; return them without duplicates.

    Raises Refusal: 400/40067 for no tag in a forum that requires one, 403/50013 for adding or removing a moderated
    tag without MANAGE_THREADS.
    """
    known = _tags_by_id(parent)
    for index, tag_id in enumerate(tag_ids):
        if tag_id not in known:
            form_errors.at("applied_tags").add([index], FormCode.BASE_TYPE_CHOICES, "The channel has no such tag.")
    if not tag_ids and parent.flags & ChannelFlags.REQUIRE_TAG and known:
        if not manages and all(tag.moderated for tag in known.values()):
            raise Refusal(errors.NO_TAGS_FOR_MEMBERS)
        raise Refusal(errors.TAG_REQUIRED)
    changed = set(tag_ids) ^ {TagId(tag_id) for tag_id in before}
    if not manages and any(tag_id in known and known[tag_id].moderated for tag_id in changed):
        raise Refusal(errors.MISSING_PERMISSIONS)
    return [Snowflake(tag_id) for tag_id in dict.fromkeys(tag_ids)]


async def require_thread_slowmode(ctx: Context, thread_id: Snowflake) -> None:
    """Check that the caller has started no thread in the current channel within its slowmode interval.

    Raises Refusal: 429/20016.
    """
    seconds = slowmode_of(ctx)
    if not seconds:
        return
    # A key other than that of messages, of which one may be sent within the same interval.
    key, user_id, now = ChannelId(Snowflake(-ctx.channel.id)), ctx.actor.user_id, Snowflake(thread_id).created_ms
    started = await queries.select_last_started(ctx.tx, ctx.channel.id, user_id, snowflake_at(now - seconds * 1000))
    writers = ctx.services.resources[RecentMessages]
    last = max(writers.last(key, user_id), 0 if started is None else Snowflake(started).created_ms)
    if (left := last + seconds * 1000 - now) > 0:
        raise too_soon(left)
    ctx.after_commit.append(lambda: writers.note(key, user_id, now))


def _tags_by_id(parent: Channel) -> dict[TagId, ForumTag]:
    listed = parent.available_tags
    return {} if listed is UNSET else {tag.id: tag for tag in listed}


def thread_of(ctx: Context) -> ChannelAccess:
    """Return the current thread. Raises Refusal: 400/50024 for any other channel."""
    if not ctx.channel.is_thread:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    return ctx.channel
