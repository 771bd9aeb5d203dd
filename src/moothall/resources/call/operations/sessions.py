"""Operations: calls that gateway sessions join and leave, and that end with them."""

from collections.abc import Collection

from moothall.api.authenticate import Actor, TokenKind
from moothall.api.context import Context, Services
from moothall.api.unit_of_work import run
from moothall.objects.errors import Refusal
from moothall.objects.ids import UserId
from moothall.resources.call import queries
from moothall.resources.call.events import JOIN_CALL_EVENTS, LEAVE_CALL_EVENTS
from moothall.resources.call.operations.joining import join_call, leave_call
from moothall.resources.call.queries import CallVoiceStateRow


async def handle_call_update(services: Services, state: CallVoiceStateRow) -> bool:
    """Handle opcode 4 of a gateway session for a direct message; return False, without an effect, if it is refused."""

    async def work(ctx: Context) -> None:
        await join_call(ctx, state)

    try:
        await run(services, _actor(state.user_id), work, fires=JOIN_CALL_EVENTS)
    except Refusal:
        return False
    return True


async def leave_call_of_session(services: Services, user_id: UserId, session_id: str | None) -> None:
    """Let a user leave the call that they are in with a gateway session, or with any for None."""
    async with services.database.read() as reader:
        state = await queries.get_call_voice_state(reader, user_id)
    if state is None or session_id not in {None, state.session_id}:
        return

    async def work(ctx: Context) -> None:
        await leave_call(ctx, user_id, session_id=session_id)

    await run(services, _actor(user_id), work, fires=LEAVE_CALL_EVENTS)


async def clear_calls(services: Services, node: str = "") -> None:
    """Let the users of a gateway node that starts leave their calls: its sessions have ended."""
    async with services.database.read() as reader:
        states = await queries.select_states_of_node(reader, node)
    for state in states:
        await leave_call_of_session(services, state.user_id, state.session_id)


async def clear_calls_of_others(services: Services, alive: Collection[str]) -> None:
    """Let the users of gateway nodes other than those alive leave their calls."""
    async with services.database.read() as reader:
        nodes = await queries.select_call_nodes(reader)
    for node in nodes:
        if node not in alive:
            await clear_calls(services, node)


def _actor(user_id: UserId) -> Actor:
    return Actor(kind=TokenKind.SESSION, user_id=user_id)
