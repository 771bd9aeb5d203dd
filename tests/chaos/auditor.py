"""Judges a history against what every node serves once all is calm. It knows the API, and nothing of how it is made."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from tests.chaos.history import Call, Epoch, History, Outcome


@dataclass
class State:
    """What one node serves at the end."""

    messages: dict[str, list[dict[str, Any]]]
    """By channel, oldest first."""
    roles: dict[str, str]
    """Names by id."""
    role_entries: Counter[str]
    """How many audit log entries tell of the creation of each role, by the role's id."""
    member_count: int
    member_ids: frozenset[str]


@dataclass
class Verdict:
    """What is wrong, a sentence each, and how much was looked at."""

    problems: list[str] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)


def judge(history: History, states: Sequence[State]) -> Verdict:
    """Compare what clients know with what each node serves, and with what sessions received."""
    verdict = Verdict()
    for number, state in enumerate(states):
        if state != states[0]:
            verdict.problems.append(f"node {number} serves another state than node 0")
    verdict.problems += _judge_messages(history, states[0], verdict.counts)
    verdict.problems += _judge_roles(history, states[0], verdict.counts)
    verdict.problems += _judge_invites(history, verdict.counts)
    verdict.problems += _judge_epochs(history, states[0], verdict.counts)
    return verdict


def _by_target(calls: Sequence[Call]) -> Mapping[str, Call]:
    return {call.target: call for call in calls}


def _judge_messages(history: History, state: State, counts: Counter[str]) -> Iterator[str]:
    edits, deletes = _by_target(history.of_kind("edit")), _by_target(history.of_kind("delete"))
    stored: dict[str, list[dict[str, Any]]] = {}
    for messages in state.messages.values():
        for message in messages:
            stored.setdefault(message["content"].removesuffix(" edited"), []).append(message)
    for created in history.of_kind("create"):
        counts[f"messages {created.outcome.value}"] += 1
        rows = stored.pop(created.target, [])
        yield from _judge_presence("message", created, deletes.get(created.target), len(rows))
        if rows and created.outcome is Outcome.DONE:
            yield from _judge_content(created, edits.get(created.target), rows[0])
    for marker in stored:
        if not marker.startswith("calm"):
            yield f"message {marker} is stored and was never sent"


def _judge_presence(what: str, created: Call, deleted: Call | None, stored: int) -> Iterator[str]:
    """Whether what was created is stored once, and what was refused or deleted is not."""
    name = f"{what} {created.target}"
    if stored > 1:
        yield f"{name} is stored {stored} times"
    if created.outcome is Outcome.REFUSED and stored:
        yield f"{name} was refused with {created.status} and is stored"
    if created.outcome is not Outcome.DONE:
        return
    if not stored and (deleted is None or deleted.outcome is Outcome.REFUSED):
        yield f"{name} was acknowledged and is lost"
    if stored and deleted is not None and deleted.outcome is Outcome.DONE:
        yield f"{name} was deleted and is stored"


def _judge_content(created: Call, edit: Call | None, row: dict[str, Any]) -> Iterator[str]:
    if row["id"] != created.answer["id"]:
        yield f"message {created.target} was acknowledged as {created.answer['id']} and is stored as {row['id']}"
    possible = {created.content}
    if edit is not None and edit.outcome is Outcome.DONE:
        possible = {edit.content}
    elif edit is not None and edit.outcome is Outcome.UNKNOWN:
        possible.add(edit.content)
    if row["content"] not in possible:
        yield f"message {created.target} has the content {row['content']!r}, not one of {sorted(possible)}"


def _judge_roles(history: History, state: State, counts: Counter[str]) -> Iterator[str]:
    deletes = _by_target(history.of_kind("role delete"))
    by_name = Counter(state.roles.values())
    for created in history.of_kind("role"):
        counts[f"roles {created.outcome.value}"] += 1
        yield from _judge_presence("role", created, deletes.get(created.target), by_name[created.target])
        if created.outcome is Outcome.DONE:
            entries = state.role_entries[created.answer["id"]]
            if entries != 1:
                yield f"role {created.target} has {entries} audit log entries for its creation"


def _judge_invites(history: History, counts: Counter[str]) -> Iterator[str]:
    accepted = Counter(call.target for call in history.of_kind("accept") if call.outcome is Outcome.DONE)
    counts["invites used"] += len(accepted)
    for code, uses in accepted.items():
        if uses > 1:
            yield f"invite {code} was good for one use and was used {uses} times"


def _judge_epochs(history: History, state: State, counts: Counter[str]) -> Iterator[str]:
    for epoch in history.epochs:
        counts["sessions"] += 1
        counts["resumes"] += epoch.resumes
        counts["events"] += len(epoch.events)
        numbers = [seq for seq, _, _ in epoch.events]
        if numbers != list(range(1, len(numbers) + 1)):
            yield f"{epoch.listener} received the sequence numbers {_first_gap(numbers)}"
    yield from _judge_order([(_created(epoch), _messages(epoch)) for epoch in history.epochs if epoch.joined_seq])
    for epoch in history.epochs:
        if epoch.joined_seq:
            yield from _judge_holes(history, epoch)
            if not epoch.ended:
                yield from _judge_mirror(epoch, state)


def _created(epoch: Epoch) -> list[str]:
    """The ids of the messages and roles whose creation a session received, in its order."""
    ids = []
    for _, name, data in epoch.events:
        if name == "MESSAGE_CREATE":
            ids.append(data["id"])
        elif name == "GUILD_ROLE_CREATE":
            ids.append(data["role"]["id"])
    return ids


def _messages(epoch: Epoch) -> frozenset[str]:
    """The ids of the messages whose creation a session received."""
    return frozenset(data["id"] for _, name, data in epoch.events if name == "MESSAGE_CREATE")


def _judge_order(sequences: Sequence[tuple[Sequence[str], Collection[str]]]) -> Iterator[str]:
    """Whether events have one order, and each session received all of it between its first and its last.

    Of roles only their order is judged: those that were created, or created and deleted, just before a session received
    the guild are no events to it, while messages from before them may still come.
    """
    for ids, _ in sequences:
        if len(set(ids)) != len(ids):
            yield f"a session received {Counter(ids).most_common(1)[0]} more than once"
    longest = sorted(sequences, key=lambda each: len(each[0]), reverse=True)
    for ids, messages in longest:
        for others, _ in longest:
            received = set(others)
            expected = [event_id for event_id in ids if event_id in messages or event_id in received]
            positions = {event_id: position for position, event_id in enumerate(expected)}
            common = [positions[event_id] for event_id in others if event_id in positions]
            if common and common != list(range(common[0], common[0] + len(common))):
                at = next(at for at, position in enumerate(common) if position != common[0] + at)
                missing = expected[common[at - 1] + 1 : common[at]][:3] or [expected[common[at]]]
                yield (
                    "two sessions received the same events in another order, or with a hole: "
                    f"after {expected[common[at - 1]]} {missing} of {max(0, common[at] - common[at - 1] - 1)}"
                )
                return


def _judge_holes(history: History, epoch: Epoch) -> Iterator[str]:
    """Whether a session that lived to the end received each message that was acknowledged since it joined."""
    if epoch.ended:
        return
    received = {data["content"].removesuffix(" edited") for _, name, data in epoch.events if name == "MESSAGE_CREATE"}
    for call in history.of_kind("create"):
        if call.outcome is Outcome.DONE and call.started > epoch.joined and call.target not in received:
            yield f"{epoch.listener} on node {epoch.node} never received message {call.target}"


def _judge_mirror(epoch: Epoch, state: State) -> Iterator[str]:
    """Whether GUILD_CREATE with the events after it is what is served now."""
    roles: dict[str, str] = {}
    count = 0
    for _, name, data in epoch.events:
        if name == "GUILD_CREATE":
            roles = {role["id"]: role["name"] for role in data["roles"]}
            count = data["member_count"]
        elif name in {"GUILD_ROLE_CREATE", "GUILD_ROLE_UPDATE"}:
            roles[data["role"]["id"]] = data["role"]["name"]
        elif name == "GUILD_ROLE_DELETE":
            roles.pop(data["role_id"], None)
        elif name == "GUILD_MEMBER_ADD":
            count += 1
        elif name == "GUILD_MEMBER_REMOVE":
            count -= 1
    if roles != state.roles:
        more, less = roles.keys() - state.roles.keys(), state.roles.keys() - roles.keys()
        yield f"the mirror of {epoch.listener} has {len(more)} roles too many and {len(less)} too few"
    if count != state.member_count:
        yield f"the mirror of {epoch.listener} has {count} members, not {state.member_count}"


def _first_gap(numbers: Sequence[int]) -> str:
    for before, after in pairwise(numbers):
        if after != before + 1:
            return f"{before} and then {after}"
    return f"from {numbers[0]} on" if numbers else "none"
