"""Modifying members: fields, permissions and events (api.md, Modify Guild Member)."""

from datetime import UTC, datetime, timedelta
from typing import Any

from moothall.objects.audit_log import AuditLogEvent
from moothall.objects.member import MemberFlags
from moothall.objects.permissions import Permissions
from moothall.resources.member import queries
from moothall.resources.voice.queries import get_voice_state
from tests.support.harness import STAGE, VOICE, Caller, Guild, Platform, Reply
from tests.support.memberships import enter_voice

PNG = (
    "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ"
    "AAAADUlEQVR4nGNgYGBgAAAABQABpfZFQAAAAABJRU5ErkJggg=="
)


async def edit(by: Caller, guild: Guild, who: Caller, body: Any, **options: Any) -> Reply:
    return await by.patch(f"/guilds/{guild.id}/members/{who.id}", body, **options)


def in_days(days: float) -> str:
    return (datetime.now(UTC) + timedelta(days=days)).isoformat()


async def test_a_nickname_is_returned_searchable_recorded_and_announced(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person("bob")
    await guild.join(bob)
    with platform.listening() as heard:
        reply = await edit(guild.owner, guild, bob, {"nick": "  Zoë  "}, reason="wish")
    assert (reply.status, reply.json["nick"]) == (200, "Zoë")
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_MEMBER_UPDATE"]
    entry = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[-1]
    assert entry["changes"] == [{"key": "nick", "new_value": "Zoë"}]
    assert await guild.audit_log() == [(AuditLogEvent.MEMBER_UPDATE, bob.id, "wish")]
    matches = await bob.get(f"/guilds/{guild.id}/members/search", query="zoe", limit=5)
    assert [m["user"]["id"] for m in matches.json] == [str(int(bob.id))]
    assert (await edit(guild.owner, guild, bob, {"nick": "AFK: b@b #1"})).json["nick"] == "AFK: b@b #1"
    assert (await edit(guild.owner, guild, bob, {"nick": " \u200b "})).json["nick"] is None


async def test_an_update_carries_the_whole_member(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    await guild.join(bob)
    await edit(guild.owner, guild, bob, {"nick": "x"})
    await edit(guild.owner, guild, bob, {"nick": None})
    data = platform.heard_data("GUILD_MEMBER_UPDATE")[-1]
    assert data["guild_id"] == str(int(guild.id))
    assert data["nick"] is None
    for key in ("roles", "user", "avatar", "joined_at", "flags", "pending", "mute", "deaf", "premium_since"):
        assert key in data


async def test_a_change_of_nothing_is_neither_recorded_nor_announced(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    role = await guild.role()
    await guild.join(bob, roles=[role])
    with platform.listening() as heard:
        reply = await edit(
            guild.owner,
            guild,
            bob,
            {"nick": None, "roles": [str(int(role))], "flags": 0, "communication_disabled_until": None},
        )
    assert (reply.status, heard, await guild.audit_log()) == (200, [], [])


async def test_each_field_requires_its_own_permission(platform: Platform) -> None:
    guild = await platform.guild(await platform.person(), everyone=0)
    bob = await platform.person()
    await guild.join(bob)
    fields: list[tuple[dict[str, Any], int, int]] = [
        ({"nick": "x"}, Permissions.MANAGE_NICKNAMES, 200),
        ({"roles": []}, Permissions.MANAGE_ROLES, 200),
        ({"mute": True}, Permissions.MUTE_MEMBERS, 400),
        ({"deaf": True}, Permissions.DEAFEN_MEMBERS, 400),
        ({"channel_id": None}, Permissions.MOVE_MEMBERS, 400),
        ({"communication_disabled_until": in_days(1)}, Permissions.MODERATE_MEMBERS, 200),
        ({"flags": 4}, Permissions.MANAGE_GUILD, 200),
    ]
    everything = Permissions.ALL & ~Permissions.ADMINISTRATOR
    for body, bits, status in fields:
        having = await guild.member_with(bits)
        others = everything & ~bits
        if "flags" in body:
            others &= ~(Permissions.MANAGE_ROLES | Permissions.MODERATE_MEMBERS)
        lacking = await guild.member_with(others)
        refused = await edit(lacking, guild, bob, body)
        assert (refused.status, refused.code) == (403, 50013), body
        assert (await edit(having, guild, bob, body)).status == status, body


async def test_flags_can_also_be_changed_with_the_three_moderator_permissions_together(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    await guild.join(bob)
    three = Permissions.MODERATE_MEMBERS | Permissions.KICK_MEMBERS | Permissions.BAN_MEMBERS
    reply = await edit(await guild.member_with(three), guild, bob, {"flags": 0b11111})
    assert (reply.status, reply.json["flags"]) == (200, MemberFlags.BYPASSES_VERIFICATION)
    two = await guild.member_with(Permissions.KICK_MEMBERS | Permissions.BAN_MEMBERS)
    assert (await edit(two, guild, bob, {"flags": 0})).status == 403


async def test_nicknames_and_timeouts_require_a_strictly_higher_rank(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    low, high = await guild.role(), await guild.role(permissions=Permissions.ADMINISTRATOR)
    chief, peer, member = [await platform.person() for _ in range(3)]
    await guild.join(chief, peer, roles=[high])
    await guild.join(member, roles=[low])
    for body in ({"nick": "x"}, {"communication_disabled_until": in_days(1)}):
        assert (await edit(chief, guild, peer, body)).status == 403
        assert (await edit(chief, guild, guild.owner, body)).status == 403
        assert (await edit(chief, guild, member, body)).status == 200
    assert (await edit(chief, guild, chief, {"nick": "me"})).status == 200


async def test_administrators_cannot_be_timed_out_even_by_the_owner(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    admin = await guild.moderator()
    reply = await edit(guild.owner, guild, admin, {"communication_disabled_until": in_days(1)})
    assert (reply.status, reply.code) == (403, 50013)


async def test_a_timeout_lasts_at_most_28_days(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    await guild.join(bob)
    reply = await edit(guild.owner, guild, bob, {"communication_disabled_until": in_days(28.01), "nick": "x" * 33})
    assert (reply.status, reply.code) == (400, 50035)
    reply = await edit(guild.owner, guild, bob, {"communication_disabled_until": in_days(28.01), "roles": ["1234"]})
    assert reply.errors_at("communication_disabled_until")
    assert reply.errors_at("roles.0")
    reply = await edit(guild.owner, guild, bob, {"communication_disabled_until": in_days(27.9)})
    assert reply.json["communication_disabled_until"] is not None
    reply = await edit(guild.owner, guild, bob, {"communication_disabled_until": in_days(-1)})
    assert reply.json["communication_disabled_until"] is None


async def test_a_refused_field_refuses_the_others_too(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    await guild.join(bob)
    with platform.listening() as heard:
        reply = await edit(guild.owner, guild, bob, {"nick": "fine", "roles": ["123"]})
        assert (await edit(guild.owner, guild, bob, {"nick": "fine", "mute": True})).code == 40032
    assert reply.status == 400
    assert reply.errors_at("roles.0")
    assert (heard, await guild.audit_log()) == ([], [])
    async with platform.database.read() as reader:
        row = await queries.get_member(reader, guild.id, bob.id)
    assert row is not None
    assert row.nick is None


async def test_added_and_removed_roles_have_their_names_in_the_audit_log(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    red, blue = await guild.role(name="red"), await guild.role(name="blue")
    bob = await platform.person()
    await guild.join(bob, roles=[red])
    reply = await edit(guild.owner, guild, bob, {"roles": [str(int(blue)), str(int(guild.id))]})
    assert reply.json["roles"] == [str(int(blue))]
    entry = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[-1]
    assert entry["action_type"] == AuditLogEvent.MEMBER_ROLE_UPDATE
    assert entry["changes"] == [
        {"key": "$add", "new_value": [{"id": str(int(blue)), "name": "blue"}]},
        {"key": "$remove", "new_value": [{"id": str(int(red)), "name": "red"}]},
    ]


async def test_only_unmanaged_roles_below_the_actors_highest_can_be_assigned(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    low = await guild.role()
    managed = await guild.role(managed=True)
    mine = await guild.role(permissions=Permissions.MANAGE_ROLES)
    high = await guild.role()
    mod, bob = await platform.person(), await platform.person()
    await guild.join(mod, roles=[mine])
    await guild.join(bob, roles=[managed])
    base = f"/guilds/{guild.id}/members/{bob.id}/roles"
    assert (await mod.put(f"{base}/{low}")).status == 204
    for role in (mine, high):
        assert (await mod.put(f"{base}/{role}")).code == 50013
        assert (await edit(mod, guild, bob, {"roles": [str(int(r)) for r in (low, managed, role)]})).code == 50013
    assert (await guild.owner.delete(f"{base}/{managed}")).code == 50013
    assert (await guild.owner.put(f"{base}/{guild.id}")).code == 50028
    assert (await guild.owner.put(f"{base}/1234")).code == 10011
    # A managed role that stays in the list is allowed.
    assert (await edit(mod, guild, bob, {"roles": [str(int(managed))]})).status == 200
    reply = await edit(mod, guild, bob, {"roles": []})
    assert reply.code == 50013


async def test_adding_a_role_twice_is_announced_once(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    role = await guild.role(name="red")
    bob = await platform.person()
    await guild.join(bob)
    path = f"/guilds/{guild.id}/members/{bob.id}/roles/{role}"
    with platform.listening() as heard:
        for call in (guild.owner.put, guild.owner.put, guild.owner.delete, guild.owner.delete):
            assert (await call(path, reason="r")).status == 204
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_MEMBER_UPDATE"] * 2
    assert [entry[0] for entry in await guild.audit_log()] == [AuditLogEvent.MEMBER_ROLE_UPDATE] * 2


async def test_mute_and_deaf_change_the_voice_state_at_once(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    await guild.join(bob)
    await enter_voice(platform, guild, bob, await guild.channel(type=VOICE))
    with platform.listening() as heard:
        reply = await edit(guild.owner, guild, bob, {"mute": True, "deaf": True})
    assert (reply.json["mute"], reply.json["deaf"]) == (True, True)
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_MEMBER_UPDATE", "VOICE_STATE_UPDATE"]
    state = platform.heard_data("VOICE_STATE_UPDATE")[-1]
    assert (state["mute"], state["deaf"]) == (True, True)


async def test_members_are_moved_and_disconnected(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    await guild.join(bob)
    lobby, stage = await guild.channel(type=VOICE), await guild.channel(type=STAGE)
    await enter_voice(platform, guild, bob, lobby)
    with platform.listening() as heard:
        assert (await edit(guild.owner, guild, bob, {"channel_id": str(int(stage))})).status == 200
        assert (await edit(guild.owner, guild, bob, {"channel_id": str(int(stage))})).status == 200
        assert (await edit(guild.owner, guild, bob, {"channel_id": None})).status == 200
    start, entry = "VOICE_CHANNEL_START_TIME_UPDATE", "GUILD_AUDIT_LOG_ENTRY_CREATE"
    changed = ["GUILD_MEMBER_UPDATE", "VOICE_STATE_UPDATE"]
    # One channel has its first member and the other one lost its last.
    assert heard == ["GUILD_MEMBER_UPDATE", start, "VOICE_STATE_UPDATE", start, entry, *changed, start, entry]
    moved, disconnected = platform.heard_data("VOICE_STATE_UPDATE")
    assert (moved["channel_id"], moved["suppress"]) == (str(int(stage)), True)
    assert disconnected["channel_id"] is None
    entries = platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")
    assert [e["action_type"] for e in entries] == [AuditLogEvent.MEMBER_MOVE, AuditLogEvent.MEMBER_DISCONNECT]
    assert entries[0]["options"] == {"channel_id": str(int(stage)), "count": "1"}
    async with platform.database.read() as reader:
        assert await get_voice_state(reader, guild.id, bob.id) is None


async def test_a_mover_must_be_able_to_connect_to_the_target(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    await guild.join(bob)
    mover = await guild.member_with(Permissions.MOVE_MEMBERS)
    lobby = await guild.channel(type=VOICE)
    locked = await guild.channel(type=VOICE, overwrites=[(mover.id, 1, 0, Permissions.CONNECT)])
    await enter_voice(platform, guild, bob, lobby)
    assert (await edit(mover, guild, bob, {"channel_id": str(int(locked))})).code == 50013
    reply = await edit(mover, guild, bob, {"channel_id": str(int(guild.general))})
    assert reply.errors_at("channel_id")
    elsewhere = await (await platform.guild(guild.owner)).channel(type=VOICE)
    assert (await edit(mover, guild, bob, {"channel_id": str(int(elsewhere))})).errors_at("channel_id")


async def test_a_move_into_a_hidden_channel_looks_like_a_disconnect(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    await guild.join(bob)
    lobby = await guild.channel(type=VOICE)
    hidden = await guild.channel(type=VOICE, overwrites=[(guild.id, 0, 0, Permissions.VIEW_CHANNEL)])
    await enter_voice(platform, guild, bob, lobby)
    await edit(guild.owner, guild, bob, {"channel_id": str(int(hidden))})
    updates = [(e.channel_id, e) for e in platform.heard if e.name == "VOICE_STATE_UPDATE"]
    assert [channel for channel, _ in updates] == [lobby, hidden]
    first, second = platform.heard_data("VOICE_STATE_UPDATE")
    assert first["channel_id"] is None
    assert second["channel_id"] == str(int(hidden))


async def test_a_member_changes_their_own_profile(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob = await platform.person()
    await guild.join(bob)
    with platform.listening() as heard:
        reply = await bob.patch(f"/guilds/{guild.id}/members/@me", {"nick": "B", "avatar": PNG, "bio": "hello"})
    assert reply.status == 200
    assert reply.json["avatar"]
    assert heard == ["GUILD_AUDIT_LOG_ENTRY_CREATE", "GUILD_MEMBER_UPDATE"]
    keys = [change["key"] for change in platform.heard_data("GUILD_AUDIT_LOG_ENTRY_CREATE")[-1]["changes"]]
    assert keys == ["nick", "avatar_hash", "bio"]
    assert (await bob.patch(f"/guilds/{guild.id}/members/@me", {"avatar": None})).json["avatar"] is None
    assert (await bob.patch(f"/guilds/{guild.id}/members/@me", {"bio": "x" * 191})).errors_at("bio")


async def test_changing_the_own_nickname_requires_a_permission(platform: Platform) -> None:
    guild = await platform.guild(await platform.person(), everyone=Permissions.VIEW_CHANNEL)
    bob = await platform.person()
    await guild.join(bob)
    assert (await bob.patch(f"/guilds/{guild.id}/members/@me", {"nick": "B"})).code == 50013
    assert (await bob.patch(f"/guilds/{guild.id}/members/@me", {"bio": "B"})).status == 200
    assert (await bob.patch(f"/guilds/{guild.id}/members/@me/nick", {"nick": "B"})).code == 50013
    named = await guild.member_with(Permissions.CHANGE_NICKNAME)
    reply = await named.patch(f"/guilds/{guild.id}/members/@me/nick", {"nick": "B"})
    assert (reply.status, reply.json) == (200, {"nick": "B"})
    assert (await named.patch(f"/guilds/{guild.id}/members/@me/nick", {"nick": None})).json == {"nick": None}


async def test_kicking_requires_a_strictly_higher_rank(platform: Platform) -> None:
    guild = await platform.guild(await platform.person())
    bob, chief = await platform.person(), await guild.moderator()
    await guild.join(bob)
    with platform.listening() as heard:
        assert (await chief.delete(f"/guilds/{guild.id}/members/{guild.owner.id}")).code == 50013
        assert (await chief.delete(f"/guilds/{guild.id}/members/{chief.id}")).code == 50013
        assert (await chief.delete(f"/guilds/{guild.id}/members/{bob.id}", reason="bye")).status == 204
        assert (await chief.delete(f"/guilds/{guild.id}/members/{bob.id}")).code == 10007
    assert heard == ["GUILD_MEMBER_REMOVE", "GUILD_AUDIT_LOG_ENTRY_CREATE"]
    assert await guild.audit_log() == [(AuditLogEvent.MEMBER_KICK, bob.id, "bye")]
    assert (await bob.get(f"/guilds/{guild.id}/members/{bob.id}")).code == 10004
