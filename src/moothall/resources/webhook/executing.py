"""What comes in by a webhook's token: new messages, and changes to those that it has sent."""

from collections.abc import Awaitable, Callable
from typing import Any

from msgspec import UNSET, structs

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.kernel.guild_state import THREAD_TYPES
from moothall.objects import errors
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId
from moothall.objects.message_types import EDITABLE, SETTABLE
from moothall.resources.channel.queries import select_channel
from moothall.resources.channel.thread_activity.operations import wake_thread
from moothall.resources.channel.thread_activity.rules import refuse_archived
from moothall.resources.channel.thread_activity.state import thread_access
from moothall.resources.component.resolved_ids import Lookup, Sender, look_up
from moothall.resources.message import editing, operations
from moothall.resources.message.attachment.drafting import Uploaded
from moothall.resources.message.drafts import EditMessage, read_draft, read_edit
from moothall.resources.message.files import files_of
from moothall.resources.message.layouts import files_in, is_layout
from moothall.resources.message.pages import Viewer, message_bytes
from moothall.resources.message.queries import MessageRow, lock_message, select_message
from moothall.resources.message.writing import WebhookAuthor
from moothall.resources.thread import starting
from moothall.resources.webhook.posting import check_threads, read_post
from moothall.resources.webhook.queries import PlacedWebhook
from moothall.resources.webhook.requests import ExecuteWebhook
from moothall.resources.webhook.rules import shown_name
from moothall.storage.rows import ChannelRow


async def execute_webhook(
    ctx: Context, webhook: PlacedWebhook, body: ExecuteWebhook, *, thread_id: ChannelId | None, with_components: bool
) -> bytes:
    """Post a message as a webhook shows itself, into its channel or a thread of it; the message as JSON.

    Raises Refusal: 50035, 50006 for a message of nothing, 404/10003 for a thread that is not in its
    channel, 400/220001 to 220003 where a thread is needed, named twice, or cannot be started.
    """
    access = await find_access(ctx, webhook)
    form_errors = FormErrors()
    webhook_author = _persona(ctx, webhook, body, form_errors)
    check_threads(access, body, thread_id)
    post = read_post(ctx, webhook, access, body, form_errors)
    if body.flags or body.components or body.sticker_ids or body.shared_client_theme:
        # Fields of other messages, and bits that a webhook cannot set, are dropped.
        body = structs.replace(
            body,
            flags=(body.flags or 0) & SETTABLE,
            components=body.components if _counts_components(webhook, with_components=with_components) else None,
            sticker_ids=None,
            shared_client_theme=None,
        )
    where = access.id if thread_id is None else thread_id
    uploaded = Uploaded.of(ctx, where if post is None else post.id)
    draft = read_draft(
        body, form_errors, lookup=await _look_up(ctx, webhook, access, body.components), uploaded=uploaded
    )
    if post is not None:
        _, message = await starting.post(ctx, access, post, webhook_author, draft)
        return message
    if thread_id is not None:
        access = await _enter_thread(ctx, access, thread_id)
    return await operations.send_message(ctx, access, webhook_author, draft)


async def get_message(
    ctx: Context, webhook: PlacedWebhook, message_id: MessageId, *, thread_id: ChannelId | None
) -> bytes:
    """A message that the webhook has sent, as JSON. Raises Refusal: 404/10008."""
    access, _ = await _find_sent(ctx, webhook, message_id, thread_id)
    return await _shown(ctx, webhook, access, message_id)


async def edit_message(
    ctx: Context,
    webhook: PlacedWebhook,
    message_id: MessageId,
    body: EditMessage,
    *,
    thread_id: ChannelId | None,
    with_components: bool,
) -> bytes:
    """Change a message that the webhook has sent; the message as JSON. What changes nothing tells nobody.

    Raises Refusal: 404/10008, 50035, 50006 if nothing would be left of it, 50083 in an archived thread.
    """
    access, row = await _find_sent(ctx, webhook, message_id, thread_id, find=lock_message)
    refuse_archived(access)
    changes: dict[str, Any] = {"sticker_ids": None}
    if isinstance(body.flags, int):
        changes["flags"] = body.flags & EDITABLE
    if not _counts_components(webhook, with_components=with_components):
        changes["components"] = UNSET
    body = structs.replace(body, **changes)
    draft = read_edit(
        body,
        layout=is_layout(row.flags) or is_layout(body.flags),
        lookup=await _look_up(ctx, webhook, access, body.components),
        own_files=files_in(ctx, row),
        uploaded=Uploaded.of(ctx, row.channel_id),
        held=await files_of(ctx, row),
    )
    edited = await editing.edit_message(ctx, access, row, _own_persona(webhook), draft)
    return await _shown(ctx, webhook, access, message_id) if edited is None else edited


async def delete_message(
    ctx: Context, webhook: PlacedWebhook, message_id: MessageId, *, thread_id: ChannelId | None
) -> None:
    """Delete a message that the webhook has sent. Raises Refusal: 404/10008."""
    access, row = await _find_sent(ctx, webhook, message_id, thread_id)
    await operations.remove_message(ctx, access, row)


async def find_access(ctx: Context, webhook: PlacedWebhook) -> ChannelAccess:
    """A webhook's channel. Raises Refusal: 404/10015 for one whose channel is gone.

    The webhook was read with its guild's version, so this costs no query while the guild is in memory.
    """
    if webhook.guild_id is not None and webhook.channel_id is not None and webhook.version is not None:
        states = ctx.services.states
        state = await states.at_version(ctx.tx, webhook.guild_id, webhook.version, writes=ctx.writes)
        channel = None if state is None else await state.channel(ctx.tx, webhook.channel_id)
        if channel is not None:
            return ChannelAccess(channel, 0, state)
    raise Refusal(errors.UNKNOWN_WEBHOOK)


def _counts_components(webhook: PlacedWebhook, *, with_components: bool) -> bool:
    """Whether the components of a request are part of the message."""
    return with_components or webhook.application_id is not None


async def _look_up(ctx: Context, webhook: PlacedWebhook, access: ChannelAccess, components: object) -> Lookup | None:
    """What components name, with the emojis of whoever made the webhook; only an application hears of clicks."""
    sender = Sender(
        user_id=webhook.user_id or UserId(Snowflake(0)), application_id=webhook.application_id, is_webhook=True
    )
    return await look_up(ctx, access, components, sender, interactive=webhook.application_id is not None)


def _own_persona(webhook: PlacedWebhook, name: str | None = None, avatar: str | None = None) -> WebhookAuthor:
    return WebhookAuthor(
        webhook_id=webhook.id,
        name=name or webhook.name or "",
        avatar=avatar or webhook.avatar,
        application_id=webhook.application_id,
    )


def _persona(ctx: Context, webhook: PlacedWebhook, body: ExecuteWebhook, form_errors: FormErrors) -> WebhookAuthor:
    name = shown_name(body.username, form_errors, reserved=ctx.services.limits.reserved_words)
    body.check_avatar(form_errors)
    return _own_persona(webhook, name, body.avatar_url)


async def _find_thread(ctx: Context, access: ChannelAccess, thread_id: ChannelId) -> ChannelRow | None:
    row = await select_channel(ctx.tx, thread_id)
    return row if row is not None and row.type in THREAD_TYPES and row.parent_id == access.id else None


async def _enter_thread(ctx: Context, access: ChannelAccess, thread_id: ChannelId) -> ChannelAccess:
    row = await _find_thread(ctx, access, thread_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    return await wake_thread(ctx, await thread_access(ctx.tx, access, row))


async def _find_sent(
    ctx: Context,
    webhook: PlacedWebhook,
    message_id: MessageId,
    thread_id: ChannelId | None,
    *,
    find: Callable[[Any, ChannelId, MessageId], Awaitable[MessageRow | None]] = select_message,
) -> tuple[ChannelAccess, MessageRow]:
    access = await find_access(ctx, webhook)
    if thread_id is not None:
        thread = await _find_thread(ctx, access, thread_id)
        if thread is None:
            raise Refusal(errors.UNKNOWN_MESSAGE)
        access = await thread_access(ctx.tx, access, thread)
    row = await find(ctx.tx, access.id, message_id)
    if row is None or row.webhook_id != webhook.id:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return access, row


async def _shown(ctx: Context, webhook: PlacedWebhook, access: ChannelAccess, message_id: MessageId) -> bytes:
    viewer = Viewer(UserId(webhook.id))
    return (await message_bytes(ctx.tx, access.id, [message_id], viewer))[message_id]
