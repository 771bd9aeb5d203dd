"""Execute Slack-Compatible Webhook, over HTTP (api.md, Webhooks)."""

from moothall.api.context import Context, Withdrawn
from moothall.api.endpoint import Response, post
from moothall.api.ratelimit import WEBHOOK_RATE
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, WebhookId
from moothall.resources.channel.thread_activity.events import UNARCHIVE_EVENTS
from moothall.resources.message.events import MessageCreate
from moothall.resources.webhook import messages
from moothall.resources.webhook.access import WEBHOOK_TOKEN, webhook_of
from moothall.resources.webhook.slack.messages import SlackMessage, execute_body

_OK = Response(b"ok", "text/html")
"""Slack's response body, which clients compare."""


@post(
    "/webhooks/{webhook_id}/{webhook_token}/slack",
    permission=WEBHOOK_TOKEN,
    fires=(MessageCreate, *UNARCHIVE_EVENTS),
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
    """Post a message in Slack's format; with `wait=false` a message that is refused is no error."""
    try:
        await messages.execute_webhook(
            ctx, webhook_of(ctx), execute_body(body), thread_id=thread_id, with_components=False
        )
    except Refusal:
        if wait:
            raise
        raise Withdrawn(_OK) from None
    return _OK
