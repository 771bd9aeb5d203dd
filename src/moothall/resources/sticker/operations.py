"""Reading, creating, modifying and deleting stickers (resources: sticker)."""

from collections.abc import Iterable

from msgspec import UNSET, UnsetType, structs

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import Refusal
from moothall.objects.expressions import sticker_limit, stickers_with_availability
from moothall.objects.features import Feature
from moothall.objects.ids import PackId, StickerId, UserId
from moothall.objects.sticker import StandardSticker, Sticker, StickerFormat, StickerPack
from moothall.objects.text import clean, clean_name
from moothall.resources.emoji.rules import can_see_creators, require_expression_management
from moothall.resources.sticker import queries
from moothall.resources.sticker.events import GuildStickersUpdate
from moothall.resources.sticker.files import StickerFile
from moothall.resources.sticker.packs import PACKS, STANDARD_STICKERS
from moothall.resources.sticker.requests import CreateGuildSticker, ModifyGuildSticker
from moothall.resources.user.queries import get_user, get_users

_AUDITED = ("name", "description", "tags")
_AUDITED_ON_CREATE = (*_AUDITED, "type", "format_type", "available", "guild_id", "id")


async def get_sticker(ctx: Context, sticker_id: StickerId) -> Sticker | StandardSticker:
    """A sticker of any guild, or a standard sticker. Raises Refusal: 404/10060."""
    standard = STANDARD_STICKERS.get(sticker_id)
    if standard is not None:
        return standard
    row = await queries.select_sticker(ctx.tx, sticker_id)
    state = None if row is None else await ctx.services.states.state(ctx.tx, row.guild_id)
    for sticker in () if state is None else state.stickers:
        if sticker.id == sticker_id:
            return sticker
    raise Refusal(errors.UNKNOWN_STICKER)


def get_pack(pack_id: PackId) -> StickerPack:
    """A pack of standard stickers. Raises Refusal: 404/10061."""
    pack = PACKS.get(pack_id)
    if pack is None:
        raise Refusal(errors.UNKNOWN_STICKER_PACK)
    return pack


async def list_guild_stickers(ctx: Context) -> list[Sticker]:
    """Every sticker of the request's guild, with creators if the caller may see them."""
    if not can_see_creators(ctx):
        return ctx.guild.stickers
    creators = await queries.select_creators(ctx.tx, ctx.guild.id)
    users = await get_users(ctx.tx, {user_id for user_id in creators.values() if user_id is not None})
    return [
        sticker
        if (user_id := creators.get(sticker.id)) is None
        else structs.replace(sticker, user=users.get(user_id, UNSET))
        for sticker in ctx.guild.stickers
    ]


async def get_guild_sticker(ctx: Context, sticker_id: StickerId) -> Sticker:
    """A sticker of the request's guild, with its creator if the caller may see it. Raises Refusal: 404/10060."""
    for sticker in await list_guild_stickers(ctx):
        if sticker.id == sticker_id:
            return sticker
    raise Refusal(errors.UNKNOWN_STICKER)


async def create_sticker(ctx: Context, body: CreateGuildSticker, file: StickerFile) -> Sticker:
    """Create a sticker in the request's guild from a verified and stored file.

    Raises Refusal: 400/30039 at the maximum number of stickers; 400/50123 for a Lottie in a guild that is neither
    VERIFIED nor PARTNERED.
    """
    row = ctx.guild.row
    if file.format is StickerFormat.LOTTIE and not {Feature.VERIFIED, Feature.PARTNERED} & set(row.features):
        raise Refusal(errors.INVALID_FILE_TYPE)
    if len(ctx.guild.stickers) >= sticker_limit(row.premium_tier, row.features):
        raise Refusal(errors.TOO_MANY_STICKERS)
    sticker = Sticker(
        id=StickerId(ctx.ids.next()),
        name=clean_name(body.name),
        description=_description(body.description),
        tags=clean(body.tags).strip(),
        format_type=file.format,
        guild_id=ctx.guild.id,
    )
    await queries.insert_sticker(ctx.tx, sticker, ctx.actor.user_id, file.hash)
    changes = differences(None, sticker, _AUDITED_ON_CREATE)
    await ctx.audit(AuditLogEvent.STICKER_CREATE, target=sticker.id, changes=changes)
    _announce(ctx, [*ctx.guild.stickers, sticker])
    return structs.replace(sticker, user=await get_user(ctx.tx, ctx.actor.user_id) or UNSET)


async def modify_sticker(ctx: Context, sticker_id: StickerId, body: ModifyGuildSticker) -> Sticker:
    """Change the name, tags or description of a sticker. A request that changes nothing emits nothing.

    Raises Refusal: 404/10060; 403/50013 for another user's sticker without MANAGE_GUILD_EXPRESSIONS.
    """
    before, user_id = await _find_changeable(ctx, sticker_id)
    after = before
    if isinstance(body.name, str):
        after = structs.replace(after, name=clean_name(body.name))
    if isinstance(body.tags, str):
        after = structs.replace(after, tags=clean(body.tags).strip())
    if body.description is not UNSET:
        after = structs.replace(after, description=_description(body.description))
    if after != before:
        await queries.update_sticker(ctx.tx, after)
        changes = differences(before, after, _AUDITED)
        await ctx.audit(AuditLogEvent.STICKER_UPDATE, target=sticker_id, changes=changes)
        _announce(ctx, [after if sticker.id == sticker_id else sticker for sticker in ctx.guild.stickers])
    user = None if user_id is None else await get_user(ctx.tx, user_id)
    return structs.replace(after, user=user or UNSET)


async def delete_sticker(ctx: Context, sticker_id: StickerId) -> None:
    """Delete a sticker; messages keep the reference to it.

    Raises Refusal: 404/10060; 403/50013 for another user's sticker without MANAGE_GUILD_EXPRESSIONS.
    """
    sticker, _ = await _find_changeable(ctx, sticker_id)
    await queries.delete_sticker(ctx.tx, ctx.guild.id, sticker_id)
    changes = differences(sticker, None, _AUDITED_ON_CREATE)
    await ctx.audit(AuditLogEvent.STICKER_DELETE, target=sticker_id, changes=changes)
    _announce(ctx, [other for other in ctx.guild.stickers if other.id != sticker_id])


async def _find_changeable(ctx: Context, sticker_id: StickerId) -> tuple[Sticker, UserId | None]:
    sticker = next((sticker for sticker in ctx.guild.stickers if sticker.id == sticker_id), None)
    if sticker is None:
        raise Refusal(errors.UNKNOWN_STICKER)
    creator_id = (await queries.select_creators(ctx.tx, ctx.guild.id)).get(sticker_id)
    require_expression_management(ctx, creator_id)
    return sticker, creator_id


def _announce(ctx: Context, stickers: Iterable[Sticker]) -> None:
    row = ctx.guild.row
    available = stickers_with_availability(stickers, row.premium_tier, row.features)
    ctx.emit(GuildStickersUpdate(guild_id=ctx.guild.id, stickers=available))


def _description(text: str | UnsetType | None) -> str | None:
    return clean(text).strip() if isinstance(text, str) else None
