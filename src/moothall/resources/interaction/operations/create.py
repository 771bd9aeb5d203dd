"""Create an interaction: read and resolve the request, build, store, and send it to the application.

Invalid values are refused before anything is stored or sent.
"""

from collections.abc import Awaitable, Callable
from typing import Final

from msgspec import UNSET, UnsetType

from moothall.api.context import Context
from moothall.api.storage_quota import require_within_quota
from moothall.authority.channel_access import ChannelAccess
from moothall.objects import errors
from moothall.objects.channel_types import FORUMS, MESSAGEABLE, VOICE
from moothall.objects.errors import Refusal, refuse_field
from moothall.objects.form_codes import FormCode
from moothall.objects.ids import MessageId
from moothall.objects.interaction import CallbackType, InteractionState, InteractionType
from moothall.objects.json_object import JsonObject
from moothall.objects.permissions import Permissions
from moothall.resources.activity.operations import launch_activity
from moothall.resources.application.queries import select_application
from moothall.resources.channel.direct_message_access import require_may_write_here
from moothall.resources.entitlement.operations import active_entitlements
from moothall.resources.interaction import queries
from moothall.resources.interaction.create.command import read_command
from moothall.resources.interaction.create.component import read_component
from moothall.resources.interaction.create.draft import InteractionDraft
from moothall.resources.interaction.create.interaction_object import build_interaction, build_row
from moothall.resources.interaction.create.modal import read_modal_submit
from moothall.resources.interaction.create.resolved_data import caller_member
from moothall.resources.interaction.events import InteractionCreateAck, InteractionSuccess
from moothall.resources.interaction.operations.deliver import deliver_interaction
from moothall.resources.interaction.operations.messages import create_interaction_message
from moothall.resources.interaction.queries import EphemeralRow, InteractionRow
from moothall.resources.interaction.requests import CreateInteraction
from moothall.resources.interaction.respond.channel import response_flags
from moothall.resources.interaction.rules import app_permissions
from moothall.resources.member.queries import get_member, member_object
from moothall.resources.message.attachment.queries import insert_attachments
from moothall.resources.message.drafts import Draft
from moothall.resources.user.queries import select_user
from moothall.runtime.secrets import new_token
from moothall.storage.rows import UserRow

_TOKEN_LENGTH: Final = 128
_READERS: Final[dict[int, Callable[[InteractionDraft], Awaitable[None]]]] = {
    InteractionType.APPLICATION_COMMAND: read_command,
    InteractionType.APPLICATION_COMMAND_AUTOCOMPLETE: read_command,
    InteractionType.MESSAGE_COMPONENT: read_component,
    InteractionType.MODAL_SUBMIT: read_modal_submit,
}


async def create_interaction(ctx: Context, body: CreateInteraction) -> None:
    """Create an interaction of the caller in a channel and send it to its application.

    An entry point command with the handler DISCORD_LAUNCH_ACTIVITY is not sent: the platform responds to it.
    Raises Refusal: 404/10002, 404/10003, 403/50001, 403/50007, 404/10063, 404/10008, 404/10062, 403/50013, 50035
    with every invalid value.
    """
    access = await _enter_channel(ctx, body)
    application = await select_application(ctx.tx, body.application_id)
    if application is None or application.disabled:
        raise Refusal(errors.UNKNOWN_APPLICATION)
    draft = InteractionDraft(ctx, body, application, access)
    await _READERS[body.type](draft)
    draft.form_errors.raise_if_any()
    user = await select_user(ctx.tx, ctx.actor.user_id)
    if user is None:
        raise Refusal(errors.NOT_AUTHENTICATED)
    if draft.launches_activity:
        await _launch_activity(draft, user)
    else:
        await _store_and_deliver(draft, user)


async def _enter_channel(ctx: Context, body: CreateInteraction) -> ChannelAccess:
    """Enter the channel, in which the caller must be able to see the response, which is a message."""
    access = await ctx.enter_channel(body.channel_id)
    if body.guild_id is not None and (access.guild is None or access.guild.id != body.guild_id):
        refuse_field("guild_id", FormCode.BASE_TYPE_CHOICES, "The channel is not in this guild.")
    channel_type = access.channel.type
    if channel_type in FORUMS:
        raise Refusal(errors.FORUM_NEEDS_THREAD)
    if channel_type not in MESSAGEABLE:
        raise Refusal(errors.NOT_TEXT_CHANNEL)
    if ctx.in_guild and (ctx.member.restricted or (channel_type in VOICE and not ctx.has(Permissions.CONNECT))):
        raise Refusal(errors.MISSING_PERMISSIONS)
    await require_may_write_here(ctx)
    return access


async def _store_and_deliver(draft: InteractionDraft, user: UserRow) -> None:
    ctx, access = draft.ctx, draft.access
    token = new_token(_TOKEN_LENGTH)
    row = build_row(draft, user, token, InteractionState.WAITING)
    await _store(draft, row)
    member: JsonObject | UnsetType = UNSET
    if access.guild is not None:
        member_row = await get_member(ctx.tx, access.guild.id, user.id)
        if member_row is None:
            raise Refusal(errors.UNKNOWN_MEMBER)
        member = caller_member(await member_object(ctx.tx, member_row), access.permissions)
    interaction = build_interaction(
        draft,
        row,
        token,
        locale=user.locale,
        member=member,
        app_permissions=await app_permissions(ctx, access, row.application_id),
        entitlements=await active_entitlements(ctx, row.application_id, user.id, row.guild_id),
    )
    await deliver_interaction(ctx, draft.application, interaction, row.nonce)


async def _launch_activity(draft: InteractionDraft, user: UserRow) -> None:
    """Launch the application's Activity and respond with a message in the channel."""
    ctx = draft.ctx
    row = build_row(draft, user, new_token(_TOKEN_LENGTH), InteractionState.ANSWERED)
    await launch_activity(ctx, draft.application, draft.access, user.id, row.session_id)
    await _store(draft, row)
    ctx.emit(InteractionCreateAck(user_id=row.user_id, id=row.id, nonce=row.nonce))
    flags = await response_flags(ctx, row, draft.access, 0)
    message = await create_interaction_message(
        ctx, row, draft.access, Draft(content=f"Started **{draft.application.name}**"), ephemeral=bool(flags)
    )
    await queries.update_interaction(
        ctx.tx,
        row.id,
        callback=int(CallbackType.LAUNCH_ACTIVITY),
        response_id=message.id,
        response_room_id=message.room_id,
    )
    ctx.emit(InteractionSuccess(user_id=row.user_id, id=row.id, nonce=row.nonce))


async def _store(draft: InteractionDraft, row: InteractionRow) -> None:
    """Store an interaction with its files, which are charged to its user.

    Raises Refusal: 404/10062 for a modal that was submitted meanwhile, 413/40005 for more than the user may store.
    """
    tx = draft.ctx.tx
    if draft.modal_interaction_id is not None and not await queries.clear_modal(tx, draft.modal_interaction_id):
        raise Refusal(errors.UNKNOWN_INTERACTION)
    await queries.insert_interaction(tx, row)
    if draft.files is None:
        return
    attachments = draft.files.referenced_attachments()
    if not attachments:
        return
    room_id = draft.files.room_id
    stored = await insert_attachments(tx, room_id, MessageId(room_id), attachments, row.user_id)
    require_within_quota(draft.ctx.services.limits, stored)
    stored_ids = {int(attachment.id) for attachment in attachments}
    for staged in draft.ctx.files:
        staged.taken = staged.taken or int(staged.id) in stored_ids
    # `DeleteEphemeralMessages` removes the files with the ephemeral messages of the interaction, of which this is one.
    await queries.insert_ephemeral(
        tx,
        EphemeralRow(
            id=MessageId(room_id),
            interaction_id=row.id,
            channel_id=row.channel_id,
            application_id=row.application_id,
            user_id=row.user_id,
        ),
    )
