"""Each act in direct messages, in groups and of users: which events each side's session receives over a real socket."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, NamedTuple, Self
from urllib.parse import quote

import pytest

from tests.clients.live import Bot, Person, World
from tests.gateway.raw_sockets import RawClient

THUMB = quote("👍")
ALL_INTENTS = 53_608_447
BLOCKED = 2
PATIENCE = 60
_OF_CONNECTIONS = frozenset({"PRESENCE_UPDATE", "SESSIONS_REPLACE", "READY", "GUILD_CREATE"})


class Side:
    """A user with one session."""

    def __init__(self, user: Person, client: RawClient) -> None:
        self.user = user
        self.client = client

    @classmethod
    async def open(cls, user: Person, *, bot: bool = False) -> Self:
        """Identify, with every intent."""
        url = user.world.server.url.replace("http", "ws") + "/gateway?v=10&encoding=json"
        client = await RawClient.open(url)
        client.identify(user.token.removeprefix("Bot "), **({"intents": ALL_INTENTS} if bot else {}))
        await client.until("READY")
        side = cls(user, client)
        await side.received()
        return side

    async def received(self) -> list[str]:
        """The names of what was dispatched before the acknowledgement of a heartbeat that is sent now."""
        names: list[str] = []
        self.client.send(1, self.client.seq)
        while (payload := await self.client.receive()) is not None and payload["op"] != 11:
            if payload["op"] == 0 and payload["t"] not in _OF_CONNECTIONS:
                names.append(payload["t"])
        return names


class Scene(NamedTuple):
    """Three friends and a bot that share a guild, each with a session."""

    alice: Side
    bob: Side
    carol: Side
    bot: Side
    application: Bot
    guild_id: int

    async def close(self) -> None:
        """End the sessions."""
        for side in (self.alice, self.bob, self.carol, self.bot):
            await side.client.close()

    async def after(self, act: Awaitable[Any]) -> tuple[Any, dict[str, list[str]]]:
        """The answer to an act, and what each side received that received anything."""
        answer = await act
        sides = {"alice": self.alice, "bob": self.bob, "carol": self.carol, "bot": self.bot}
        received = {name: await side.received() for name, side in sides.items()}
        return answer, {name: names for name, names in received.items() if names}


@pytest.fixture
async def scene(world: World) -> Any:
    """The scene."""
    alice, bob, carol = [await world.person(name) for name in ("alice", "bob", "carol")]
    guild_id = await world.guild(alice)
    application = await world.bot(alice, guild_id)
    await alice.invite(await world.text_channel(alice, guild_id), bob, carol)
    for one, other in ((alice, bob), (alice, carol), (bob, carol)):
        await one.put(f"/users/@me/relationships/{other.id}", {})
        await other.put(f"/users/@me/relationships/{one.id}", {})
    bot = Person(world, application.id, "bot", f"Bot {application.token}")
    async with asyncio.timeout(PATIENCE):
        sides = [await Side.open(person) for person in (alice, bob, carol)]
        made = Scene(sides[0], sides[1], sides[2], await Side.open(bot, bot=True), application, guild_id)
        for side in made[:4]:
            await side.received()
        yield made
        await made.close()


class DirectChannel(NamedTuple):
    """A channel outside of guilds, in which alice and another user act."""

    scene: Scene
    other: Person
    path: str
    message: str
    """The path of alice's message."""
    poll: str
    """The path of the other user's poll."""

    @property
    def alice(self) -> Person:
        """The user who has opened the channel."""
        return self.scene.alice.user

    @property
    def pin(self) -> str:
        """The path of the message as a pinned one."""
        return self.message.replace("/messages/", "/messages/pins/")


Act = Callable[[DirectChannel], Awaitable[Any]]
EVERYBODY, ALICE = "everybody in the channel", "alice alone"
POLL = {
    "question": {"text": "Which?"},
    "answers": [{"poll_media": {"text": "this"}}, {"poll_media": {"text": "that"}}],
    "duration": 1,
}
_PINNED = ["MESSAGE_UPDATE", "CHANNEL_PINS_UPDATE", "MESSAGE_CREATE"]

ACTS: list[tuple[str, Act, str, list[str]]] = [
    ("edit", lambda at: at.alice.patch(at.message, {"content": "changed"}), EVERYBODY, ["MESSAGE_UPDATE"]),
    ("react", lambda at: at.other.put(f"{at.message}/reactions/{THUMB}/@me"), EVERYBODY, ["MESSAGE_REACTION_ADD"]),
    (
        "remove a reaction",
        lambda at: at.other.delete(f"{at.message}/reactions/{THUMB}/@me"),
        EVERYBODY,
        ["MESSAGE_REACTION_REMOVE"],
    ),
    ("pin", lambda at: at.other.put(at.pin), EVERYBODY, _PINNED),
    ("read", lambda at: at.alice.post(f"{at.message}/ack", {"token": None}), ALICE, ["MESSAGE_ACK"]),
    ("read the pins", lambda at: at.alice.post(f"{at.path}/pins/ack"), ALICE, ["CHANNEL_PINS_ACK"]),
    ("unpin", lambda at: at.alice.delete(at.pin), EVERYBODY, _PINNED[:2]),
    ("type", lambda at: at.other.post(f"{at.path}/typing"), EVERYBODY, ["TYPING_START"]),
    ("type oneself", lambda at: at.alice.post(f"{at.path}/typing"), EVERYBODY, ["TYPING_START"]),
    (
        "vote",
        lambda at: at.alice.put(f"{at.poll}/answers/@me", {"answer_ids": ["1"]}),
        EVERYBODY,
        ["MESSAGE_POLL_VOTE_ADD"],
    ),
    (
        "take back a vote",
        lambda at: at.alice.put(f"{at.poll}/answers/@me", {"answer_ids": []}),
        EVERYBODY,
        ["MESSAGE_POLL_VOTE_REMOVE"],
    ),
    ("end a poll", lambda at: at.other.post(f"{at.poll}/expire"), EVERYBODY, ["MESSAGE_UPDATE", "MESSAGE_CREATE"]),
    ("delete", lambda at: at.alice.delete(at.message), EVERYBODY, ["MESSAGE_DELETE"]),
]
"""Acts in a channel, in this order: who receives which events."""


@pytest.mark.parametrize("kind", ["direct message", "direct message with a bot", "group"])
async def test_everybody_in_a_channel_outside_of_guilds_receives_what_is_done_there(scene: Scene, kind: str) -> None:
    alice = scene.alice.user
    other, names = (scene.bot, ["alice", "bot"]) if kind.endswith("bot") else (scene.bob, ["alice", "bob"])
    body: dict[str, Any] = {"recipient_id": str(other.user.id)}
    if kind == "group":
        names.append("carol")
        body = {"recipients": [str(scene.bob.user.id), str(scene.carol.user.id)]}
    channel, received = await scene.after(alice.post("/users/@me/channels", body))
    # The other user of a direct message has the channel with its first message, and a bot has none.
    assert received == {name: ["CHANNEL_CREATE"] for name in (names if kind == "group" else ["alice"])}
    path = f"/channels/{channel['id']}"
    sent, received = await scene.after(alice.post(f"{path}/messages", {"content": "hello"}))
    opened = ["CHANNEL_CREATE"] if kind == "direct message" else []
    assert received == {name: [*(opened if name == "bob" else []), "MESSAGE_CREATE"] for name in names}
    polled, received = await scene.after(other.user.post(f"{path}/messages", {"poll": POLL}))
    assert received == {name: ["MESSAGE_CREATE"] for name in names}
    direct = DirectChannel(scene, other.user, path, f"{path}/messages/{sent['id']}", f"{path}/polls/{polled['id']}")
    for name, act, audience, events in ACTS:
        _, received = await scene.after(act(direct))
        assert received == dict.fromkeys(names if audience is EVERYBODY else ["alice"], events), name


async def test_members_of_a_group_receive_how_it_changes(scene: Scene) -> None:
    alice, bob, carol = (side.user for side in scene[:3])
    recipients = [str(bob.id), str(carol.id)]
    group, _ = await scene.after(alice.post("/users/@me/channels", {"recipients": recipients}))
    path = f"/channels/{group['id']}"
    changed = ["CHANNEL_UPDATE", "MESSAGE_CREATE"]
    removed, added = (["CHANNEL_RECIPIENT_REMOVE", "MESSAGE_CREATE"], ["CHANNEL_RECIPIENT_ADD", "MESSAGE_CREATE"])
    acts: list[tuple[Awaitable[Any], dict[str, list[str]]]] = [
        (alice.patch(path, {"name": "us"}), dict.fromkeys(("alice", "bob", "carol"), changed)),
        (
            alice.delete(f"{path}/recipients/{carol.id}"),
            {"alice": removed, "bob": removed, "carol": ["CHANNEL_DELETE"]},
        ),
        (
            alice.put(f"{path}/recipients/{carol.id}"),
            {"alice": added, "bob": added, "carol": ["CHANNEL_CREATE", "MESSAGE_CREATE"]},
        ),
        (bob.delete(path), {"alice": removed, "bob": ["CHANNEL_DELETE"], "carol": removed}),
    ]
    for act, expected in acts:
        _, received = await scene.after(act)
        assert received == expected


async def test_a_closed_direct_message_opens_again_for_who_closed_it(scene: Scene) -> None:
    alice, bob = scene.alice.user, scene.bob.user
    channel, _ = await scene.after(alice.post("/users/@me/channels", {"recipient_id": str(bob.id)}))
    path = f"/channels/{channel['id']}"
    await scene.after(alice.post(f"{path}/messages", {"content": "hello"}))
    _, received = await scene.after(alice.delete(path))
    assert received == {"alice": ["CHANNEL_DELETE"]}
    _, received = await scene.after(bob.post(f"{path}/messages", {"content": "again"}))
    assert received == {"alice": ["CHANNEL_CREATE", "MESSAGE_CREATE"], "bob": ["MESSAGE_CREATE"]}


async def test_users_receive_the_events_of_their_account_and_their_relationships(scene: Scene) -> None:
    alice, bob, carol = (side.user for side in scene[:3])
    me, to_bob = "/users/@me", f"/users/@me/relationships/{bob.id}"
    both = {"alice": ["RELATIONSHIP_ADD"], "bob": ["RELATIONSHIP_ADD"]}
    renamed = {name: ["GUILD_MEMBER_UPDATE"] for name in ("bob", "carol", "bot")}
    acts: list[tuple[Callable[[], Awaitable[Any]], dict[str, list[str]]]] = [
        (lambda: alice.put(f"{me}/notes/{bob.id}", {"note": "tall"}), {"alice": ["USER_NOTE_UPDATE"]}),
        (lambda: alice.patch(f"{me}/settings", {"theme": "light"}), {"alice": ["USER_SETTINGS_UPDATE"]}),
        (
            lambda: alice.patch(f"{me}/guilds/{scene.guild_id}/settings", {"muted": True}),
            {"alice": ["USER_GUILD_SETTINGS_UPDATE"]},
        ),
        (
            lambda: alice.patch(me, {"global_name": "Alice"}),
            {"alice": ["USER_UPDATE", "GUILD_MEMBER_UPDATE"], **renamed},
        ),
        (lambda: alice.patch(to_bob, {"nickname": "Bobby"}), {"alice": ["RELATIONSHIP_UPDATE"]}),
        (lambda: alice.delete(to_bob), {"alice": ["RELATIONSHIP_REMOVE"], "bob": ["RELATIONSHIP_REMOVE"]}),
        (lambda: alice.put(to_bob, {}), both),
        (lambda: bob.put(f"{me}/relationships/{alice.id}", {}), both),
        (
            lambda: alice.put(f"{me}/relationships/{carol.id}", {"type": BLOCKED}),
            {"alice": ["RELATIONSHIP_ADD"], "carol": ["RELATIONSHIP_REMOVE"]},
        ),
    ]
    for act, expected in acts:
        _, received = await scene.after(act())
        assert received == expected


async def test_a_command_in_a_direct_message_reaches_the_bot_and_its_user(scene: Scene) -> None:
    alice, bot, application_id = scene.alice.user, scene.bot.user, str(scene.application.application_id)
    command = await bot.post(f"/applications/{application_id}/commands", {"name": "ping", "description": "Ping."})
    channel, _ = await scene.after(alice.post("/users/@me/channels", {"recipient_id": str(bot.id)}))
    data = {"id": command["id"], "name": "ping", "type": 1, "version": command["version"]}
    body = {"type": 2, "application_id": application_id, "channel_id": channel["id"], "nonce": "1", "data": data}
    _, received = await scene.after(alice.post("/interactions", {**body, "session_id": "any"}))
    assert received == {"alice": ["INTERACTION_CREATE"], "bot": ["INTERACTION_CREATE"]}


async def test_friends_receive_presences_also_without_a_guild(scene: Scene) -> None:
    scene.alice.client.send(3, {"status": "dnd", "activities": [], "since": 0, "afk": False})
    assert (await scene.alice.client.until("SESSIONS_REPLACE"))[0]["status"] == "dnd"
    for side in (scene.bob, scene.carol):
        presences = [await side.client.until("PRESENCE_UPDATE") for _ in range(2)]
        assert {presence.get("guild_id") for presence in presences} == {str(scene.guild_id), None}
        assert {(each["user"]["id"], each["status"]) for each in presences} == {(str(scene.alice.user.id), "dnd")}
