"""Two ways to a webhook: managing its channel, and its token."""

import hmac
from collections.abc import Mapping
from typing import Any

from moothall.kernel.access import Access
from moothall.kernel.context import Context
from moothall.kernel.secrets import hash_token
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.permissions import Permissions
from moothall.resources.webhook.queries import PlacedWebhook, select_placed


class WebhookToken(Access):
    """Whoever holds the token of the webhook `{webhook_id}`."""

    label = "webhook-token"
    needs_actor = False

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Look the webhook up. Raises Refusal: 404/10015 for no such webhook, 401/50027 for another token."""
        row = await _find(ctx, path)
        if row.token_hash is None or not hmac.compare_digest(hash_token(path["webhook_token"]), row.token_hash):
            raise Refusal(errors.INVALID_WEBHOOK_TOKEN)


class ManagesWebhook(Access):
    """Those who manage webhooks in the channel of the webhook `{webhook_id}`.

    `or_owner` lets in the bot whose application owns it, too.
    """

    label = "MANAGE_WEBHOOKS"

    def __init__(self, *, or_owner: bool = False) -> None:
        self._or_owner = or_owner

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Look the webhook up and enter its channel.

        Raises Refusal: 404/10015 for no such webhook, 403/50001 and 403/50013.
        """
        row = await _find(ctx, path)
        if self._or_owner and ctx.actor.bot and row.application_id == ctx.actor.application_id:
            return
        if row.channel_id is None:
            raise Refusal(errors.UNKNOWN_WEBHOOK)
        await ctx.enter_channel(row.channel_id)
        ctx.require(Permissions.MANAGE_WEBHOOKS)


WEBHOOK_TOKEN = WebhookToken()
MANAGES_WEBHOOK = ManagesWebhook()
READS_WEBHOOK = ManagesWebhook(or_owner=True)


async def _find(ctx: Context, path: Mapping[str, Any]) -> PlacedWebhook:
    row = await select_placed(ctx.tx, path["webhook_id"])
    if row is None:
        raise Refusal(errors.UNKNOWN_WEBHOOK)
    ctx.subject = row
    return row


def webhook_of(ctx: Context) -> PlacedWebhook:
    """The webhook that a row's access has looked up."""
    found: PlacedWebhook = ctx.subject
    return found
