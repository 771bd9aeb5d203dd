"""Posting as Slack's senders do, over HTTP (api.md, Webhooks)."""

from moothall.kernel.context import Context, Withdrawn
from moothall.kernel.endpoint import Response, post
from moothall.kernel.ratelimit import WEBHOOK_RATE
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, WebhookId
from moothall.resources.channel.thread_activity.events import WAKES
from moothall.resources.message.events import MessageCreate
from moothall.resources.webhook import executing
from moothall.resources.webhook.access import WEBHOOK_TOKEN, webhook_of
from moothall.resources.webhook.slack.translating import SlackMessage, as_message

_OK = Response(b"ok", "text/html")
"""Slack's own answer, which its senders compare."""


@post(
    "/webhooks/{webhook_id}/{webhook_token}/slack",
    permission=WEBHOOK_TOKEN,
    fires=(MessageCreate, *WAKES),
    rate=WEBHOOK_RATE,
)
async def execute_slack_webhook(
    ctx: Context,
    webhook_id: WebhookId,
    webhook_token: str,
    body: SlackMessage,
    *,
    wait: bool = True,
    thread_id: ChannelId | None = None,
) -> Response:
    """Post a message that is written as for Slack; without `wait` it is no error if it cannot be kept."""
    try:
        await executing.execute_webhook(
            ctx, webhook_of(ctx), as_message(body), thread_id=thread_id, with_components=False
        )
    except Refusal:
        if wait:
            raise
        raise Withdrawn(_OK) from None
    return _OK
