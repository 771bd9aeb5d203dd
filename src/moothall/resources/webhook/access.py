"""Access to webhooks: MANAGE_WEBHOOKS in the channel, or the webhook's token."""

import hmac
from collections.abc import Awaitable, Callable
from typing import Protocol

from msgspec import Struct

from moothall.api.access import Access, PathValues
from moothall.api.context import Context
from moothall.api.request.uploads import Allowance
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import MessageId, UserId, WebhookId
from moothall.objects.permissions import Permissions
from moothall.resources.application.queries import is_disabled
from moothall.resources.message.requests import EditMessage, MessageFields
from moothall.resources.webhook.queries import VersionedWebhook, select_webhook
from moothall.runtime.secrets import hash_token


class FollowupHandler(Protocol):
    """Handles requests with the token of an interaction in place of a webhook's: followups."""

    async def execute(self, ctx: Context, body: MessageFields) -> bytes:
        """Create a followup; return the message as JSON."""

    async def get(self, ctx: Context, message_id: MessageId) -> bytes:
        """Return a followup as JSON."""

    async def edit(self, ctx: Context, message_id: MessageId, body: EditMessage) -> bytes:
        """Edit a followup; return the message as JSON."""

    async def delete(self, ctx: Context, message_id: MessageId) -> None:
        """Delete a followup."""

    async def allowance(self, ctx: Context) -> Allowance:
        """Return the upload limits."""

    @property
    def payer_id(self) -> UserId:
        """The bot whose quota uploads are charged to."""


class FollowupAccess(Struct, frozen=True):
    """Access by the token of an interaction."""

    handler: FollowupHandler


FollowupResolver = Callable[[Context, WebhookId, str], Awaitable[FollowupHandler | None]]
_resolvers: list[FollowupResolver] = []


def resolves_followups(resolver: FollowupResolver) -> FollowupResolver:
    """Register a function that returns the handler of an interaction token, or None for any other token."""
    _resolvers.append(resolver)
    return resolver


class WebhookToken(Access):
    """Requests with the token of the webhook `{webhook_id}`.

    With `or_interaction`, also requests with the id of an application and the token of one of its interactions.
    """

    def __init__(self, *, or_interaction: bool = False) -> None:
        self._or_interaction = or_interaction

    label = "webhook-token"
    needs_actor = False

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Load the webhook. Raises Refusal: 404/10015 for an unknown webhook, 401/50027 for another token."""
        row = await select_webhook(ctx.tx, path["webhook_id"])
        if row is None and self._or_interaction:
            if await is_disabled(ctx.tx, path["webhook_id"]):
                raise Refusal(errors.UNKNOWN_WEBHOOK)
            for resolve in _resolvers:
                handler = await resolve(ctx, path["webhook_id"], path["webhook_token"])
                if handler is not None:
                    ctx.set_resource(FollowupAccess(handler))
                    return
        if row is None or (row.application_id is not None and await is_disabled(ctx.tx, row.application_id)):
            raise Refusal(errors.UNKNOWN_WEBHOOK)
        ctx.set_resource(row)
        if row.token_hash is None or not hmac.compare_digest(hash_token(path["webhook_token"]), row.token_hash):
            raise Refusal(errors.INVALID_WEBHOOK_TOKEN)


class ManagesWebhook(Access):
    """Members with MANAGE_WEBHOOKS in the channel of the webhook `{webhook_id}`.

    With `or_owner`, also the bot of the application that owns the webhook.
    """

    label = "MANAGE_WEBHOOKS"

    def __init__(self, *, or_owner: bool = False) -> None:
        self._or_owner = or_owner

    async def check(self, ctx: Context, path: PathValues) -> None:
        """Load the webhook and its channel, and check the permission.

        Raises Refusal: 404/10015 for an unknown webhook, 403/50001, 403/50013.
        """
        row = await _load_webhook(ctx, path)
        if self._or_owner and ctx.actor.bot and row.application_id == ctx.actor.application_id:
            return
        if row.channel_id is None:
            raise Refusal(errors.UNKNOWN_WEBHOOK)
        await ctx.enter_channel(row.channel_id)
        ctx.require(Permissions.MANAGE_WEBHOOKS)


WEBHOOK_TOKEN = WebhookToken()
WEBHOOK_OR_INTERACTION_TOKEN = WebhookToken(or_interaction=True)
MANAGES_WEBHOOK = ManagesWebhook()
MANAGES_OR_OWNS_WEBHOOK = ManagesWebhook(or_owner=True)


async def _load_webhook(ctx: Context, path: PathValues) -> VersionedWebhook:
    row = await select_webhook(ctx.tx, path["webhook_id"])
    if row is None:
        raise Refusal(errors.UNKNOWN_WEBHOOK)
    ctx.set_resource(row)
    return row


def webhook_of(ctx: Context) -> VersionedWebhook:
    """Return the webhook that the access check of the endpoint has loaded."""
    return ctx.resource(VersionedWebhook)


def followup_handler_of(ctx: Context) -> FollowupHandler | None:
    """Return the handler of an interaction token; None for a request with a webhook's token."""
    access = ctx.find_resource(FollowupAccess)
    return None if access is None else access.handler
