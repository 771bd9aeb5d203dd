"""Messages of webhooks: post, get, edit, delete."""

from collections.abc import Awaitable, Callable
from typing import Any, Final

from msgspec import UNSET, structs

from moothall.api.access import PathValues
from moothall.api.context import Context
from moothall.api.request.uploads import Allowance
from moothall.authority.channel_access import ChannelAccess
from moothall.authority.channel_queries import select_channel
from moothall.objects import errors
from moothall.objects.channel_types import FORUMS, THREADS, ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import ChannelId, MessageId, Snowflake, UserId
from moothall.objects.message_types import EDITABLE, SETTABLE
from moothall.resources.channel.thread_activity.operations import unarchive_thread
from moothall.resources.channel.thread_activity.rules import require_active_in, require_unlocked_in
from moothall.resources.channel.thread_activity.state import thread_access
from moothall.resources.component.resolved_ids import Sender
from moothall.resources.message import operations
from moothall.resources.message.attachment.queries import select_payer
from moothall.resources.message.attachment.uploads import FileUploads, allowance_in
from moothall.resources.message.authors import WebhookAuthor, avatar_hash
from moothall.resources.message.queries import MessageRow, lock_message, select_message
from moothall.resources.message.reading import draft_edit, draft_message
from moothall.resources.message.rendering import Viewer, message_bytes
from moothall.resources.message.requests import EditMessage
from moothall.resources.thread import rules
from moothall.resources.thread.operations import starting
from moothall.resources.thread.operations.starting import NewThread
from moothall.resources.webhook.access import followup_handler_of, webhook_of
from moothall.resources.webhook.queries import VersionedWebhook
from moothall.resources.webhook.requests import ExecuteWebhook
from moothall.resources.webhook.rules import override_name
from moothall.storage.rows import ChannelRow


async def execute_webhook(
    ctx: Context, webhook: VersionedWebhook, body: ExecuteWebhook, *, thread_id: ChannelId | None, with_components: bool
) -> bytes:
    """Post a message as a webhook in its channel or a thread of it; return the message as JSON.

    Raises Refusal: 400/50035, 400/50006 for an empty message, 404/10003 for a thread of another channel, 400/220001
    without a thread in a forum, 400/220002 for two threads, 400/220003 for `thread_name` outside of forums.
    """
    access = await webhook_channel(ctx, webhook)
    form_errors = FormErrors()
    webhook_author = _author_of_message(ctx, webhook, body, form_errors)
    _check_thread_target(access, body, thread_id)
    post = _new_forum_thread(ctx, webhook, access, body, form_errors)
    if body.flags or body.components or body.sticker_ids or body.shared_client_theme:
        # Fields and flags that webhooks cannot set are dropped.
        body = structs.replace(
            body,
            flags=(body.flags or 0) & SETTABLE,
            components=body.components if _accepts_components(webhook, with_components=with_components) else None,
            sticker_ids=None,
            shared_client_theme=None,
        )
    channel_id = access.id if thread_id is None else thread_id
    draft = await draft_message(
        ctx, access, body, _sender(webhook), form_errors, channel_id=channel_id if post is None else post.id
    )
    if post is not None:
        _, message = await starting.start_forum_thread(ctx, access, post, webhook_author, draft)
        return message
    if thread_id is not None:
        access = await _enter_thread(ctx, access, thread_id)
    return await operations.send_message(ctx, access, webhook_author, draft)


async def get_message(
    ctx: Context, webhook: VersionedWebhook, message_id: MessageId, *, thread_id: ChannelId | None
) -> bytes:
    """Return a message of the webhook as JSON. Raises Refusal: 404/10008."""
    access, _ = await _find_message(ctx, webhook, message_id, thread_id)
    return await _message_json(ctx, webhook, access, message_id)


async def edit_message(
    ctx: Context,
    webhook: VersionedWebhook,
    message_id: MessageId,
    body: EditMessage,
    *,
    thread_id: ChannelId | None,
    with_components: bool,
) -> bytes:
    """Edit a message of the webhook; return it as JSON. An edit that changes nothing emits no event.

    Raises Refusal: 404/10008, 400/50035, 400/50006 if the message would be empty, 400/50083 in an archived thread.
    """
    access, row = await _find_message(ctx, webhook, message_id, thread_id, find=lock_message)
    require_active_in(access)
    changes: dict[str, object] = {"sticker_ids": None}
    if isinstance(body.flags, int):
        changes["flags"] = body.flags & EDITABLE
    if not _accepts_components(webhook, with_components=with_components):
        changes["components"] = UNSET
    body = structs.replace(body, **changes)
    draft = await draft_edit(ctx, access, row, body, _sender(webhook))
    edited = await operations.apply_edit(ctx, access, row, _author(webhook), draft)
    return await _message_json(ctx, webhook, access, message_id) if edited is None else edited


async def delete_message(
    ctx: Context, webhook: VersionedWebhook, message_id: MessageId, *, thread_id: ChannelId | None
) -> None:
    """Delete a message of the webhook. Raises Refusal: 404/10008."""
    access, row = await _find_message(ctx, webhook, message_id, thread_id)
    await operations.remove_message(ctx, access, row)


async def webhook_channel(ctx: Context, webhook: VersionedWebhook) -> ChannelAccess:
    """Return the channel of a webhook. Raises Refusal: 404/10015 if the channel was deleted.

    The webhook was selected with its guild's version, so this needs no query while the guild is in memory.
    """
    if webhook.guild_id is not None and webhook.channel_id is not None and webhook.version is not None:
        states = ctx.services.states
        state = await states.at_version(ctx.tx, webhook.guild_id, webhook.version, writes=ctx.writes)
        channel = None if state is None else await state.channel(ctx.tx, webhook.channel_id)
        if channel is not None:
            return ChannelAccess(channel, 0, state)
    raise Refusal(errors.UNKNOWN_WEBHOOK)


def _accepts_components(webhook: VersionedWebhook, *, with_components: bool) -> bool:
    """Whether a request's components are used rather than dropped."""
    return with_components or webhook.application_id is not None


def _sender(webhook: VersionedWebhook) -> Sender:
    """The sender of a webhook's components: they may use the emojis of its creator."""
    return Sender(
        user_id=webhook.user_id or UserId(Snowflake(0)), application_id=webhook.application_id, is_webhook=True
    )


def _author(webhook: VersionedWebhook, name: str | None = None, avatar_url: str | None = None) -> WebhookAuthor:
    return WebhookAuthor(
        webhook_id=webhook.id,
        name=name or webhook.name or "",
        avatar=avatar_hash(webhook.id, avatar_url) if avatar_url else webhook.avatar,
        avatar_url=avatar_url or None,
        application_id=webhook.application_id,
    )


def _author_of_message(
    ctx: Context, webhook: VersionedWebhook, body: ExecuteWebhook, form_errors: FormErrors
) -> WebhookAuthor:
    name = override_name(body.username, form_errors, reserved=ctx.services.limits.reserved_words)
    body.check_avatar(form_errors)
    # Without proxied pictures there is nothing that could serve it.
    return _author(webhook, name, body.avatar_url if ctx.services.links.proxies else None)


async def _find_thread(ctx: Context, access: ChannelAccess, thread_id: ChannelId) -> ChannelRow | None:
    row = await select_channel(ctx.tx, thread_id)
    return row if row is not None and row.type in THREADS and row.parent_id == access.id else None


async def _enter_thread(ctx: Context, access: ChannelAccess, thread_id: ChannelId) -> ChannelAccess:
    row = await _find_thread(ctx, access, thread_id)
    if row is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    return await unarchive_thread(ctx, require_unlocked_in(await thread_access(ctx.tx, access, row)))


async def _find_message(
    ctx: Context,
    webhook: VersionedWebhook,
    message_id: MessageId,
    thread_id: ChannelId | None,
    *,
    find: Callable[[Any, ChannelId, MessageId], Awaitable[MessageRow | None]] = select_message,
) -> tuple[ChannelAccess, MessageRow]:
    access = await webhook_channel(ctx, webhook)
    if thread_id is not None:
        thread = await _find_thread(ctx, access, thread_id)
        if thread is None:
            raise Refusal(errors.UNKNOWN_MESSAGE)
        access = await thread_access(ctx.tx, access, thread)
    row = await find(ctx.tx, access.id, message_id)
    if row is None or row.webhook_id != webhook.id:
        raise Refusal(errors.UNKNOWN_MESSAGE)
    return access, row


async def _message_json(ctx: Context, webhook: VersionedWebhook, access: ChannelAccess, message_id: MessageId) -> bytes:
    viewer = Viewer(UserId(webhook.id))
    return (await message_bytes(ctx.tx, access.id, [message_id], viewer))[message_id]


def _check_thread_target(access: ChannelAccess, body: ExecuteWebhook, thread_id: ChannelId | None) -> None:
    """Check that a message has one target thread in forums, and no `thread_name` elsewhere.

    Raises Refusal: 400/220001, 400/220002, 400/220003.
    """
    in_forum = access.channel.type in FORUMS
    if body.thread_name and not in_forum:
        raise Refusal(errors.WEBHOOK_THREAD_OUTSIDE_FORUM)
    if body.thread_name and thread_id is not None:
        raise Refusal(errors.FORUM_WEBHOOK_TWO_THREADS)
    if in_forum and not body.thread_name and thread_id is None:
        raise Refusal(errors.FORUM_WEBHOOK_NEEDS_THREAD)


def _new_forum_thread(
    ctx: Context, webhook: VersionedWebhook, access: ChannelAccess, body: ExecuteWebhook, form_errors: FormErrors
) -> NewThread | None:
    """Return the settings of the thread that a message starts, owned by the webhook; None if it starts none.

    A webhook may use moderated tags. Raises Refusal: 400/40067 for no tag in a forum that requires one.
    """
    if not body.thread_name:
        return None
    forum = access.channel
    return NewThread(
        id=ChannelId(ctx.ids.next()),
        type=int(ChannelType.PUBLIC_THREAD),
        name=rules.stored_name(body.thread_name, form_errors, "thread_name"),
        minutes=forum.default_auto_archive_duration or rules.DEFAULT_AUTO_ARCHIVE,
        slowmode=forum.default_thread_rate_limit_per_user or 0,
        owner_id=UserId(webhook.id),
        tags=rules.check_tags(forum, body.applied_tags or (), (), manages=True, form_errors=form_errors),
    )


class _WebhookUploads(FileUploads):
    async def admit(self, ctx: Context, path: PathValues) -> Allowance:
        """Return the upload limits of the webhook's guild. Raises Refusal: 404/10015."""
        del path
        if (handler := followup_handler_of(ctx)) is not None:
            return await handler.allowance(ctx)
        return allowance_in((await webhook_channel(ctx, webhook_of(ctx))).guild)

    async def payer_id(self, ctx: Context) -> UserId:
        """Return the bot that responds to an interaction, or who is charged for the webhook."""
        if (handler := followup_handler_of(ctx)) is not None:
            return handler.payer_id
        webhook_id = webhook_of(ctx).id
        return await select_payer(ctx.tx, UserId(webhook_id), webhook_id)


WEBHOOK_UPLOADS: Final = _WebhookUploads()
