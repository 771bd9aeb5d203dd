"""Two ways to a webhook: managing its channel, and its token."""

import hmac
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, Protocol

from moothall.kernel.access import Access
from moothall.kernel.context import Context
from moothall.kernel.secrets import hash_token
from moothall.kernel.uploads import Allowance
from moothall.objects import errors
from moothall.objects.errors import Refusal
from moothall.objects.ids import MessageId, WebhookId
from moothall.objects.permissions import Permissions
from moothall.resources.message.drafts import EditMessage, MessageFields
from moothall.resources.webhook.queries import PlacedWebhook, select_placed


class Continuation(Protocol):
    """What stands in a webhook's place where its token does: an interaction that is followed up."""

    async def execute(self, ctx: Context, body: MessageFields) -> bytes:
        """Post a message; as JSON."""

    async def get(self, ctx: Context, message_id: MessageId) -> bytes:
        """A message that was posted; as JSON."""

    async def edit(self, ctx: Context, message_id: MessageId, body: EditMessage) -> bytes:
        """Change a message that was posted; as JSON."""

    async def delete(self, ctx: Context, message_id: MessageId) -> None:
        """Remove a message that was posted."""

    async def allowance(self, ctx: Context) -> Allowance:
        """How much may be uploaded."""


Finder = Callable[[Context, WebhookId, str], Awaitable[Continuation | None]]
_finders: list[Finder] = []


def finds_continuations(finder: Finder) -> Finder:
    """Register what knows tokens that stand where a webhook's would."""
    _finders.append(finder)
    return finder


class WebhookToken(Access):
    """Whoever holds the token of the webhook `{webhook_id}`.

    With `or_continuation` also whoever holds one that stands in its place.
    """

    def __init__(self, *, or_continuation: bool = False) -> None:
        self._or_continuation = or_continuation

    label = "webhook-token"
    needs_actor = False

    async def check(self, ctx: Context, path: Mapping[str, Any]) -> None:
        """Look the webhook up. Raises Refusal: 404/10015 for no such webhook, 401/50027 for another token."""
        if self._or_continuation and await select_placed(ctx.tx, path["webhook_id"]) is None:
            for find in _finders:
                found = await find(ctx, path["webhook_id"], path["webhook_token"])
                if found is not None:
                    ctx.subject = found
                    return
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
ANY_TOKEN = WebhookToken(or_continuation=True)
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


def continuation_of(ctx: Context) -> Continuation | None:
    """What a row's access has found in a webhook's place; None if it is a webhook."""
    return None if isinstance(ctx.subject, PlacedWebhook) else ctx.subject
