"""The kinds of dispatches that the types of discord-api-types know: an example of each, as a test has received it."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft7Validator  # type: ignore[import-untyped]  # it has no stubs of its own
from msgspec import Raw

from moothall.bus import Audience, Envelope
from moothall.gateway.sessions.control_messages import VoiceServer
from moothall.objects.intents import ALL
from moothall.objects.permissions import Permissions
from moothall.objects.wire import encode
from tests.conformance import event_schemas
from tests.gateway.peer import Peer
from tests.support.gateway_nodes import greeted, node_over
from tests.support.harness import Platform
from tests.support.suites import leave_out
from tools.record_events import OF_GATEWAY

EXAMPLES: dict[str, Any] = json.loads(
    (Path(__file__).parents[2] / "docs" / "reference" / "event-examples.json").read_text(encoding="utf-8")
)

_PEOPLE = "clients of people read it"
_DESCRIBED = "the public description or an example in the public documentation has it"
_GATEWAY = "the public gateway sends it to bots as well"
UNDECLARED: dict[str, dict[str, str]] = {
    **{
        f"ENTITLEMENT_{change}": {"gift_code_flags": _DESCRIBED, "promotion_id": _DESCRIBED}
        for change in ("CREATE", "UPDATE", "DELETE")
    },
    "GUILD_CREATE": {"activity_instances": _GATEWAY, "home_header": _DESCRIBED, "nsfw": _DESCRIBED},
    **{
        f"GUILD_SCHEDULED_EVENT_{change}": {"guild_scheduled_event_exceptions": _DESCRIBED}
        for change in ("CREATE", "UPDATE", "DELETE")
    },
    "GUILD_UPDATE": {"guild_id": _GATEWAY, "home_header": _DESCRIBED, "nsfw": _DESCRIBED},
    **{
        f"INTEGRATION_{change}": {"application.summary": _DESCRIBED, "application.type": _DESCRIBED}
        for change in ("CREATE", "UPDATE")
    },
    "INTERACTION_CREATE": {
        "channel.permissions": _DESCRIBED,
        "data.options": "the types forget the options of commands in menus",
        "entitlement_sku_ids": _GATEWAY,
    },
    "INVITE_CREATE": {"flags": _DESCRIBED, "type": _DESCRIBED},
    "MESSAGE_UPDATE": {"interaction_metadata.command_type": _GATEWAY, "interaction_metadata.name": _GATEWAY},
    "READY": {
        "_trace": _GATEWAY,
        "geo_ordered_rtc_regions": _GATEWAY,
        "presences": _GATEWAY,
        "private_channels": _GATEWAY,
        "relationships": _GATEWAY,
        "session_type": _GATEWAY,
        "user.bio": _GATEWAY,
        "user_settings": _GATEWAY,
    },
    "THREAD_MEMBERS_UPDATE": {"added_members.*.presence": _DESCRIBED},
    "THREAD_MEMBER_UPDATE": {"mute_config": _PEOPLE, "muted": _PEOPLE},
    "USER_UPDATE": {"bio": _PEOPLE},
}
"""Dispatch -> keys that the types do not declare -> why they are sent. It may only shrink."""


@pytest.fixture(autouse=True)
def needs_types() -> None:
    if not event_schemas.schemas():
        leave_out("clients", "discord-api-types is not installed in tests/clients/node")


def test_every_kind_of_dispatch_has_an_example() -> None:
    assert len(event_schemas.schemas()) >= 79
    assert sorted(event_schemas.schemas().keys() - EXAMPLES.keys()) == []


def test_libraries_can_read_every_example() -> None:
    for name, data in EXAMPLES.items():
        event_schemas.check_dispatch(name, json.dumps(data).encode())


def test_the_keys_that_types_do_not_declare_are_those_listed() -> None:
    keys_by_name = {name: keys for name, data in EXAMPLES.items() if (keys := event_schemas.undeclared(name, data))}
    assert keys_by_name == {name: set(keys) for name, keys in UNDECLARED.items()}


def test_a_dispatch_without_a_key_that_the_types_require_is_found() -> None:
    broken = {key: value for key, value in EXAMPLES["MESSAGE_CREATE"].items() if key != "author"}
    with pytest.raises(event_schemas.Mismatch, match="author"):
        event_schemas.check_dispatch("MESSAGE_CREATE", json.dumps(broken).encode())


def test_an_undeclared_key_is_found() -> None:
    assert "surprise" in event_schemas.undeclared("TYPING_START", EXAMPLES["TYPING_START"] | {"surprise": 1})


def test_the_schemas_are_valid_ones() -> None:
    for by_kind in event_schemas.schemas().values():
        Draft7Validator.check_schema(by_kind["open"])


async def _heard(peer: Peer, *names: str) -> set[str]:
    """The names of what a peer receives, once all of some names are among them."""
    heard: set[str] = set()
    async with asyncio.timeout(30):
        while not heard >= set(names):
            heard |= {name for name, _ in await peer.dispatches()}
            await asyncio.sleep(0.01)
    return heard


async def test_a_bot_receives_what_the_gateway_itself_makes_as_libraries_read_it(platform: Platform) -> None:
    owner = await platform.person()
    bot = await platform.bot(owner, flags=1 << 13 | 1 << 15 | 1 << 19)
    guild = await platform.guild(owner)
    await guild.join(bot)
    hidden = await guild.channel(overwrites=[(guild.id, 0, 0, int(Permissions.VIEW_CHANNEL))])
    await owner.post(f"/channels/{hidden}/threads", {"name": "thread", "type": 11})
    node = node_over(platform)
    ready, _, peer = await greeted(node, bot, intents=ALL)
    request = {"op": 8, "d": {"guild_id": str(guild.id), "query": "", "limit": 0}}
    sounds = {"op": 31, "d": {"guild_ids": [str(guild.id)]}}
    info = {"op": 43, "d": {"guild_id": str(guild.id), "fields": ["status", "voice_start_time"]}}
    for frame in (request, request, sounds, info):
        peer.send(frame)
    heard = await _heard(peer, "GUILD_MEMBERS_CHUNK", "SOUNDBOARD_SOUNDS", "CHANNEL_INFO", "RATE_LIMITED")
    await owner.put(
        f"/channels/{hidden}/permissions/{bot.id}", {"type": 1, "allow": str(int(Permissions.VIEW_CHANNEL))}
    )
    visitor = Peer(node)
    await visitor.identify(owner.token)
    server = VoiceServer(user_id=bot.id, session_id=ready["session_id"], guild_id=guild.id, token="t", endpoint="h:1")
    envelope = Envelope(name="VOICE_SERVER", data=Raw(encode(server)), audience=Audience.NODE)
    platform.bus.publish([envelope])
    heard |= await _heard(peer, "THREAD_LIST_SYNC", "PRESENCE_UPDATE", "VOICE_SERVER_UPDATE")
    await peer.disconnect()
    again = Peer(node)
    again._bot = True
    await again.receive()
    again.send({"op": 6, "d": {"token": bot.token, "session_id": ready["session_id"], "seq": peer.seq}})
    heard |= await _heard(again, "RESUMED")
    assert heard >= OF_GATEWAY - {"READY", "GUILD_CREATE"}
    for each in (again, visitor):
        await each.disconnect(1000)
    await node.close()
