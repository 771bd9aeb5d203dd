"""Slack's payload as a message of ours."""

from typing import Any

from moothall.kernel.form_or_json import FormOrJson
from moothall.objects import limits
from moothall.objects.embed import EmbedInput
from moothall.resources.webhook.requests import ExecuteWebhook
from moothall.resources.webhook.slack.attachments import as_embeds, block_embeds
from moothall.resources.webhook.slack.blocks import render
from moothall.resources.webhook.slack.mrkdwn import translate
from moothall.resources.webhook.validation import fit_message, fit_text, fit_url


class SlackMessage(FormOrJson, frozen=True, kw_only=True):
    """The body of Execute Slack-Compatible Webhook; what is not named here is ignored.

    Attachments and blocks are lists of objects; of those that are malformed the malformed part is
    left out.
    """

    text: str | None = None
    username: str | None = None
    icon_url: str | None = None
    attachments: list[Any] | None = None
    blocks: list[Any] | None = None


def as_message(given: SlackMessage) -> ExecuteWebhook:
    """What a payload says, cut to the limits of messages.

    With blocks, `text` is what is shown in notifications, so it is left out, unless the blocks come to nothing.
    """
    blocks = render(given.blocks)
    shown = bool(blocks.text or blocks.images or blocks.cells)
    content = blocks.text if shown else translate(given.text or "")
    embeds: list[EmbedInput | None] = block_embeds(blocks)
    for attachment in given.attachments or ():
        if len(embeds) > 2 * limits.EMBEDS_MAX:
            break
        embeds.extend(as_embeds(attachment))
    return ExecuteWebhook(
        content=fit_text(content, limits.CONTENT_MAX),
        username=fit_text(given.username, limits.WEBHOOK_NAME_MAX) or None,
        avatar_url=fit_url(given.icon_url),
        embeds=fit_message(embeds) or None,
    )
