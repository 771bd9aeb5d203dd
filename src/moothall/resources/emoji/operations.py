"""Creating, modifying and deleting emojis of guilds and of applications (resources: emoji)."""

from collections.abc import Iterable
from typing import Final

from msgspec import UNSET, UnsetType, structs

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.api.hooks import Fires, Hook
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogChange, AuditLogEvent
from moothall.objects.emoji import Emoji
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.expressions import emoji_limit, emojis_with_availability
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, EmojiId, GuildId, RoleId
from moothall.objects.user import User
from moothall.resources.application.queries import lock_application
from moothall.resources.emoji import queries
from moothall.resources.emoji.events import GuildEmojisUpdate
from moothall.resources.emoji.queries import ApplicationEmojiRow
from moothall.resources.emoji.requests import (
    CreateApplicationEmoji,
    CreateGuildEmoji,
    ModifyApplicationEmoji,
    ModifyGuildEmoji,
)
from moothall.resources.emoji.rules import MANAGE_EXPRESSIONS, can_see_creators, require_expression_management
from moothall.resources.user.queries import get_user, get_users

EMOJI_DELETED: Final = Hook[[Context, EmojiId], None]("emoji deleted")
"""Called after an emoji of the request's guild has been deleted."""
DELETE_EMOJI_EVENTS: Final[Fires] = (GuildEmojisUpdate, EMOJI_DELETED)
"""For `fires` of rows that may delete an emoji."""


def find_emoji(ctx: Context, emoji_id: EmojiId) -> Emoji:
    """An emoji of the request's guild, without its creator. Raises Refusal: 404/10014."""
    for emoji in ctx.guild.emojis:
        if emoji.id == emoji_id:
            return emoji
    raise Refusal(errors.UNKNOWN_EMOJI)


async def list_guild_emojis(ctx: Context) -> list[Emoji]:
    """Every emoji of the request's guild, with creators if the caller may see them."""
    if not can_see_creators(ctx):
        return ctx.guild.emojis
    creators = await queries.select_creators(ctx.tx, ctx.guild.id)
    users = await get_users(ctx.tx, {user_id for user_id in creators.values() if user_id is not None})
    return [
        emoji if (user_id := creators.get(emoji.id)) is None else structs.replace(emoji, user=users.get(user_id, UNSET))
        for emoji in ctx.guild.emojis
    ]


async def get_guild_emoji(ctx: Context, emoji_id: EmojiId) -> Emoji:
    """An emoji of the request's guild, with its creator if the caller may change it. Raises Refusal: 404/10014."""
    emoji = find_emoji(ctx, emoji_id)
    if not can_see_creators(ctx):
        return emoji
    creator_id = (await queries.select_creators(ctx.tx, ctx.guild.id)).get(emoji_id)
    if creator_id is None or (creator_id != ctx.actor.user_id and not ctx.has(MANAGE_EXPRESSIONS)):
        return emoji
    return structs.replace(emoji, user=await get_user(ctx.tx, creator_id) or UNSET)


async def create_emoji(ctx: Context, body: CreateGuildEmoji) -> Emoji:
    """Create an emoji in the request's guild.

    Raises Refusal: 400/30008 or 30018 at the maximum of static or animated emojis; 50035 for roles that the guild does
    not have.
    """
    animated = body.image.info.animated
    roles = _roles(ctx, body.roles) or []
    if sum(emoji.animated == animated for emoji in ctx.guild.emojis) >= emoji_limit(ctx.guild.row.premium_tier):
        raise Refusal(errors.TOO_MANY_ANIMATED_EMOJIS if animated else errors.TOO_MANY_EMOJIS)
    emoji = Emoji(id=EmojiId(ctx.ids.next()), name=body.name, roles=roles, animated=animated)
    await queries.insert_emoji(ctx.tx, ctx.guild.id, emoji, ctx.actor.user_id, body.image.hash)
    await ctx.audit(AuditLogEvent.EMOJI_CREATE, target=emoji.id, changes=_audit_changes(None, emoji))
    _announce(ctx, [*ctx.guild.emojis, emoji])
    return structs.replace(emoji, user=await get_user(ctx.tx, ctx.actor.user_id) or UNSET)


async def modify_emoji(ctx: Context, emoji_id: EmojiId, body: ModifyGuildEmoji) -> Emoji:
    """Change the name or the roles of an emoji. A request that changes nothing emits nothing.

    Raises Refusal: 404/10014; 403/50013 for another user's emoji without MANAGE_GUILD_EXPRESSIONS; 50035 for roles that
    the guild does not have.
    """
    before, with_creator = await _find_changeable(ctx, emoji_id)
    roles = _roles(ctx, body.roles)
    after = structs.replace(
        before,
        name=before.name if body.name is UNSET else body.name,
        roles=before.roles if roles is None else roles,
    )
    if after != before:
        await queries.update_emoji(ctx.tx, ctx.guild.id, after)
        await ctx.audit(AuditLogEvent.EMOJI_UPDATE, target=emoji_id, changes=_audit_changes(before, after))
        _announce(ctx, [after if emoji.id == emoji_id else emoji for emoji in ctx.guild.emojis])
    return structs.replace(after, user=with_creator.user)


async def delete_emoji(ctx: Context, emoji_id: EmojiId) -> None:
    """Delete an emoji, and remove it from sounds (`EMOJI_DELETED`).

    Raises Refusal: 404/10014; 403/50013 for another user's emoji without MANAGE_GUILD_EXPRESSIONS.
    """
    emoji, _ = await _find_changeable(ctx, emoji_id)
    await queries.delete_emoji(ctx.tx, ctx.guild.id, emoji_id)
    await ctx.audit(AuditLogEvent.EMOJI_DELETE, target=emoji_id, changes=_audit_changes(emoji, None))
    _announce(ctx, [other for other in ctx.guild.emojis if other.id != emoji_id])
    await EMOJI_DELETED(ctx, emoji_id)


async def remove_role_from_emojis(ctx: Context, role_id: RoleId) -> None:
    """Remove a role that is being deleted from the emojis of the request's guild.

    An emoji without roles left becomes usable by every member. Emits nothing, as clients apply the role's deletion.
    """
    changed = [
        structs.replace(emoji, roles=[other for other in emoji.roles if other != role_id])
        for emoji in ctx.guild.emojis
        if role_id in emoji.roles
    ]
    if changed:
        await queries.update_roles(ctx.tx, ctx.guild.id, changed)


async def list_application_emojis(ctx: Context, application_id: ApplicationId) -> list[Emoji]:
    """Every emoji of an application, oldest first."""
    return await _application_emoji_objects(ctx, await queries.select_application_emojis(ctx.tx, application_id))


async def get_application_emoji(ctx: Context, application_id: ApplicationId, emoji_id: EmojiId) -> Emoji:
    """An emoji of an application. Raises Refusal: 404/10014."""
    (emoji,) = await _application_emoji_objects(ctx, [await _find_application_emoji(ctx, application_id, emoji_id)])
    return emoji


async def create_application_emoji(ctx: Context, application_id: ApplicationId, body: CreateApplicationEmoji) -> Emoji:
    """Create an emoji of an application. Raises Refusal: 400/30008 at `APPLICATION_EMOJIS_MAX` emojis."""
    # The lock serializes concurrent requests, so that both count correctly.
    if await lock_application(ctx.tx, application_id) is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    if await queries.count_application_emojis(ctx.tx, application_id) >= limits.APPLICATION_EMOJIS_MAX:
        raise Refusal(errors.TOO_MANY_EMOJIS)
    row = ApplicationEmojiRow(
        application_id=application_id,
        id=EmojiId(ctx.ids.next()),
        name=body.name,
        user_id=ctx.actor.user_id,
        animated=body.image.info.animated,
        image=body.image.hash,
    )
    await queries.insert_application_emoji(ctx.tx, row)
    (emoji,) = await _application_emoji_objects(ctx, [row])
    return emoji


async def modify_application_emoji(
    ctx: Context, application_id: ApplicationId, emoji_id: EmojiId, body: ModifyApplicationEmoji
) -> Emoji:
    """Rename an emoji of an application. Raises Refusal: 404/10014."""
    row = await _find_application_emoji(ctx, application_id, emoji_id)
    if isinstance(body.name, str):
        row.name = body.name
        await queries.rename_application_emoji(ctx.tx, application_id, emoji_id, body.name)
    (emoji,) = await _application_emoji_objects(ctx, [row])
    return emoji


async def delete_application_emoji(ctx: Context, application_id: ApplicationId, emoji_id: EmojiId) -> None:
    """Delete an emoji of an application. Raises Refusal: 404/10014."""
    await _find_application_emoji(ctx, application_id, emoji_id)
    await queries.delete_application_emoji(ctx.tx, application_id, emoji_id)


async def _find_changeable(ctx: Context, emoji_id: EmojiId) -> tuple[Emoji, Emoji]:
    """An emoji that the caller may change, without and with its creator. Raises Refusal: 404/10014, 403/50013."""
    emoji = find_emoji(ctx, emoji_id)
    creator_id = (await queries.select_creators(ctx.tx, ctx.guild.id)).get(emoji_id)
    require_expression_management(ctx, creator_id)
    creator = None if creator_id is None else await get_user(ctx.tx, creator_id)
    return emoji, structs.replace(emoji, user=creator or UNSET)


def _roles(ctx: Context, role_ids: Iterable[RoleId | None] | UnsetType | None) -> list[RoleId] | None:
    """The distinct roles of a request; None if the field is absent. Raises Refusal: 50035 for unknown roles."""
    if role_ids is UNSET:
        return None
    form_errors, roles = FormErrors(), dict.fromkeys(role_id for role_id in role_ids or () if role_id is not None)
    for index, role_id in enumerate(role_ids or ()):
        if role_id is not None and role_id not in ctx.guild.roles:
            form_errors.add(["roles", index], FormCode.BASE_TYPE_CHOICES, "This role does not exist in this guild.")
    form_errors.raise_if_any()
    return [] if ctx.guild.everyone.id in roles else list(roles)


def _announce(ctx: Context, emojis: Iterable[Emoji]) -> None:
    guild_id: GuildId = ctx.guild.id
    ctx.emit(GuildEmojisUpdate(guild_id=guild_id, emojis=emojis_with_availability(emojis, ctx.guild.row.premium_tier)))


def _audit_changes(before: Emoji | None, after: Emoji | None) -> list[AuditLogChange]:
    changes = differences(before, after, ("name", "roles"))
    return [change for change in changes if change.old_value or change.new_value]


async def _find_application_emoji(
    ctx: Context, application_id: ApplicationId, emoji_id: EmojiId
) -> ApplicationEmojiRow:
    row = await queries.select_application_emoji(ctx.tx, application_id, emoji_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_EMOJI)
    return row


async def _application_emoji_objects(ctx: Context, rows: Iterable[ApplicationEmojiRow]) -> list[Emoji]:
    rows = list(rows)
    users = await get_users(ctx.tx, {row.user_id for row in rows if row.user_id is not None})
    return [_application_emoji_object(row, None if row.user_id is None else users.get(row.user_id)) for row in rows]


def _application_emoji_object(row: ApplicationEmojiRow, user: User | None) -> Emoji:
    return Emoji(id=row.id, name=row.name, roles=[], user=user or UNSET, animated=row.animated)
