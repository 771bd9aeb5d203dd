"""Reactions over HTTP (resources: message, reactions)."""

from typing import Annotated, Literal

from msgspec import Meta

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, put
from moothall.objects import errors, limits
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId
from moothall.objects.user import User
from moothall.resources.message.operations import get_message
from moothall.resources.message.reaction import operations
from moothall.resources.message.reaction.events import (
    MessageReactionAdd,
    MessageReactionRemove,
    MessageReactionRemoveAll,
    MessageReactionRemoveEmoji,
)
from moothall.resources.message.reaction.queries import emoji_key, select_reactors
from moothall.resources.message.rules import require_history

ListSize = Annotated[int, Meta(ge=1, le=limits.REACTION_LIST_MAX)]

_REACTIONS = "/channels/{channel_id}/messages/{message_id}/reactions"


@put(f"{_REACTIONS}/{{emoji_name}}/@me", permission=MEMBER, fires=(MessageReactionAdd,))
async def create_reaction(ctx: Context, channel_id: ChannelId, message_id: MessageId, emoji_name: str) -> None:
    """React to a message with a standard emoji, or with a guild's as `name:id`."""
    await operations.add_reaction(ctx, message_id, emoji_name)


@delete(f"{_REACTIONS}/{{emoji_name}}/@me", permission=MEMBER, fires=(MessageReactionRemove,))
async def delete_own_reaction(ctx: Context, channel_id: ChannelId, message_id: MessageId, emoji_name: str) -> None:
    """Remove one's own reaction."""
    await operations.remove_own_reaction(ctx, message_id, emoji_name)


@delete(f"{_REACTIONS}/{{emoji_name}}/{{user_id}}", permission=MEMBER, fires=(MessageReactionRemove,))
async def delete_user_reaction(
    ctx: Context, channel_id: ChannelId, message_id: MessageId, emoji_name: str, user_id: UserId
) -> None:
    """Remove a user's reaction, with MANAGE_MESSAGES."""
    await operations.remove_reaction(ctx, message_id, emoji_name, user_id)


@delete(f"{_REACTIONS}/{{emoji_name}}/{{reaction_type}}/@me", permission=MEMBER, fires=(MessageReactionRemove,))
async def delete_own_reaction_of_type(
    ctx: Context, channel_id: ChannelId, message_id: MessageId, emoji_name: str, reaction_type: str
) -> None:
    """Remove one's own reaction of a type, as clients of people do: 0, as there are no super reactions."""
    _require_normal(reaction_type)
    await operations.remove_own_reaction(ctx, message_id, emoji_name)


@delete(f"{_REACTIONS}/{{emoji_name}}/{{reaction_type}}/{{user_id}}", permission=MEMBER, fires=(MessageReactionRemove,))
async def delete_user_reaction_of_type(
    ctx: Context, channel_id: ChannelId, message_id: MessageId, emoji_name: str, reaction_type: str, user_id: UserId
) -> None:
    """Remove a user's reaction of a type, with MANAGE_MESSAGES: 0, as there are no super reactions."""
    _require_normal(reaction_type)
    await operations.remove_reaction(ctx, message_id, emoji_name, user_id)


def _require_normal(reaction_type: str) -> None:
    """Raises Refusal: 404/0 for a type of which there are no reactions."""
    if reaction_type != "0":
        raise Refusal(errors.NOT_FOUND)


@get(f"{_REACTIONS}/{{emoji_name}}", permission=MEMBER)
async def get_reactions(
    ctx: Context,
    channel_id: ChannelId,
    message_id: MessageId,
    emoji_name: str,
    *,
    type: Literal[0, 1] = 0,
    after: UserId = UserId(Snowflake(0)),  # noqa: B008 a constant
    limit: ListSize = limits.REACTION_LIST_DEFAULT,
) -> list[User]:
    """List the users who reacted with an emoji, by ascending id. There are no super reactions (type 1)."""
    require_history(ctx)
    emoji = operations.read_emoji(emoji_name)
    await get_message(ctx, channel_id, message_id)
    if type:
        return []
    return await select_reactors(ctx.tx, channel_id, message_id, emoji_key(emoji), after=after, maximum=limit)


@delete(_REACTIONS, permission=MEMBER, fires=(MessageReactionRemoveAll,))
async def delete_all_reactions(ctx: Context, channel_id: ChannelId, message_id: MessageId) -> None:
    """Remove all reactions of a message, with MANAGE_MESSAGES."""
    await operations.clear_reactions(ctx, message_id)


@delete(f"{_REACTIONS}/{{emoji_name}}", permission=MEMBER, fires=(MessageReactionRemoveEmoji,))
async def delete_all_reactions_for_emoji(
    ctx: Context, channel_id: ChannelId, message_id: MessageId, emoji_name: str
) -> None:
    """Remove all reactions with one emoji, with MANAGE_MESSAGES."""
    await operations.clear_emoji(ctx, message_id, emoji_name)
