"""Execute GitHub-Compatible Webhook, over HTTP (api.md, Webhooks)."""

from typing import Annotated

from moothall.api.context import Context, Withdrawn, WriteNeeded
from moothall.api.endpoint import post
from moothall.api.ratelimit import WEBHOOK_RATE
from moothall.api.request.parameters import Header
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, WebhookId
from moothall.resources.channel.thread_activity.events import UNARCHIVE_EVENTS
from moothall.resources.message.events import MessageCreate
from moothall.resources.webhook import messages
from moothall.resources.webhook.access import WEBHOOK_TOKEN, webhook_of
from moothall.resources.webhook.github.messages import GithubEvent, event_message


@post(
    "/webhooks/{webhook_id}/{webhook_token}/github",
    permission=WEBHOOK_TOKEN,
    fires=(MessageCreate, *UNARCHIVE_EVENTS),
    rate=WEBHOOK_RATE,
    reads_first=True,
)
async def execute_github_webhook(
    ctx: Context,
    webhook_id: WebhookId,
    webhook_token: str,
    body: GithubEvent,
    *,
    wait: bool = True,
    thread_id: ChannelId | None = None,
    x_github_event: Annotated[str | None, Header("x-github-event")] = None,
) -> None:
    """Post a message about an event of a repository; some kinds of events are ignored.

    The header `X-GitHub-Event` has the kind of event; without it the kind is guessed from the payload. With
    `wait=false` a message that is refused is no error.
    """
    message = event_message(x_github_event, body)
    if message is None:
        return
    if ctx.tx.committed:
        raise WriteNeeded
    try:
        await messages.execute_webhook(ctx, webhook_of(ctx), message, thread_id=thread_id, with_components=False)
    except Refusal:
        if wait:
            raise
        raise Withdrawn(None) from None
