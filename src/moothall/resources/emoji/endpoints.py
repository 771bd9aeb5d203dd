"""Emojis over HTTP (resources: emoji)."""

from moothall.api.access import MEMBER
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch, post
from moothall.objects.emoji import ApplicationEmojis, Emoji
from moothall.objects.ids import ApplicationId, EmojiId, GuildId
from moothall.resources.application.access import OWNER_OR_BOT
from moothall.resources.emoji import operations
from moothall.resources.emoji.events import GuildEmojisUpdate
from moothall.resources.emoji.requests import (
    CreateApplicationEmoji,
    CreateGuildEmoji,
    ModifyApplicationEmoji,
    ModifyGuildEmoji,
)
from moothall.resources.emoji.rules import CHANGE_EXPRESSIONS, CREATE_EXPRESSIONS

_OF_GUILD = "/guilds/{guild_id}/emojis"
_OF_APPLICATION = "/applications/{application_id}/emojis"


@get(_OF_GUILD, permission=MEMBER)
async def list_guild_emojis(ctx: Context, guild_id: GuildId) -> list[Emoji]:
    """List a guild's emojis. Creators are included for callers who may create or manage expressions."""
    return await operations.list_guild_emojis(ctx)


@get(f"{_OF_GUILD}/{{emoji_id}}", permission=MEMBER)
async def get_guild_emoji(ctx: Context, guild_id: GuildId, emoji_id: EmojiId) -> Emoji:
    """Get an emoji of a guild. Its creator is included for callers who may change it."""
    return await operations.get_guild_emoji(ctx, emoji_id)


@post(_OF_GUILD, permission=CREATE_EXPRESSIONS, audit_reason=True, fires=(GuildEmojisUpdate,), status=201)
async def create_guild_emoji(ctx: Context, guild_id: GuildId, body: CreateGuildEmoji) -> Emoji:
    """Create an emoji from a png, jpeg, gif, webp or avif of at most 256 KiB."""
    return await operations.create_emoji(ctx, body)


@patch(f"{_OF_GUILD}/{{emoji_id}}", permission=CHANGE_EXPRESSIONS, audit_reason=True, fires=(GuildEmojisUpdate,))
async def modify_guild_emoji(ctx: Context, guild_id: GuildId, emoji_id: EmojiId, body: ModifyGuildEmoji) -> Emoji:
    """Rename an emoji, or set the roles that may use it. Emojis of others need MANAGE_GUILD_EXPRESSIONS."""
    return await operations.modify_emoji(ctx, emoji_id, body)


@delete(
    f"{_OF_GUILD}/{{emoji_id}}",
    permission=CHANGE_EXPRESSIONS,
    audit_reason=True,
    fires=operations.DELETE_EMOJI_EVENTS,
)
async def delete_guild_emoji(ctx: Context, guild_id: GuildId, emoji_id: EmojiId) -> None:
    """Delete an emoji. Emojis of others need MANAGE_GUILD_EXPRESSIONS."""
    await operations.delete_emoji(ctx, emoji_id)


@get(_OF_APPLICATION, permission=OWNER_OR_BOT)
async def list_application_emojis(ctx: Context, application_id: ApplicationId) -> ApplicationEmojis:
    """List an application's emojis."""
    return ApplicationEmojis(items=await operations.list_application_emojis(ctx, application_id))


@get(f"{_OF_APPLICATION}/{{emoji_id}}", permission=OWNER_OR_BOT)
async def get_application_emoji(ctx: Context, application_id: ApplicationId, emoji_id: EmojiId) -> Emoji:
    """Get an emoji of an application."""
    return await operations.get_application_emoji(ctx, application_id, emoji_id)


@post(_OF_APPLICATION, permission=OWNER_OR_BOT, status=201)
async def create_application_emoji(ctx: Context, application_id: ApplicationId, body: CreateApplicationEmoji) -> Emoji:
    """Create an emoji of an application, which its bot may use anywhere."""
    return await operations.create_application_emoji(ctx, application_id, body)


@patch(f"{_OF_APPLICATION}/{{emoji_id}}", permission=OWNER_OR_BOT)
async def modify_application_emoji(
    ctx: Context, application_id: ApplicationId, emoji_id: EmojiId, body: ModifyApplicationEmoji
) -> Emoji:
    """Rename an emoji of an application."""
    return await operations.modify_application_emoji(ctx, application_id, emoji_id, body)


@delete(f"{_OF_APPLICATION}/{{emoji_id}}", permission=OWNER_OR_BOT)
async def delete_application_emoji(ctx: Context, application_id: ApplicationId, emoji_id: EmojiId) -> None:
    """Delete an emoji of an application."""
    await operations.delete_application_emoji(ctx, application_id, emoji_id)
