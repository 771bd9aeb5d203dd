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
    """What happened to the thing, such as `opened`."""
    ref: Any = None
    """The branch or tag."""
    ref_type: Any = None
    """`branch` or `tag`."""
    before: Any = None
    """The commit that the branch pointed to before the push."""
    after: Any = None
    """The commit that the branch points to after the push."""
    created: Any = None
    """Whether the push made the branch."""
    deleted: Any = None
    """Whether the push deleted the branch."""
    forced: Any = None
    """Whether the push was forced."""
    compare: Any = None
    """The URL of the page that compares both commits."""
    commits: Any = None
    """The commits of the push."""
    head_commit: Any = None
    """The last commit of the push."""
    comment: Any = None
    """The comment."""
    issue: Any = None
    """The issue."""
    changes: Any = None
    """What was changed."""
    pull_request: Any = None
    """The pull request."""
    review: Any = None
    """The review of the pull request."""
    repository: Any = None
    """The repository."""
    organization: Any = None
    """The organization."""
    forkee: Any = None
    """The fork."""
    sender: Any = None
    """The user who caused the event."""
    member: Any = None
    """The user who was added."""
    release: Any = None
    """The release."""
    check_run: Any = None
    """The check."""
    check_suite: Any = None
    """The suite of checks."""
    discussion: Any = None
    """The discussion."""
    answer: Any = None
    """The comment that answers the discussion."""
    zen: Any = None
    """The sentence that a ping carries."""
    master_branch: Any = None
    """The branch that the repository begins with."""


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
