"""Telling of a repository's events as GitHub reports them, over HTTP (api.md, Webhooks)."""

from typing import Annotated

from moothall.kernel.context import Context, Withdrawn, WriteNeeded
from moothall.kernel.endpoint import post
from moothall.kernel.parameters import Header
from moothall.kernel.ratelimit import WEBHOOK_RATE
from moothall.objects.errors import Refusal
from moothall.objects.ids import ChannelId, WebhookId
from moothall.resources.channel.thread_activity.events import WAKES
from moothall.resources.message.events import MessageCreate
from moothall.resources.webhook import executing
from moothall.resources.webhook.access import WEBHOOK_TOKEN, webhook_of
from moothall.resources.webhook.github.telling import GithubEvent, as_message


@post(
    "/webhooks/{webhook_id}/{webhook_token}/github",
    permission=WEBHOOK_TOKEN,
    fires=(MessageCreate, *WAKES),
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
    """Tell of an event of a repository; of one that is not worth a message nothing is told.

    The header `X-GitHub-Event` names the kind of event; without it the payload's parts do. Without
    `wait` it is no error if the message cannot be kept.
    """
    message = as_message(x_github_event, body)
    if message is None:
        return
    if ctx.tx.committed:
        raise WriteNeeded
    try:
        await executing.execute_webhook(ctx, webhook_of(ctx), message, thread_id=thread_id, with_components=False)
    except Refusal:
        if wait:
            raise
        raise Withdrawn(None) from None
