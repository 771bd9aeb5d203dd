"""What is done to a guild's emojis. Who ends a role takes it from them with `take_role`."""

from collections.abc import Iterable
from typing import Final

from msgspec import UNSET, UnsetType, structs

from moothall.kernel.audit import differences
from moothall.kernel.context import Context
from moothall.kernel.hooks import Fires, Hook
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogChange, AuditLogEvent
from moothall.objects.emoji import Emoji
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.expressions import emoji_limit, rate_emojis
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import EmojiId, GuildId, RoleId
from moothall.resources.emoji import queries
from moothall.resources.emoji.events import GuildEmojisUpdate
from moothall.resources.emoji.requests import CreateGuildEmoji, ModifyGuildEmoji
from moothall.resources.emoji.rules import MANAGES, require_may_change, sees_creators
from moothall.resources.user.queries import get_user, get_users

EMOJI_DELETED: Final = Hook[[Context, EmojiId], None]("emoji deleted")
"""What else changes when an emoji of the guild entered is deleted."""
DELETING: Final[Fires] = (GuildEmojisUpdate, EMOJI_DELETED)
"""What a row declares to fire if it may delete an emoji."""


def find_emoji(ctx: Context, emoji_id: EmojiId) -> Emoji:
    """An emoji of the guild entered, without its creator. Raises Refusal: 404/10014."""
    for emoji in ctx.guild.emojis:
        if emoji.id == emoji_id:
            return emoji
    raise Refusal(errors.UNKNOWN_EMOJI)


async def show_emojis(ctx: Context) -> list[Emoji]:
    """Every emoji of the guild entered, with its creator for those who are told."""
    if not sees_creators(ctx):
        return ctx.guild.emojis
    creators = await queries.select_creators(ctx.tx, ctx.guild.id)
    users = await get_users(ctx.tx, {user_id for user_id in creators.values() if user_id is not None})
    return [
        emoji if (user_id := creators.get(emoji.id)) is None else structs.replace(emoji, user=users.get(user_id, UNSET))
        for emoji in ctx.guild.emojis
    ]


async def show_emoji(ctx: Context, emoji_id: EmojiId) -> Emoji:
    """One of them; its creator is told to those who may change it. Raises Refusal: 404/10014."""
    emoji = find_emoji(ctx, emoji_id)
    if not sees_creators(ctx):
        return emoji
    creator_id = (await queries.select_creators(ctx.tx, ctx.guild.id)).get(emoji_id)
    if creator_id is None or (creator_id != ctx.actor.user_id and not ctx.has(MANAGES)):
        return emoji
    return structs.replace(emoji, user=await get_user(ctx.tx, creator_id) or UNSET)


async def create_emoji(ctx: Context, body: CreateGuildEmoji) -> Emoji:
    """Make an emoji as a request asks.

    Raises Refusal: 400/30008 and 30018 when there are as many static or animated ones as may be; 50035 for roles that
    the guild does not have.
    """
    animated = body.image.info.animated
    roles = _roles(ctx, body.roles) or []
    if sum(emoji.animated == animated for emoji in ctx.guild.emojis) >= emoji_limit(ctx.guild.row.premium_tier):
        raise Refusal(errors.TOO_MANY_ANIMATED_EMOJIS if animated else errors.TOO_MANY_EMOJIS)
    emoji = Emoji(id=EmojiId(ctx.ids.next()), name=body.name, roles=roles, animated=animated)
    await queries.insert_emoji(ctx.tx, ctx.guild.id, emoji, ctx.actor.user_id, body.image.hash)
    await ctx.audit(AuditLogEvent.EMOJI_CREATE, target=emoji.id, changes=_changes(None, emoji))
    _announce(ctx, [*ctx.guild.emojis, emoji])
    return structs.replace(emoji, user=await get_user(ctx.tx, ctx.actor.user_id) or UNSET)


async def change_emoji(ctx: Context, emoji_id: EmojiId, body: ModifyGuildEmoji) -> Emoji:
    """Change an emoji as a request asks; what changes nothing tells nobody.

    Raises Refusal: 404/10014; 403/50013 for somebody else's without MANAGE_GUILD_EXPRESSIONS; 50035 for roles that
    the guild does not have.
    """
    before, shown = await _open_to_change(ctx, emoji_id)
    roles = _roles(ctx, body.roles)
    after = structs.replace(
        before,
        name=before.name if body.name is UNSET else body.name,
        roles=before.roles if roles is None else roles,
    )
    if after != before:
        await queries.update_emoji(ctx.tx, ctx.guild.id, after)
        await ctx.audit(AuditLogEvent.EMOJI_UPDATE, target=emoji_id, changes=_changes(before, after))
        _announce(ctx, [after if emoji.id == emoji_id else emoji for emoji in ctx.guild.emojis])
    return structs.replace(after, user=shown.user)


async def delete_emoji(ctx: Context, emoji_id: EmojiId) -> None:
    """Remove an emoji; sounds that it stood for go on without.

    Raises Refusal: 404/10014; 403/50013 for somebody else's without MANAGE_GUILD_EXPRESSIONS.
    """
    emoji, _ = await _open_to_change(ctx, emoji_id)
    await queries.delete_emoji(ctx.tx, ctx.guild.id, emoji_id)
    await ctx.audit(AuditLogEvent.EMOJI_DELETE, target=emoji_id, changes=_changes(emoji, None))
    _announce(ctx, [other for other in ctx.guild.emojis if other.id != emoji_id])
    await EMOJI_DELETED(ctx, emoji_id)


async def take_role(ctx: Context, role_id: RoleId) -> None:
    """Take a role that is ending out of the emojis that it may use. Clients do so themselves: nobody is told.

    An emoji whose last role it was is everybody's from then on.
    """
    changed = [
        structs.replace(emoji, roles=[held for held in emoji.roles if held != role_id])
        for emoji in ctx.guild.emojis
        if role_id in emoji.roles
    ]
    if changed:
        await queries.update_roles(ctx.tx, ctx.guild.id, changed)


async def _open_to_change(ctx: Context, emoji_id: EmojiId) -> tuple[Emoji, Emoji]:
    """An emoji without its creator, and with. Raises Refusal: 404/10014, 403/50013; 50035 for a managed one."""
    emoji = find_emoji(ctx, emoji_id)
    creator_id = (await queries.select_creators(ctx.tx, ctx.guild.id)).get(emoji_id)
    require_may_change(ctx, creator_id)
    creator = None if creator_id is None else await get_user(ctx.tx, creator_id)
    return emoji, structs.replace(emoji, user=creator or UNSET)


def _roles(ctx: Context, given: Iterable[RoleId | None] | UnsetType | None) -> list[RoleId] | None:
    """The roles that a request names; None if it says nothing of them. Raises Refusal: 50035."""
    if given is UNSET:
        return None
    form_errors, roles = FormErrors(), dict.fromkeys(role_id for role_id in given or () if role_id is not None)
    for index, role_id in enumerate(given or ()):
        if role_id is not None and role_id not in ctx.guild.roles:
            form_errors.add(["roles", index], FormCode.BASE_TYPE_CHOICES, "This role does not exist in this guild.")
    form_errors.raise_if_any()
    return [] if ctx.guild.everyone.id in roles else list(roles)


def _announce(ctx: Context, emojis: Iterable[Emoji]) -> None:
    guild_id: GuildId = ctx.guild.id
    ctx.emit(GuildEmojisUpdate(guild_id=guild_id, emojis=rate_emojis(emojis, ctx.guild.row.premium_tier)))


def _changes(before: Emoji | None, after: Emoji | None) -> list[AuditLogChange]:
    changes = differences(before, after, ("name", "roles"))
    return [change for change in changes if change.old_value or change.new_value]
