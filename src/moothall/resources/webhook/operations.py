"""How webhooks come to be, change and go. What they post: `executing`."""

from collections.abc import Iterable, Sequence
from typing import Any, Final

from msgspec import UNSET, structs

from moothall.kernel.context import Context
from moothall.kernel.hooks import Fires
from moothall.kernel.secrets import WEBHOOK_TOKEN_LENGTH, hash_token, new_token
from moothall.objects import errors, limits
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.channel import Channel
from moothall.objects.channel_types import HAS_WEBHOOKS
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import ApplicationId, ChannelId, GuildId, UserId, WebhookId
from moothall.objects.permissions import Permissions
from moothall.objects.webhook import Webhook, WebhookType
from moothall.resources.user.queries import get_user, get_users
from moothall.resources.webhook import queries
from moothall.resources.webhook.events import WebhooksUpdate
from moothall.resources.webhook.queries import WebhookRow
from moothall.resources.webhook.requests import CreateWebhook, ModifyWebhook, ModifyWebhookWithToken
from moothall.resources.webhook.rules import about, changes_between, webhook_name, webhook_object

DROPPING: Final[Fires] = (WebhooksUpdate,)
"""What a row declares to fire if it may remove webhooks."""


async def create_webhook(ctx: Context, body: CreateWebhook) -> Webhook:
    """Make a webhook in the channel entered as the caller asks; a bot's belongs to its application.

    Raises Refusal: 50035 for its name, 400/50024 for a channel that takes none, and as `add_webhook`.
    """
    form_errors = FormErrors()
    name = webhook_name(body.name, form_errors, reserved=ctx.services.limits.reserved_words)
    form_errors.raise_if_any()
    require_takes_webhooks(ctx.channel.channel)
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
    """Make a webhook in a channel of the guild entered, record and announce it; with its token.

    With a `source`, which is an announcement channel, it follows that, and has no token. Raises
    Refusal: 400/30007 where the channel has as many as may be, 400/30058 where the guild has.
    """
    await _require_room(ctx, channel_id)
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
        token=None if token is None else ctx.services.box.encrypt(token.encode(), about=about(webhook_id)),
        token_hash=None if token is None else hash_token(token),
        user_id=user_id,
        application_id=application_id,
        source_guild_id=None if source is None else source.guild_id or None,
        source_channel_id=None if source is None else source.id,
        url=None,
    )
    await queries.insert_webhook(ctx.tx, row)
    await ctx.audit(AuditLogEvent.WEBHOOK_CREATE, target=row.id, changes=changes_between(None, row))
    ctx.emit(WebhooksUpdate(guild_id=ctx.guild.id, channel_id=channel_id))
    return await show_webhook(ctx, row)


async def modify_webhook(ctx: Context, row: WebhookRow, body: ModifyWebhook | ModifyWebhookWithToken) -> WebhookRow:
    """Change a webhook as a request asks; what changes nothing tells nobody.

    Raises Refusal: 50035 for its name, and for a channel to move to: 404/10003, 403/50001,
    403/50013, 400/50024 and 400/30007.
    """
    changes: dict[str, Any] = {}
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
        AuditLogEvent.WEBHOOK_UPDATE, target=row.id, changes=changes_between(row, after), guild_id=row.guild_id
    )
    _announce(ctx, [row, after])
    return after


async def delete_webhook(ctx: Context, row: WebhookRow) -> None:
    """Remove a webhook; what it has posted stays. Raises Refusal: 404/10015 if it is gone by now."""
    if not await queries.delete_webhooks(ctx.tx, [row.id]):
        raise Refusal(errors.UNKNOWN_WEBHOOK)
    await ctx.audit(
        AuditLogEvent.WEBHOOK_DELETE, target=row.id, changes=changes_between(row, None), guild_id=row.guild_id
    )
    _announce(ctx, [row])


async def drop_webhooks_of_bot(ctx: Context, guild_id: GuildId, bot_id: UserId) -> None:
    """Remove what a bot's application has of webhooks in a guild, which the context has entered or visited.

    Whoever calls this declares `DROPPING`. The second time there is nothing to remove.
    """
    rows = await queries.select_of_bot(ctx.tx, guild_id, bot_id)
    if not rows:
        return
    await queries.delete_webhooks(ctx.tx, [row.id for row in rows])
    await ctx.audit_each(AuditLogEvent.WEBHOOK_DELETE, [(row.id, changes_between(row, None)) for row in rows])
    _announce(ctx, rows)


async def show_webhook(ctx: Context, row: WebhookRow, *, with_user: bool = True) -> Webhook:
    """A webhook for those who manage it or, without its creator, for whoever holds its token."""
    user = await get_user(ctx.tx, row.user_id) if with_user and row.user_id is not None else None
    source = (await queries.select_sources(ctx.tx, [row])).get(row.id)
    return webhook_object(row, user, source, box=ctx.services.box, public_url=ctx.services.limits.public_url)


async def show_webhooks(ctx: Context, rows: Sequence[WebhookRow]) -> list[Webhook]:
    """The same for several, in two queries."""
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
        )
        for row in rows
    ]


def _announce(ctx: Context, rows: Iterable[WebhookRow]) -> None:
    accesses = {(row.guild_id, row.channel_id): None for row in rows}
    for guild_id, channel_id in accesses:
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
    require_takes_webhooks(channel)
    await _require_room(ctx, channel_id)


def require_takes_webhooks(channel: Channel) -> None:
    """Refuse (400/50024) a channel of a type that has no webhooks."""
    if channel.type not in HAS_WEBHOOKS:
        raise Refusal(errors.WRONG_CHANNEL_TYPE)


async def _require_room(ctx: Context, channel_id: ChannelId) -> None:
    if not await queries.lock_channel(ctx.tx, channel_id):
        raise Refusal(errors.UNKNOWN_CHANNEL)
    if await queries.count_of_channel(ctx.tx, channel_id) >= limits.WEBHOOKS_PER_CHANNEL:
        raise Refusal(errors.TOO_MANY_WEBHOOKS)
