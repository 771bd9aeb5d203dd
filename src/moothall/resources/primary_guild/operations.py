"""Wearing the tag of a guild, and taking it off."""

from collections.abc import Sequence
from typing import Final

from moothall.api.context import Context
from moothall.objects import errors
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import GuildId, UserId
from moothall.objects.json_object import JsonObject
from moothall.resources.guild.objects import guild_identity
from moothall.resources.member.queries import get_members
from moothall.resources.primary_guild import queries
from moothall.resources.user.account.operations import edit_account
from moothall.resources.user.queries import select_user
from moothall.storage.rows import UserRow

_NOTHING: Final[JsonObject] = {
    "primary_guild_id": None,
    "primary_guild_tag": None,
    "primary_guild_badge": None,
}


async def wear(ctx: Context, guild_id: GuildId | None) -> UserRow:
    """Wear the tag of a guild; None for the guild of before. Returns the changed account.

    Raises Refusal: 404/10004 for a guild that the caller is not a member of, 50035 for one without a tag and without
    a guild of before.
    """
    row = await _own_row(ctx)
    guild_id = guild_id or row.primary_guild_id
    if guild_id is None:
        refuse_field("identity_guild_id", *FieldError.required())
    await ctx.enter_guild(guild_id)
    identity = guild_identity(ctx.guild.row)
    if identity is None:
        refuse_field("identity_guild_id", FormCode.BASE_TYPE_CHOICES, "This server has no tag.")
    worn = {
        "primary_guild_id": guild_id,
        "primary_guild_tag": identity.tag,
        "primary_guild_badge": identity.badge,
    }
    return await edit_account(ctx, row, worn)


async def take_off(ctx: Context) -> UserRow:
    """Wear no tag. Returns the changed account."""
    return await edit_account(ctx, await _own_row(ctx), _NOTHING)


async def correct(ctx: Context, guild_id: GuildId, rows: Sequence[UserRow]) -> None:
    """Take the tag of a guild off users who are no members, and a tag that it has no more off all others.

    The latter keep the guild, and wear its new tag once they say so again.
    """
    identity = await queries.select_identity(ctx.tx, guild_id)
    members = await get_members(ctx.tx, guild_id, [row.id for row in rows])
    for row in rows:
        if row.id not in members or identity is None:
            await edit_account(ctx, row, _NOTHING)
        elif (row.primary_guild_tag, row.primary_guild_badge) != (identity.tag, identity.badge):
            await edit_account(ctx, row, {"primary_guild_tag": None, "primary_guild_badge": None})


async def _own_row(ctx: Context) -> UserRow:
    row = await select_user(ctx.tx, UserId(ctx.actor.user_id))
    if row is None:
        raise Refusal(errors.NOT_AUTHENTICATED)
    return row
