"""What a person's client raises: looked up and checked, then told to the application.

What does not fit the command, the component or the modal is refused before anybody hears of it.
"""

from typing import Any, Final

from msgspec import UNSET, UnsetType

from moothall.kernel.channel_access import ChannelAccess, find_channel
from moothall.kernel.context import Context
from moothall.kernel.secrets import hash_token, new_token
from moothall.objects import errors
from moothall.objects.channel_types import FORUMS, MESSAGEABLE, VOICE
from moothall.objects.command import Command, CommandType, EntryPointHandler, InteractionContext
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import ApplicationId, GuildId, MessageId, UserId
from moothall.objects.interaction import CallbackType, Interaction, InteractionState, InteractionType
from moothall.objects.permissions import Permissions, PermissionSet
from moothall.objects.wire import to_plain
from moothall.resources.application.queries import select_application
from moothall.resources.interaction import queries
from moothall.resources.interaction.delivery import deliver
from moothall.resources.interaction.events import InteractionRaised, InteractionSuccess
from moothall.resources.interaction.messages import flags_of, post_message
from moothall.resources.interaction.queries import EphemeralRow, InteractionRow
from moothall.resources.interaction.raised import Raised
from moothall.resources.interaction.requests import RaiseInteraction
from moothall.resources.interaction.resolving import partial_channel, whole_member
from moothall.resources.interaction.rules import DIRECT_PERMISSIONS, context_of
from moothall.resources.interaction.using_commands import use_command
from moothall.resources.interaction.using_components import hand_in_modal, use_component
from moothall.resources.member.queries import get_member, member_object
from moothall.resources.message.attachment.uploads import allowance_in
from moothall.resources.message.drafts import Draft
from moothall.resources.user.queries import select_user
from moothall.storage.rows import UserRow, user_from_row

_TOKEN_LENGTH: Final = 128


async def raise_interaction(ctx: Context, body: RaiseInteraction) -> None:
    """Tell an application what the caller has done in a channel.

    Raises Refusal: 404/10002, 404/10003, 403/50001, 404/10063, 404/10008, 403/50013, 50035 with every
    value that does not fit.
    """
    access = await ctx.enter_channel(body.channel_id)
    if body.guild_id is not None and (access.guild is None or access.guild.id != body.guild_id):
        refuse_field("guild_id", FormCode.BASE_TYPE_CHOICES, "The channel is not in this guild.")
    _require_messages(ctx, access)
    application = await select_application(ctx.tx, body.application_id)
    if application is None:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    raised = Raised(ctx, body, application, access)
    command: Command | None = None
    if body.type == InteractionType.MESSAGE_COMPONENT:
        await use_component(raised)
    elif body.type == InteractionType.MODAL_SUBMIT:
        await hand_in_modal(raised)
    else:
        completing = body.type == InteractionType.APPLICATION_COMMAND_AUTOCOMPLETE
        command = await use_command(raised, completing=completing)
    raised.found.raise_if_any()
    if raised.resolver.resolved:
        raised.data["resolved"] = raised.resolver.resolved
    if command is not None and command.handler == EntryPointHandler.LAUNCH_ACTIVITY:
        await _launch(raised)
    else:
        await _tell(raised)


def _require_messages(ctx: Context, access: ChannelAccess) -> None:
    """An answer is a message, which the channel must be able to hold, and its person to see and write there."""
    kind = access.channel.type
    if kind in FORUMS:
        raise Refusal(errors.FORUM_NEEDS_THREAD)
    if kind not in MESSAGEABLE:
        raise Refusal(errors.NOT_TEXT_CHANNEL)
    if ctx.in_guild and (ctx.member.restricted or (kind in VOICE and not ctx.has(Permissions.CONNECT))):
        raise Refusal(errors.MISSING_PERMISSIONS)


async def _launch(raised: Raised) -> None:
    """Start the application's Activity, of which it need not be told, and say so in the channel."""
    ctx, access, nonce = raised.ctx, raised.access, raised.body.nonce_text
    _, row, _ = await _store(raised, InteractionState.ANSWERED)
    ctx.emit(InteractionRaised(user_id=ctx.actor.user_id, id=row.id, nonce=nonce))
    flags = await flags_of(ctx, row, access, 0)
    posted = await post_message(
        ctx, row, access, Draft(content=f"Started **{raised.application.name}**"), ephemeral=bool(flags)
    )
    await queries.update_interaction(
        ctx.tx,
        row.id,
        callback=int(CallbackType.LAUNCH_ACTIVITY),
        response_id=posted.id,
        response_room_id=posted.room_id,
    )
    ctx.emit(InteractionSuccess(user_id=ctx.actor.user_id, id=row.id, nonce=nonce))


async def _tell(raised: Raised) -> None:
    """Store the interaction and deliver it, once it is durable."""
    ctx, access, body = raised.ctx, raised.access, raised.body
    token, row, user = await _store(raised, InteractionState.WAITING)
    shown = row.metadata["user"]
    member: dict[str, Any] | UnsetType = UNSET
    guild = access.guild
    if guild is not None:
        found = await get_member(ctx.tx, guild.id, ctx.actor.user_id)
        if found is None:
            raise Refusal(errors.UNKNOWN_MEMBER)
        member = whole_member(await member_object(ctx.tx, found), access.permissions)
    channel = partial_channel(access.channel, access.permissions)
    if guild is None:
        channel["recipients"] = [shown]
    told = Interaction(
        id=row.id,
        application_id=raised.application.id,
        type=body.type,
        data=raised.data,
        guild=UNSET
        if guild is None
        else {"id": str(int(guild.id)), "locale": guild.row.preferred_locale, "features": guild.row.features},
        guild_id=UNSET if guild is None else GuildId(guild.id),
        channel=channel,
        channel_id=access.id,
        member=member,
        user=shown if guild is None else UNSET,
        token=token,
        message=raised.message,
        app_permissions=PermissionSet(await app_permissions(ctx, access, raised.application.id)).wire(),
        locale=user.locale,
        guild_locale=UNSET if guild is None else guild.row.preferred_locale,
        authorizing_integration_owners=raised.owners,
        context=int(context_of(access, raised.application.id)),
        attachment_size_limit=allowance_in(guild).each,
    )
    await deliver(ctx, raised.application, told, body.nonce_text)


async def _store(raised: Raised, state: InteractionState) -> tuple[str, InteractionRow, UserRow]:
    """Store an interaction with the files that came with it; its token, its row, and its person's."""
    ctx, access, body = raised.ctx, raised.access, raised.body
    token = new_token(_TOKEN_LENGTH)
    user = await select_user(ctx.tx, ctx.actor.user_id)
    if user is None:
        raise Refusal(errors.NOT_AUTHENTICATED)
    metadata = {
        "id": str(int(raised.id)),
        "type": body.type,
        "user": to_plain(user_from_row(user)),
        "authorizing_integration_owners": raised.owners,
        **{key: value for key, value in raised.metadata.items() if value is not None},
    }
    if raised.name is not None and body.type == InteractionType.APPLICATION_COMMAND:
        metadata |= {"name": raised.name, "command_type": raised.data.get("type", int(CommandType.CHAT_INPUT))}
    row = InteractionRow(
        id=raised.id,
        application_id=raised.application.id,
        user_id=ctx.actor.user_id,
        guild_id=None if access.guild is None else GuildId(access.guild.id),
        channel_id=access.id,
        type=body.type,
        token_hash=hash_token(token),
        state=state,
        callback=None,
        nonce=body.nonce_text,
        name=raised.name,
        owners=raised.owners,
        metadata=metadata,
        source_id=None if raised.source is None else raised.source[1],
        source_room_id=None if raised.source is None else raised.source[0],
        response_id=None,
        response_room_id=None,
        modal=None,
        followups=0,
        created_at=ctx.now,
    )
    await queries.insert_interaction(ctx.tx, row)
    if raised.files is not None and raised.files.taken:
        await raised.files.keep()
        # They go with what its person has seen.
        await queries.insert_ephemeral(
            ctx.tx,
            EphemeralRow(
                id=MessageId(raised.id),
                interaction_id=raised.id,
                channel_id=access.id,
                application_id=raised.application.id,
                user_id=ctx.actor.user_id,
            ),
        )
    return token, row, user


async def app_permissions(ctx: Context, access: ChannelAccess, application_id: ApplicationId) -> int:
    """What an application's bot may do where an interaction happens."""
    if access.guild is None:
        bits = int(DIRECT_PERMISSIONS)
        if context_of(access, application_id) is InteractionContext.BOT_DM:
            bits |= Permissions.USE_EXTERNAL_EMOJIS
        return bits
    seen = await find_channel(
        ctx.services.states, ctx.tx, access.id, UserId(application_id), ctx.now, writes=ctx.writes
    )
    if seen is not None and seen.member is not None:
        return seen.permissions
    return int(DIRECT_PERMISSIONS)
