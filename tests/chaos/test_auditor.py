"""The auditor finds each kind of wrong: a judge that never objects proves nothing."""

from collections import Counter
from typing import Any

import pytest

from tests.chaos.auditor import State, judge
from tests.chaos.history import Call, Epoch, History, Outcome


def message(number: int, content: str = "") -> dict[str, Any]:
    """A stored message that the call of the same number created."""
    return {"id": str(1000 + number), "content": content or f"m{number}", "edited_timestamp": None}


def created(number: int, outcome: Outcome = Outcome.DONE) -> Call:
    """A call that created a message."""
    call = Call("create", f"m{number}", "writer", started=float(number), ended=number + 0.5, outcome=outcome)
    call.content, call.status = f"m{number}", {Outcome.DONE: 200, Outcome.REFUSED: 403}.get(outcome, 0)
    call.answer = {"id": str(1000 + number)} if outcome is Outcome.DONE else None
    return call


def state(*messages: dict[str, Any], members: int = 2) -> State:
    """What a node serves."""
    ids = frozenset(str(number) for number in range(members))
    return State({"1": list(messages)}, {"7": "all"}, Counter(), members, ids)


def epoch(*numbers: int, name: str = "listener", member_count: int = 2) -> Epoch:
    """A session that received READY, the guild, and the creation of messages."""
    made = Epoch(name, 0, started=0.0, joined_seq=2, joined=0.1)
    guild = {"id": "7", "roles": [{"id": "7", "name": "all"}], "member_count": member_count}
    made.events = [(1, "READY", {}), (2, "GUILD_CREATE", guild)]
    made.events += [(3 + at, "MESSAGE_CREATE", message(number)) for at, number in enumerate(numbers)]
    return made


def history(*parts: Call | Epoch) -> History:
    """A history of calls and sessions."""
    made = History()
    made.calls = [part for part in parts if isinstance(part, Call)]
    made.epochs = [part for part in parts if isinstance(part, Epoch)]
    return made


def test_a_run_without_anything_wrong_has_no_problem() -> None:
    parts = (created(1), created(2), created(3, Outcome.UNKNOWN), created(4, Outcome.REFUSED), epoch(1, 2))
    assert judge(history(*parts), [state(message(1), message(2))] * 2).problems == []
    # What is unknown may have taken effect.
    with_third = [state(message(1), message(2), message(3))]
    assert judge(history(*parts[:4], epoch(1, 2, 3)), with_third).problems == []


def _swapped() -> Epoch:
    made = epoch(1, 2, 3)
    made.events[3], made.events[4] = (4, *made.events[4][1:]), (5, *made.events[3][1:])
    return made


def _with_role(role_id: str, *, known: bool) -> Epoch:
    """A session that receives a role with the guild, or between two messages."""
    made = epoch(1, 2)
    if known:
        made.events[1][2]["roles"].append({"id": role_id, "name": "new"})
    else:
        made.events = [*made.events[:3], (4, "GUILD_ROLE_CREATE", {"role": {"id": role_id, "name": "new"}})]
        made.events.append((5, "MESSAGE_CREATE", message(2)))
    return made


def test_a_session_that_has_a_role_with_its_guild_need_not_receive_its_event() -> None:
    served = state(message(1), message(2))
    served.roles["8"] = "new"
    served.role_entries["8"] = 1
    parts: list[Call | Epoch] = [_role(), created(1), created(2), _with_role("8", known=False)]
    assert judge(history(*parts, _with_role("8", known=True)), [served]).problems == []
    lost = judge(history(*parts, epoch(1, 2)), [served]).problems
    assert any("0 roles too many and 1 too few" in problem for problem in lost), lost


def _gap() -> Epoch:
    made = epoch(1, 2)
    made.events[-1] = (9, *made.events[-1][1:])
    return made


def _edited(content: str) -> Call:
    return Call("edit", "m1", "writer", 1.6, 1.7, Outcome.DONE, 200, content)


def _deleted() -> Call:
    return Call("delete", "m1", "writer", 1.6, 1.7, Outcome.DONE, 204)


def _accepted(name: str) -> Call:
    return Call("accept", "code", name, 1.0, 1.1, Outcome.DONE, 200)


def _role() -> Call:
    return Call("role", "new", "owner", 1.0, 1.1, Outcome.DONE, 200, answer={"id": "8"})


@pytest.mark.parametrize(
    ("parts", "served", "said"),
    [
        ([created(1)], state(), "acknowledged and is lost"),
        ([created(1)], state(message(1), message(1)), "stored 2 times"),
        ([created(1, Outcome.REFUSED)], state(message(1)), "was refused with 403 and is stored"),
        ([], state(message(1)), "never sent"),
        ([created(1), _deleted()], state(message(1)), "was deleted and is stored"),
        ([created(1), _edited("m1 edited")], state(message(1)), "has the content 'm1'"),
        ([created(1)], state({**message(1), "id": "5"}), "is stored as 5"),
        ([_role()], state(), "role new was acknowledged and is lost"),
        ([_role()], state(), "has 0 audit log entries"),
        ([_accepted("a"), _accepted("b")], state(), "was used 2 times"),
        ([created(1), created(2), epoch(1)], state(message(1), message(2)), "never received message m2"),
        ([created(1), epoch(1, 1)], state(message(1)), "more than once"),
        ([created(1), created(2), _gap()], state(message(1), message(2)), "sequence numbers 3 and then 9"),
        ([epoch(1, 2, 3), _swapped()], state(*map(message, (1, 2, 3))), "in another order, or with a hole"),
        ([epoch(1, 2, 3), epoch(1, 3)], state(*map(message, (1, 2, 3))), "in another order, or with a hole"),
        ([epoch(member_count=3)], state(), "has 3 members, not 2"),
    ],
)
def test_each_kind_of_wrong_is_reported(parts: list[Call | Epoch], served: State, said: str) -> None:
    problems = judge(history(*parts), [served]).problems
    assert any(said in problem for problem in problems), problems


def test_nodes_that_serve_different_states_are_reported() -> None:
    problems = judge(history(created(1)), [state(message(1)), state()]).problems
    assert "node 1 serves another state than node 0" in problems
