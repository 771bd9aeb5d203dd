"""From an event to a message, or to none."""

from collections.abc import Collection
from typing import Any, Final

from msgspec import structs

from moothall.kernel.form_or_json import FormOrJson
from moothall.objects.message import AllowedMentions
from moothall.resources.webhook.github import changes, commits, conversations, repositories
from moothall.resources.webhook.github.reading import Part, Teller, embed_of
from moothall.resources.webhook.requests import ExecuteWebhook
from moothall.resources.webhook.validation import fit_message

TELLERS: Final[dict[str, dict[str, Teller]]] = {
    **commits.TELLERS,
    **conversations.TELLERS,
    **changes.TELLERS,
    **repositories.TELLERS,
}
"""By event kind and action; "" stands for kinds that have none."""


class GithubEvent(FormOrJson, frozen=True, kw_only=True):
    """The body of Execute GitHub-Compatible Webhook: what the supported kinds of events carry.

    Any part may be missing, and is then not told of.
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


_SIGNS: Final[tuple[tuple[str, Collection[str]], ...]] = (
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


def kind_of(event: GithubEvent) -> str:
    """The kind of an event that came without its header, by what it carries; empty if that fits none."""
    for kind, keys in _SIGNS:
        if all(getattr(event, key) is not None for key in keys):
            return kind
    if event.action == "started":
        return "watch"
    return "public" if event.repository is not None and event.action is None else ""


def as_message(kind: str | None, event: GithubEvent) -> ExecuteWebhook | None:
    """The message that tells of an event; None for one that is not worth one. It mentions nobody."""
    actions = TELLERS.get((kind or kind_of(event)).strip().lower())
    if actions is None:
        return None
    payload = Part(structs.asdict(event))
    teller = actions.get(payload["action"].text)
    told = None if teller is None else teller(payload)
    embeds = fit_message([None if told is None else embed_of(payload, told)])
    return ExecuteWebhook(embeds=embeds, allowed_mentions=AllowedMentions(parse=[])) if embeds else None
