"""Convergence: an old state with all events applied equals the state that a new session receives."""

import asyncio
import copy
import json
import os
from pathlib import Path
from typing import Any, Final

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.database_source import DatabaseSource
from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.permissions import Permissions
from moothall.resources.voice.operations.sessions import handle_voice_update
from tests.gateway.mirror import Mirror
from tests.gateway.peer import Peer, run_pending
from tests.harness import FORUM, VOICE, Caller, Platform, Reply
from tests.resources.guild.pictures import picture
from tests.resources.soundboard.sound_files import mp3, uri
from tests.resources.sticker.sticker_files import sticker_form, still

VIEW = int(Permissions.VIEW_CHANNEL)
RECORDING: Final = Path(__file__).parent / "recordings" / "changes.json"
"""What the clients received through `RECORDED`, and new ones after it; the store of `web/` is tested with it too."""
PICTURE, STICKER, SOUND = picture(), still(16), uri(mp3(0.2))

_BITS = st.sampled_from(
    [
        0,
        Permissions.VIEW_CHANNEL,
        Permissions.VIEW_CHANNEL,
        Permissions.ADMINISTRATOR,
        Permissions.MANAGE_ROLES,
        Permissions.MANAGE_THREADS,
        Permissions.VIEW_CHANNEL | Permissions.MANAGE_THREADS,
        Permissions.CONNECT,
    ]
).map(lambda bits: str(int(bits)))
_number = st.integers(0, 7)
_steps = st.lists(
    st.one_of(
        st.tuples(st.just("create role"), _BITS),
        st.tuples(st.just("change role"), _number, _BITS),
        st.tuples(st.just("delete role"), _number),
        st.tuples(st.just("move role"), _number, _number),
        st.tuples(st.just("give role"), _number, _number),
        st.tuples(st.just("take role"), _number, _number),
        st.tuples(st.just("create channel"), st.sampled_from([0, 2, 4]), _number, _BITS, _BITS),
        st.tuples(st.just("change channel"), _number, _number, _BITS, _BITS),
        st.tuples(st.just("rename channel"), _number),
        st.tuples(st.just("delete channel"), _number),
        st.tuples(st.just("set overwrite"), _number, _number, _BITS, _BITS),
        st.tuples(st.just("drop overwrite"), _number, _number),
        st.tuples(st.just("rename guild"), st.sampled_from(["moot", "hall"])),
        st.tuples(st.just("make emoji"), _number),
        st.tuples(st.just("change emoji"), _number, _number),
        st.tuples(st.just("delete emoji"), _number),
        st.tuples(st.just("make sticker")),
        st.tuples(st.just("change sticker"), _number),
        st.tuples(st.just("delete sticker"), _number),
        st.tuples(st.just("make sound"), _number),
        st.tuples(st.just("change sound"), _number, _number),
        st.tuples(st.just("delete sound"), _number),
        st.tuples(st.just("nick"), _number, st.sampled_from(["Ed", None])),
        st.tuples(st.just("time out"), _number),
        st.tuples(st.just("say"), _number),
        st.tuples(st.just("leave"), _number),
        st.tuples(st.just("kick"), _number),
        st.tuples(st.just("ban"), _number),
        st.tuples(st.just("join"), _number),
        st.tuples(st.just("voice"), _number, _number),
        st.tuples(st.just("hang up"), _number),
        st.tuples(st.just("start thread"), _number, _number, st.sampled_from([11, 12, 12])),
        st.tuples(st.just("start from message"), _number, _number),
        st.tuples(st.just("post in forum"), _number),
        st.tuples(st.just("write in thread"), _number, _number),
        st.tuples(st.just("archive"), _number, st.booleans()),
        st.tuples(st.just("delete thread"), _number),
        st.tuples(st.just("join thread"), _number, _number),
        st.tuples(st.just("leave thread"), _number, _number),
        st.tuples(st.just("add to thread"), _number, _number),
        st.tuples(st.just("take from thread"), _number, _number),
        st.tuples(st.just("delete said"), _number),
        st.tuples(st.just("presence"), _number, st.sampled_from(["dnd", "invisible", "online"])),
    ),
    max_size=20,
)


_UNSEEN = {"status": "invisible", "activities": [], "since": 0, "afk": False}


class Client:
    """A connected client and its state."""

    def __init__(self, node: GatewayNode, caller: Caller) -> None:
        self.caller = caller
        self.peer = Peer(node)
        self.mirror = Mirror()
        self.dispatches: list[tuple[str, Any]] = []

    async def connect(self, *, visible: bool = True) -> None:
        """Identify as a library does, with the largest threshold."""
        self.peer.send(
            {
                "op": 2,
                "d": {
                    "token": self.caller.token,
                    "properties": {},
                    "large_threshold": 250,
                    "presence": None if visible else _UNSEEN,
                },
            }
        )

    async def catch_up(self) -> None:
        """Apply every dispatch up to the response to a heartbeat, which follows everything sent before it."""
        self.peer.send({"op": 1, "d": None})
        while (heard := await self.peer.receive())["op"] != 11:
            if heard["op"] == 0:
                self.dispatches.append((heard["t"], heard["d"]))
                self.mirror.apply(heard["t"], copy.deepcopy(heard["d"]))


class Town:
    """A guild with four members, and the changes that steps make."""

    def __init__(self, platform: Platform) -> None:
        self.platform = platform
        source = DatabaseSource(platform.database, platform.services.states)
        self.node = GatewayNode(
            GatewaySettings(identifies_per_window=0, commands_per_minute=0, presences_per_window=0),
            platform.bus,
            source,
        )

    async def set_up(self) -> None:
        """Create the guild and connect a client of each member."""
        self.owner = await self.platform.person()
        self.guild = await self.platform.guild(self.owner)
        self.people = [await self.platform.person() for _ in range(3)]
        await self.guild.join(*self.people)
        crew = await self.guild.role(name="crew")
        await self.guild.role(name="guests", permissions=VIEW)
        hidden = [(self.guild.id, 0, 0, VIEW), (crew, 0, VIEW, 0)]
        await self.guild.channel(name="deck", overwrites=hidden)
        await self.guild.channel(name="bridge", type=VOICE, overwrites=hidden)
        self.path = f"/guilds/{self.guild.id}"
        self.forum = await self.guild.channel(name="forum", type=FORUM)
        self.threads: list[str] = []
        self.clients = [Client(self.node, caller) for caller in (self.owner, *self.people)]
        for client in self.clients:
            await client.connect()
            await client.catch_up()
        await self.wait_until_idle()

    async def wait_until_idle(self) -> None:
        """Wait until every published event is delivered."""
        await run_pending()
        while self._busy():  # noqa: ASYNC110 - the hub has no event for being idle
            await asyncio.sleep(0.001)
        await run_pending()

    def _busy(self) -> bool:
        hub = self.node.hub
        waiting = any(view.buffered is not None or view.joining for view in hub.views.values())
        return waiting or bool(hub._inbox) or bool(hub._tasks)

    async def roles(self) -> list[str]:
        return sorted(r["id"] for r in (await self.owner.get(f"{self.path}/roles")).json)

    async def channels(self) -> list[str]:
        return sorted(c["id"] for c in (await self.owner.get(f"{self.path}/channels")).json)

    async def target(self, number: int) -> tuple[str, int]:
        """A role (type 0) or a person (type 1) for an overwrite."""
        everyone = [(r, 0) for r in await self.roles()] + [(str(p.id), 1) for p in self.people]
        return everyone[number % len(everyone)]

    def person(self, number: int) -> Caller:
        return self.people[number % len(self.people)]

    async def do(self, name: str, *arguments: Any) -> None:
        """Make one change. A request that the API refuses changes nothing."""
        await getattr(self, "_" + name.replace(" ", "_"))(*arguments)

    async def _create_role(self, bits: str) -> None:
        await self.owner.post(f"{self.path}/roles", {"name": "r", "permissions": bits})

    async def _change_role(self, number: int, bits: str) -> None:
        roles = await self.roles()
        await self.owner.patch(f"{self.path}/roles/{roles[number % len(roles)]}", {"permissions": bits, "hoist": True})

    async def _delete_role(self, number: int) -> None:
        roles = await self.roles()
        await self.owner.delete(f"{self.path}/roles/{roles[number % len(roles)]}")

    async def _move_role(self, number: int, position: int) -> None:
        roles = await self.roles()
        await self.owner.patch(f"{self.path}/roles", [{"id": roles[number % len(roles)], "position": position}])

    async def _give_role(self, person: int, number: int) -> None:
        roles = (await self.roles())[1:]
        if not roles:
            return
        await self.owner.put(f"{self.path}/members/{self.person(person).id}/roles/{roles[number % len(roles)]}")

    async def _take_role(self, person: int, number: int) -> None:
        roles = (await self.roles())[1:]
        if not roles:
            return
        await self.owner.delete(f"{self.path}/members/{self.person(person).id}/roles/{roles[number % len(roles)]}")

    async def _create_channel(self, kind: int, number: int, allow: str, deny: str) -> None:
        target, of = await self.target(number)
        overwrites = [{"id": target, "type": of, "allow": allow, "deny": deny}]
        await self.owner.post(f"{self.path}/channels", {"name": "c", "type": kind, "permission_overwrites": overwrites})

    async def _change_channel(self, number: int, whom: int, allow: str, deny: str) -> None:
        channels = await self.channels()
        target, of = await self.target(whom)
        overwrites = [{"id": target, "type": of, "allow": allow, "deny": deny}]
        if channels:
            await self.owner.patch(
                f"/channels/{channels[number % len(channels)]}", {"name": "d", "permission_overwrites": overwrites}
            )

    async def _rename_channel(self, number: int) -> None:
        channels = await self.channels()
        if channels:
            await self.owner.patch(f"/channels/{channels[number % len(channels)]}", {"name": "renamed"})

    async def _delete_channel(self, number: int) -> None:
        channels = await self.channels()
        if channels:
            await self.owner.delete(f"/channels/{channels[number % len(channels)]}")

    async def _set_overwrite(self, number: int, whom: int, allow: str, deny: str) -> None:
        channels = await self.channels()
        target, of = await self.target(whom)
        if channels:
            await self.owner.put(
                f"/channels/{channels[number % len(channels)]}/permissions/{target}",
                {"type": of, "allow": allow, "deny": deny},
            )

    async def _drop_overwrite(self, number: int, whom: int) -> None:
        channels = await self.channels()
        target, _ = await self.target(whom)
        if channels:
            await self.owner.delete(f"/channels/{channels[number % len(channels)]}/permissions/{target}")

    async def _rename_guild(self, name: str) -> None:
        await self.owner.patch(self.path, {"name": name})

    async def _one_of(self, what: str, number: int) -> str | None:
        """The path of one of the guild's emojis, stickers or sounds."""
        set_up = (await self.owner.get(f"{self.path}/{what}")).json
        ids = [item.get("id") or item["sound_id"] for item in (set_up if isinstance(set_up, list) else set_up["items"])]
        return f"{self.path}/{what}/{ids[number % len(ids)]}" if ids else None

    async def _make_emoji(self, number: int) -> None:
        role, _ = await self.target(number)
        await self.owner.post(f"{self.path}/emojis", {"name": "moot", "image": PICTURE, "roles": [role]})

    async def _change_emoji(self, number: int, whom: int) -> None:
        role, _ = await self.target(whom)
        if (path := await self._one_of("emojis", number)) is not None:
            await self.owner.patch(path, {"name": f"hall{whom}", "roles": [role]})

    async def _delete_emoji(self, number: int) -> None:
        if (path := await self._one_of("emojis", number)) is not None:
            await self.owner.delete(path)

    async def _make_sticker(self) -> None:
        await self.owner.post(f"{self.path}/stickers", **sticker_form(STICKER))

    async def _change_sticker(self, number: int) -> None:
        if (path := await self._one_of("stickers", number)) is not None:
            await self.owner.patch(path, {"name": f"hall{number}"})

    async def _delete_sticker(self, number: int) -> None:
        if (path := await self._one_of("stickers", number)) is not None:
            await self.owner.delete(path)

    async def _make_sound(self, number: int) -> None:
        emoji = await self._one_of("emojis", number)
        emoji_id = None if emoji is None else emoji.rpartition("/")[2]
        body = {"name": "gong", "sound": SOUND, "emoji_id": emoji_id}
        await self.owner.post(f"{self.path}/soundboard-sounds", body)

    async def _change_sound(self, number: int, volume: int) -> None:
        if (path := await self._one_of("soundboard-sounds", number)) is not None:
            await self.owner.patch(path, {"volume": volume / 7, "emoji_name": "🔔" if volume % 2 else None})

    async def _delete_sound(self, number: int) -> None:
        if (path := await self._one_of("soundboard-sounds", number)) is not None:
            await self.owner.delete(path)

    async def _nick(self, person: int, nick: str | None) -> None:
        await self.owner.patch(f"{self.path}/members/{self.person(person).id}", {"nick": nick})

    async def _time_out(self, person: int) -> None:
        until = {"communication_disabled_until": "2026-12-01T00:00:00+00:00"}
        await self.owner.patch(f"{self.path}/members/{self.person(person).id}", until)

    async def _say(self, number: int) -> None:
        channels = await self.channels()
        if channels:
            await self.owner.post(f"/channels/{channels[number % len(channels)]}/messages", {"content": "hello"})

    def thread(self, number: int) -> str:
        return self.threads[number % len(self.threads)] if self.threads else "1"

    async def _start_thread(self, person: int, number: int, kind: int) -> None:
        channels = await self.channels()
        if channels:
            path = f"/channels/{channels[number % len(channels)]}/threads"
            self._note(await self.person(person).post(path, {"name": "t", "type": kind}))

    async def _start_from_message(self, person: int, number: int) -> None:
        channels = await self.channels()
        if channels:
            path = f"/channels/{channels[number % len(channels)]}/messages"
            said = await self.owner.post(path, {"content": "hello"})
            if said.status == 200:
                self._note(await self.person(person).post(f"{path}/{said.json['id']}/threads", {"name": "t"}))

    async def _post_in_forum(self, person: int) -> None:
        body = {"name": "p", "message": {"content": f"<@{self.owner.id}>"}}
        self._note(await self.person(person).post(f"/channels/{self.forum}/threads", body))

    def _note(self, reply: Reply) -> None:
        if reply.status == 201:
            self.threads.append(reply.json["id"])

    async def _write_in_thread(self, person: int, number: int) -> None:
        body = {"content": f"<@{self.person(number).id}>"}
        await self.person(person).post(f"/channels/{self.thread(number)}/messages", body)

    async def _archive(self, number: int, archived: bool) -> None:
        await self.owner.patch(f"/channels/{self.thread(number)}", {"archived": archived, "name": f"t{number}"})

    async def _delete_thread(self, number: int) -> None:
        await self.owner.delete(f"/channels/{self.thread(number)}")

    async def _join_thread(self, person: int, number: int) -> None:
        await self.person(person).put(f"/channels/{self.thread(number)}/thread-members/@me")

    async def _leave_thread(self, person: int, number: int) -> None:
        await self.person(person).delete(f"/channels/{self.thread(number)}/thread-members/@me")

    async def _add_to_thread(self, person: int, number: int) -> None:
        await self.owner.put(f"/channels/{self.thread(number)}/thread-members/{self.person(person).id}")

    async def _take_from_thread(self, person: int, number: int) -> None:
        await self.owner.delete(f"/channels/{self.thread(number)}/thread-members/{self.person(person).id}")

    async def _delete_said(self, number: int) -> None:
        path = f"/channels/{self.thread(number)}/messages"
        said = await self.owner.get(path)
        if said.status == 200 and said.json:
            await self.owner.delete(f"{path}/{said.json[0]['id']}")

    async def _leave(self, person: int) -> None:
        await self.person(person).delete(f"/users/@me/guilds/{self.guild.id}")

    async def _kick(self, person: int) -> None:
        await self.owner.delete(f"{self.path}/members/{self.person(person).id}")

    async def _ban(self, person: int) -> None:
        await self.owner.put(f"{self.path}/bans/{self.person(person).id}", {})
        await self.owner.delete(f"{self.path}/bans/{self.person(person).id}")

    async def _join(self, person: int) -> None:
        for channel in await self.channels():
            invite = await self.owner.post(f"/channels/{channel}/invites", {})
            if invite.status < 300:
                await self.person(person).post(f"/invites/{invite.json['code']}", {})
                return

    async def _voice(self, person: int, number: int) -> None:
        channels = await self.channels()
        caller = self.person(person)
        session = self.node.hub.sessions_by_user[caller.id][0]
        if channels:
            await handle_voice_update(
                self.platform.services,
                user_id=caller.id,
                session_id=session.id,
                guild_id=self.guild.id,
                channel_id=ChannelId(Snowflake(int(channels[number % len(channels)]))),
                self_mute=bool(number % 2),
                self_deaf=False,
                self_video=False,
            )

    async def _hang_up(self, person: int) -> None:
        await handle_voice_update(
            self.platform.services,
            user_id=self.person(person).id,
            session_id="",
            guild_id=self.guild.id,
            channel_id=None,
            self_mute=False,
            self_deaf=False,
            self_video=False,
        )

    async def _presence(self, person: int, status: str) -> None:
        client = self.clients[1 + person % len(self.people)]
        client.peer.send({"op": 3, "d": {"status": status, "activities": [], "since": None, "afk": False}})


async def converges(town: Town, steps: list[tuple[Any, ...]]) -> list[Client]:
    """Make changes, and compare the clients' states with those of new sessions, which are returned."""
    await town.set_up()
    for name, *values in steps:
        await town.do(name, *values)
    for client in town.clients:
        await client.catch_up()
    await town.wait_until_idle()
    fresh = [Client(town.node, client.caller) for client in town.clients]
    for client in fresh:
        await client.connect(visible=False)
        await client.catch_up()
    await town.wait_until_idle()
    for old, new in zip(town.clients, fresh, strict=True):
        await old.catch_up()
        await new.catch_up()
        assert old.mirror.state() == new.mirror.state()
    for client in (*town.clients, *fresh):
        await client.peer.disconnect(1000)
    await town.wait_until_idle()
    return fresh


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=_steps)
async def test_the_state_from_events_equals_the_state_of_a_fresh_session(
    platform: Platform, steps: list[tuple[Any, ...]]
) -> None:
    town = Town(platform)
    await converges(town, steps)


_V, _A, _0 = str(VIEW), str(int(Permissions.ADMINISTRATOR)), "0"
RECORDED: Final[list[tuple[Any, ...]]] = [
    ("say", 0), ("say", 3), ("rename channel", 0), ("rename channel", 3),
    ("create role", _V), ("create role", _0), ("change role", 1, _V), ("move role", 1, 2),
    ("give role", 0, 0), ("give role", 1, 1), ("give role", 0, 2), ("take role", 1, 1),
    ("create channel", 4, 0, _V, _0), ("create channel", 0, 0, _0, _V), ("create channel", 2, 1, _V, _0),
    ("set overwrite", 0, 1, _V, _0), ("set overwrite", 3, 2, _0, _V), ("drop overwrite", 0, 1),
    ("change channel", 5, 0, _0, _V), ("change channel", 4, 1, _V, _0),
    ("make emoji", 1), ("make emoji", 2), ("change emoji", 0, 2), ("delete emoji", 1),
    ("make sticker",), ("make sticker",), ("change sticker", 0), ("delete sticker", 1),
    ("make sound", 0), ("change sound", 0, 3), ("rename guild", "hall"),
    ("nick", 0, "Ed"), ("nick", 1, "Ed"), ("nick", 1, None), ("time out", 2),
    ("start thread", 0, 0, 11), ("start thread", 1, 0, 12), ("start from message", 0, 0), ("post in forum", 1),
    ("write in thread", 0, 1), ("write in thread", 1, 0), ("join thread", 1, 0), ("join thread", 2, 2),
    ("leave thread", 1, 0), ("add to thread", 2, 1), ("take from thread", 2, 1), ("delete said", 2),
    ("archive", 0, True), ("archive", 0, False), ("archive", 2, True), ("start thread", 2, 3, 11),
    ("voice", 0, 3), ("voice", 1, 3), ("voice", 2, 3), ("voice", 0, 2), ("voice", 1, 2), ("voice", 0, 4),
    ("voice", 2, 4), ("voice", 1, 7), ("hang up", 1), ("delete channel", 7),
    ("presence", 0, "dnd"), ("presence", 1, "invisible"), ("presence", 1, "online"),
    ("delete role", 2), ("delete channel", 6), ("set overwrite", 2, 0, _0, _V), ("delete thread", 3),
    ("leave", 1), ("join", 1), ("kick", 2), ("join", 2), ("say", 1), ("give role", 2, 1), ("change role", 0, _V),
    ("change role", 2, _A), ("give role", 1, 1), ("delete role", 1), ("rename channel", 1),
]  # fmt: skip
"""Every kind of change at least once."""


async def test_the_recorded_changes_converge(platform: Platform) -> None:
    town = Town(platform)
    fresh = await converges(town, RECORDED)
    if os.environ.get("MOOTHALL_TEST_RECORDINGS") == "1":
        lines = [
            json.dumps({"changed": old.dispatches, "fresh": new.dispatches}, separators=(",", ":"))
            for old, new in zip(town.clients, fresh, strict=True)
        ]
        RECORDING.write_text("[" + ",\n".join(lines) + "]\n")


def test_the_recording_converges() -> None:
    for client in json.loads(RECORDING.read_text()):
        mirrors = {}
        for name, dispatches in client.items():
            mirrors[name] = Mirror()
            for dispatch in dispatches:
                mirrors[name].apply(*dispatch)
        assert mirrors["changed"].state() == mirrors["fresh"].state()
