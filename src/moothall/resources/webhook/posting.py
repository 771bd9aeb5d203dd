"""Posts of forums that webhooks begin (api.md, Execute Webhook)."""

from moothall.kernel.channel_access import ChannelAccess
from moothall.kernel.context import Context
from moothall.objects import errors
from moothall.objects.channel_types import FORUMS, ChannelType
from moothall.objects.errors import FormErrors, Refusal
from moothall.objects.ids import ChannelId, UserId
from moothall.resources.thread import rules
from moothall.resources.thread.starting import NewThread
from moothall.resources.webhook.queries import PlacedWebhook
from moothall.resources.webhook.requests import ExecuteWebhook


def check_threads(access: ChannelAccess, body: ExecuteWebhook, thread_id: ChannelId | None) -> None:
    """A message goes into a thread of a forum, and begins none elsewhere. Raises Refusal: 400/220001 to 220003."""
    in_forum = access.channel.type in FORUMS
    if body.thread_name and not in_forum:
        raise Refusal(errors.WEBHOOK_THREAD_OUTSIDE_FORUM)
    if body.thread_name and thread_id is not None:
        raise Refusal(errors.FORUM_WEBHOOK_TWO_THREADS)
    if in_forum and not body.thread_name and thread_id is None:
        raise Refusal(errors.FORUM_WEBHOOK_NEEDS_THREAD)


def read_post(
    ctx: Context, webhook: PlacedWebhook, access: ChannelAccess, body: ExecuteWebhook, form_errors: FormErrors
) -> NewThread | None:
    """The thread that a message begins, which is the webhook's; None if it begins none.

    Whoever gave away the webhook let it use every tag. Raises Refusal: 40067 where one is required.
    """
    if not body.thread_name:
        return None
    forum = access.channel
    return NewThread(
        id=ChannelId(ctx.ids.next()),
        type=int(ChannelType.PUBLIC_THREAD),
        name=rules.stored_name(body.thread_name, form_errors, "thread_name"),
        minutes=forum.default_auto_archive_duration or rules.DEFAULT_AUTO_ARCHIVE,
        slowmode=forum.default_thread_rate_limit_per_user or 0,
        owner_id=UserId(webhook.id),
        tags=rules.check_tags(forum, body.applied_tags or (), (), manages=True, form_errors=form_errors),
    )
