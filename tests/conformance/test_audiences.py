"""Who must hear what: the sockets that receive the events of an action are those that must.

Whom an event concerns is derived here from the location (who may view it, who takes part) and from the public list of
intents, not from how the event class routes itself. A socket that receives too much is as wrong as one that receives
nothing.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec import Struct

import moothall.oauth2.endpoints  # noqa: F401 its endpoints
from moothall.api.endpoint import REGISTRY
from moothall.bus import Envelope
from moothall.gateway.node import GatewayNode
from moothall.gateway.settings import UNLIMITED
from moothall.objects.ids import ChannelId, Snowflake
from moothall.objects.intents import ALL, EVENTS, Intent
from moothall.objects.permissions import Permissions
from moothall.resources import load_endpoints
from moothall.resources.channel.events import TypingStart
from moothall.resources.message.events import MessageCreate
from tests.clients.recording.community import PIXEL
from tests.gateway.peer import Peer
from tests.support.gateway_nodes import node_over
from tests.support.harness import FORUM, STAGE, VOICE, Caller, Guild, Platform, Reply
from tests.support.relationships import befriend
from tests.support.voice import go

ROOT = Path(__file__).parents[2]
VIEW = int(Permissions.VIEW_CHANNEL)
FLAGS = 1 << 13 | 1 << 15 | 1 << 19
NO_INTENTS = 0
DIRECT: Mapping[str, int] = {
    "MESSAGE_CREATE": Intent.DIRECT_MESSAGES,
    "MESSAGE_UPDATE": Intent.DIRECT_MESSAGES,
    "MESSAGE_DELETE": Intent.DIRECT_MESSAGES,
    "CHANNEL_PINS_UPDATE": Intent.DIRECT_MESSAGES,
    "MESSAGE_REACTION_ADD": Intent.DIRECT_MESSAGE_REACTIONS,
    "MESSAGE_REACTION_REMOVE": Intent.DIRECT_MESSAGE_REACTIONS,
    "TYPING_START": Intent.DIRECT_MESSAGE_TYPING,
    "MESSAGE_POLL_VOTE_ADD": Intent.DIRECT_MESSAGE_POLLS,
    "MESSAGE_POLL_VOTE_REMOVE": Intent.DIRECT_MESSAGE_POLLS,
}
"""The intents of events in direct messages, from the public list."""

NEEDS: Mapping[str, int] = {
    "GUILD_BAN_ADD": Permissions.BAN_MEMBERS,
    "GUILD_BAN_REMOVE": Permissions.BAN_MEMBERS,
    "GUILD_AUDIT_LOG_ENTRY_CREATE": Permissions.VIEW_AUDIT_LOG,
    "INVITE_CREATE": Permissions.MANAGE_CHANNELS,
    "INVITE_DELETE": Permissions.MANAGE_CHANNELS,
    "AUTO_MODERATION_RULE_CREATE": Permissions.MANAGE_GUILD,
    "AUTO_MODERATION_RULE_UPDATE": Permissions.MANAGE_GUILD,
    "AUTO_MODERATION_RULE_DELETE": Permissions.MANAGE_GUILD,
}
"""The permissions that a receiver must have, from the public documentation of the events."""


class Session(NamedTuple):
    """A socket: whose it is, and its intents; None for a client of a person."""

    user: Caller
    intents: int | None
    peer: Peer


class Location(NamedTuple):
    """Where an action is done: a channel, and the names of those whom what happens there concerns."""

    channel: str
    hear: frozenset[str]
    in_guild: bool = True


class Scene(Struct):
    """A guild and direct messages, with sockets of all kinds of users."""

    platform: Platform
    node: GatewayNode
    guild: Guild
    users: dict[str, Caller]
    locations: dict[str, Location]
    sessions: dict[str, Session]

    async def received(self) -> dict[str, list[tuple[str, Any]]]:
        """What each socket has received since it was last asked."""
        return {name: await session.peer.dispatches() for name, session in self.sessions.items()}

    def must_hear(self, event: str, location: Location) -> set[str]:
        """The sockets that an event in a location concerns."""
        listed = {intent for intent, names in EVENTS.items() if event in names}
        intents = 0
        for intent in listed if location.in_guild else {DIRECT[event]}:
            intents |= intent
        if location.in_guild and event in DIRECT:
            intents &= ~DIRECT[event]
        return {
            name
            for name, session in self.sessions.items()
            if any(session.user is self.users[user] for user in location.hear)
            and (session.intents is None or not intents or session.intents & intents)
            and (event not in NEEDS or any(session.user is self.users[user] for user in ("owner", "admin")))
        }


GUILD_MEMBERS = frozenset({"owner", "member", "hidden", "blocked", "admin", "plain", "blind"})
VIEWERS = GUILD_MEMBERS - {"hidden", "blind"}


@pytest.fixture
async def scene(platform: Platform) -> AsyncIterator[Scene]:
    people = {name: await platform.person() for name in ("owner", "member", "hidden", "blocked", "stranger")}
    owner, member, blocked = people["owner"], people["member"], people["blocked"]
    bots = {name: await platform.bot(owner, flags=FLAGS) for name in ("admin", "plain", "blind", "outside")}
    guild = await platform.guild(owner)
    administrator = await guild.role(permissions=int(Permissions.ADMINISTRATOR))
    seers = await guild.role(permissions=0)
    await guild.join(member, blocked, bots["plain"], roles=[seers])
    await guild.join(people["hidden"], bots["blind"])
    await guild.join(bots["admin"], roles=[administrator])
    private = [(guild.id, 0, 0, VIEW), (seers, 0, VIEW, 0)]
    channels = {"text": await guild.channel(overwrites=private), "open": guild.general}
    for name, kind in (("voice", VOICE), ("stage", STAGE), ("forum", FORUM)):
        channels[name] = await guild.channel(type=kind, overwrites=private)
    thread = (await owner.post(f"/channels/{channels['text']}/threads", {"name": "thread", "type": 11})).json["id"]
    secret = (await owner.post(f"/channels/{channels['text']}/threads", {"name": "secret", "type": 12})).json["id"]
    for added in (member, bots["plain"]):
        assert (await owner.put(f"/channels/{secret}/thread-members/{added.id}")).status == 204
    for friend in (member, blocked):
        await befriend(owner, friend)
    assert (await blocked.put(f"/users/@me/relationships/{member.id}", {"type": 2})).status == 204
    direct = (await owner.post("/users/@me/channels", {"recipient_id": str(member.id)})).json["id"]
    with_bot = (await bots["plain"].post("/users/@me/channels", {"recipient_id": str(owner.id)})).json["id"]
    group = (await owner.post("/users/@me/channels", {"recipients": [str(member.id), str(blocked.id)]})).json["id"]
    locations = {
        "text": Location(str(channels["text"]), VIEWERS),
        "voice": Location(str(channels["voice"]), VIEWERS),
        "stage": Location(str(channels["stage"]), VIEWERS),
        "thread": Location(thread, VIEWERS),
        "private thread": Location(secret, frozenset({"owner", "member", "admin", "plain"})),
        "direct message": Location(direct, frozenset({"owner", "member"}), in_guild=False),
        "direct message with a bot": Location(with_bot, frozenset({"owner", "plain"}), in_guild=False),
        "group": Location(group, frozenset({"owner", "member", "blocked"}), in_guild=False),
        "guild": Location(str(channels["open"]), GUILD_MEMBERS),
    }
    node, sessions = node_over(platform, **UNLIMITED), {}
    for name, user in {**people, **bots}.items():
        for intents in (ALL, NO_INTENTS) if name in bots else (None,):
            peer = Peer(node)
            await peer.identify(user.token, **({} if intents is None else {"intents": intents}))
            label = name if intents is None else f"{name} with {'all' if intents else 'no'} intents"
            sessions[label] = Session(user, intents, peer)
    made = Scene(platform, node, guild, {**people, **bots}, locations, sessions)
    await made.received()
    yield made
    for session in sessions.values():
        await session.peer.disconnect(1000)
    await node.close()


Do = Callable[[Scene, str], Awaitable[Reply]]
"""Does something in a channel."""


async def _message(scene: Scene, channel: str) -> str:
    message_id: str = (await scene.users["owner"].post(f"/channels/{channel}/messages", {"content": "x"})).json["id"]
    return message_id


async def _edit(scene: Scene, channel: str) -> Reply:
    return await scene.users["owner"].patch(
        f"/channels/{channel}/messages/{await _message(scene, channel)}", {"content": "y"}
    )


async def _delete(scene: Scene, channel: str) -> Reply:
    return await scene.users["owner"].delete(f"/channels/{channel}/messages/{await _message(scene, channel)}")


async def _react(scene: Scene, channel: str) -> Reply:
    url = f"/channels/{channel}/messages/{await _message(scene, channel)}/reactions/👍/@me"
    await scene.users["owner"].put(url)
    return await scene.users["owner"].delete(url)


async def _pin(scene: Scene, channel: str) -> Reply:
    return await scene.users["owner"].put(f"/channels/{channel}/messages/pins/{await _message(scene, channel)}")


async def _vote(scene: Scene, channel: str) -> Reply:
    owner = scene.users["owner"]
    poll = {"question": {"text": "?"}, "answers": [{"poll_media": {"text": "a"}}, {"poll_media": {"text": "b"}}]}
    message = (await owner.post(f"/channels/{channel}/messages", {"poll": poll})).json["id"]
    url = f"/channels/{channel}/polls/{message}/answers/@me"
    await owner.put(url, {"answer_ids": ["1"]})
    return await owner.put(url, {"answer_ids": []})


async def _type(scene: Scene, channel: str) -> Reply:
    return await scene.users["owner"].post(f"/channels/{channel}/typing")


IN_CHANNELS: Mapping[str, tuple[Do, tuple[str, ...]]] = {
    "type": (_type, ("TYPING_START",)),
    "edit": (_edit, ("MESSAGE_CREATE", "MESSAGE_UPDATE")),
    "delete": (_delete, ("MESSAGE_CREATE", "MESSAGE_DELETE")),
    "react": (_react, ("MESSAGE_REACTION_ADD", "MESSAGE_REACTION_REMOVE")),
    "pin": (_pin, ("CHANNEL_PINS_UPDATE",)),
    "vote": (_vote, ("MESSAGE_POLL_VOTE_ADD", "MESSAGE_POLL_VOTE_REMOVE")),
}
"""What is done in every kind of channel, and its events."""


def _owner(method: str, path: str, body: Any = None, *, then: tuple[str, str, Any] | None = None) -> Do:
    """A request of the owner, with the guild's and channel's id in its path; `then` is one about what it made."""

    async def do(scene: Scene, channel: str) -> Reply:
        owner, ids = (
            scene.users["owner"],
            {"guild": scene.guild.id, "channel": channel, "member": scene.users["member"].id},
        )
        options = {} if body is None else {"body": body}
        reply = await owner.request(method, path.format(**ids), **options)
        if then is None or reply.status >= 400:
            return reply
        made = reply.json
        ids["made"] = made.get("id") or made.get("code")
        next_body = {} if then[2] is None else {"body": then[2]}
        return await owner.request(then[0], then[1].format(**ids), **next_body)

    return do


_IMAGE = f"data:image/png;base64,{PIXEL}"
_EVENT = {
    "name": "event", "privacy_level": 2, "entity_type": 3, "entity_metadata": {"location": "here"},
    "scheduled_start_time": "2100-01-01T00:00:00+00:00", "scheduled_end_time": "2100-01-02T00:00:00+00:00",
}  # fmt: skip
_RULE = {
    "name": "r",
    "event_type": 1,
    "trigger_type": 1,
    "trigger_metadata": {"keyword_filter": ["xyzzy"]},
    "actions": [{"type": 1}],
}
_G = "/guilds/{guild}"


async def _start_stage(scene: Scene, channel: str) -> Reply:
    return await scene.users["owner"].post("/stage-instances", {"topic": "t", "channel_id": channel})


async def _ban(scene: Scene, _: str) -> Reply:
    owner, url = scene.users["owner"], f"/guilds/{scene.guild.id}/bans/{scene.users['stranger'].id}"
    await owner.put(url, {})
    return await owner.delete(url)


async def _delete_several(scene: Scene, channel: str) -> Reply:
    ids = [await _message(scene, channel) for _ in range(2)]
    return await scene.users["admin"].post(f"/channels/{channel}/messages/bulk-delete", {"messages": ids})


async def _remove_reactions(scene: Scene, channel: str) -> Reply:
    owner, url = scene.users["owner"], f"/channels/{channel}/messages/{await _message(scene, channel)}/reactions"
    await owner.put(f"{url}/👍/@me")
    await owner.delete(f"{url}/👍")
    await owner.put(f"{url}/👍/@me")
    return await owner.delete(url)


async def _subscribe(scene: Scene, _: str) -> Reply:
    owner, url = scene.users["owner"], f"/guilds/{scene.guild.id}/scheduled-events"
    event = f"{url}/{(await owner.post(url, _EVENT)).json['id']}"
    await owner.patch(event, {"name": "changed"})
    await owner.put(f"{event}/users/@me")
    return await owner.delete(f"{event}/users/@me")


async def _enter_voice(scene: Scene, channel: str) -> Reply:
    owner = scene.users["owner"]
    assert await go(scene.platform, scene.guild, owner, ChannelId(Snowflake(int(channel))))
    return await owner.get(f"/guilds/{scene.guild.id}/voice-states/@me")


async def _change_stage(scene: Scene, channel: str) -> Reply:
    owner = scene.users["owner"]
    await owner.patch(f"/stage-instances/{channel}", {"topic": "u"})
    return await owner.delete(f"/stage-instances/{channel}")


async def _note(scene: Scene, _: str) -> Reply:
    owner, member = scene.users["owner"], scene.users["member"]
    return await owner.put(f"/users/@me/notes/{member.id}", {"note": "tall"})


async def _save(scene: Scene, channel: str) -> Reply:
    owner, message = scene.users["owner"], await _message(scene, channel)
    await owner.put(f"/users/@me/saved-messages/{channel}/{message}")
    return await owner.delete(f"/users/@me/saved-messages/{channel}/{message}")


async def _acknowledge(scene: Scene, channel: str) -> Reply:
    owner = scene.users["owner"]
    return await owner.post(f"/channels/{channel}/messages/{await _message(scene, channel)}/ack", {"manual": True})


OWN: Mapping[str, tuple[Do, tuple[str, ...]]] = {
    "write a note": (_note, ("USER_NOTE_UPDATE",)),
    "change settings": (
        lambda scene, _: scene.users["owner"].patch("/users/@me/settings", {"theme": "light"}),
        ("USER_SETTINGS_UPDATE",),
    ),
    "change the settings of a guild": (
        lambda scene, _: scene.users["owner"].patch(f"/users/@me/guilds/{scene.guild.id}/settings", {"muted": True}),
        ("USER_GUILD_SETTINGS_UPDATE",),
    ),
    "change the account": (
        lambda scene, _: scene.users["owner"].patch("/users/@me", {"global_name": "Owner"}),
        ("USER_UPDATE",),
    ),
    "save a message": (_save, ("SAVED_MESSAGE_CREATE", "SAVED_MESSAGE_DELETE")),
    "acknowledge a message": (_acknowledge, ("MESSAGE_ACK",)),
    "acknowledge pins": (
        lambda scene, channel: scene.users["owner"].post(f"/channels/{channel}/pins/ack"),
        ("CHANNEL_PINS_ACK",),
    ),
    "ignore a user": (
        lambda scene, _: scene.users["owner"].put(
            f"/users/@me/relationships/{scene.users['stranger'].id}", {"type": 2}
        ),
        ("RELATIONSHIP_ADD",),
    ),
}
"""What users do that only their own sessions hear of, and its events."""

ELSEWHERE: Mapping[str, tuple[str, Do, tuple[str, ...]]] = {
    "create a role and delete it": (
        "guild",
        _owner("POST", f"{_G}/roles", {"name": "r"}, then=("DELETE", f"{_G}/roles/{{made}}", None)),
        ("GUILD_ROLE_CREATE", "GUILD_ROLE_DELETE", "GUILD_AUDIT_LOG_ENTRY_CREATE"),
    ),
    "change the guild": ("guild", _owner("PATCH", _G, {"name": "New"}), ("GUILD_UPDATE",)),
    "change a member": ("guild", _owner("PATCH", f"{_G}/members/{{member}}", {"nick": "n"}), ("GUILD_MEMBER_UPDATE",)),
    "change a role": (
        "guild",
        _owner("POST", f"{_G}/roles", {"name": "r"}, then=("PATCH", f"{_G}/roles/{{made}}", {"name": "s"})),
        ("GUILD_ROLE_UPDATE",),
    ),
    "ban a user and take it back": ("guild", _ban, ("GUILD_BAN_ADD", "GUILD_BAN_REMOVE")),
    "create a channel and delete it": (
        "guild",
        _owner("POST", f"{_G}/channels", {"name": "c"}, then=("DELETE", "/channels/{made}", None)),
        ("CHANNEL_CREATE", "CHANNEL_DELETE"),
    ),
    "delete several messages": ("text", _delete_several, ("MESSAGE_DELETE_BULK",)),
    "remove all reactions": (
        "text",
        _remove_reactions,
        ("MESSAGE_REACTION_REMOVE_EMOJI", "MESSAGE_REACTION_REMOVE_ALL"),
    ),
    "subscribe to an event": (
        "guild",
        _subscribe,
        ("GUILD_SCHEDULED_EVENT_UPDATE", "GUILD_SCHEDULED_EVENT_USER_ADD", "GUILD_SCHEDULED_EVENT_USER_REMOVE"),
    ),
    "change a rule": (
        "guild",
        _owner(
            "POST",
            f"{_G}/auto-moderation/rules",
            _RULE,
            then=("PATCH", f"{_G}/auto-moderation/rules/{{made}}", {"name": "s"}),
        ),
        ("AUTO_MODERATION_RULE_UPDATE",),
    ),
    "enter voice": ("voice", _enter_voice, ("VOICE_STATE_UPDATE", "VOICE_CHANNEL_START_TIME_UPDATE")),
    "change a channel": ("text", _owner("PATCH", "/channels/{channel}", {"topic": "t"}), ("CHANNEL_UPDATE",)),
    "create an emoji": (
        "guild",
        _owner("POST", f"{_G}/emojis", {"name": "emoji", "image": _IMAGE}),
        ("GUILD_EMOJIS_UPDATE",),
    ),
    "create an invite": (
        "text",
        _owner("POST", "/channels/{channel}/invites", {}, then=("DELETE", "/invites/{made}", None)),
        ("INVITE_CREATE", "INVITE_DELETE"),
    ),
    "create a webhook": ("text", _owner("POST", "/channels/{channel}/webhooks", {"name": "w"}), ("WEBHOOKS_UPDATE",)),
    "create a thread": (
        "text",
        _owner(
            "POST", "/channels/{channel}/threads", {"name": "t", "type": 11}, then=("DELETE", "/channels/{made}", None)
        ),
        ("THREAD_CREATE", "THREAD_DELETE"),
    ),
    "change a thread": ("thread", _owner("PATCH", "/channels/{channel}", {"name": "n"}), ("THREAD_UPDATE",)),
    "change a private thread": (
        "private thread",
        _owner("PATCH", "/channels/{channel}", {"name": "n"}),
        ("THREAD_UPDATE",),
    ),
    "create an event": (
        "guild",
        _owner("POST", f"{_G}/scheduled-events", _EVENT, then=("DELETE", f"{_G}/scheduled-events/{{made}}", None)),
        ("GUILD_SCHEDULED_EVENT_CREATE", "GUILD_SCHEDULED_EVENT_DELETE"),
    ),
    "create a rule": (
        "guild",
        _owner(
            "POST", f"{_G}/auto-moderation/rules", _RULE, then=("DELETE", f"{_G}/auto-moderation/rules/{{made}}", None)
        ),
        ("AUTO_MODERATION_RULE_CREATE", "AUTO_MODERATION_RULE_DELETE"),
    ),
    "set a voice channel's status": (
        "voice",
        _owner("PUT", "/channels/{channel}/voice-status", {"status": "s"}),
        ("VOICE_CHANNEL_STATUS_UPDATE",),
    ),
    "start a stage": (
        "stage",
        _start_stage,
        ("STAGE_INSTANCE_CREATE",),
    ),
    "change a stage and end it": ("stage", _change_stage, ("STAGE_INSTANCE_UPDATE", "STAGE_INSTANCE_DELETE")),
}
"""What is done in a guild or in one kind of channel: the location that hears of it, the action, and its events."""


_ITS_USER = "it goes to one user's sessions, as those of the matrix do: "
TESTED_ELSEWHERE: Mapping[str, str] = {
    "JOBS_DUE": "tests/resources/job_administration: processes alone, no session",
    **dict.fromkeys(
        (
            "APPLICATION_COMMAND_AUTOCOMPLETE_RESPONSE", "INTERACTION_CREATE", "INTERACTION_MODAL_CREATE",
            "INTERACTION_SUCCESS",
        ),
        "tests/resources/interaction: the application or the caller alone",
    ),
    **dict.fromkeys(
        ("EMBEDDED_ACTIVITY_UPDATE", "EMBEDDED_ACTIVITY_UPDATE_V2"), "tests/resources/activity: those who view it"
    ),
    **dict.fromkeys(
        (
            "ENTITLEMENT_CREATE", "ENTITLEMENT_DELETE", "ENTITLEMENT_UPDATE", "SUBSCRIPTION_CREATE",
            "SUBSCRIPTION_DELETE", "SUBSCRIPTION_UPDATE",
        ),
        "tests/resources/entitlement: the application's bot alone",
    ),
    **dict.fromkeys(
        (
            "GUILD_FEATURE_ACK", "RECENT_MENTION_DELETE", "RELATIONSHIP_REMOVE", "RELATIONSHIP_UPDATE",
            "USER_CONNECTIONS_UPDATE", "USER_NON_CHANNEL_ACK", "USER_SETTINGS_PROTO_UPDATE", "SESSIONS_CLOSE",
        ),
        _ITS_USER + "tests/resources/user, tests/resources/read_state",
    ),
    **dict.fromkeys(
        ("GUILD_MEMBER_ADD", "GUILD_MEMBER_REMOVE", "GUILD_OPEN", "GUILD_DELETE"),
        "tests/gateway: who joins, leaves or loses a guild changes who hears",
    ),
    **dict.fromkeys(
        ("GUILD_JOIN_REQUEST_CREATE", "GUILD_JOIN_REQUEST_DELETE", "GUILD_JOIN_REQUEST_UPDATE"),
        "tests/resources/guild/join_request: its user and those with KICK_MEMBERS",
    ),
    **dict.fromkeys(
        ("CHANNEL_RECIPIENT_ADD", "CHANNEL_RECIPIENT_REMOVE"), "tests/resources/group_dm: who takes part changes"
    ),
    **dict.fromkeys(
        ("CALL_DELETE", "CALL_UPDATE"), "tests/resources/call: someone must be in a call, which is about people alone"
    ),
    **dict.fromkeys(
        ("THREAD_MEMBERS_UPDATE", "THREAD_MEMBER_UPDATE"), "tests/resources/thread: each member hears of another part"
    ),
    **dict.fromkeys(
        ("GUILD_INTEGRATIONS_UPDATE", "INTEGRATION_CREATE", "INTEGRATION_DELETE", "INTEGRATION_UPDATE"),
        "tests/oauth2/test_adding_bots.py: consent is needed",
    ),
    **dict.fromkeys(
        (
            "GUILD_SOUNDBOARD_SOUNDS_UPDATE", "GUILD_SOUNDBOARD_SOUND_CREATE", "GUILD_SOUNDBOARD_SOUND_DELETE",
            "GUILD_SOUNDBOARD_SOUND_UPDATE", "GUILD_STICKERS_UPDATE", "VOICE_CHANNEL_EFFECT_SEND",
        ),
        "tests/resources/soundboard, tests/resources/sticker: files are needed",
    ),
    **dict.fromkeys(
        (
            "GUILD_SCHEDULED_EVENT_EXCEPTIONS_DELETE", "GUILD_SCHEDULED_EVENT_EXCEPTION_CREATE",
            "GUILD_SCHEDULED_EVENT_EXCEPTION_DELETE",
        ),
        "tests/resources/scheduled_event: an event that recurs is needed",
    ),
    "APPLICATION_COMMAND_PERMISSIONS_UPDATE": "tests/resources/interaction/command: an access token is needed",
    "AUTO_MODERATION_ACTION_EXECUTION": "tests/resources/auto_moderation: a rule must act",
}  # fmt: skip
"""Events whose audience the matrix does not derive, and where it is tested. It may only shrink."""


def test_every_event_of_an_endpoint_is_in_the_matrix_or_says_where_its_audience_is_tested() -> None:
    load_endpoints()
    fired = {kind.name for endpoint in REGISTRY.values() for kind in endpoint.fires}
    matrix = {name for _, events in (*IN_CHANNELS.values(), *OWN.values()) for name in events}
    matrix |= {name for _, _, events in ELSEWHERE.values() for name in events}
    assert sorted(fired - matrix - TESTED_ELSEWHERE.keys()) == []
    assert sorted(TESTED_ELSEWHERE.keys() & matrix) == []
    assert sorted(TESTED_ELSEWHERE.keys() - fired) == []
    named = {path for why in TESTED_ELSEWHERE.values() for path in re.findall(r"tests/[a-z0-9_/.]*[a-z0-9]", why)}
    assert [path for path in sorted(named) if not (ROOT / path).exists()] == []


async def test_what_users_do_for_themselves_is_heard_by_their_own_sessions_alone(scene: Scene) -> None:
    location = Location(scene.locations["text"].channel, frozenset({"owner"}))
    wrong = [
        f"{action}: {each}"
        for action, (do, events) in OWN.items()
        for each in await _compare(scene, location, do, events)
    ]
    assert wrong == []


async def _compare(scene: Scene, location: Location, do: Do, events: tuple[str, ...]) -> list[str]:
    """What is wrong with what the sockets receive of an action: empty if nothing is."""
    reply = await do(scene, location.channel)
    assert reply.status < 400, (reply.status, reply.body)
    received = await scene.received()
    wrong = []
    for event in events:
        hear = {name for name, dispatches in received.items() if any(each == event for each, _ in dispatches)}
        must = scene.must_hear(event, location)
        wrong += [f"{name} does not receive {event}" for name in sorted(must - hear)]
        wrong += [f"{name} receives {event}" for name in sorted(hear - must)]
    return wrong


LOCATIONS = (
    "text", "voice", "stage", "thread", "private thread", "direct message", "direct message with a bot", "group",
)  # fmt: skip


async def test_an_action_in_a_channel_is_heard_by_all_whom_it_concerns_and_no_one_else(scene: Scene) -> None:
    wrong = [
        f"{action} in {location}: {each}"
        for location in LOCATIONS
        for action, (do, events) in IN_CHANNELS.items()
        for each in await _compare(scene, scene.locations[location], do, events)
    ]
    assert wrong == []


async def test_a_change_of_a_guild_is_heard_by_all_whom_it_concerns_and_no_one_else(scene: Scene) -> None:
    wrong = [
        f"{action}: {each}"
        for action, (location, do, events) in ELSEWHERE.items()
        for each in await _compare(scene, scene.locations[location], do, events)
    ]
    assert wrong == []


@pytest.mark.parametrize(
    ("kind", "location", "action"),
    [
        (TypingStart, "direct message", "type"),
        (TypingStart, "private thread", "type"),
        (MessageCreate, "group", "edit"),
    ],
)
async def test_the_comparison_finds_an_event_that_reaches_no_recipient(
    scene: Scene, monkeypatch: pytest.MonkeyPatch, kind: Any, location: str, action: str
) -> None:
    encode = kind.envelope

    def lost(event: Any) -> Envelope:
        envelope: Envelope = encode(event)
        envelope.user_ids = [scene.users["stranger"].id]
        return envelope

    monkeypatch.setattr(kind, "envelope", lost)
    do, events = IN_CHANNELS[action]
    wrong = await _compare(scene, scene.locations[location], do, events[:1])
    assert f"member does not receive {events[0]}" in wrong


async def test_the_comparison_finds_an_event_that_reaches_a_stranger(
    scene: Scene, monkeypatch: pytest.MonkeyPatch
) -> None:
    encode = TypingStart.envelope

    def leaked(event: TypingStart) -> Envelope:
        envelope = encode(event)
        envelope.user_ids = [*envelope.user_ids, scene.users["stranger"].id]
        return envelope

    monkeypatch.setattr(TypingStart, "envelope", leaked)
    do, events = IN_CHANNELS["type"]
    assert "stranger receives TYPING_START" in await _compare(scene, scene.locations["direct message"], do, events)
