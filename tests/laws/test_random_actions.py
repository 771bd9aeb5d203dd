"""Random actions of several users in one guild keep every invariant: no user gains rights that could not be granted."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moothall.authority.guild_states import GuildStates
from moothall.objects.permissions import Permissions
from tests.laws.scenario import Scenario, client_state, visible_state
from tests.support.compared_states import assert_equal_to_stored
from tests.support.examples import examples
from tests.support.harness import Platform
from tests.support.town import Client, Town

P = Permissions

_BITS = st.sampled_from(
    [
        0,
        P.VIEW_CHANNEL,
        P.SEND_MESSAGES,
        P.KICK_MEMBERS,
        P.BAN_MEMBERS,
        P.MANAGE_ROLES,
        P.MANAGE_CHANNELS,
        P.MANAGE_ROLES | P.MANAGE_CHANNELS,
        P.MANAGE_WEBHOOKS,
        P.ADMINISTRATOR,
        P.MENTION_EVERYONE,
    ]
).map(int)
_n = st.integers(0, 30)
_nick = st.sampled_from(["Ed", "Flo", None])
STEPS: dict[str, tuple[st.SearchStrategy[Any], ...]] = {
    "create role": (_BITS,),
    "change role": (_n, _BITS),
    "delete role": (_n,),
    "move role": (_n, st.integers(0, 8)),
    "add role": (_n, _n),
    "remove role": (_n, _n),
    "set roles": (_n, _n, _n),
    "create channel": (st.sampled_from([0, 2, 4]), _n, _BITS, _BITS),
    "change channel": (_n, _n, _BITS, _BITS),
    "move channel": (_n, st.integers(0, 8)),
    "delete channel": (_n,),
    "set overwrite": (_n, _n, _BITS, _BITS),
    "delete overwrite": (_n, _n),
    "kick": (_n,),
    "ban": (_n,),
    "unban": (_n,),
    "bulk ban": (_n, _n),
    "nick": (_n, _nick),
    "modify own nick": (_nick,),
    "set timeout": (_n, st.booleans()),
    "prune": (),
    "modify onboarding": (_n, _n),
    "respond to onboarding": (_n,),
    "invite": (_n, st.integers(0, 2), _n),
    "join": (_n,),
    "delete invite": (_n,),
    "leave": (),
    "rename guild": (st.sampled_from(["moot", "hall"]),),
    "transfer ownership": (_n,),
}
# Users with some permissions act more often than the owner, who has all of them.
_actor = st.sampled_from([0, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9])
_steps = st.lists(
    st.one_of([st.tuples(_actor, st.just(name), *values) for name, values in STEPS.items()]), min_size=10, max_size=40
)


class ObservedScenario(Scenario):
    """A scenario with clients of the owner, a moderator and a plain member, compared with the state after each step."""

    async def connect_clients(self) -> None:
        self.town = Town(self.platform)
        self.follower = GuildStates(self.platform.database)
        self.clients = [Client(self.town.node, self.actors[n]) for n in (0, 2, 6)]
        for client in self.clients:
            await client.connect()
            await client.catch_up()
        await self.town.wait_until_idle()

    async def compare_states(self) -> None:
        """Check that a process that follows the guild by its list of changes has the stored state."""
        async with self.platform.database.read() as reader:
            state = await self.follower.state(reader, self.guild.id)
            assert state is not None
            await assert_equal_to_stored(reader, self.follower, state)
            await state.channels(reader)
            await state.auto_moderation_rules(reader)

    async def compare_mirrors(self) -> None:
        """Check that each client's mirror equals the stored state that it may see."""
        await self.town.wait_until_idle()
        for client in self.clients:
            await client.catch_up()
            known = client.mirror.guilds.get(str(self.guild.id))
            viewer = int(client.caller.id)
            assert (known is not None) == (viewer in self.now.members)
            if known is not None:
                assert client_state(known) == visible_state(self.now, viewer)


@settings(
    max_examples=examples(15, fuzz=400),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=_steps)
async def test_random_actions_keep_every_invariant(platform: Platform, steps: list[tuple[Any, ...]]) -> None:
    scenario = ObservedScenario(platform)
    await scenario.create_guild()
    await scenario.connect_clients()
    for actor, name, *values in steps:
        await scenario.act(actor, name, *values)
        await scenario.compare_states()
        await scenario.compare_mirrors()
    for client in scenario.clients:
        await client.peer.disconnect(1000)
    await scenario.town.wait_until_idle()
