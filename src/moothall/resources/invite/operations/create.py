"""Creating invites to channels, group direct messages and for widgets."""

from typing import Final

from msgspec import UNSET

from moothall.api.audit import differences
from moothall.api.context import Context
from moothall.authority.guild_state import GuildState
from moothall.objects import errors, limits
from moothall.objects.application import ApplicationFlags
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel
from moothall.objects.channel_types import INVITABLE, VOICE, ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.features import Feature
from moothall.objects.form_codes import FieldError, FormCode
from moothall.objects.ids import ChannelId, RoleId, Snowflake
from moothall.objects.invite import InviteFlags, InviteMetadata, InviteTargetType, InviteType
from moothall.objects.permissions import Permissions
from moothall.objects.role import is_linked
from moothall.resources.activity.access import CHANNEL_TYPES
from moothall.resources.invite import queries
from moothall.resources.invite.codes import random_code
from moothall.resources.invite.events import InviteCreate
from moothall.resources.invite.group_invites import group_invite_metadata, new_group_invite
from moothall.resources.invite.lookup import are_invites_paused
from moothall.resources.invite.objects import AUDITED, invite_objects
from moothall.resources.invite.queries import InviteRow
from moothall.resources.invite.requests import CreateChannelInvite
from moothall.resources.invite.target_users.operations import set_target_users
from moothall.resources.invite.target_users.queries import delete_targets_of_expired, select_target_job
from moothall.resources.voice.queries import get_voice_state

_SETTINGS: Final = (
    "max_age", "max_uses", "temporary", "target_type", "target_user_id", "target_application_id", "flags", "role_ids",
)  # fmt: skip


async def create_invite(
    ctx: Context, body: CreateChannelInvite, target_user_ids: list[Snowflake] | None = None
) -> InviteMetadata:
    """Create an invite to the channel entered.

    With `target_user_ids` only these users may see and accept it. Otherwise, without `unique`, the actor's live invite
    with the same settings is returned instead, which is neither recorded nor announced. Raises Refusal: 400/50024 for a
    channel type without invites and for target users of a group, 400/30016 for a guild with the maximum number of
    invites, 403/50013 for one with an Activity without USE_EMBEDDED_ACTIVITIES, 400/50035.
    """
    channel = ctx.channel.channel
    if channel.type == ChannelType.GROUP_DM:
        if target_user_ids is not None:
            raise Refusal(errors.WRONG_CHANNEL_TYPE)
        return await _create_group_invite(ctx, body)
    if channel.type not in INVITABLE:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)
    row = await _new_invite(ctx, channel, body)
    if not body.unique and target_user_ids is None and (same := await _same_invite(ctx, row)) is not None:
        return same
    await delete_targets_of_expired(ctx.tx, ctx.guild.id, ctx.now)
    await queries.delete_expired(ctx.tx, ctx.guild.id, ctx.now)
    if await queries.count_guild_invites(ctx.tx, ctx.guild.id, ctx.now) >= limits.GUILD_INVITES_MAX:
        raise Refusal(errors.TOO_MANY_INVITES)
    invite = await store_invite(ctx, ctx.guild, row)
    if target_user_ids is not None:
        await set_target_users(ctx, ctx.guild.id, row.code, target_user_ids)
    await ctx.audit(AuditLogEvent.INVITE_CREATE, changes=differences(None, row, AUDITED))
    return invite


async def _create_group_invite(ctx: Context, body: CreateChannelInvite) -> InviteMetadata:
    """Create an invite to the group entered. Group invites are neither recorded nor announced."""
    row = new_group_invite(ctx, body.max_age)
    own = await queries.select_own_invites(ctx.tx, row.channel_id, ctx.actor.user_id, ctx.now)
    same = next((invite for invite in own if invite.max_age == row.max_age), None)
    if same is not None and not body.unique:
        return await group_invite_metadata(ctx, same)
    if len(own) >= limits.GROUP_INVITES_PER_USER:
        raise Refusal(errors.TOO_MANY_INVITES)
    await _insert(ctx, row)
    return await group_invite_metadata(ctx, row)


async def get_or_create_widget_invite(ctx: Context, channel_id: ChannelId) -> str | None:
    """The code of the unlimited invite that a widget shows, created if there is none; None while invites are paused.

    Rows that call this declare InviteCreate.
    """
    guild = ctx.guild
    if are_invites_paused(ctx, guild):
        return None
    code = await queries.select_widget_invite(ctx.tx, guild.id, channel_id)
    if code is not None:
        return code
    ctx.need_to_write()
    row = InviteRow(
        code="",
        guild_id=guild.id,
        channel_id=channel_id,
        inviter_id=None,
        type=InviteType.GUILD,
        target_type=None,
        target_user_id=None,
        target_application_id=None,
        max_age=0,
        max_uses=0,
        uses=0,
        temporary=False,
        created_at=ctx.now,
        expires_at=None,
        flags=0,
        role_ids=[],
    )
    return (await store_invite(ctx, guild, row)).code


async def store_invite(ctx: Context, guild: GuildState, row: InviteRow) -> InviteMetadata:
    """Insert an invite under a new code and emit INVITE_CREATE. The caller writes the audit entry, if any."""
    await _insert(ctx, row)
    invite = (await invite_objects(ctx, guild, [row]))[0]
    ctx.emit(
        InviteCreate(
            type=row.type,
            channel_id=row.channel_id,
            guild_id=guild.id,
            code=row.code,
            created_at=row.created_at,
            inviter=invite.inviter,
            max_age=row.max_age,
            max_uses=row.max_uses,
            target_type=invite.target_type,
            target_user=invite.target_user,
            target_application=invite.target_application,
            temporary=row.temporary,
            expires_at=row.expires_at,
            flags=row.flags,
            role_ids=[RoleId(role_id) for role_id in row.role_ids] or UNSET,
        )
    )
    return invite


async def _insert(ctx: Context, row: InviteRow) -> None:
    """Insert an invite under a code that no invite and no guild has."""
    row.code = random_code()
    while await queries.select_vanity_guild(ctx.tx, row.code) or not await queries.insert_invite(ctx.tx, row):
        row.code = random_code()


async def _same_invite(ctx: Context, new: InviteRow) -> InviteMetadata | None:
    """The actor's live invite to the same channel with the same settings; None if there is none."""
    for row in await queries.select_own_invites(ctx.tx, new.channel_id, ctx.actor.user_id, ctx.now):
        same = all(getattr(row, name) == getattr(new, name) for name in _SETTINGS)
        if same and await select_target_job(ctx.tx, ctx.guild.id, row.code) is None:
            return (await invite_objects(ctx, ctx.guild, [row]))[0]
    return None


async def _new_invite(ctx: Context, channel: Channel, body: CreateChannelInvite) -> InviteRow:
    form_errors = FormErrors()
    target_type = int(body.target_type or 0)
    await _check_target(ctx, channel, body, target_type, form_errors)
    role_ids = _checked_roles(ctx, body, form_errors)
    flags = (body.flags or 0) & InviteFlags.IS_GUEST_INVITE
    if flags:
        _check_guest_invite(ctx, channel, role_ids, form_errors)
    form_errors.raise_if_any()
    max_age = body.max_age if isinstance(body.max_age, int) else limits.INVITE_MAX_AGE_DEFAULT
    is_stream = target_type == InviteTargetType.STREAM
    is_application = target_type == InviteTargetType.EMBEDDED_APPLICATION
    return InviteRow(
        code="",
        guild_id=ctx.guild.id,
        channel_id=channel.id,
        inviter_id=ctx.actor.user_id,
        type=InviteType.GUILD,
        target_type=target_type or None,
        target_user_id=(body.target_user_id or None) if is_stream else None,
        target_application_id=(body.target_application_id or None) if is_application else None,
        max_age=max_age,
        max_uses=body.max_uses or 0,
        uses=0,
        temporary=bool(body.temporary),
        created_at=ctx.now,
        expires_at=type(ctx.now)(ctx.now + 1000 * max_age) if max_age else None,
        flags=flags,
        role_ids=role_ids,
    )


def _check_guest_invite(ctx: Context, channel: Channel, role_ids: list[Snowflake], form_errors: FormErrors) -> None:
    """Check that a guest invite leads to a voice channel of a guild with guests, and adds no role."""
    if Feature.GUESTS_ENABLED not in ctx.guild.row.features:
        form_errors.add("flags", FormCode.BASE_TYPE_CHOICES, "This guild has no guests.")
    elif channel.type != ChannelType.GUILD_VOICE:
        form_errors.add("flags", FormCode.BASE_TYPE_CHOICES, "Guests can be invited to voice channels only.")
    elif role_ids:
        form_errors.add("role_ids", FormCode.BASE_TYPE_CHOICES, "A guest invite cannot add roles.")


def _checked_roles(ctx: Context, body: CreateChannelInvite, form_errors: FormErrors) -> list[Snowflake]:
    """The roles that the invite adds, each of which the actor could assign. Raises Refusal: 403/50013."""
    role_ids = list(dict.fromkeys(body.role_ids or ()))
    roles = [ctx.guild.roles.get(role_id) for role_id in role_ids]
    if role_ids and not ctx.member.permissions & Permissions.MANAGE_ROLES:
        raise Refusal(errors.MISSING_PERMISSIONS)
    if any(role is not None and not ctx.member.outranks_role(role) for role in roles):
        raise Refusal(errors.MISSING_PERMISSIONS)
    for index, role in enumerate(roles):
        if role is None or role.managed or is_linked(role) or role.id == ctx.guild.everyone.id:
            form_errors.add(("role_ids", index), FormCode.BASE_TYPE_CHOICES, "This role cannot be assigned.")
    return [Snowflake(role_id) for role_id in role_ids]


async def _check_target(
    ctx: Context, channel: Channel, body: CreateChannelInvite, target_type: int, form_errors: FormErrors
) -> None:
    """Check that a target is a user who streams in the channel now, or an application that can be embedded in it.

    Raises Refusal: 403/50013 for an application without USE_EMBEDDED_ACTIVITIES in the channel.
    """
    if target_type == InviteTargetType.STREAM:
        await _check_stream(ctx, channel, body, form_errors)
    elif target_type == InviteTargetType.EMBEDDED_APPLICATION:
        await _check_activity(ctx, channel, body, form_errors)
    elif body.target_user_id or body.target_application_id:
        form_errors.add("target_type", *FieldError.required())


async def _check_stream(ctx: Context, channel: Channel, body: CreateChannelInvite, form_errors: FormErrors) -> None:
    if channel.type not in VOICE:
        form_errors.add("target_type", FormCode.BASE_TYPE_CHOICES, "Only voice channels have streams.")
    if not body.target_user_id:
        form_errors.add("target_user_id", *FieldError.required())
        return
    state = await get_voice_state(ctx.tx, ctx.guild.id, body.target_user_id)
    if state is None or state.channel_id != channel.id or not state.self_stream:
        form_errors.add("target_user_id", FormCode.BASE_TYPE_CHOICES, "The user does not stream in the channel.")


async def _check_activity(ctx: Context, channel: Channel, body: CreateChannelInvite, form_errors: FormErrors) -> None:
    ctx.require(Permissions.USE_EMBEDDED_ACTIVITIES)
    if channel.type not in CHANNEL_TYPES:
        form_errors.add("target_type", FormCode.BASE_TYPE_CHOICES, "No Activity runs in channels of this type.")
    if not body.target_application_id:
        form_errors.add("target_application_id", *FieldError.required())
        return
    applications = await queries.get_applications(ctx.tx, [body.target_application_id])
    application = applications.get(body.target_application_id)
    if application is None or not application.flags & ApplicationFlags.EMBEDDED:
        form_errors.add("target_application_id", FormCode.BASE_TYPE_CHOICES, "This application cannot be embedded.")
