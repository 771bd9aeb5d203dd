"""Stickers over HTTP (resources: sticker)."""

from moothall.api.access import MEMBER, PUBLIC, SIGNED_IN
from moothall.api.context import Context
from moothall.api.endpoint import delete, get, patch, post
from moothall.objects.ids import GuildId, PackId, StickerId
from moothall.objects.sticker import StandardSticker, Sticker, StickerPack, StickerPacks
from moothall.resources.emoji.rules import CHANGE_EXPRESSIONS, CREATE_EXPRESSIONS
from moothall.resources.sticker import operations
from moothall.resources.sticker.events import GuildStickersUpdate
from moothall.resources.sticker.files import StickerUploads, uploaded_file
from moothall.resources.sticker.packs import PACKS
from moothall.resources.sticker.requests import CreateGuildSticker, ModifyGuildSticker

_STICKERS = "/guilds/{guild_id}/stickers"


@get("/stickers/{sticker_id}", permission=SIGNED_IN)
async def get_sticker(ctx: Context, sticker_id: StickerId) -> Sticker | StandardSticker:
    """Get a sticker of any guild, or a standard sticker."""
    return await operations.get_sticker(ctx, sticker_id)


@get("/sticker-packs", permission=PUBLIC)
async def list_sticker_packs(_ctx: Context) -> StickerPacks:
    """List the packs of standard stickers."""
    return StickerPacks(sticker_packs=list(PACKS.values()))


@get("/sticker-packs/{pack_id}", permission=SIGNED_IN)
async def get_sticker_pack(_ctx: Context, pack_id: PackId) -> StickerPack:
    """Get a pack of standard stickers."""
    return operations.get_pack(pack_id)


@get(_STICKERS, permission=MEMBER)
async def list_guild_stickers(ctx: Context, guild_id: GuildId) -> list[Sticker]:
    """List a guild's stickers. Creators are included for callers who may create or manage expressions."""
    return await operations.list_guild_stickers(ctx)


@get(f"{_STICKERS}/{{sticker_id}}", permission=MEMBER)
async def get_guild_sticker(ctx: Context, guild_id: GuildId, sticker_id: StickerId) -> Sticker:
    """Get a sticker of a guild. Its creator is included for callers who may create or manage expressions."""
    return await operations.get_guild_sticker(ctx, sticker_id)


@post(
    _STICKERS,
    permission=CREATE_EXPRESSIONS,
    audit_reason=True,
    fires=(GuildStickersUpdate,),
    status=201,
    uploads=StickerUploads(),
)
async def create_guild_sticker(ctx: Context, guild_id: GuildId, body: CreateGuildSticker) -> Sticker:
    """Create a sticker from a form with a `file`: a png, apng, gif or Lottie of at most 512 KiB and 320 pixels."""
    return await operations.create_sticker(ctx, body, uploaded_file(ctx))


@patch(
    f"{_STICKERS}/{{sticker_id}}",
    permission=CHANGE_EXPRESSIONS,
    audit_reason=True,
    fires=(GuildStickersUpdate,),
)
async def modify_guild_sticker(
    ctx: Context, guild_id: GuildId, sticker_id: StickerId, body: ModifyGuildSticker
) -> Sticker:
    """Change a sticker. Stickers of others need MANAGE_GUILD_EXPRESSIONS."""
    return await operations.modify_sticker(ctx, sticker_id, body)


@delete(
    f"{_STICKERS}/{{sticker_id}}",
    permission=CHANGE_EXPRESSIONS,
    audit_reason=True,
    fires=(GuildStickersUpdate,),
)
async def delete_guild_sticker(ctx: Context, guild_id: GuildId, sticker_id: StickerId) -> None:
    """Delete a sticker. Stickers of others need MANAGE_GUILD_EXPRESSIONS."""
    await operations.delete_sticker(ctx, sticker_id)
