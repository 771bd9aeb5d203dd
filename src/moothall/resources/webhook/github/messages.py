"""Conversion of GitHub events to messages."""

from collections.abc import Collection
from typing import Any, Final

from msgspec import structs

from moothall.api.request.form_fields import FormOrJson
from moothall.objects.message import AllowedMentions
from moothall.resources.webhook.github import commits, issues_and_discussions, pull_requests, repositories
from moothall.resources.webhook.github.payload import Formatter, PayloadNode, summary_embed
from moothall.resources.webhook.requests import ExecuteWebhook
from moothall.resources.webhook.validation import truncate_embeds

FORMATTERS: Final[dict[str, dict[str, Formatter]]] = {
    **commits.FORMATTERS,
    **issues_and_discussions.FORMATTERS,
    **pull_requests.FORMATTERS,
    **repositories.FORMATTERS,
}
"""Formatters by event kind and action; the action is empty for kinds without one."""


class GithubEvent(FormOrJson, frozen=True, kw_only=True):
    """The body of Execute GitHub-Compatible Webhook: the fields of the supported kinds of events.

    Any field may be missing.
    """

    action: Any = None
    ref: Any = None
    ref_type: Any = None
    before: Any = None
    after: Any = None
    created: Any = None
    deleted: Any = None
    forced: Any = None
    compare: Any = None
    commits: Any = None
    head_commit: Any = None
    comment: Any = None
    issue: Any = None
    changes: Any = None
    pull_request: Any = None
    review: Any = None
    repository: Any = None
    organization: Any = None
    forkee: Any = None
    sender: Any = None
    member: Any = None
    release: Any = None
    check_run: Any = None
    check_suite: Any = None
    discussion: Any = None
    answer: Any = None
    zen: Any = None
    master_branch: Any = None


_KEYS_BY_KIND: Final[tuple[tuple[str, Collection[str]], ...]] = (
    ("ping", ("zen",)),
    ("push", ("ref", "commits")),
    ("create", ("ref_type", "master_branch")),
    ("delete", ("ref_type",)),
    ("check_run", ("check_run",)),
    ("check_suite", ("check_suite",)),
    ("discussion_comment", ("discussion", "comment")),
    ("discussion", ("discussion",)),
    ("pull_request_review", ("pull_request", "review")),
    ("pull_request_review_comment", ("pull_request", "comment")),
    ("pull_request", ("pull_request",)),
    ("issue_comment", ("issue", "comment")),
    ("issues", ("issue",)),
    ("commit_comment", ("comment",)),
    ("release", ("release",)),
    ("fork", ("forkee",)),
    ("member", ("member",)),
)


def guess_kind(event: GithubEvent) -> str:
    """Guess the kind of an event without its header from the fields that are present; empty if no kind matches."""
    for kind, keys in _KEYS_BY_KIND:
        if all(getattr(event, key) is not None for key in keys):
            return kind
    if event.action == "started":
        return "watch"
    return "public" if event.repository is not None and event.action is None else ""


def event_message(kind: str | None, event: GithubEvent) -> ExecuteWebhook | None:
    """Build the message for an event, without mentions; None for an event without a formatter."""
    actions = FORMATTERS.get((kind or guess_kind(event)).strip().lower())
    if actions is None:
        return None
    payload = PayloadNode(structs.asdict(event))
    formatter = actions.get(payload["action"].text)
    summary = None if formatter is None else formatter(payload)
    embeds = truncate_embeds([None if summary is None else summary_embed(payload, summary)])
    return ExecuteWebhook(embeds=embeds, allowed_mentions=AllowedMentions(parse=[])) if embeds else None
