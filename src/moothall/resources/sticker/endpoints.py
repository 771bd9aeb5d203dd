"""Stickers over HTTP (resources: sticker)."""

from moothall.kernel.access import MEMBER, SIGNED_IN
from moothall.kernel.context import Context
from moothall.kernel.endpoint import delete, get, patch, post
from moothall.objects.ids import GuildId, PackId, StickerId
from moothall.objects.sticker import StandardSticker, Sticker, StickerPack, StickerPacks
from moothall.resources.emoji.rules import CHANGES, CREATES
from moothall.resources.sticker import operations
from moothall.resources.sticker.events import GuildStickersUpdate
from moothall.resources.sticker.files import StickerUploads, file_of
from moothall.resources.sticker.packs import PACKS
from moothall.resources.sticker.requests import CreateGuildSticker, ModifyGuildSticker

_STICKERS = "/guilds/{guild_id}/stickers"


@get("/stickers/{sticker_id}", permission=SIGNED_IN)
async def get_sticker(ctx: Context, sticker_id: StickerId) -> Sticker | StandardSticker:
    """One sticker, of whichever guild or of the platform's own."""
    return await operations.get_sticker(ctx, sticker_id)


@get("/sticker-packs", permission=SIGNED_IN)
async def list_sticker_packs(_ctx: Context) -> StickerPacks:
    """List the packs of stickers that everybody may send."""
    return StickerPacks(sticker_packs=list(PACKS.values()))


@get("/sticker-packs/{pack_id}", permission=SIGNED_IN)
async def get_sticker_pack(_ctx: Context, pack_id: PackId) -> StickerPack:
    """One of those packs."""
    return operations.get_pack(pack_id)


@get(_STICKERS, permission=MEMBER)
async def list_guild_stickers(ctx: Context, guild_id: GuildId) -> list[Sticker]:
    """List a guild's stickers. Who made them is told to those who may make or manage expressions."""
    return await operations.show_stickers(ctx)


@get(f"{_STICKERS}/{{sticker_id}}", permission=MEMBER)
async def get_guild_sticker(ctx: Context, guild_id: GuildId, sticker_id: StickerId) -> Sticker:
    """One sticker of a guild. Who made it is told to those who may make or manage expressions."""
    return await operations.show_sticker(ctx, sticker_id)


@post(
    _STICKERS,
    permission=CREATES,
    audit_reason=True,
    fires=(GuildStickersUpdate,),
    status=201,
    uploads=StickerUploads(),
)
async def create_guild_sticker(ctx: Context, guild_id: GuildId, body: CreateGuildSticker) -> Sticker:
    """Make a sticker, sent as a form with its `file`: a png, apng, gif or Lottie of at most 512 KiB and 320 pixels."""
    return await operations.create_sticker(ctx, body, file_of(ctx))


@patch(f"{_STICKERS}/{{sticker_id}}", permission=CHANGES, audit_reason=True, fires=(GuildStickersUpdate,))
async def modify_guild_sticker(
    ctx: Context, guild_id: GuildId, sticker_id: StickerId, body: ModifyGuildSticker
) -> Sticker:
    """Change a sticker. Others' takes MANAGE_GUILD_EXPRESSIONS."""
    return await operations.change_sticker(ctx, sticker_id, body)


@delete(f"{_STICKERS}/{{sticker_id}}", permission=CHANGES, audit_reason=True, fires=(GuildStickersUpdate,))
async def delete_guild_sticker(ctx: Context, guild_id: GuildId, sticker_id: StickerId) -> None:
    """Remove a sticker. Others' takes MANAGE_GUILD_EXPRESSIONS."""
    await operations.delete_sticker(ctx, sticker_id)
