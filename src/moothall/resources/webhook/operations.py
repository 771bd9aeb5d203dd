"""Operations: create, modify and delete webhooks."""

from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import UNSET, structs

from moothall.api.context import Context
from moothall.api.hooks import Fires
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel
from moothall.objects.channel_types import HAS_WEBHOOKS
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import ApplicationId, ChannelId, GuildId, UserId, WebhookId
from moothall.objects.permissions import Permissions
from moothall.objects.webhook import Webhook, WebhookType
from moothall.resources.channel.queries import lock_channel
from moothall.resources.user.queries import get_user, get_users
from moothall.resources.webhook import queries
from moothall.resources.webhook.events import WebhooksUpdate
from moothall.resources.webhook.queries import WebhookRow
from moothall.resources.webhook.requests import CreateWebhook, ModifyWebhook, ModifyWebhookWithToken
from moothall.resources.webhook.rules import audit_changes, encryption_context, webhook_name, webhook_object
from moothall.runtime.secrets import WEBHOOK_TOKEN_LENGTH, hash_token, new_token

DELETE_WEBHOOK_EVENTS: Final[Fires] = (WebhooksUpdate,)
"""What an endpoint that deletes webhooks declares in `fires`."""


async def create_webhook(ctx: Context, body: CreateWebhook) -> Webhook:
    """Create a webhook in the current channel; the application of a bot owns the webhooks that it creates.

    Raises Refusal: 400/50035 for an invalid name, 400/50024 for a channel without webhooks, and as `add_webhook`.
    """
    form_errors = FormErrors()
    name = webhook_name(body.name, form_errors, reserved=ctx.services.limits.reserved_words)
    form_errors.raise_if_any()
    require_supports_webhooks(ctx.channel.channel)
    return await add_webhook(
        ctx,
        ctx.channel.id,
        name=name,
        avatar=body.avatar.hash if body.avatar is not UNSET and body.avatar is not None else None,
        user_id=ctx.actor.user_id,
        application_id=ctx.actor.application_id if ctx.actor.bot else None,
    )


async def add_webhook(
    ctx: Context,
    channel_id: ChannelId,
    *,
    name: str,
    avatar: str | None = None,
    user_id: UserId,
    application_id: ApplicationId | None = None,
    source: Channel | None = None,
) -> Webhook:
    """Insert a webhook in a channel of the current guild, write the audit log and emit WEBHOOKS_UPDATE.

    With a `source`, an announcement channel, it is a channel follower without a token. Raises Refusal: 400/30007 at
    the limit of the channel, 400/30058 at that of the guild.
    """
    await _require_webhook_capacity(ctx, channel_id)
    if await queries.count_of_guild(ctx.tx, ctx.guild.id) >= limits.GUILD_WEBHOOKS_MAX:
        raise Refusal(errors.TOO_MANY_GUILD_WEBHOOKS)
    webhook_id = WebhookId(ctx.ids.next())
    token = None if source is not None else new_token(WEBHOOK_TOKEN_LENGTH)
    row = WebhookRow(
        id=webhook_id,
        guild_id=ctx.guild.id,
        channel_id=channel_id,
        type=WebhookType.INCOMING if source is None else WebhookType.CHANNEL_FOLLOWER,
        name=name,
        avatar=avatar,
        token=None if token is None else ctx.services.box.encrypt(token.encode(), about=encryption_context(webhook_id)),
        token_hash=None if token is None else hash_token(token),
        user_id=user_id,
        application_id=application_id,
        source_guild_id=None if source is None else source.guild_id or None,
        source_channel_id=None if source is None else source.id,
        url=None,
    )
    await queries.insert_webhook(ctx.tx, row)
    await ctx.audit(AuditLogEvent.WEBHOOK_CREATE, target=row.id, changes=audit_changes(None, row))
    ctx.emit(WebhooksUpdate(guild_id=ctx.guild.id, channel_id=channel_id))
    return await show_webhook(ctx, row)


async def modify_webhook(ctx: Context, row: WebhookRow, body: ModifyWebhook | ModifyWebhookWithToken) -> WebhookRow:
    """Modify a webhook; a request that changes nothing emits no event.

    Raises Refusal: 400/50035 for an invalid name; for a new channel 404/10003, 403/50001, 403/50013, 400/50024 and
    400/30007.
    """
    changes: dict[str, object] = {}
    form_errors = FormErrors()
    if body.name is not UNSET:
        changes["name"] = webhook_name(body.name, form_errors, reserved=ctx.services.limits.reserved_words)
    if body.avatar is not UNSET:
        changes["avatar"] = None if body.avatar is None else body.avatar.hash
    form_errors.raise_if_any()
    if isinstance(body, ModifyWebhook) and isinstance(body.channel_id, int) and body.channel_id != row.channel_id:
        await _require_destination(ctx, body.channel_id)
        changes["channel_id"] = body.channel_id
    after = structs.replace(row, **changes)
    if after == row:
        return row
    if not await queries.update_webhook(ctx.tx, row.id, **changes):
        raise Refusal(errors.UNKNOWN_WEBHOOK)
    await ctx.audit(
        AuditLogEvent.WEBHOOK_UPDATE, target=row.id, changes=audit_changes(row, after), guild_id=row.guild_id
    )
    _announce(ctx, [row, after])
    return after


async def delete_webhook(ctx: Context, row: WebhookRow) -> None:
    """Delete a webhook; its messages stay. Raises Refusal: 404/10015 if it was deleted already."""
    if not await queries.delete_webhooks(ctx.tx, [row.id]):
        raise Refusal(errors.UNKNOWN_WEBHOOK)
    await ctx.audit(
        AuditLogEvent.WEBHOOK_DELETE, target=row.id, changes=audit_changes(row, None), guild_id=row.guild_id
    )
    _announce(ctx, [row])


async def delete_webhooks_of_bot(ctx: Context, guild_id: GuildId, bot_id: UserId) -> None:
    """Delete the webhooks that a bot's application owns in a guild, which the context has loaded.

    The row must declare `DELETE_WEBHOOK_EVENTS`. Idempotent.
    """
    rows = await queries.select_of_bot(ctx.tx, guild_id, bot_id)
    if not rows:
        return
    await queries.delete_webhooks(ctx.tx, [row.id for row in rows])
    await ctx.audit_each(AuditLogEvent.WEBHOOK_DELETE, [(row.id, audit_changes(row, None)) for row in rows])
    _announce(ctx, rows)


async def show_webhook(ctx: Context, row: WebhookRow, *, with_user: bool = True, knows_token: bool = False) -> Webhook:
    """Return the object of a webhook, with its creator if `with_user`.

    The token of an application's webhook is for that application, and for a caller who `knows_token`.
    """
    user = await get_user(ctx.tx, row.user_id) if with_user and row.user_id is not None else None
    source = (await queries.select_sources(ctx.tx, [row])).get(row.id)
    shows_token = knows_token or _may_see_token(ctx, row)
    box, public_url = ctx.services.box, ctx.services.limits.public_url
    return webhook_object(row, user, source, box=box, public_url=public_url, shows_token=shows_token)


def _may_see_token(ctx: Context, row: WebhookRow) -> bool:
    """Whether the caller may see the token of a webhook: that of an application is for the application alone."""
    return row.application_id is None or row.application_id == ctx.actor.application_id


async def show_webhooks(ctx: Context, rows: Sequence[WebhookRow]) -> list[Webhook]:
    """Return the objects of several webhooks with their creators, in two queries."""
    users = await get_users(ctx.tx, [row.user_id for row in rows if row.user_id is not None])
    sources = await queries.select_sources(ctx.tx, rows)
    box, public_url = ctx.services.box, ctx.services.limits.public_url
    return [
        webhook_object(
            row,
            users.get(row.user_id) if row.user_id else None,
            sources.get(row.id),
            box=box,
            public_url=public_url,
            shows_token=_may_see_token(ctx, row),
        )
        for row in rows
    ]


def _announce(ctx: Context, rows: Iterable[WebhookRow]) -> None:
    channels = {(row.guild_id, row.channel_id): None for row in rows}
    for guild_id, channel_id in channels:
        if guild_id is not None and channel_id is not None:
            ctx.emit(WebhooksUpdate(guild_id=guild_id, channel_id=channel_id))


async def _require_destination(ctx: Context, channel_id: ChannelId) -> None:
    channel = await ctx.guild.channel(ctx.tx, channel_id)
    if channel is None:
        raise Refusal(errors.UNKNOWN_CHANNEL)
    bits = ctx.member.permissions_in(channel)
    if not bits & Permissions.VIEW_CHANNEL:
        raise Refusal(errors.MISSING_ACCESS)
    if not bits & Permissions.MANAGE_WEBHOOKS:
        raise Refusal(errors.MISSING_PERMISSIONS)
    require_supports_webhooks(channel)
    await _require_webhook_capacity(ctx, channel_id)


def require_supports_webhooks(channel: Channel) -> None:
    """Check that a channel's type has webhooks. Raises Refusal: 400/50024."""
    if channel.type not in HAS_WEBHOOKS:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)


async def _require_webhook_capacity(ctx: Context, channel_id: ChannelId) -> None:
    # Locked, so that two requests at once cannot both count fourteen.
    if not await lock_channel(ctx.tx, channel_id):
        raise Refusal(errors.UNKNOWN_CHANNEL)
    if await queries.count_of_channel(ctx.tx, channel_id) >= limits.WEBHOOKS_PER_CHANNEL:
        raise Refusal(errors.TOO_MANY_WEBHOOKS)
