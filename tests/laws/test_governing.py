"""A guild governed at random by several people: nobody gains what they could not be given, and everything adds up."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moothall.objects.permissions import Permissions
from tests.gateway.test_convergence import Client, Town
from tests.harness import Platform
from tests.laws.realm import Realm, believed, stored

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
    "give role": (_n, _n),
    "take role": (_n, _n),
    "set roles": (_n, _n, _n),
    "create channel": (st.sampled_from([0, 2, 4]), _n, _BITS, _BITS),
    "change channel": (_n, _n, _BITS, _BITS),
    "move channel": (_n, st.integers(0, 8)),
    "delete channel": (_n,),
    "set overwrite": (_n, _n, _BITS, _BITS),
    "drop overwrite": (_n, _n),
    "kick": (_n,),
    "ban": (_n,),
    "unban": (_n,),
    "bulk ban": (_n, _n),
    "nick": (_n, _nick),
    "nick myself": (_nick,),
    "time out": (_n, st.booleans()),
    "prune": (),
    "ask newcomers": (_n, _n),
    "answer": (_n,),
    "invite": (_n, st.integers(0, 2), _n),
    "join": (_n,),
    "drop invite": (_n,),
    "leave": (),
    "rename guild": (st.sampled_from(["moot", "hall"]),),
    "hand over": (_n,),
}
# Whoever has something to lose or to gain acts more often than the owner, who may do everything.
_actor = st.sampled_from([0, 1, 2, 2, 2, 3, 3, 4, 5, 6, 7, 8, 9])
_steps = st.lists(
    st.one_of([st.tuples(_actor, st.just(name), *values) for name, values in STEPS.items()]), min_size=10, max_size=40
)


class Watched(Realm):
    """The realm with clients of the owner, a moderator and a plain member, whose mirrors are compared at each step."""

    async def watch(self) -> None:
        self.town = Town(self.platform)
        self.clients = [Client(self.town.node, self.actors[n]) for n in (0, 2, 6)]
        for client in self.clients:
            await client.connect()
            await client.catch_up()
        await self.town.quiet()

    async def compare(self) -> None:
        """Each client believes what is stored, as far as it may know."""
        await self.town.quiet()
        for client in self.clients:
            await client.catch_up()
            known = client.mirror.guilds.get(str(self.guild.id))
            viewer = int(client.caller.id)
            assert (known is not None) == (viewer in self.now.members)
            if known is not None:
                assert believed(known) == stored(self.now, viewer)


@settings(
    max_examples=40,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(steps=_steps)
async def test_nobody_gains_what_they_could_not_be_given_and_everything_adds_up(
    platform: Platform, steps: list[tuple[Any, ...]]
) -> None:
    realm = Watched(platform)
    await realm.found()
    await realm.watch()
    for actor, name, *values in steps:
        await realm.take(actor, name, *values)
        await realm.compare()
    for client in realm.clients:
        await client.peer.dropped(1000)
    await realm.town.quiet()
