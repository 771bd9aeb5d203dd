"""Bans: banning and unbanning, the required rank, and what a ban deletes (api.md, Bans)."""

import asyncio
from collections.abc import Sequence
from typing import Any

import pytest

from moothall.api import committing
from moothall.api.context import Context
from moothall.api.events import Event
from moothall.bus import Envelope
from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.errors import Refusal
from moothall.objects.ids import UserId
from moothall.objects.permissions import Permissions
from moothall.resources.member import queries
from tests.support.harness import VOICE, Caller, Guild, Platform
from tests.support.memberships import enter_voice, join


@pytest.fixture
async def guild(platform: Platform) -> Guild:
    return await platform.guild(await platform.person("owner"))


async def banned(guild: Guild, **query: object) -> list[int]:
    return [int(ban["user"]["id"]) for ban in (await guild.owner.get(f"/guilds/{guild.id}/bans", **query)).json]


async def is_member(guild: Guild, user_id: UserId) -> bool:
    async with guild.platform.database.read() as reader:
        return await queries.get_member(reader, guild.id, user_id) is not None


async def test_a_banned_member_leaves_and_the_events_are_sent(platform: Platform, guild: Guild) -> None:
    bob = await platform.person("bob")
    await guild.join(bob)
    await enter_voice(platform, guild, bob, await guild.channel(type=VOICE))
    with platform.listening() as heard:
        reply = await guild.owner.put(f"/guilds/{guild.id}/bans/{bob.id}", reason="späm")
    assert reply.status == 204
    assert heard == [
        "GUILD_BAN_ADD",
        "VOICE_STATE_UPDATE",
        "VOICE_CHANNEL_START_TIME_UPDATE",
        "GUILD_MEMBER_REMOVE",
        "GUILD_AUDIT_LOG_ENTRY_CREATE",
    ]
    assert not await is_member(guild, bob.id)
    assert await guild.audit_log() == [(AuditLogEvent.MEMBER_BAN_ADD, bob.id, "späm")]
    ban = (await guild.owner.get(f"/guilds/{guild.id}/bans/{bob.id}")).json
    assert (ban["reason"], ban["user"]["username"]) == ("späm", "bob")


async def test_banning_again_keeps_the_first_ban_and_emits_nothing(platform: Platform, guild: Guild) -> None:
    bob = await platform.person()
    path = f"/guilds/{guild.id}/bans/{bob.id}"
    assert (await guild.owner.put(path, reason="first")).status == 204
    with platform.listening() as heard:
        assert (await guild.owner.put(path, reason="second")).status == 204
    assert heard == []
    assert (await guild.owner.get(path)).json["reason"] == "first"


async def test_a_refused_ban_leaves_no_trace(platform: Platform, guild: Guild) -> None:
    chief, peer = await platform.person(), await platform.person()
    await guild.join(chief, peer, roles=[await guild.role(permissions=Permissions.ADMINISTRATOR)])
    with platform.listening() as heard:
        for target in (peer.id, guild.owner.id, chief.id):
            assert (await chief.put(f"/guilds/{guild.id}/bans/{target}")).code == 50013
        assert (await chief.put(f"/guilds/{guild.id}/bans/1234")).code == 10013
    assert (heard, await banned(guild), await guild.audit_log()) == ([], [], [])


async def test_a_banned_user_rejoins_only_once_unbanned(platform: Platform, guild: Guild) -> None:
    bob = await platform.person()
    path = f"/guilds/{guild.id}/bans/{bob.id}"
    await guild.owner.put(path)
    with pytest.raises(Refusal):
        await join(platform, guild, bob)
    with platform.listening() as heard:
        assert (await guild.owner.delete(path, reason="sorry")).status == 204
        assert (await guild.owner.delete(path)).code == 10026
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_BAN_REMOVE"]
    assert (await guild.owner.get(path)).code == 10026
    await join(platform, guild, bob)
    assert await is_member(guild, bob.id)


async def test_a_user_who_joins_during_their_ban_does_not_stay_a_member(platform: Platform, guild: Guild) -> None:
    for _ in range(5):
        bob = await platform.person()
        await asyncio.gather(
            join(platform, guild, bob),
            guild.owner.put(f"/guilds/{guild.id}/bans/{bob.id}"),
            return_exceptions=True,
        )
        assert not await is_member(guild, bob.id)
    async with platform.database.read() as reader:
        assert await queries.count_members(reader, guild.id) == 1


async def test_pages_of_bans_ascend_and_before_takes_precedence_over_after(platform: Platform, guild: Guild) -> None:
    people = sorted([(await platform.person()).id for _ in range(4)])
    for user_id in reversed(people):
        await guild.owner.put(f"/guilds/{guild.id}/bans/{user_id}")
    assert await banned(guild) == people
    assert await banned(guild, limit=2) == people[:2]
    assert await banned(guild, after=people[1]) == people[2:]
    assert await banned(guild, before=people[3], limit=2) == people[1:3]
    assert await banned(guild, before=people[1], after=people[2]) == people[:1]
    for limit in (0, 1001):
        assert (await guild.owner.get(f"/guilds/{guild.id}/bans", limit=limit)).errors_at("limit")


async def test_a_long_list_of_bans_has_all_of_them(platform: Platform, guild: Guild) -> None:
    people = sorted([(await platform.person()).id for _ in range(130)])
    path = f"/guilds/{guild.id}/bulk-ban"
    assert (await guild.owner.post(path, {"user_ids": [str(user_id) for user_id in people]})).status == 200
    assert await banned(guild) == people
    assert await banned(guild, before=people[129], limit=120) == people[9:129]


async def test_a_ban_deletes_recent_messages(platform: Platform, guild: Guild) -> None:
    bob, eve, joe, ann = [await platform.person() for _ in range(4)]
    await guild.join(bob, eve, joe, ann)
    path = f"/channels/{guild.general}/messages"
    for person in (bob, bob, eve, joe, ann):
        assert (await person.post(path, {"content": "hi"})).status == 200
    base = f"/guilds/{guild.id}/bans"
    assert (await guild.owner.put(f"{base}/{bob.id}", {"delete_message_seconds": 60})).status == 204
    assert (await guild.owner.put(f"{base}/{eve.id}", {"delete_message_days": 1})).status == 204
    # discord.py sends it in the query.
    assert (await guild.owner.put(f"{base}/{joe.id}", delete_message_seconds=60)).status == 204
    assert (await guild.owner.put(f"{base}/{ann.id}")).status == 204
    left = (await guild.owner.get(path)).json
    assert [message["author"]["id"] for message in left] == [str(int(ann.id))]
    deleted = platform.heard_data("MESSAGE_DELETE_BULK")
    assert [len(bulk["ids"]) for bulk in deleted] == [2, 1, 1]
    for body, field in (
        ({"delete_message_seconds": 604_801}, "delete_message_seconds"),
        ({"delete_message_days": 8}, "delete_message_days"),
        ({"delete_message_seconds": -1}, "delete_message_seconds"),
    ):
        assert (await guild.owner.put(f"{base}/{guild.owner.id}", body)).errors_at(field)


async def test_a_bulk_ban_deletes_the_recent_messages_of_many_and_no_others(platform: Platform, guild: Guild) -> None:
    channels = [guild.general, await guild.channel()]
    people = [await guild.member_with(0) for _ in range(13)]
    sent: dict[str, list[str]] = {str(channel): [] for channel in channels}

    async def send(person: Caller, channel: int, content: str) -> str:
        reply = await person.post(f"/channels/{channel}/messages", {"content": content})
        return str(reply.json["id"])

    for number in range(80):
        channel = channels[number % 2]
        sent[str(channel)].append(await send(people[number % 12], channel, str(number)))
    others = [await send(people[12], channel, "x") for channel in channels]
    body = {"user_ids": [str(int(person.id)) for person in people[:12]], "delete_message_seconds": 3600}
    assert (await guild.owner.post(f"/guilds/{guild.id}/bulk-ban", body)).status == 200
    deleted = platform.heard_data("MESSAGE_DELETE_BULK")
    assert {bulk["channel_id"]: bulk["ids"] for bulk in deleted} == sent
    banned_ids = [data["user"]["id"] for data in platform.heard_data("GUILD_BAN_ADD")]
    assert banned_ids == body["user_ids"]
    for channel, other in zip(channels, others, strict=True):
        left = (await guild.owner.get(f"/channels/{channel}/messages", limit=100)).json
        assert [message["id"] for message in left] == [other]


async def test_a_session_that_comes_before_the_commit_hears_of_everything(
    platform: Platform, guild: Guild, monkeypatch: pytest.MonkeyPatch
) -> None:
    people = [await guild.member_with(0) for _ in range(12)]
    assert (await people[0].post(f"/channels/{guild.general}/messages", {"content": "x"})).status == 200
    encode, sessions = committing._encode, list[str]()

    async def encode_and_connect(ctx: Context, events: Sequence[Event]) -> list[Envelope]:
        envelopes = await encode(ctx, events)
        sessions.append("a session")
        return envelopes

    monkeypatch.setattr(committing, "_encode", encode_and_connect)
    platform.services.has_listeners = lambda _guild_id: bool(sessions)
    body = {"user_ids": [str(int(person.id)) for person in people], "delete_message_seconds": 3600}
    assert (await guild.owner.post(f"/guilds/{guild.id}/bulk-ban", body)).status == 200
    assert len(platform.heard_data("GUILD_BAN_ADD")) == 12
    assert len(platform.heard_data("MESSAGE_DELETE_BULK")) == 1
    assert sessions == ["a session"]


async def test_bulk_bans_list_banned_and_failed_users(platform: Platform, guild: Guild) -> None:
    bob, eve, stranger = [await platform.person() for _ in range(3)]
    await guild.join(bob, eve)
    chief = await guild.moderator()
    await enter_voice(platform, guild, bob, await guild.channel(type=VOICE))
    await bob.post(f"/channels/{guild.general}/messages", {"content": "hi"})
    await guild.owner.put(f"/guilds/{guild.id}/bans/{stranger.id}")
    newcomer = await platform.person()
    user_ids = [bob.id, eve.id, newcomer.id, stranger.id, guild.owner.id, chief.id, UserId(platform.ids.next())]
    with platform.listening() as heard:
        reply = await chief.post(
            f"/guilds/{guild.id}/bulk-ban",
            {"user_ids": [str(int(u)) for u in user_ids], "delete_message_seconds": 60},
            reason="raid",
        )
    assert reply.status == 200
    assert reply.json == {
        "banned_users": [str(int(u)) for u in user_ids[:3]],
        "failed_users": [str(int(u)) for u in user_ids[3:]],
    }
    assert heard == [
        *["GUILD_BAN_ADD"] * 3,
        "VOICE_STATE_UPDATE",
        "VOICE_CHANNEL_START_TIME_UPDATE",
        *["GUILD_MEMBER_REMOVE"] * 2,
        "MESSAGE_DELETE_BULK",
        *["GUILD_AUDIT_LOG_ENTRY_CREATE"] * 3,
    ]
    assert (await guild.audit_log())[1:] == [(AuditLogEvent.MEMBER_BAN_ADD, u, "raid") for u in user_ids[:3]]
    async with platform.database.read() as reader:
        assert await queries.count_members(reader, guild.id) == 2
        assert await queries.get_former_member(reader, guild.id, bob.id) is not None


async def test_a_bulk_ban_without_a_bannable_user_is_an_error(platform: Platform, guild: Guild) -> None:
    path = f"/guilds/{guild.id}/bulk-ban"
    for user_ids in ([], [str(int(guild.owner.id))], ["1234"]):
        reply = await guild.owner.post(path, {"user_ids": user_ids})
        assert (reply.status, reply.code) == (400, 500000)
    assert (await guild.owner.post(path, {"user_ids": ["1"] * 201})).errors_at("user_ids")
    assert (await guild.owner.post(path, {})).errors_at("user_ids") == ["BASE_TYPE_REQUIRED"]
    assert platform.heard_names == []


async def test_bulk_bans_need_both_permissions(platform: Platform, guild: Guild) -> None:
    bob = await platform.person()
    for bits in (Permissions.BAN_MEMBERS, Permissions.MANAGE_GUILD):
        reply = await (await guild.member_with(bits)).post(f"/guilds/{guild.id}/bulk-ban", {"user_ids": [int(bob.id)]})
        assert reply.code == 50013


async def test_bans_are_searched_by_names_and_ids(platform: Platform, guild: Guild) -> None:
    ann, bob = await platform.person("annabel"), await platform.person("bob", global_name="Sir Belvedere")
    others = [await platform.person("under_score"), await platform.person("percent")]
    path = f"/guilds/{guild.id}/bans/search"
    for each in (ann, bob, *others):
        await guild.owner.put(f"/guilds/{guild.id}/bans/{each.id}", reason="noise")

    async def searched(**query: Any) -> list[int]:
        reply = await guild.owner.get(path, **query)
        assert reply.status == 200
        return [int(ban["user"]["id"]) for ban in reply.json]

    assert await searched(query="BEL") == [ann.id, bob.id]
    assert await searched(query="sir b") == [bob.id]
    assert await searched(query="r_s") == [others[0].id]
    assert await searched(query="%") == []
    assert await searched(user_ids=[str(bob.id), str(guild.owner.id)]) == [bob.id]
    assert await searched(query="ann", user_ids=[str(bob.id)]) == []
    assert await searched(limit=2) == [ann.id, bob.id]
    assert (await guild.owner.get(path, query="ann")).json[0]["reason"] == "noise"
