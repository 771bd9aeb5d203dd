"""A community whose clients compare what events told them with the state that they would receive anew."""

import asyncio
import copy
from typing import Any

from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import GatewaySettings
from moothall.gateway.snapshot.database_source import DatabaseSource
from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.permissions import Permissions
from moothall.resources.voice.operations.sessions import handle_voice_update
from tests.gateway.mirror import Mirror
from tests.gateway.peer import Peer, run_pending
from tests.resources.guild.pictures import picture
from tests.resources.soundboard.sound_files import mp3, uri
from tests.resources.sticker.sticker_files import sticker_form, still
from tests.support.harness import FORUM, VOICE, Caller, Platform, Reply

VIEW = int(Permissions.VIEW_CHANNEL)
PICTURE, STICKER, SOUND = picture(), still(16), uri(mp3(0.2))
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
