"""What must hold at calm, when no fault has happened for a while, and at the end, when no client is left."""

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Final

from moothall.objects.ids import UserId
from tests.simulation.gateway.client import Client, Violation
from tests.simulation.gateway.platform import RunningNode

if TYPE_CHECKING:
    from tests.simulation.gateway.simulation import Simulation

_RANKS: Final = ("online", "dnd", "idle")
"""The statuses that others see, highest first."""


def describe(context: dict[str, Any]) -> str:
    """An exception that reached the loop's handler, as a failure."""
    error = context.get("exception")
    if isinstance(error, Violation):
        return str(error)
    return f"{context.get('message')}: {type(error).__name__}: {error}"


def _fail_if(broken: object, message: str) -> None:
    if broken:
        raise Violation(message)


def check_calm(simulation: "Simulation") -> None:
    """Fail unless every client is connected and has exactly what it may see."""
    for context in simulation.loop.errors:
        raise Violation(describe(context))
    for running in simulation.platform.nodes.values():
        _check_idle(running)
    statuses = _statuses(simulation.clients)
    for client in simulation.clients:
        if not client.stopped:
            _check_state(client)
            _check_messages(simulation, client)
            _check_presences(client, statuses)
            _check_lists(client, statuses)


def _check_idle(running: RunningNode) -> None:
    """Fail if a node still has to deliver something."""
    hub = running.node.hub
    _fail_if(hub._inbox or hub._dispatcher.in_progress, f"{running.name} delivers no longer")
    _fail_if(hub._tasks, f"{running.name} has tasks that do not end")
    for view in hub.views.values():
        _fail_if(view.joining, f"a session of {running.name} joins a guild for ever")
        _fail_if(view.buffered is not None, f"{running.name} buffers the events of a guild for ever")
        _fail_if(not view.members, f"{running.name} has a view of a guild without sessions")


def _check_state(client: Client) -> None:
    _fail_if(not client.identified or client.record is None, f"client {client.number} is not connected")
    assert client.record is not None
    _fail_if(client.record.gap, f"client {client.number} {client.record.gap}")
    state, expected = client.state(), client.expected_state()
    for guild_id in sorted({*state, *expected}):
        if state.get(guild_id) != expected.get(guild_id):
            actual, right = state.get(guild_id), expected.get(guild_id)
            if actual is None or right is None:
                raise Violation(
                    f"client {client.number} {'misses' if actual is None else 'still has'} guild {guild_id}"
                )
            name = next(name for name in right if actual[name] != right[name])
            raise Violation(
                f"client {client.number} (user {client.user_id}) has other {name} of guild {guild_id}: "
                f"{_difference(actual[name], right[name])}"
            )


def _statuses(clients: Iterable[Client]) -> dict[UserId, str]:
    """The statuses of the users who are not offline: of several clients the highest one."""
    statuses: dict[UserId, str] = {}
    for client in clients:
        if not client.stopped and client.status in _RANKS:
            other = statuses.get(client.user_id, client.status)
            statuses[client.user_id] = min(other, client.status, key=_RANKS.index)
    return statuses


def _check_presences(client: Client, statuses: Mapping[UserId, str]) -> None:
    """Fail if a client has other presences of a guild than there are."""
    shown, expected = client.presences(), client.expected_presences(statuses)
    for guild_id, presences in expected.items():
        if shown[guild_id] != presences:
            raise Violation(
                f"client {client.number} (user {client.user_id}) has other presences of guild {guild_id}: "
                f"{_difference(shown[guild_id], presences)}"
            )


def _check_lists(client: Client, statuses: Mapping[UserId, str]) -> None:
    """Fail if a member list that a client has subscribed to shows other rows than there are."""
    shown, expected = client.lists(), client.expected_lists(statuses)
    for (guild_id, channel_id), rows in expected.items():
        if shown[guild_id, channel_id] != rows:
            raise Violation(
                f"client {client.number} has another member list of channel {channel_id} of guild {guild_id}: "
                f"{shown[guild_id, channel_id]} instead of {rows}"
            )


def _difference(actual: Any, expected: Any) -> str:
    if not isinstance(actual, dict):
        return f"{actual} instead of {expected}"
    keys = [key for key in {**actual, **expected} if actual.get(key) != expected.get(key)]
    return ", ".join(f"{key}: {actual.get(key)} instead of {expected.get(key)}" for key in keys)


def _check_messages(simulation: "Simulation", client: Client) -> None:
    """Fail if the session missed a message that was sent after it had the guild."""
    record, world = client.record, simulation.world
    if record is None:
        return
    for guild_id, since in record.since.items():
        for message in world.messages.get(guild_id, ()):
            if message.position <= since or message.id in record.messages:
                continue
            # A message is stored and published at two moments, and the guild may change in between.
            last = message.published or world.position
            stood = world.between(guild_id, message.known or message.position - 1, last)
            members = world.between(guild_id, since, last)
            is_member = all(guild is not None and client.user_id in guild.members for guild in members)
            if is_member and all(
                guild is not None and guild.sees(client.user_id, message.channel_id) for guild in stood
            ):
                raise Violation(
                    f"client {client.number} missed message {message.id} of guild {guild_id} without being told"
                )


def check_end(simulation: "Simulation") -> None:
    """Fail if a node has anything left of the clients that are gone."""
    for context in simulation.loop.errors:
        raise Violation(describe(context))
    for running in simulation.platform.nodes.values():
        node, name = running.node, running.name
        _check_idle(running)
        _fail_if(node.hub.sessions or node.hub.sessions_by_user, f"{name} has sessions left")
        _fail_if(node.hub.views, f"{name} has views left")
        _fail_if(node.connections or node.ends.detached, f"{name} has connections left")
        _fail_if(node.unidentified.count, f"{name} counts unidentified connections that are gone")
        _fail_if(running.tasks, f"{name} has handlers of WebSockets left")
