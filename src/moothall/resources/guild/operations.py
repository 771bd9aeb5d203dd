"""Guild operations: create, modify, delete and leave."""

from typing import Any, Final

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.api.hooks import Hook
from moothall.objects import errors
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel
from moothall.objects.channel_types import ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.features import CHANGEABLE, Feature
from moothall.objects.form_codes import FormCode
from moothall.objects.guild import Guild, SystemChannelFlags
from moothall.objects.ids import GuildId
from moothall.objects.images import ImageData
from moothall.objects.json_object import JsonObject
from moothall.objects.locales import DEFAULT
from moothall.objects.text import clean, clean_name
from moothall.objects.wire import to_plain
from moothall.resources.channel.queries import insert_channels
from moothall.resources.guild import queries, rules
from moothall.resources.guild.events import GuildDelete, GuildUpdate
from moothall.resources.guild.jobs import enqueue_guild_purge
from moothall.resources.guild.membership.operations import remove_member
from moothall.resources.guild.new_guild import AFK_TIMEOUT_DEFAULT, NewGuild, build_guild
from moothall.resources.guild.objects import DEFAULT_REGION, build_guild_object, guild_identity, guild_object
from moothall.resources.guild.requests import CreateGuild, ModifyGuild
from moothall.resources.guild.role.queries import insert_roles
from moothall.resources.member.events import GuildOpen
from moothall.resources.member.queries import get_member, update_member
from moothall.resources.user.queries import get_user, select_user
from moothall.storage.rows import GuildRow, UserRow, welcome_screen_from_row

_CHANNEL_SETTINGS: Final = (
    "afk_channel_id", "system_channel_id", "rules_channel_id", "public_updates_channel_id",
    "safety_alerts_channel_id", "widget_channel_id",
)  # fmt: skip
"""The settings of a guild that refer to a channel."""

GUILD_DELETED: Final = Hook[[Context, GuildId], None]("guild deleted")
"""Called in the transaction that deletes a guild."""
BOT_GUILDS: Final = 10
"""A bot in this many guilds cannot create another."""

_DEFAULTS: Final[JsonObject] = {
    "region": None,
    "verification_level": 0,
    "default_message_notifications": 0,
    "explicit_content_filter": 0,
    "afk_channel_id": None,
    "afk_timeout": AFK_TIMEOUT_DEFAULT,
    "system_channel_id": None,
    "rules_channel_id": None,
    "public_updates_channel_id": None,
    "safety_alerts_channel_id": None,
    "preferred_locale": DEFAULT,
    "premium_progress_bar_enabled": False,
}
"""The fields that are stored unchanged, with the value that null sets."""

_CHANNEL_TYPES: Final = {
    "afk_channel_id": ChannelType.GUILD_VOICE,
    "system_channel_id": ChannelType.GUILD_TEXT,
    "rules_channel_id": ChannelType.GUILD_TEXT,
    "public_updates_channel_id": ChannelType.GUILD_TEXT,
    "safety_alerts_channel_id": ChannelType.GUILD_TEXT,
}
"""The fields that refer to a channel, with its required type."""


async def create_guild(ctx: Context, body: CreateGuild) -> Guild:
    """Create a guild owned by the actor, whose sessions then receive GUILD_CREATE.

    Raises Refusal: 400/30001 for a user in the maximum number of guilds, or a bot in `BOT_GUILDS`.
    """
    user = await check_can_create_guild(ctx)
    form_errors = FormErrors()
    if body.icon:
        rules.check_image("icon", body.icon, ctx.services.limits.guild_features, form_errors)
    form_errors.raise_if_any()
    return await store_guild(ctx, user, build_guild(body, ctx.ids, user.id))


async def check_can_create_guild(ctx: Context) -> UserRow:
    """The actor's row, if they may create a guild; it stays locked until the transaction ends.

    Raises Refusal: 400/30001 for a user in the maximum number of guilds, or a bot in `BOT_GUILDS`.
    """
    user = await select_user(ctx.tx, ctx.actor.user_id)
    if user is None:
        raise Refusal(errors.UNKNOWN_USER)
    maximum = ctx.services.limits.max_guilds(premium=bool(user.premium_type))
    if await queries.count_guilds(ctx.tx, user.id) >= (BOT_GUILDS if user.bot else maximum):
        raise Refusal(errors.TOO_MANY_GUILDS)
    return user


async def store_guild(ctx: Context, owner: UserRow, new: NewGuild) -> Guild:
    """Insert a new guild, with the features, premium tier and number of members of the settings, and emit GuildOpen.

    Rows that call this declare GuildOpen.
    """
    row = new.guild
    row.features = sorted({*row.features, *ctx.services.limits.guild_features})
    row.premium_tier = max(row.premium_tier, ctx.services.limits.guild_level)
    row.max_members = ctx.services.limits.members_per_guild
    row.application_id = ctx.actor.application_id if ctx.actor.bot else None
    await queries.insert_guild(ctx.tx, row, owner, ctx.now)
    await insert_roles(ctx.tx, row.id, new.roles)
    await insert_channels(ctx.tx, new.channels)
    ctx.emit(GuildOpen(user_id=owner.id, guild_id=row.id))
    return build_guild_object(row, new.roles, [], [])


async def modify_guild(ctx: Context, body: ModifyGuild) -> Guild:
    """Change every requested field of the guild entered, or none.

    Raises Refusal: 403/50013 for a transfer by anyone but the owner and for features that require more permissions,
    400/50101 for images without their feature, 400/50132 and 400/50131 for a new owner who is a bot or pending,
    400/50035 for everything else.
    """
    row, form_errors = ctx.guild.row, FormErrors()
    columns = _columns(body)
    if body.owner_id is not UNSET and body.owner_id != row.owner_id:
        await _check_new_owner(ctx, body, form_errors)
        columns["owner_id"] = body.owner_id
    changed: frozenset[str] = frozenset()
    if isinstance(body.features, list):
        columns["features"], changed = rules.change_features(row.features, body.features)
        for feature in changed:
            ctx.require(CHANGEABLE[feature])
    await _check_channels(ctx, columns, form_errors)
    after = structs.replace(row, **columns)
    if Feature.COMMUNITY in after.features:
        # An operator may have added COMMUNITY without these channels: other changes must still be possible.
        changed_columns = {name for name, value in columns.items() if value != getattr(row, name)}
        rules.check_community(
            after, rules.COMMUNITY_CHANNELS if Feature.COMMUNITY in changed else changed_columns, form_errors
        )
    if Feature.DISCOVERABLE in after.features:
        if Feature.DISCOVERABLE in changed:
            rules.check_discoverable(after, form_errors)
        else:
            rules.check_stays_discoverable(row, after, form_errors)
    columns |= _images(body, after, form_errors)
    form_errors.raise_if_any()
    return await change_guild(ctx, **columns)


def _columns(body: ModifyGuild) -> JsonObject:
    """The new values of columns that depend on the request alone."""
    columns: dict[str, object] = {
        name: null if value is None else value
        for name, null in _DEFAULTS.items()
        if (value := getattr(body, name)) is not UNSET
    }
    if columns.get("region") == DEFAULT_REGION:
        columns["region"] = None  # the default is not stored
    if body.name is not UNSET:
        columns["name"] = clean_name(body.name)
    if body.description is not UNSET:
        columns["description"] = clean(body.description or "").strip() or None
    if body.system_channel_flags is not UNSET:
        columns["system_channel_flags"] = (body.system_channel_flags or 0) & SystemChannelFlags.ALL
    return columns


async def _check_new_owner(ctx: Context, body: ModifyGuild, form_errors: FormErrors) -> None:
    if not ctx.member.is_owner:
        raise Refusal(errors.MISSING_PERMISSIONS)
    if body.owner_id is UNSET:
        return
    member = await get_member(ctx.tx, ctx.guild.id, body.owner_id)
    user = await select_user(ctx.tx, body.owner_id)
    if member is None or user is None:
        form_errors.add("owner_id", FormCode.BASE_TYPE_CHOICES, "The new owner is not a member of this guild.")
    elif user.disabled:
        form_errors.add("owner_id", FormCode.BASE_TYPE_CHOICES, "The account of the new owner is disabled.")
    elif user.bot:
        raise Refusal(errors.BOT_CANNOT_OWN)
    elif member.pending:
        raise Refusal(errors.OWNER_CANNOT_BE_PENDING)
    elif member.guest_channel_id is not None:
        form_errors.add("owner_id", FormCode.BASE_TYPE_CHOICES, "The new owner is only a guest.")
    elif member.temporary:
        # The owner's membership cannot be temporary.
        await update_member(ctx.tx, ctx.guild.id, body.owner_id, temporary=False)


async def _check_channels(ctx: Context, columns: dict[str, Any], form_errors: FormErrors) -> None:
    for field, kind in _CHANNEL_TYPES.items():
        channel_id = columns.get(field)
        if channel_id is None or channel_id == getattr(ctx.guild.row, field):
            continue
        channel = await ctx.guild.channel(ctx.tx, channel_id)
        if channel is None:
            form_errors.add(field, FormCode.BASE_TYPE_CHOICES, "This channel does not exist in this guild.")
        elif channel.type != kind:
            form_errors.add(field, FormCode.BASE_TYPE_CHOICES, f"This channel must be a {kind.name}.")


def _images(body: ModifyGuild, after: GuildRow, form_errors: FormErrors) -> dict[str, str | None]:
    columns: dict[str, str | None] = {}
    for field in rules.IMAGES:
        image = getattr(body, field)
        if isinstance(image, ImageData):
            rules.check_image(field, image, after.features, form_errors)
            columns[field] = image.hash
        elif image is None:
            columns[field] = None
    return columns


async def change_guild(ctx: Context, **columns: object) -> Guild:
    """Set columns of the guild entered, write the audit entry and emit GUILD_UPDATE; returns the changed guild object.

    Without any difference nothing is written, recorded or emitted. The caller checks every rule and declares
    `GuildUpdate`.
    """
    row = ctx.guild.row
    changed = {name: value for name, value in columns.items() if value != getattr(row, name)}
    if not changed:
        return guild_object(ctx.guild)
    await queries.update_guild(ctx.tx, row.id, changed)
    after = structs.replace(row, **changed)
    guild = build_guild_object(after, ctx.guild.roles.values(), ctx.guild.emojis, ctx.guild.stickers)
    await ctx.audit(AuditLogEvent.GUILD_UPDATE, target=row.id, changes=rules.guild_audit_changes(row, after))
    ctx.emit(GuildUpdate(guild=guild, identity=guild_identity(after)))
    return guild


async def check_can_modify_mfa_level(ctx: Context) -> None:
    """Raises Refusal: 403/50013 for anyone but the owner, 403/60003 for an owner without two-factor authentication."""
    if not ctx.member.is_owner:
        raise Refusal(errors.MISSING_PERMISSIONS)
    if not ctx.actor.mfa:
        raise Refusal(errors.MFA_REQUIRED)


async def delete_guild(ctx: Context) -> None:
    """Delete the guild entered with everything in it. Raises Refusal: 403/50013 for anyone but the owner.

    The guild is inaccessible after this transaction; a job deletes its messages and other remaining rows in batches.
    """
    if not ctx.member.is_owner:
        raise Refusal(errors.MISSING_PERMISSIONS)
    await delete_entered_guild(ctx)


async def delete_entered_guild(ctx: Context) -> None:
    """Delete the guild entered as `delete_guild` does, without checking who deletes it."""
    await queries.delete_guild(ctx.tx, ctx.guild.id)
    await GUILD_DELETED(ctx, ctx.guild.id)
    await enqueue_guild_purge(ctx, ctx.guild.id)
    ctx.emit(GuildDelete(guild_id=ctx.guild.id))


async def leave_guild(ctx: Context) -> None:
    """Leave the guild entered. Raises Refusal: 400/50055 for the owner, who can only transfer or delete the guild."""
    if ctx.member.is_owner:
        raise Refusal(errors.INVALID_GUILD)
    user = await get_user(ctx.tx, ctx.actor.user_id)
    if user is not None:
        await remove_member(ctx, ctx.guild.id, user)


async def clear_deleted_channel(ctx: Context, channel: Channel) -> None:
    """Remove a deleted channel from the settings and the welcome screen of the guild entered.

    Rows that call this declare GuildUpdate.
    """
    guild = ctx.guild
    columns: dict[str, object] = {name: None for name in _CHANNEL_SETTINGS if getattr(guild.row, name) == channel.id}
    screen = welcome_screen_from_row(guild.row)
    if screen is not None and any(shown.channel_id == channel.id for shown in screen.welcome_channels):
        others = [shown for shown in screen.welcome_channels if shown.channel_id != channel.id]
        columns["welcome_screen"] = to_plain(structs.replace(screen, welcome_channels=others))
    if columns:
        await queries.update_guild(ctx.tx, guild.id, columns)
        after = structs.replace(guild.row, **columns)
        changed = build_guild_object(after, guild.roles.values(), guild.emojis, guild.stickers)
        ctx.emit(GuildUpdate(guild=changed, identity=guild_identity(after)))
