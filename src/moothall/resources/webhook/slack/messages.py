"""Conversion of Slack's payloads to messages."""

from typing import Any

from moothall.api.request.form_fields import FormOrJson
from moothall.objects import limits
from moothall.objects.embed import EmbedInput
from moothall.resources.webhook.requests import ExecuteWebhook
from moothall.resources.webhook.slack.attachments import as_embeds, block_embeds
from moothall.resources.webhook.slack.blocks import render
from moothall.resources.webhook.slack.mrkdwn import translate
from moothall.resources.webhook.validation import embed_url, truncate_embeds, truncate_text


class SlackMessage(FormOrJson, frozen=True, kw_only=True):
    """The body of Execute Slack-Compatible Webhook; other fields are ignored.

    Attachments and blocks are lists of objects, whose malformed values are left out.
    """

    text: str | None = None
    pretext: str | None = None
    username: str | None = None
    icon_url: str | None = None
    attachments: list[Any] | None = None
    blocks: list[Any] | None = None


def execute_body(payload: SlackMessage) -> ExecuteWebhook:
    """Convert a payload to the body of Execute Webhook, truncated to the limits of messages.

    With blocks, `text` is for notifications, so `pretext` and `text` are used only if the blocks are empty.
    """
    blocks = render(payload.blocks)
    has_blocks = bool(blocks.text or blocks.images or blocks.fields)
    content = blocks.text if has_blocks else "\n".join(translate(t) for t in (payload.pretext, payload.text) if t)
    embeds: list[EmbedInput | None] = block_embeds(blocks)
    for attachment in payload.attachments or ():
        if len(embeds) > 2 * limits.EMBEDS_MAX:
            break
        embeds.extend(as_embeds(attachment))
    return ExecuteWebhook(
        content=truncate_text(content, limits.CONTENT_MAX),
        username=truncate_text(payload.username, limits.WEBHOOK_NAME_MAX) or None,
        avatar_url=embed_url(payload.icon_url),
        embeds=truncate_embeds(embeds) or None,
    )
