"""Payloads of GitHub's events by kind and action, as in its published documentation."""

from typing import Any, Final

HOME: Final = "https://github.com/octo-org/moot"
BIG_ID: Final = 2**63 - 25
"""An id beyond what a double can hold."""


def person(login: str) -> dict[str, Any]:
    return {
        "login": login,
        "id": BIG_ID,
        "node_id": "MDQ6VXNlcjE=",
        "avatar_url": f"https://avatars.githubusercontent.com/u/{len(login)}?v=4",
        "gravatar_id": "",
        "url": f"https://api.github.com/users/{login}",
        "html_url": f"https://github.com/{login}",
        "type": "User",
        "site_admin": False,
    }


REPOSITORY: Final[dict[str, Any]] = {
    "id": BIG_ID,
    "node_id": "R_1",
    "name": "moot",
    "full_name": "octo-org/moot",
    "private": False,
    "owner": person("octo-org"),
    "html_url": HOME,
    "description": None,
    "fork": False,
    "default_branch": "main",
    "stargazers_count": 80,
}
COMMON: Final[dict[str, Any]] = {"repository": REPOSITORY, "sender": person("mona")}


def commit(number: int, message: str) -> dict[str, Any]:
    sha = f"{number:040x}"
    return {
        "id": sha,
        "tree_id": "f" * 40,
        "distinct": True,
        "message": message,
        "timestamp": "2026-03-01T10:00:00+01:00",
        "url": f"{HOME}/commit/{sha}",
        "author": {"name": "Mona Lisa", "email": "mona@example.org", "username": "mona"},
        "committer": {"name": "GitHub", "email": "noreply@github.com", "username": "web-flow"},
        "added": [],
        "removed": [],
        "modified": ["README.md"],
    }


def pushed(**more: Any) -> dict[str, Any]:
    commits = [commit(0xABCDEF1 << 132, "Fix the door\n\nIt was open."), commit(0xABCDEF2 << 132, "Paint it")]
    return {
        "ref": "refs/heads/main",
        "before": "1" * 40,
        "after": commits[-1]["id"],
        "created": False,
        "deleted": False,
        "forced": False,
        "base_ref": None,
        "compare": f"{HOME}/compare/111111111111...abcdef200000",
        "commits": commits,
        "head_commit": commits[-1],
        "pusher": {"name": "mona", "email": "mona@example.org"},
        **COMMON,
        **more,
    }


def comment(where: str, **more: Any) -> dict[str, Any]:
    return {
        "id": BIG_ID,
        "html_url": f"{HOME}/{where}",
        "user": person("hubot"),
        "body": "I think **so** @everyone",
        "created_at": "2026-03-01T09:00:00Z",
        "author_association": "MEMBER",
        **more,
    }


ISSUE: Final[dict[str, Any]] = {
    "id": BIG_ID,
    "number": 12,
    "title": "The door is open",
    "html_url": f"{HOME}/issues/12",
    "user": person("hubot"),
    "labels": [],
    "state": "open",
    "state_reason": None,
    "locked": False,
    "body": "Please close it.",
}
PULL: Final[dict[str, Any]] = {
    "id": BIG_ID,
    "number": 13,
    "title": "Close the door",
    "html_url": f"{HOME}/pull/13",
    "user": person("mona"),
    "state": "open",
    "draft": False,
    "merged": False,
    "merged_at": None,
    "body": None,
    "head": {"label": "octo-org:door", "ref": "door", "sha": "a" * 40, "repo": REPOSITORY},
    "base": {"label": "octo-org:main", "ref": "main", "sha": "b" * 40, "repo": REPOSITORY},
}
SUITE: Final[dict[str, Any]] = {
    "id": BIG_ID,
    "head_branch": "main",
    "head_sha": "abcdef1" + "0" * 33,
    "status": "completed",
    "conclusion": "success",
    "app": {"id": 15368, "slug": "github-actions", "name": "GitHub Actions"},
    "pull_requests": [],
}
RUN: Final[dict[str, Any]] = {
    "id": BIG_ID,
    "name": "tests",
    "head_sha": SUITE["head_sha"],
    "html_url": f"{HOME}/runs/1",
    "details_url": "https://ci.example.org/1",
    "status": "completed",
    "conclusion": "failure",
    "output": {"title": "3 tests failed", "summary": "", "text": None, "annotations_count": 0},
    "check_suite": SUITE,
}
DISCUSSION: Final[dict[str, Any]] = {
    "id": BIG_ID,
    "number": 14,
    "title": "Which colour?",
    "html_url": f"{HOME}/discussions/14",
    "category": {"id": 1, "name": "Q&A", "slug": "q-a", "is_answerable": True},
    "answer_html_url": None,
    "state": "open",
    "state_reason": None,
    "user": person("hubot"),
    "body": "Blue or green?",
}
RELEASE: Final[dict[str, Any]] = {
    "id": BIG_ID,
    "html_url": f"{HOME}/releases/tag/v1.0",
    "tag_name": "v1.0",
    "target_commitish": "main",
    "name": "One",
    "draft": False,
    "prerelease": False,
    "author": person("mona"),
    "assets": [],
    "body": "All doors close.",
}
REVIEW: Final[dict[str, Any]] = {
    "id": BIG_ID,
    "user": person("hubot"),
    "body": "Good doors",
    "commit_id": "a" * 40,
    "submitted_at": "2026-03-01T09:00:00Z",
    "state": "approved",
    "html_url": f"{HOME}/pull/13#pullrequestreview-1",
}


def event(action: str, **parts: Any) -> dict[str, Any]:
    return {"action": action, **parts, **COMMON}


NEW: Final = {"before": "0" * 40, "created": True}
DELETED: Final = {"after": "0" * 40, "deleted": True, "commits": [], "head_commit": None}

SUPPORTED_EVENTS: Final[dict[str, tuple[str, dict[str, Any], str]]] = {
    "push": ("push", pushed(), "[octo-org/moot:main] 2 new commits"),
    "push of one": ("push", pushed(commits=[commit(1, "Just one")]), "[octo-org/moot:main] 1 new commit"),
    "forced push": ("push", pushed(forced=True), "[octo-org/moot:main] Branch force-pushed to abcdef2"),
    "forced back": (
        "push",
        pushed(forced=True, commits=[]),
        "[octo-org/moot:main] Branch force-pushed to abcdef2",
    ),
    "push of a branch": ("push", pushed(**NEW, commits=[]), "[octo-org/moot] New branch: main"),
    "push of a tag": ("push", pushed(**NEW, ref="refs/tags/v1"), "[octo-org/moot] New tag: v1"),
    "push of nothing": ("push", pushed(**DELETED, ref="refs/heads/a/b"), "[octo-org/moot] Branch deleted: a/b"),
    "create": (
        "create",
        {"ref": "v1", "ref_type": "tag", "master_branch": "main", "description": None, **COMMON},
        "[octo-org/moot] New tag created: v1",
    ),
    "delete": (
        "delete",
        {"ref": "door", "ref_type": "branch", "pusher_type": "user", **COMMON},
        "[octo-org/moot] Branch deleted: door",
    ),
    "commit comment": (
        "commit_comment",
        event("created", comment=comment("commit/abc#1", commit_id="abcdef1" + "0" * 33, path="a.py", line=3)),
        "[octo-org/moot] New comment on commit abcdef1 (a.py:3)",
    ),
    "issue": ("issues", event("opened", issue=ISSUE), "[octo-org/moot] Issue opened: #12 The door is open"),
    "issue done": (
        "issues",
        event("closed", issue={**ISSUE, "state_reason": "completed"}),
        "[octo-org/moot] Issue closed: #12 The door is open",
    ),
    "issue dropped": (
        "issues",
        event("closed", issue={**ISSUE, "state_reason": "not_planned"}),
        "[octo-org/moot] Issue closed as not planned: #12 The door is open",
    ),
    "issue moved": (
        "issues",
        event("transferred", issue=ISSUE, changes={"new_repository": {"full_name": "octo-org/doors"}}),
        "[octo-org/moot] Issue transferred to octo-org/doors: #12 The door is open",
    ),
    "issue comment": (
        "issue_comment",
        event("created", issue=ISSUE, comment=comment("issues/12#c")),
        "[octo-org/moot] New comment on issue #12 The door is open",
    ),
    "pull comment": (
        "issue_comment",
        event("created", issue={**ISSUE, "pull_request": {"url": "x"}}, comment=comment("pull/12#c")),
        "[octo-org/moot] New comment on pull request #12 The door is open",
    ),
    "pull": (
        "pull_request",
        event("opened", number=13, pull_request=PULL),
        "[octo-org/moot] Pull request opened: #13 Close the door",
    ),
    "draft": (
        "pull_request",
        event("opened", pull_request={**PULL, "draft": True}),
        "[octo-org/moot] Pull request opened as a draft: #13 Close the door",
    ),
    "merge": (
        "pull_request",
        event("closed", pull_request={**PULL, "merged": True, "state": "closed"}),
        "[octo-org/moot] Pull request merged into main: #13 Close the door",
    ),
    "pull closed": (
        "pull_request",
        event("closed", pull_request={**PULL, "state": "closed"}),
        "[octo-org/moot] Pull request closed: #13 Close the door",
    ),
    "approval": (
        "pull_request_review",
        event("submitted", review=REVIEW, pull_request=PULL),
        "[octo-org/moot] Pull request approved: #13 Close the door",
    ),
    "request": (
        "pull_request_review",
        event("submitted", review={**REVIEW, "state": "changes_requested"}, pull_request=PULL),
        "[octo-org/moot] Pull request changes requested: #13 Close the door",
    ),
    "dismissal": (
        "pull_request_review",
        event("dismissed", review={**REVIEW, "state": "dismissed"}, pull_request=PULL),
        "[octo-org/moot] Pull request review by hubot dismissed: #13 Close the door",
    ),
    "review comment": (
        "pull_request_review_comment",
        event("created", comment=comment("pull/13#r", path="a.py", line=3), pull_request=PULL),
        "[octo-org/moot] New review comment on pull request #13 Close the door (a.py:3)",
    ),
    "check run": (
        "check_run",
        event("completed", check_run=RUN),
        "[octo-org/moot] tests failed on main (abcdef1)",
    ),
    "check suite": (
        "check_suite",
        event("completed", check_suite=SUITE),
        "[octo-org/moot] GitHub Actions checks succeeded on main (abcdef1)",
    ),
    "discussion": (
        "discussion",
        event("created", discussion=DISCUSSION),
        "[octo-org/moot] Discussion started in Q&A: #14 Which colour?",
    ),
    "answer": (
        "discussion",
        event("answered", discussion=DISCUSSION, answer=comment("discussions/14#a")),
        "[octo-org/moot] Discussion answered: #14 Which colour?",
    ),
    "discussion comment": (
        "discussion_comment",
        event("created", discussion=DISCUSSION, comment=comment("discussions/14#c", parent_id=None)),
        "[octo-org/moot] New comment on discussion #14 Which colour?",
    ),
    "fork": (
        "fork",
        {"forkee": {**REPOSITORY, "full_name": "hubot/moot", "html_url": "https://github.com/hubot/moot"}, **COMMON},
        "[octo-org/moot] Fork created: hubot/moot",
    ),
    "member": ("member", event("added", member=person("hubot")), "[octo-org/moot] New collaborator: hubot"),
    "public": ("public", {**COMMON}, "[octo-org/moot] The repository is public now"),
    "release": (
        "release",
        event("published", release=RELEASE),
        "[octo-org/moot] New release published: One",
    ),
    "pre-release": (
        "release",
        event("published", release={**RELEASE, "prerelease": True, "name": None}),
        "[octo-org/moot] New pre-release published: v1.0",
    ),
    "watch": ("watch", event("started"), "[octo-org/moot] New star added"),
}
"""Events that are worth a message, and its title."""

IGNORED_EVENTS: Final[dict[str, tuple[str, dict[str, Any]]]] = {
    "ping": ("ping", {"zen": "Keep it logically awesome.", "hook_id": BIG_ID, "hook": {}, **COMMON}),
    "issue labelled": ("issues", event("labeled", issue=ISSUE, label={"name": "door"})),
    "issue edited": ("issues", event("edited", issue=ISSUE, changes={})),
    "comment edited": ("issue_comment", event("edited", issue=ISSUE, comment=comment("issues/12#c"))),
    "pull synchronised": ("pull_request", event("synchronize", pull_request=PULL)),
    "check begun": ("check_run", event("created", check_run={**RUN, "status": "queued", "conclusion": None})),
    "suite asked for": ("check_suite", event("requested", check_suite=SUITE)),
    "release drafted": ("release", event("created", release=RELEASE)),
    "an unsupported kind": ("workflow_run", event("completed", workflow_run={"id": BIG_ID})),
    "nothing known": ("", {"hello": "world"}),
}
"""Events that are not."""
