"""One event for very many sessions: other tasks run meanwhile, and every session receives events in order."""

from moothall.gateway.delivery.hub import Hub
from moothall.gateway.settings import GatewaySettings, NoMetrics
from tests.gateway.peer import World, run_pending
from tests.support.large_audiences import MANY, add_sessions, expected, numbered_event


async def test_a_very_large_audience_is_dispatched_to_in_slices_and_in_order() -> None:
    hub = Hub(GatewaySettings(), World(), NoMetrics())
    _, connections = add_sessions(hub)
    hub.receive([numbered_event(1), numbered_event(2), numbered_event(3)])
    await run_pending()
    assert not hub._delivery_scheduled
    assert all(connection.dispatches == expected(1, 2, 3) for connection in connections)


async def test_a_dispatch_to_one_session_does_not_overtake_a_fan_out_in_progress() -> None:
    hub = Hub(GatewaySettings(), World(), NoMetrics())
    sessions, connections = add_sessions(hub)
    hub._dispatcher.dispatch(sessions, numbered_event(1))
    assert [len(connection.dispatches) for connection in (connections[0], connections[-1])] == [1, 0]
    hub.send(sessions[-1], "NEWS", b"2")
    assert connections[-1].dispatches == expected(1, 2)
    assert all(connection.dispatches == expected(1) for connection in connections[:-1])
    await run_pending()
    assert sum(len(connection.dispatches) for connection in connections) == MANY + 1


async def test_an_audience_of_some_hundreds_is_dispatched_to_at_once() -> None:
    hub = Hub(GatewaySettings(), World(), NoMetrics())
    sessions, connections = add_sessions(hub, 512)
    hub._dispatcher.dispatch(sessions, numbered_event(1))
    assert all(connection.dispatches == expected(1) for connection in connections)
