"""The verbs of reactions."""

from typing import Final

from moothall.kernel.context import Context
from moothall.objects import errors, limits
from moothall.objects.emoji import PartialEmoji
from moothall.objects.errors import ErrorKind, Refusal
from moothall.objects.ids import MessageId, UserId
from moothall.objects.permissions import Permissions
from moothall.objects.text import parse_emoji
from moothall.resources.channel.thread_activity.rules import require_active
from moothall.resources.emoji.using import find_usable
from moothall.resources.member.activity import touch_seen
from moothall.resources.message.events import route_of
from moothall.resources.message.operations import get_message, hold_message, lock_message
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

UNKNOWN_EMOJI: Final = ErrorKind(400, errors.UNKNOWN_EMOJI.code, errors.UNKNOWN_EMOJI.message)
"""What does not name an emoji is a bad request, as clients of the public API know it."""


def read_emoji(text: str) -> PartialEmoji:
    """The emoji of a path. Raises Refusal: 400/10014."""
    emoji = parse_emoji(text)
    if emoji is None:
        raise Refusal(UNKNOWN_EMOJI)
    return emoji


async def add_reaction(ctx: Context, message_id: MessageId, emoji_name: str) -> None:
    """React to a message of the channel entered as the caller; doing it again changes nothing.

    An emoji that is there already is anybody's to join; a new one needs ADD_REACTIONS, must exist
    and be the caller's to use, and is one of 20 at most. Raises Refusal: 10008, 10014, 50013, 30010.
    """
    require_history(ctx)
    require_unrestricted(ctx)
    require_active(ctx)
    emoji = read_emoji(emoji_name)
    access, user_id = ctx.channel, ctx.actor.user_id
    key = emoji_key(emoji)
    there = await queries.select_count(ctx.tx, access.id, message_id, key)
    # Of those who add new ones at once, each has to see those of the others.
    row = await (lock_message if there is None else hold_message)(ctx, access.id, message_id)
    if there is None:
        ctx.require(Permissions.ADD_REACTIONS)
        emoji = await _usable(ctx, emoji)
        if await queries.count_kinds(ctx.tx, access.id, message_id) >= limits.REACTIONS_PER_MESSAGE:
            raise Refusal(errors.TOO_MANY_REACTIONS)
        await queries.insert_kind(ctx.tx, access.id, message_id, emoji, ctx.now)
    else:
        emoji = there.emoji
    if not await queries.insert_reaction(ctx.tx, access.id, message_id, emoji, user_id, ctx.now):
        return
    member = None
    if access.guild is not None:
        touch_seen(ctx, access.guild.id, user_id)
        found = (await find_people(ctx.tx, [user_id], access.guild.id)).get(user_id)
        if found is not None and found.member is not None:
            member = b'{"user":%b,%b' % (found.user, found.member[1:])
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


async def _usable(ctx: Context, emoji: PartialEmoji) -> PartialEmoji:
    """The emoji as it is now, if the caller may use it here."""
    if emoji.id is None:
        return emoji
    found = await find_usable(ctx, emoji.id)
    if found is None:
        raise Refusal(UNKNOWN_EMOJI)
    return found


async def remove_own_reaction(ctx: Context, message_id: MessageId, emoji_name: str) -> None:
    """Take back a reaction of the caller's; without one nothing happens. Raises Refusal: 10008, 10014."""
    await _remove(ctx, message_id, emoji_name, ctx.actor.user_id)


async def remove_reaction(ctx: Context, message_id: MessageId, emoji_name: str, user_id: UserId) -> None:
    """Take away somebody's reaction, which needs MANAGE_MESSAGES unless it is one's own.

    Raises Refusal: 10008, 10014, 50013; 50003 for another's in a direct message.
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
    there = await queries.select_count(ctx.tx, access.id, message_id, key)
    if there is None or not await queries.delete_reaction(ctx.tx, access.id, message_id, key, user_id):
        return
    ctx.emit(MessageReactionRemove(route=route_of(access), message_id=message_id, user_id=user_id, emoji=there.emoji))


async def clear_reactions(ctx: Context, message_id: MessageId) -> None:
    """Take all reactions from a message, with MANAGE_MESSAGES. Raises Refusal: 10008, 50013, 50003."""
    _require_moderator(ctx)
    access = ctx.channel
    await get_message(ctx, access.id, message_id)
    if await queries.delete_all(ctx.tx, access.id, message_id):
        ctx.emit(MessageReactionRemoveAll(route=route_of(access), message_id=message_id))


async def clear_emoji(ctx: Context, message_id: MessageId, emoji_name: str) -> None:
    """Take one emoji from a message, with MANAGE_MESSAGES. Raises Refusal: 10008, 10014, 50013, 50003."""
    _require_moderator(ctx)
    emoji = read_emoji(emoji_name)
    access, key = ctx.channel, emoji_key(emoji)
    await get_message(ctx, access.id, message_id)
    there = await queries.select_count(ctx.tx, access.id, message_id, key)
    if there is not None and await queries.delete_emoji(ctx.tx, access.id, message_id, key):
        ctx.emit(MessageReactionRemoveEmoji(route=route_of(access), message_id=message_id, emoji=there.emoji))


def _require_moderator(ctx: Context) -> None:
    if not ctx.in_guild:
        raise Refusal(errors.NOT_ON_DM)
    require_history(ctx)
    ctx.require(Permissions.MANAGE_MESSAGES)
    require_active(ctx)
