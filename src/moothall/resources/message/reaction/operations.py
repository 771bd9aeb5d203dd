"""Reaction operations."""

from typing import Final

from moothall.api.context import Context
from moothall.objects import errors, limits
from moothall.objects.emoji import PartialEmoji
from moothall.objects.errors import ErrorKind, Refusal
from moothall.objects.ids import MessageId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.text import parse_emoji
from moothall.resources.channel.thread_activity.rules import require_active
from moothall.resources.emoji.lookup import find_usable_emoji
from moothall.resources.member.activity import touch_seen
from moothall.resources.message.events import route_of
from moothall.resources.message.operations import get_message, lock_message, lock_message_shared
from moothall.resources.message.people import find_people
from moothall.resources.message.reaction import queries
from moothall.resources.message.reaction.events import (
    MessageReactionAdd,
    MessageReactionRemove,
    MessageReactionRemoveAll,
    MessageReactionRemoveEmoji,
)
from moothall.resources.message.reaction.queries import emoji_key
from moothall.resources.message.rules import require_history, require_unrestricted
from moothall.resources.user.relationship.queries import has_blocked

UNKNOWN_EMOJI: Final = ErrorKind(400, errors.UNKNOWN_EMOJI.code, errors.UNKNOWN_EMOJI.message)
"""The status of an unknown emoji in a reaction is 400, as in the public API."""


def read_emoji(text: str) -> PartialEmoji:
    """The emoji of a path. Raises Refusal: 400/10014."""
    emoji = parse_emoji(text)
    if emoji is None:
        raise Refusal(UNKNOWN_EMOJI)
    return emoji


async def add_reaction(ctx: Context, message_id: MessageId, emoji_name: str) -> None:
    """React to a message of the channel entered as the caller; doing it again changes nothing.

    Any caller may add to an existing reaction. A new one requires ADD_REACTIONS and an emoji that the caller may use;
    a message has at most 20. Raises Refusal: 10008, 10014, 50013, 30010, 90001 if its author has blocked the caller.
    """
    require_history(ctx)
    require_unrestricted(ctx)
    require_active(ctx)
    emoji = read_emoji(emoji_name)
    access, user_id = ctx.channel, ctx.actor.user_id
    key = emoji_key(emoji)
    count = await queries.select_count(ctx.tx, access.id, message_id, key)
    # Transactions that add new emojis at once must see those of each other.
    row = await (lock_message if count is None else lock_message_shared)(ctx, access.id, message_id)
    if row.webhook_id is None and row.author_id != user_id and await has_blocked(ctx.tx, row.author_id, user_id):
        raise Refusal(errors.REACTION_BLOCKED)
    if count is None:
        ctx.require(Permissions.ADD_REACTIONS)
        emoji = await _usable_emoji(ctx, emoji)
        if await queries.count_emojis(ctx.tx, access.id, message_id) >= limits.REACTIONS_PER_MESSAGE:
            raise Refusal(errors.TOO_MANY_REACTIONS)
        await queries.insert_emoji(ctx.tx, access.id, message_id, emoji, ctx.now)
    else:
        emoji = count.emoji
    if not await queries.insert_reaction(ctx.tx, access.id, message_id, emoji, user_id, ctx.now):
        return
    member = None
    if access.guild is not None:
        touch_seen(ctx, access.guild.id, user_id)
        person = (await find_people(ctx.tx, [user_id], access.guild.id)).get(user_id)
        if person is not None and person.member is not None:
            member = b'{"user":%b,%b' % (person.user, person.member[1:])
    ctx.emit(
        MessageReactionAdd(
            route=route_of(access),
            message_id=message_id,
            user_id=user_id,
            emoji=emoji,
            author_id=None if row.webhook_id is not None else row.author_id,
            member=member,
        )
    )


async def _usable_emoji(ctx: Context, emoji: PartialEmoji) -> PartialEmoji:
    """An emoji with its current name. Raises Refusal 10014 if the caller may not use it here."""
    if emoji.id is None:
        return emoji
    usable = await find_usable_emoji(ctx, emoji.id)
    if usable is None:
        raise Refusal(UNKNOWN_EMOJI)
    return usable


async def remove_own_reaction(ctx: Context, message_id: MessageId, emoji_name: str) -> None:
    """Remove the caller's reaction; without one nothing happens. Raises Refusal: 10008, 10014."""
    await _remove(ctx, message_id, emoji_name, ctx.actor.user_id)


async def remove_reaction(ctx: Context, message_id: MessageId, emoji_name: str, user_id: UserId) -> None:
    """Remove a user's reaction, which requires MANAGE_MESSAGES for another user's.

    Raises Refusal: 10008, 10014, 50013; 50003 for another user's in a direct message.
    """
    if user_id != ctx.actor.user_id:
        _require_moderator(ctx)
    await _remove(ctx, message_id, emoji_name, user_id)


async def _remove(ctx: Context, message_id: MessageId, emoji_name: str, user_id: UserId) -> None:
    require_history(ctx)
    require_active(ctx)
    emoji = read_emoji(emoji_name)
    access, key = ctx.channel, emoji_key(emoji)
    await get_message(ctx, access.id, message_id)
    count = await queries.select_count(ctx.tx, access.id, message_id, key)
    if count is None or not await queries.delete_reaction(ctx.tx, access.id, message_id, key, user_id):
        return
    ctx.emit(MessageReactionRemove(route=route_of(access), message_id=message_id, user_id=user_id, emoji=count.emoji))


async def clear_reactions(ctx: Context, message_id: MessageId) -> None:
    """Remove all reactions of a message, with MANAGE_MESSAGES. Raises Refusal: 10008, 50013, 50003."""
    _require_moderator(ctx)
    access = ctx.channel
    await get_message(ctx, access.id, message_id)
    if await queries.delete_all(ctx.tx, access.id, message_id):
        ctx.emit(MessageReactionRemoveAll(route=route_of(access), message_id=message_id))


async def clear_emoji(ctx: Context, message_id: MessageId, emoji_name: str) -> None:
    """Remove all reactions with one emoji, with MANAGE_MESSAGES. Raises Refusal: 10008, 10014, 50013, 50003."""
    _require_moderator(ctx)
    emoji = read_emoji(emoji_name)
    access, key = ctx.channel, emoji_key(emoji)
    await get_message(ctx, access.id, message_id)
    count = await queries.select_count(ctx.tx, access.id, message_id, key)
    if count is not None and await queries.delete_emoji(ctx.tx, access.id, message_id, key):
        ctx.emit(MessageReactionRemoveEmoji(route=route_of(access), message_id=message_id, emoji=count.emoji))


def _require_moderator(ctx: Context) -> None:
    if not ctx.in_guild:
        raise Refusal(errors.NOT_ON_DM)
    require_history(ctx)
    ctx.require(Permissions.MANAGE_MESSAGES)
    require_active(ctx)
