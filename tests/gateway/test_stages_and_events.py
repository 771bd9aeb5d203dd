"""Events and stages on the gateway: who hears of them, and that what clients believe of them stays true."""

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moothall.objects.ids import ChannelId
from moothall.objects.intents import Intent
from moothall.objects.permissions import Permissions
from tests.gateway.peer import Peer
from tests.resources.scheduled_event.planning import external, later, moment, path_of, plan, within
from tests.support.examples import examples
from tests.support.harness import STAGE, VOICE, Caller, Platform
from tests.support.town import Town, converges

VIEW = int(Permissions.VIEW_CHANNEL)
_number = st.integers(0, 7)
_bits = st.sampled_from(["0", str(VIEW)])
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("plan"), _number),
        st.tuples(st.just("plan"), _number),
        st.tuples(st.just("rename"), _number),
        st.tuples(st.just("move"), _number, _number),
        st.tuples(st.just("set status"), _number, st.sampled_from([2, 3, 4])),
        st.tuples(st.just("call off"), _number),
        st.tuples(st.just("recur"), _number),
        st.tuples(st.just("except"), _number, _number, st.booleans()),
        st.tuples(st.just("except"), _number, _number, st.booleans()),
        st.tuples(st.just("apply the rule"), _number, _number),
        st.tuples(st.just("open stage"), _number),
        st.tuples(st.just("hold stage"), _number),
        st.tuples(st.just("change topic"), _number),
        st.tuples(st.just("close stage"), _number),
        st.tuples(st.just("give role"), _number, _number),
        st.tuples(st.just("take role"), _number, _number),
        st.tuples(st.just("set overwrite"), _number, _number, _bits, _bits),
        st.tuples(st.just("drop overwrite"), _number, _number),
        st.tuples(st.just("delete channel"), _number),
        st.tuples(st.just("leave"), _number),
        st.tuples(st.just("join"), _number),
    ),
    max_size=20,
)


class Season(Town):
    """A town that plans events and opens stages, some of them in hidden channels."""

    async def set_up(self) -> None:
        """Create the guild with voice and stage channels and connect a client of each member."""
        await super().set_up()
        hidden = [{"id": str(self.guild.id), "type": 0, "deny": str(VIEW)}]
        rooms = {name: str(self.guild.general) for name in ("rules_channel_id", "public_updates_channel_id")}
        assert (await self.owner.patch(self.path, {"features": ["COMMUNITY"], **rooms})).status == 200
        self.locations: list[dict[str, Any]] = [{"entity_type": 3, "channel_id": None}]
        for kind, entity, overwrites in ((VOICE, 2, []), (VOICE, 2, hidden), (STAGE, 1, []), (STAGE, 1, hidden)):
            body = {"name": "place", "type": kind, "permission_overwrites": overwrites}
            made = await self.owner.post(f"{self.path}/channels", body)
            assert made.status == 201, made.body
            self.locations.append({"entity_type": entity, "channel_id": made.json["id"]})

    async def events(self) -> list[str]:
        return [event["id"] for event in (await self.owner.get(f"{self.path}/scheduled-events")).json]

    async def event(self, number: int) -> str:
        known = await self.events()
        return f"{self.path}/scheduled-events/{known[number % len(known)] if known else 1}"

    def location(self, number: int) -> dict[str, Any]:
        return self.locations[number % len(self.locations)]

    def stage(self, number: int) -> str:
        return str([location["channel_id"] for location in self.locations if location["entity_type"] == 1][number % 2])

    async def _plan(self, number: int) -> None:
        location = self.location(number)
        body = external(**location) if location["channel_id"] is None else external(**location, entity_metadata=None)
        await self.owner.post(f"{self.path}/scheduled-events", body)

    async def _rename(self, number: int) -> None:
        await self.owner.patch(await self.event(number), {"name": f"name {number}"})

    async def _move(self, number: int, where: int) -> None:
        more = {"entity_metadata": {"location": "there"}, "scheduled_end_time": moment(hours=5)}
        await self.owner.patch(await self.event(number), {**self.location(where), **more})

    async def _set_status(self, number: int, status: int) -> None:
        await self.owner.patch(await self.event(number), {"status": status})

    async def _call_off(self, number: int) -> None:
        await self.owner.delete(await self.event(number))

    async def _recur(self, number: int) -> None:
        event = (await self.owner.get(await self.event(number))).json
        if "id" in event:
            rule = {"start": event["scheduled_start_time"], "frequency": number % 2 + 2, "interval": 1}
            await self.owner.patch(await self.event(number), {"recurrence_rule": rule})

    async def _except(self, number: int, days: int, canceled: bool) -> None:
        path = await self.event(number)
        event = (await self.owner.get(path)).json
        if "id" in event:
            original = later(event["scheduled_start_time"], days=days)
            body = {"original_scheduled_start_time": original, "is_canceled": canceled}
            await self.owner.post(f"{path}/exceptions", body)

    async def _apply_the_rule(self, number: int, which: int) -> None:
        path = await self.event(number)
        listed = (await self.owner.get(path)).json.get("guild_scheduled_event_exceptions")
        if listed:
            await self.owner.delete(f"{path}/exceptions/{listed[which % len(listed)]['event_exception_id']}")

    async def _open_stage(self, number: int) -> None:
        await self.owner.post("/stage-instances", {"channel_id": self.stage(number), "topic": "live"})

    async def _hold_stage(self, number: int) -> None:
        await self._open_stage(number)
        await self._close_stage(number)

    async def _change_topic(self, number: int) -> None:
        await self.owner.patch(f"/stage-instances/{self.stage(number)}", {"topic": f"topic {number}"})

    async def _close_stage(self, number: int) -> None:
        await self.owner.delete(f"/stage-instances/{self.stage(number)}")


@settings(
    max_examples=examples(15, fuzz=400), deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(steps=_steps)
async def test_the_state_of_events_and_stages_equals_that_of_a_fresh_session(
    platform: Platform, steps: list[tuple[Any, ...]]
) -> None:
    town = Season(platform)
    await converges(town, steps)


async def room(town: Town, kind: int, *, hidden: bool = False) -> ChannelId:
    """A channel in the gateway's view."""
    guild = town.guild
    channel = await guild.channel(type=kind, overwrites=[(guild.id, 0, 0, VIEW)] if hidden else [])
    await town.owner.patch(f"/channels/{channel}", {"name": "room"})
    await town.wait_until_idle()
    return channel


async def greeted(town: Town, caller: Caller, intents: int) -> tuple[Peer, dict[str, Any]]:
    """A session and the `d` of its GUILD_CREATE."""
    peer = Peer(town.node)
    await peer.identify(caller.token, intents=intents)
    await town.wait_until_idle()
    created = [data for name, data in await peer.dispatches() if name == "GUILD_CREATE"]
    return peer, created[0]


async def test_guild_create_has_the_events_and_stages_that_the_member_may_see(platform: Platform) -> None:
    town = Town(platform)
    await town.set_up()
    guild = town.guild
    hidden = await room(town, VOICE, hidden=True)
    stages = [await room(town, STAGE), await room(town, STAGE, hidden=True)]
    seen = await plan(town.owner, guild, external())
    unseen = await plan(town.owner, guild, within(hidden))
    over = await plan(town.owner, guild, external())
    await town.owner.patch(path_of(over), {"status": 4})
    for stage in stages:
        await town.owner.post("/stage-instances", {"channel_id": str(stage), "topic": "x"})
    _, created = await greeted(town, town.owner, Intent.GUILDS)
    assert [e["id"] for e in created["guild_scheduled_events"]] == [seen["id"], unseen["id"]]
    assert [s["channel_id"] for s in created["stage_instances"]] == [str(stage) for stage in stages]
    assert "user_count" not in created["guild_scheduled_events"][0]
    _, created = await greeted(town, town.people[0], Intent.GUILDS)
    assert [e["id"] for e in created["guild_scheduled_events"]] == [seen["id"]]
    assert [s["channel_id"] for s in created["stage_instances"]] == [str(stages[0])]


async def test_events_need_their_intent_and_the_right_to_view_the_channel(platform: Platform) -> None:
    town = Town(platform)
    await town.set_up()
    guild, ann = town.guild, await platform.bot(town.owner)
    await guild.join(ann)
    hidden = await room(town, VOICE, hidden=True)
    wide, _ = await greeted(town, ann, Intent.GUILDS | Intent.GUILD_SCHEDULED_EVENTS)
    narrow, _ = await greeted(town, ann, Intent.GUILDS)
    event = await plan(town.owner, guild, external())
    secret = await plan(town.owner, guild, within(hidden))
    await town.owner.put(f"{path_of(event)}/users/@me")
    await town.owner.put(f"{path_of(secret)}/users/@me")
    await town.owner.patch(path_of(event), {"status": 2})
    await town.owner.delete(f"{path_of(event)}/users/@me")
    await town.owner.delete(path_of(event))
    await town.wait_until_idle()
    assert await wide.names() == [
        "GUILD_SCHEDULED_EVENT_CREATE",
        "GUILD_SCHEDULED_EVENT_USER_ADD",
        "GUILD_SCHEDULED_EVENT_UPDATE",
        "GUILD_SCHEDULED_EVENT_USER_REMOVE",
        "GUILD_SCHEDULED_EVENT_DELETE",
    ]
    assert await narrow.names() == []


async def test_a_revealed_channel_comes_with_its_events_and_its_stage(platform: Platform) -> None:
    town = Town(platform)
    await town.set_up()
    guild, ann = town.guild, await platform.bot(town.owner)
    await guild.join(ann)
    stage = await room(town, STAGE, hidden=True)
    event = await plan(town.owner, guild, within(stage, stage=True))
    await town.owner.patch(path_of(event), {"status": 2})
    wide, _ = await greeted(town, ann, Intent.GUILDS | Intent.GUILD_SCHEDULED_EVENTS)
    narrow, _ = await greeted(town, ann, Intent.GUILDS)
    await town.owner.put(f"/channels/{stage}/permissions/{ann.id}", {"type": 1, "allow": str(VIEW)})
    await town.wait_until_idle()
    assert await wide.names() == ["CHANNEL_CREATE", "STAGE_INSTANCE_CREATE", "GUILD_SCHEDULED_EVENT_CREATE"]
    assert await narrow.names() == ["CHANNEL_CREATE", "STAGE_INSTANCE_CREATE"]
